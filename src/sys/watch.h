/*
 * sys/watch — what a run waits for besides time: signals, descriptors, a closed output, a child.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked while a watch is open and come as events; a SIGHUP that is ignored
 * (nohup) stays so. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct watch;

enum watch_event {
	WATCH_TIME,   /* the deadline */
	WATCH_DATA,   /* the descriptor given as data_fd can be read */
	WATCH_SIGNAL, /* asked to stop */
	WATCH_USER,   /* SIGUSR2 */
	WATCH_CHILD,  /* a child has ended */
	WATCH_OUTPUT, /* the reader of the output has exited */
};

/* output_fd, or -1, is watched for its reader's going away. */
MUST_USE int watch_open(int output_fd, struct diag *d, struct watch **out);
/* One that leaves signals to another part of the program. */
MUST_USE int watch_open_deaf(struct diag *d, struct watch **out);
/* Another descriptor, polled for input from here on. */
MUST_USE int watch_data(struct watch *w, int data_fd, struct diag *d);
/* Pending signals are dropped: the caller that closes is stopping. NULL is fine. */
void watch_close(struct watch *w);
/* Sleeps until deadline_ns of the boot-time clock or the first event; or -errno. */
MUST_USE int watch_wait(struct watch *w, uint64_t deadline_ns, enum watch_event *out);

/*
 * Writes to output_fd. A signal that comes meanwhile is kept for watch_wait(), so that no report is cut; a
 * second one ends the writing: a reader that does not read must not keep us from stopping. 0, -EINTR with
 * the remainder unwritten, -EPIPE when the reader has exited, or another -errno.
 */
MUST_USE int watch_write(struct watch *w, const char *bytes, size_t len);
