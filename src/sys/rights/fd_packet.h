/*
 * sys/rights/fd_packet — packets between two processes of ours, on a socket pair of SOCK_SEQPACKET, with descriptors.
 *
 * All block, and go on after signals.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define FD_PACKET_MAX 160U /* descriptors in one packet; the kernel takes 253 */

struct fd_packet {
	int fds[FD_PACKET_MAX];
	uint32_t nr;
};

/* The bytes that were sent, or -errno. The descriptors stay the sender's. */
MUST_USE int fd_packet_send_all(int fd, const void *bytes, size_t len,
                                const struct fd_packet *with);
/*
 * The bytes of the packet, at most len; 0 when the other side is gone; -errno. *with has the new descriptors, close-on-exec. If
 * some did not fit into the table of this process, it is -EMFILE, and none is there.
 */
MUST_USE int fd_packet_receive_all(int fd, void *bytes, size_t len, struct fd_packet *with);
void fd_packet_close(struct fd_packet *p); /* its descriptors */

/* The same with at most one descriptor. with < 0: none. */
MUST_USE int fd_packet_send(int fd, const void *bytes, size_t len, int with);
/* *with is -1 without one; others that came along are closed. */
MUST_USE int fd_packet_receive(int fd, void *bytes, size_t len, int *with);
