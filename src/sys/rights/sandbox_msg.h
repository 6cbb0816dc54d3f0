/*
 * sys/rights/sandbox_msg — messages between a program and its sandboxed child: numbers, texts and descriptors, on a
 * stream socket.
 *
 * What is read is not trusted: every length is checked, and the first thing that does not fit makes all that follow 0 or NULL
 * (error). A zeroed struct is empty; sandbox_msg_done() is always needed. Descriptors that were received belong to
 * the message until they are taken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define SANDBOX_FDS_MAX 2U

struct sandbox_msg {
	uint32_t kind;
	uint8_t *bytes;
	size_t len, room;
	size_t at; /* where reading continues */
	int fds[SANDBOX_FDS_MAX];
	uint32_t nr_fds;
	int error; /* -ENOMEM while writing, -EBADMSG while reading; sticks */
};

void sandbox_msg_begin(struct sandbox_msg *m,
                       uint32_t kind); /* keeps the memory, closes descriptors */
void sandbox_msg_done(struct sandbox_msg *m);

void sandbox_put_u64(struct sandbox_msg *m, uint64_t value);
void sandbox_put_bytes(struct sandbox_msg *m, const void *bytes, size_t len);
void sandbox_put_text(struct sandbox_msg *m, const char *text); /* NULL stays NULL */
/* The message's own copy of a descriptor. */
void sandbox_put_fd(struct sandbox_msg *m, int fd);

uint64_t sandbox_get_u64(struct sandbox_msg *m);
/* Lent as long as the message; NULL if there are none. */
const void *sandbox_get_bytes(struct sandbox_msg *m, size_t *len);
const char *sandbox_get_text(struct sandbox_msg *m); /* ends with a NUL */
int sandbox_take_fd(struct sandbox_msg *m,
                    uint32_t at); /* the caller's from now on; -1 = not there */

/*
 * The whole message, as many calls of send and receive as it takes. wait() is called when the socket is not ready
 * (events as of poll) and returns 0 once it is, or -errno, which ends it; NULL = the socket blocks. -EPIPE at the end
 * of the stream, -EMSGSIZE above max bytes.
 */
struct sandbox_wire {
	int fd;
	int (*wait)(void *ctx, short events);
	void *ctx;
};
MUST_USE int sandbox_msg_send(const struct sandbox_wire *w, const struct sandbox_msg *m);
MUST_USE int sandbox_msg_receive(const struct sandbox_wire *w, size_t max, struct sandbox_msg *m);
