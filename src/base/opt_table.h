/*
 * base/opt_table — what the parser and the writers of help, manual and completions share.
 *
 * Private to base/opt*.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/opt.h"

/* --help, which every command has. */
extern const struct opt opt_help_option;

/* The options that are shown, --help last: for (o = opt_first(table); o; o = opt_next(o)). */
const struct opt *opt_first(const struct opt *table);
const struct opt *opt_next(const struct opt *o);

/* The commands that are shown: for (c = opt_first_command(prog); *c; c = opt_next_command(c)). */
const struct opt_command *const *opt_first_command(const struct opt_program *prog);
const struct opt_command *const *opt_next_command(const struct opt_command *const *c);

/* Stores a value, or true for a flag (value == NULL). name is the option as the user wrote it. */
MUST_USE int opt_store(const struct opt *o, const char *name, const char *value, void *cfg,
                       struct diag *d);
MUST_USE int opt_list_add(struct opt_list *l, const char *word, struct diag *d);

/* A word of the user for a message: without control bytes, and cut where it is long. */
#define OPT_SHOWN 64
const char *opt_shown(char buf[OPT_SHOWN], const char *word);
/* The option's value in the defaults, or "" if there is none to show. */
const char *opt_default_text(const struct opt *o, const void *defaults, char *buf, size_t size);

/* Finds the nearest of many words, offered one by one; .word is the mistyped one. */
struct opt_search {
	const char *word;
	const char *best;
	unsigned int distance;
};
void opt_search_offer(struct opt_search *s, const char *candidate);
