/*
 * session/watch — what a run waits for besides time: signals, descriptors, a closed output, a child.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked while a watch is open and come as events. One thread.
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
	WATCH_SIGNAL, /* told to stop */
	WATCH_USER,   /* SIGUSR2 */
	WATCH_CHILD,  /* a child has ended */
	WATCH_OUTPUT, /* nobody reads the output any more */
};

/* output_fd, or -1, is watched for its reader's going away. */
MUST_USE int watch_open(int output_fd, struct diag *d, struct watch **out);
/* One that leaves signals to whoever else in the program waits for them. */
MUST_USE int watch_open_deaf(struct diag *d, struct watch **out);
/* Another descriptor, polled for input from here on. */
MUST_USE int watch_data(struct watch *w, int data_fd, struct diag *d);
/* Signals that came and were not waited for are forgotten: whoever closes has obeyed. NULL is fine. */
void watch_close(struct watch *w);
/* Sleeps until deadline_ns of the boot-time clock or the first event; or -errno. */
MUST_USE int watch_wait(struct watch *w, uint64_t deadline_ns, enum watch_event *out);

/*
 * Writes to output_fd. A signal that comes meanwhile is kept for watch_wait(), so that no report is cut; a
 * second one ends the writing: a reader that does not read must not keep us from stopping. 0, -EINTR with the
 * rest unwritten, -EPIPE when the reader has gone, or another -errno.
 */
MUST_USE int watch_write(struct watch *w, const char *bytes, size_t len);
