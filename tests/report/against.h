/*
 * tests/report/against — sums of packed tables over a span of buckets, and those that the analyses report of the same time and tasks.
 */
#pragma once

#include "unpacked.h"

#include "analyze/pass.h"

struct selection {
	uint64_t from, to;  /* buckets, to without */
	const char *comm;   /* NULL = all */
	const char *cgroup; /* a path; NULL = all */
	uint32_t tid, pid;  /* 0 = all */
};

/* Compares all; by_thread: also what needs threads one by one. */
void expect_like_analyze(const struct source *s, const struct pass_args *base,
                         const struct unpacked *u, const struct selection *sel, bool by_thread);
/* Each bucket alone: there, culprits are those of analyze by cgroup, too, also where one changes its cgroup while it runs. */
void expect_each_bucket(const struct source *s, const struct pass_args *base,
                        const struct unpacked *u);
/* Random spans, each with a random filter. */
void expect_random_spans(const struct source *s, const struct pass_args *base,
                         const struct unpacked *u, int nr, bool by_thread);
