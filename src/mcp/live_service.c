#include "mcp/live_desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_filter.h"
#include "base/clock.h"
#include "mcp/event_stream.h"
#include "session/live_feed.h"
#include "session/prog_watch.h"

#define FOLLOWERS_MAX 128U
#define QUERY_LEN     512U

/* All subscribers with the same query. */
struct follower {
	char query[QUERY_LEN];
	uint32_t nr; /* 0 = free */
	uint32_t holder;
	struct stream_wish wish;
	struct event_filter *filter;
	uint64_t scanned;
	uint64_t match;
};

struct live_desk {
	struct live_feed *feed;
	struct prog_watch *programs;
	pthread_mutex_t lock; /* of what follows; before that of the feed */
	struct follower followers[FOLLOWERS_MAX];
	struct sys_stats before;
	bool has_before;
	uint64_t before_ns;
};

int live_desk_new(struct live_feed *feed, struct diag *d, struct live_desk **out)
{
	struct live_desk *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	pthread_mutex_init(&k->lock, NULL);
	k->feed = feed;
	err = prog_watch_new(d, &k->programs);
	if (err) {
		live_desk_free(k);
		return err;
	}
	*out = k;
	return 0;
}

void live_desk_free(struct live_desk *k)
{
	if (!k)
		return;
	prog_watch_free(k->programs);
	for (uint32_t i = 0; i < FOLLOWERS_MAX; i++)
		event_filter_free(k->followers[i].filter);
	sys_stats_done(&k->before);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

struct prog_watch *live_desk_programs(struct live_desk *k)
{
	return k->programs;
}

static struct follower *find(struct live_desk *k, const char *query)
{
	for (uint32_t i = 0; i < FOLLOWERS_MAX; i++)
		if (k->followers[i].nr && strcmp(k->followers[i].query, query) == 0)
			return &k->followers[i];
	return NULL;
}

/* One more of a query that is there; else in a free place. False when there is none. */
static bool join(struct live_desk *k, const char *query, const struct follower *one, bool *is_new)
{
	struct follower *f = find(k, query);

	*is_new = !f;
	if (f) {
		f->nr++;
		return true;
	}
	for (uint32_t i = 0; i < FOLLOWERS_MAX; i++) {
		if (k->followers[i].nr)
			continue;
		k->followers[i] = *one;
		k->followers[i].nr = 1;
		(void)snprintf(k->followers[i].query, QUERY_LEN, "%s", query);
		return true;
	}
	return false;
}

int live_desk_subscribe(struct live_desk *k, const char *query, struct diag *d)
{
	struct follower one = { 0 };
	bool is_new = false, has_place;
	int err;

	if (strlen(query) >= QUERY_LEN)
		return diag_set(d, -EINVAL, NULL, "the query is too long");
	err = stream_wish_parse(query, &one.wish, d);
	if (!err)
		err = stream_wish_filter(&one.wish, d, &one.filter);
	if (!err)
		err = live_feed_hold(k->feed, LIVE_USE_STREAM, one.wish.kinds, d, &one.holder);
	if (err) {
		event_filter_free(one.filter);
		return err;
	}
	/* What is there already is no news. */
	(void)event_stream_newest(k->feed, &one.wish, one.filter, 0, &one.scanned);
	pthread_mutex_lock(&k->lock);
	has_place = join(k, query, &one, &is_new);
	pthread_mutex_unlock(&k->lock);
	if (!has_place || !is_new) {
		live_feed_drop(k->feed, one.holder);
		event_filter_free(one.filter);
	}
	return has_place ? 0
	                 : diag_set(d, -EUSERS, "unsubscribe from some",
	                            "too many subscriptions to the stream");
}

void live_desk_unsubscribe(struct live_desk *k, const char *query)
{
	struct follower gone = { 0 };
	struct follower *f;

	pthread_mutex_lock(&k->lock);
	f = find(k, query);
	if (f && --f->nr == 0) {
		gone = *f;
		*f = (struct follower){ 0 };
		gone.nr = 1;
	}
	pthread_mutex_unlock(&k->lock);
	if (gone.nr)
		live_feed_drop(k->feed, gone.holder);
	event_filter_free(gone.filter);
}

uint64_t live_desk_newest(struct live_desk *k, const char *query)
{
	struct follower *f;
	uint64_t newest = 0;

	pthread_mutex_lock(&k->lock);
	f = find(k, query);
	if (f)
		newest = f->match = event_stream_newest(k->feed, &f->wish, f->filter, f->match,
		                                        &f->scanned);
	pthread_mutex_unlock(&k->lock);
	return newest;
}

/* Only the CPU times and what is in no allocation of its own may be looked at in a copy. */
static int copy_cpus(const struct sys_stats *from, struct sys_stats *to)
{
	*to = *from;
	to->khz = NULL;
	to->nr_khz = 0;
	to->cpus = calloc(from->nr_cpus + 1, sizeof(*to->cpus));
	if (!to->cpus)
		return -ENOMEM;
	if (from->nr_cpus)
		memcpy(to->cpus, from->cpus, from->nr_cpus * sizeof(*to->cpus));
	return 0;
}

int live_desk_cpu_times(struct live_desk *k, struct cpu_times *out, struct diag *d)
{
	uint64_t now_ns = clock_boot_ns();
	int err;

	*out = (struct cpu_times){ 0 };
	pthread_mutex_lock(&k->lock);
	out->before = k->before;
	out->has_before = k->has_before;
	out->elapsed_ns = now_ns - k->before_ns;
	k->before = (struct sys_stats){ 0 };
	k->has_before = false;
	err = sys_stats_read("", 0, &out->now);
	if (!err)
		err = copy_cpus(&out->now, &k->before);
	k->has_before = !err;
	k->before_ns = now_ns;
	pthread_mutex_unlock(&k->lock);
	if (err)
		cpu_times_done(out);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

void cpu_times_done(struct cpu_times *t)
{
	sys_stats_done(&t->now);
	sys_stats_done(&t->before);
}
