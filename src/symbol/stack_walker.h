/*
 * symbol/stack_walker — copies of user stacks (sys/stack_copy), walked by the process without rights (symbol/parser).
 *
 * Keeps that process informed about which files the copies' processes had mapped where: some at a time
 * (DWARF_WALK_SPACES), the others again when they come back. One thread at a time; blocks on files.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct mapped_files;
struct parser;
struct prof_stack;
struct spaces;
struct stack_copy;
struct stack_walker;

/* All is lent forever. NULL without memory. */
struct stack_walker *stack_walker_new(struct spaces *spaces, struct mapped_files *files,
                                      struct parser *parser);
void stack_walker_free(struct stack_walker *w); /* NULL is fine */

/* As symbolizer_walk(). */
MUST_USE int stack_walker_walk(struct stack_walker *w, const struct stack_copy *copy,
                               struct prof_stack *out);
