/*
 * serve/blame — who kept whom waiting, by cgroup, and idle time that was wasted: the event stream, its rolling timeline, and the ledger over
 * it, every few seconds.
 *
 * The stream is read in the caller's thread, the analysis runs on one of its own, and its result is added to the sums by the poll
 * that finds it done. This costs what record costs: it is there only when asked for.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "serve/sums.h"

#define SERVE_BLAME_POLL_MS 100 /* between two polls, at most */

struct serve_blame;

/* Loads and attaches; takes rights, or a broker that has them. */
MUST_USE int serve_blame_open(struct diag *d, struct serve_blame **out);
void serve_blame_close(struct serve_blame *b);   /* NULL is fine */
int serve_blame_fd(const struct serve_blame *b); /* readable: poll; -1 = none */
MUST_USE int serve_blame_poll(struct serve_blame *b, struct sums *s, struct diag *d);
