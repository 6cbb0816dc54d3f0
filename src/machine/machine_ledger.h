/*
 * machine/machine_ledger — what one thread waited for in the last seconds, its longest wait in words, and what it slept for.
 *
 * The parts add up to wait_ns. Texts are untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum machine_ledger_kind {
	MACHINE_LEDGER_TASK,
	MACHINE_LEDGER_THROTTLED,
	MACHINE_LEDGER_STOLEN,
	MACHINE_LEDGER_INTERRUPT, /* softirqs, too */
	MACHINE_LEDGER_IDLE,
	MACHINE_LEDGER_QUEUE, /* a dispatch queue of several CPUs, or the way to a queue */
	MACHINE_LEDGER_UNKNOWN,
	MACHINE_LEDGER_OTHERS, /* the sum of smaller ones */
	MACHINE_LEDGER_KINDS
};

struct machine_ledger_part {
	const char *name; /* "backup (FIFO 50)" */
	uint64_t ns;
	enum machine_ledger_kind kind;
};

struct machine_ledger {
	uint32_t tid;
	double seconds; /* that it is about; 0 = nothing yet */
	uint64_t waits, wait_ns;
	const struct machine_ledger_part *parts; /* the longest first, the others last */
	size_t nr;
	const char *longest; /* sentences about the longest wait; NULL = there is none */
	uint64_t longest_ns; /* all of it, also before these seconds */
	uint64_t ago_ns;     /* since it ended */
	bool is_open;        /* it has not */
	const char *
		sleeps; /* "a timer 1.2s 80%, a pipe 300ms 20%", the longest first; NULL = not recorded */
	uint64_t lost;    /* events, since the view was opened */
	const char *note; /* why there is nothing; NULL = there is */
};
