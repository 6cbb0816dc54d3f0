/*
 * session/watch — what a run waits for besides time: signals, descriptors, a closed output, a child.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked while a watch is open and come as events. One thread.
 */
#pragma once

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

/* data_fd is polled for input; output_fd, or -1, only for its reader's going away. */
MUST_USE int watch_open(int data_fd, int output_fd, struct diag *d, struct watch **out);
/* Signals that came and were not waited for are forgotten: whoever closes has obeyed. NULL is fine. */
void watch_close(struct watch *w);
/* Sleeps until deadline_ns of the boot-time clock or the first event; or -errno. */
MUST_USE int watch_wait(struct watch *w, uint64_t deadline_ns, enum watch_event *out);

uint64_t watch_now_ns(void); /* the boot-time clock */
