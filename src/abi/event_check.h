/*
 * abi/event_check — is a record what it says? For records from a ring, a file or another process.
 *
 * A record that passes has the size of its kind, its variable part adds up, and every text in it ends with
 * a NUL. What the numbers mean (a CPU that does not exist, a time of yesterday) is not checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "abi/event.h"

/* Size of the fixed part of a kind; 0 for a kind that we do not know. */
size_t ev_fixed_size(unsigned int kind);
/* "SWITCH"; NULL for a kind that we do not know. */
const char *ev_kind_name(unsigned int kind);
/* The kind of that name, in any case and with - for _; 0 if there is none. */
unsigned int ev_kind_by_name(const char *name);
/* Why a scheduler of sched_ext went, in the kernel's words; NULL if unknown. */
const char *ev_scx_reason(unsigned int exit_kind);

/*
 * Whether len bytes at rec begin with one whole, known record whose variable part adds up. rec is
 * 8-aligned. What follows the record, up to len, is not checked.
 */
bool ev_check(const void *rec, size_t len);
/* "FIFO", by ABI_POLICY_*; NULL for one without a name. */
const char *ev_policy_name(unsigned int policy);
/* "mutex", by EV_LOCK_*. */
const char *ev_lock_name(unsigned int type);
/* "futex", by ABI_CALL_*; NULL for one without a name. */
const char *ev_call_name(unsigned int call);
