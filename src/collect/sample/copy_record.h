/*
 * collect/sample/copy_record — a record of perf that has registers and a part of the stack of a thread, taken apart.
 *
 * Made by a BPF program that writes to an event with copy_record_attr(). Pure. Sizes in a record are not trusted.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

struct perf_event_attr;
struct perf_event_header;
struct prof_copy;
struct prof_stack;
struct stack_copy;

/* What the event asks for. */
void copy_record_attr(struct perf_event_attr *attr);
/*
 * 1: a copy; its stack is lent as long as the record, and walked (by tables, if it was) as long as the argument. 0: of a thread that has no user's side, a thread of the kernel; note is
 * set. -ENOENT: another record. -EBADMSG: sizes that do not fit.
 */
MUST_USE int copy_record_parse(const struct perf_event_header *record, size_t bytes,
                               struct prof_copy *note, struct prof_stack *walked,
                               struct stack_copy *out);
