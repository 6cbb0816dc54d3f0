/*
 * serve/dumps — the dumps of a flight recorder in a directory: which there are, which are new, which shows a wait, which are too many.
 *
 * A dump is known by its name, as record/flight_name makes it; other files are left alone. The directory is opened once,
 * while there are rights; names are read from it later without any.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/attr.h"
#include "base/diag.h"
#include "model/trigger.h"
#include "serve/sums.h"

#define DUMPS_MAX 4096U /* that are looked at */

struct dumps;

struct dump_name {
	enum trigger_kind kind;
	time_t when;    /* it was begun */
	uint32_t tid;   /* 0 = of no task */
	double value_s; /* how long the wait was that is its trigger; 0 = it is none */
};

/* False for a file that is no dump. */
MUST_USE bool dump_name_parse(const char *name, struct dump_name *out);

MUST_USE int dumps_open(const char *dir, double keep_s, struct diag *d, struct dumps **out);
void dumps_close(struct dumps *d); /* NULL is fine */
/* Called for each that has come, by dumps_poll(). */
void dumps_watch(struct dumps *d, void (*on_new)(void *ctx, const char *name), void *ctx);
/* Those that have come since the last call are counted, by trigger; what was there before the first one is not. */
void dumps_poll(struct dumps *d, struct sums *s);
struct dump_wait {
	uint32_t tid;
	double end_s; /* since 1970 */
	double dur_s;
};
/*
 * The name of the dump that shows a wait: the one that it triggered, else one that was being made when it ended. NULL = there is
 * none. A dump has its name from its beginning, and is whole two seconds later.
 */
const char *dumps_find(const struct dumps *d, const struct dump_wait *w);

struct dumps_limits {
	uint64_t max_nr;
	uint64_t max_bytes;
};
/* Removes the oldest until the limits hold; the newest stays in any case. How many, or -errno. */
int dumps_prune(int dir_fd, const struct dumps_limits *limits);
