/*
 * sys/proc/proc_reader — files of processes whose readers can hang, read by a separate thread.
 *
 * Reading /proc/PID/cmdline takes a lock of the process's memory, and a process that hangs in the
 * kernel may hold it for hours: a reader then hangs as well. /proc/PID/cgroup takes a lock of all
 * cgroups before Linux 6.8, which hangs with any task that hangs while changing a cgroup. So
 * another thread reads, answers arrive later, and a reader that hangs is abandoned, a few times at
 * most. Nothing here waits for it, not even closing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define PROC_READER_TEXT    512 /* cut */
#define PROC_READER_WAITING 256 /* questions at a time */

enum proc_reader_file {
	PROC_READER_CMDLINE, /* words are joined by spaces */
	PROC_READER_CGROUP,  /* the path in the hierarchy that has the controller cpu */
};

struct proc_reader;

struct proc_answer {
	uint32_t pid;
	char text[PROC_READER_TEXT]; /* "" = none, or it is gone; a kernel thread has no command line */
};

/* proc_root is "/proc" or a copy. 0 or -errno. */
MUST_USE int proc_reader_open(const char *proc_root, enum proc_reader_file file,
                              struct proc_reader **out);
void proc_reader_close(struct proc_reader *r); /* NULL is fine */
/* False: too many are queued, try again later. now_ns gives how long the reader has been silent. */
MUST_USE bool proc_reader_ask(struct proc_reader *r, uint32_t pid, uint64_t now_ns);
/* The next answer, in no order. False while there is none; then it checks whether the reader hangs. */
MUST_USE bool proc_reader_take(struct proc_reader *r, uint64_t now_ns, struct proc_answer *out);
/* How many processes have kept a reader forever. */
uint32_t proc_reader_nr_hung(const struct proc_reader *r);
