/*
 * sys/cmdline_reader — command lines of processes, read by a thread of its own.
 *
 * Reading /proc/PID/cmdline takes a lock of the process's memory, and a process that hangs in the kernel may hold it for
 * hours: whoever reads it then hangs as well. So another thread does, answers come when they come, and a reader that
 * does not come back is left behind, a few times at most. Nothing here waits for it, closing neither.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define CMDLINE_LEN     256 /* cut; words are joined by spaces */
#define CMDLINE_WAITING 256 /* questions at a time */

struct cmdline_reader;

struct cmdline_answer {
	uint32_t pid;
	char text[CMDLINE_LEN]; /* "" = none: a kernel thread, or it is gone */
};

/* proc_root is "/proc" or a copy. 0 or -errno. */
MUST_USE int cmdline_reader_open(const char *proc_root, struct cmdline_reader **out);
void cmdline_reader_close(struct cmdline_reader *r); /* NULL is fine */
/* False: too many wait, ask again later. now_ns tells how long the reader has been silent. */
MUST_USE bool cmdline_reader_ask(struct cmdline_reader *r, uint32_t pid, uint64_t now_ns);
/* The next answer, in no order. False while there is none. */
MUST_USE bool cmdline_reader_take(struct cmdline_reader *r, struct cmdline_answer *out);
/* How many processes have kept a reader for ever. */
uint32_t cmdline_reader_nr_hung(const struct cmdline_reader *r);
