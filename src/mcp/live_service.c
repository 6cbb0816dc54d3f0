#include "mcp/live_service.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_filter.h"
#include "base/clock.h"
#include "live/live_feed.h"
#include "mcp/event_stream.h"
#include "sys/bpf/prog_watch.h"

#define FOLLOWERS_MAX 128U
#define QUERY_LEN     512U
#define OWNERS_MAX    64U /* more than there are sessions */

/* All subscribers with the same query. */
struct follower {
	char query[QUERY_LEN];
	uint32_t nr; /* 0 = free */
	uint32_t holder;
	struct stream_request request;
	struct event_filter *filter;
	uint64_t scanned;
	uint64_t match;
};

/* Of one client; of none (0) too, which never leaves. */
struct beginner {
	uint64_t owner;
	uint32_t things; /* 0 = free */
};

struct live_service {
	struct live_feed *feed;
	struct prog_watch *programs;
	pthread_mutex_t lock; /* of what follows; before that of the feed */
	struct follower followers[FOLLOWERS_MAX];
	unsigned int nr_stats; /* holders of the aggregates */
	uint32_t stats_holder;
	struct sys_stats before;
	bool has_before;
	uint64_t before_ns;
	pthread_mutex_t begun_lock; /* of the next one; held for moments only */
	struct beginner begun[OWNERS_MAX];
};

int live_service_new(struct live_feed *feed, struct diag *d, struct live_service **out)
{
	struct live_service *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->begun_lock, NULL);
	s->feed = feed;
	err = prog_watch_new(d, &s->programs);
	if (err) {
		live_service_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void live_service_free(struct live_service *s)
{
	if (!s)
		return;
	prog_watch_free(s->programs);
	for (uint32_t i = 0; i < FOLLOWERS_MAX; i++)
		event_filter_free(s->followers[i].filter);
	sys_stats_done(&s->before);
	pthread_mutex_destroy(&s->begun_lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct prog_watch *live_service_programs(struct live_service *s)
{
	return s->programs;
}

static struct follower *find(struct live_service *s, const char *query)
{
	for (uint32_t i = 0; i < FOLLOWERS_MAX; i++)
		if (s->followers[i].nr && strcmp(s->followers[i].query, query) == 0)
			return &s->followers[i];
	return NULL;
}

/* One more of a query that is there; else in a free place. False when there is none. */
static bool join(struct live_service *s, const char *query, const struct follower *one,
                 bool *is_new)
{
	struct follower *f = find(s, query);

	*is_new = !f;
	if (f) {
		f->nr++;
		return true;
	}
	for (uint32_t i = 0; i < FOLLOWERS_MAX; i++) {
		if (s->followers[i].nr)
			continue;
		s->followers[i] = *one;
		s->followers[i].nr = 1;
		(void)snprintf(s->followers[i].query, QUERY_LEN, "%s", query);
		return true;
	}
	return false;
}

int live_service_subscribe(struct live_service *s, const char *query, struct diag *d)
{
	struct follower one = { 0 };
	bool is_new = false, has_place;
	int err;

	if (strlen(query) >= QUERY_LEN)
		return diag_set(d, -EINVAL, NULL, "the query is too long");
	err = stream_request_parse(query, &one.request, d);
	if (!err)
		err = stream_request_filter(&one.request, d, &one.filter);
	if (!err)
		err = live_feed_hold(s->feed, LIVE_USE_STREAM, one.request.kinds, d, &one.holder);
	if (err) {
		event_filter_free(one.filter);
		return err;
	}
	/* What already exists is not new. */
	(void)event_stream_newest(s->feed, &one.request, one.filter, 0, &one.scanned);
	pthread_mutex_lock(&s->lock);
	has_place = join(s, query, &one, &is_new);
	pthread_mutex_unlock(&s->lock);
	if (!has_place || !is_new) {
		live_feed_drop(s->feed, one.holder);
		event_filter_free(one.filter);
	}
	return has_place ? 0
	                 : diag_set(d, -EINVAL, "unsubscribe from some",
	                            "too many subscriptions to the stream");
}

void live_service_unsubscribe(struct live_service *s, const char *query)
{
	struct follower gone = { 0 };
	struct follower *f;

	pthread_mutex_lock(&s->lock);
	f = find(s, query);
	if (f && --f->nr == 0) {
		gone = *f;
		*f = (struct follower){ 0 };
		gone.nr = 1;
	}
	pthread_mutex_unlock(&s->lock);
	if (gone.nr)
		live_feed_drop(s->feed, gone.holder);
	event_filter_free(gone.filter);
}

int live_service_hold_stats(struct live_service *s, struct diag *d)
{
	int err = 0;

	pthread_mutex_lock(&s->lock);
	if (s->feed && !s->nr_stats)
		err = live_feed_hold(s->feed, LIVE_USE_STATS, live_feed_stats_kinds(), d,
		                     &s->stats_holder);
	s->nr_stats += !err;
	pthread_mutex_unlock(&s->lock);
	return err;
}

void live_service_drop_stats(struct live_service *s)
{
	pthread_mutex_lock(&s->lock);
	if (--s->nr_stats == 0 && s->feed)
		live_feed_drop(s->feed, s->stats_holder);
	pthread_mutex_unlock(&s->lock);
}

uint64_t live_service_newest(struct live_service *s, const char *query)
{
	struct follower *f;
	uint64_t newest = 0;

	pthread_mutex_lock(&s->lock);
	f = find(s, query);
	if (f)
		newest = f->match = event_stream_newest(s->feed, &f->request, f->filter, f->match,
		                                        &f->scanned);
	pthread_mutex_unlock(&s->lock);
	return newest;
}

/* Only the CPU times and members without their own allocation may be read in a copy. */
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

int live_service_cpu_times(struct live_service *s, struct cpu_times *out, struct diag *d)
{
	uint64_t now_ns = clock_boot_ns();
	int err;

	*out = (struct cpu_times){ 0 };
	pthread_mutex_lock(&s->lock);
	out->before = s->before;
	out->has_before = s->has_before;
	out->elapsed_ns = now_ns - s->before_ns;
	s->before = (struct sys_stats){ 0 };
	s->has_before = false;
	err = sys_stats_read("", 0, &out->now);
	if (!err)
		err = copy_cpus(&out->now, &s->before);
	s->has_before = !err;
	s->before_ns = now_ns;
	pthread_mutex_unlock(&s->lock);
	if (err)
		cpu_times_done(out);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

void cpu_times_done(struct cpu_times *t)
{
	sys_stats_done(&t->now);
	sys_stats_done(&t->before);
}

void live_service_began(struct live_service *s, uint64_t owner, uint32_t things)
{
	struct beginner *place = NULL;

	pthread_mutex_lock(&s->begun_lock);
	for (uint32_t i = 0; i < OWNERS_MAX; i++) {
		struct beginner *b = &s->begun[i];

		if (b->things && b->owner == owner) {
			place = b;
			break;
		}
		place = b->things ? place : b;
	}
	if (place)
		*place = (struct beginner){ owner, place->things | things };
	pthread_mutex_unlock(&s->begun_lock);
}

void live_service_stopped(struct live_service *s, uint32_t things)
{
	pthread_mutex_lock(&s->begun_lock);
	for (uint32_t i = 0; i < OWNERS_MAX; i++)
		s->begun[i].things &= ~things;
	pthread_mutex_unlock(&s->begun_lock);
}

uint32_t live_service_leave(struct live_service *s, uint64_t owner, uint32_t things)
{
	uint32_t mine = 0, others = 0;

	pthread_mutex_lock(&s->begun_lock);
	for (uint32_t i = 0; i < OWNERS_MAX; i++) {
		struct beginner *b = &s->begun[i];

		if (b->owner != owner) {
			others |= b->things;
			continue;
		}
		mine |= b->things & things;
		b->things &= ~things;
	}
	pthread_mutex_unlock(&s->begun_lock);
	return mine & ~others;
}

bool live_service_has_begun(struct live_service *s, uint64_t owner)
{
	bool has_any = false;

	pthread_mutex_lock(&s->begun_lock);
	for (uint32_t i = 0; i < OWNERS_MAX; i++)
		has_any |= s->begun[i].things && s->begun[i].owner == owner;
	pthread_mutex_unlock(&s->begun_lock);
	return has_any;
}

bool live_service_is_on(struct live_service *s, uint32_t things)
{
	bool has_any = false;

	pthread_mutex_lock(&s->begun_lock);
	for (uint32_t i = 0; i < OWNERS_MAX; i++)
		has_any |= s->begun[i].things & things;
	pthread_mutex_unlock(&s->begun_lock);
	return has_any;
}
