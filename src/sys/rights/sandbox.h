/*
 * sys/rights/sandbox — a child process without rights that parses what other users may have
 * crafted: programs, debug files, traces.
 *
 * The child is this program, executed again: no memory, environment or descriptor of ours is in it. Before it reads
 * anything it gives up its rights for good: user and group nobody (if it was root), an empty root directory (if it
 * may), no capabilities, no_new_privs, limits of memory, descriptors and files, and a seccomp filter that leaves
 * reading, writing and memory. It opens nothing: descriptors are handed to it. A kernel without seccomp leaves out
 * the last: sandbox_has_seccomp() says so.
 *
 * What the child answers is not trusted (sys/rights/sandbox_msg). If it dies, takes too long or
 * gives an invalid answer, it is killed, the sandbox is dead, and sandbox_why() says why. One
 * thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/rights/sandbox_msg.h"

struct sandbox;

/* What a child does: serve() answers on the descriptor until its other end is closed. */
struct sandbox_job {
	const char *name; /* in the list of processes, and in messages: "the reader of %s" */
	void (*serve)(int fd);
	bool has_threads;
};

/* Makes the program that links this able to be the child: the job takes the place of main(). */
#define SANDBOX_JOB(job)                                                             \
	__attribute__((constructor)) static void job##_become(int argc, char **argv) \
	{                                                                            \
		sandbox_become(&(job), argc, argv);                                  \
	}
void sandbox_become(const struct sandbox_job *job, int argc, char **argv);

/* Gives up the rights of this process, as a child does; memory_bytes beyond what it has now. For sandbox_become() and tests. */
MUST_USE int sandbox_enter(const struct sandbox_job *job, uint64_t memory_bytes, bool *has_seccomp);

MUST_USE int sandbox_start(const struct sandbox_job *job, uint64_t memory_bytes, struct diag *d,
                           struct sandbox **out);
void sandbox_end(struct sandbox *s); /* kills it; NULL is fine */

/* Before rights are given up: a program that others may not run is copied, so that it can still be started again. */
void sandbox_keep_program(void);

struct sandbox_limits {
	uint64_t cpu_ns;  /* of the child, from the request to the answer */
	uint64_t wall_ns; /* a file may be on a file system that does not answer */
	size_t max_bytes; /* of an answer */
	/* Checked ten times a second; true ends it with -ECANCELED. May be NULL. */
	bool (*should_stop)(void *ctx);
	void *ctx;
};

/* A request begins; the limits hold until the next one. */
MUST_USE int sandbox_ask(struct sandbox *s, const struct sandbox_msg *m,
                         const struct sandbox_limits *limits);
/* The answer to something that the child asks before it has answered itself; the limits go on. */
MUST_USE int sandbox_reply(struct sandbox *s, const struct sandbox_msg *m);
/* A message to a working child, which it may poll for; never blocks. */
void sandbox_notify(struct sandbox *s, uint32_t kind);
/* The next message of the child. -errno: it is dead, and sandbox_why() says why. */
MUST_USE int sandbox_answer(struct sandbox *s, struct sandbox_msg *out);

/* Between two requests: whether it still takes requests. A child that died meanwhile is reaped. */
bool sandbox_is_alive(struct sandbox *s);
bool sandbox_is_dead(const struct sandbox *s);
/* "was killed by signal 11 (Segmentation fault)"; lent. */
const char *sandbox_why(const struct sandbox *s);
bool sandbox_has_seccomp(const struct sandbox *s);
pid_t sandbox_pid(const struct sandbox *s);
/* Whether this kernel can filter system calls. */
bool sandbox_kernel_has_seccomp(void);
