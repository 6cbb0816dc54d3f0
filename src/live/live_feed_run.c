/* The thread of a feed: drains the stream and brings it in line with what is needed. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "collect/scx_plan.h"
#include "live/live_feed_priv.h"

#define ROUND_MS  50 /* of draining, while something is attached */
#define NS_PER_MS 1000000ULL
#define MAX_TIDS  (1U << 22)

void live_feed_wake(struct live_feed *f)
{
	uint64_t one = 1;

	(void)!write(f->wake_fd, &one, sizeof(one));
}

/* With the lock held, as all below. */
static uint64_t union_of(const struct live_feed *f)
{
	uint64_t kinds = analyzers_kinds(f->wanted_analyzers);

	for (uint32_t i = 0; i < NEEDS_MAX; i++)
		if (f->needs[i].is_taken)
			kinds |= f->needs[i].kinds;
	/* Names, cgroups and ends of tasks: without them no record can be understood for long. */
	return kinds ? ((kinds | LIFE_KINDS) & (ALL_KINDS | WHY_ONLY_KINDS)) | CGROUP_KINDS : 0;
}

/* Leases that are over; *next is when another one will be. */
static void expire(struct live_feed *f, uint64_t now_ns, uint64_t *next)
{
	*next = UINT64_MAX;
	for (uint32_t i = 0; i < NEEDS_MAX; i++) {
		struct need *n = &f->needs[i];

		if (!n->is_taken || !n->until_ns)
			continue;
		if (n->until_ns <= now_ns)
			*n = (struct need){ 0 };
		else if (n->until_ns < *next)
			*next = n->until_ns;
	}
}

/* What the records are used for, after the needs have changed and their kinds flow. */
static void apply_uses(struct live_feed *f, uint64_t now_ns)
{
	unsigned int uses = 0;

	for (uint32_t i = 0; i < NEEDS_MAX; i++)
		if (f->needs[i].is_taken)
			uses |= f->needs[i].uses;
	if ((uses ^ f->uses) & LIVE_USE_STATS)
		live_model_count(&f->model, uses & LIVE_USE_STATS ? now_ns : 0);
	if ((uses ^ f->uses) & LIVE_USE_WHY)
		live_model_explain(&f->model, uses & LIVE_USE_WHY ? now_ns : 0);
	f->model.is_streaming = uses & LIVE_USE_STREAM;
	f->uses = uses;
}

/* The tasks that there are, for the model of a new stream. */
struct census {
	struct live_feed *feed;
	struct map *tids; /* NULL without memory: then no task is removed */
	uint64_t ts_ns;
};

static int count_task(void *ctx, const struct proc_task *task)
{
	struct census *c = ctx;

	if (c->tids && map_insert(c->tids, &task->tid, 0)) {
		map_free(c->tids);
		c->tids = NULL;
	}
	pthread_mutex_lock(&c->feed->lock);
	live_model_task(&c->feed->model, task, c->ts_ns);
	pthread_mutex_unlock(&c->feed->lock);
	return 0;
}

static bool is_counted(void *ctx, uint32_t tid)
{
	const struct census *c = ctx;
	uint32_t unused;

	return map_find(c->tids, &tid, &unused);
}

static void take_census(struct live_feed *f, uint64_t ts_ns)
{
	struct census c = { .feed = f, .ts_ns = ts_ns };
	struct diag d = { 0 };

	if (map_new(sizeof(uint32_t), MAX_TIDS, &c.tids))
		c.tids = NULL;
	/* Without it the stream itself reports names, a little later. */
	if (f->source.tasks(f->source.ctx, count_task, &c, &d) == 0 && c.tids) {
		pthread_mutex_lock(&f->lock);
		live_model_end_missing(&f->model, is_counted, &c, ts_ns);
		pthread_mutex_unlock(&f->lock);
	}
	map_free(c.tids);
}

/* Detaches; the rest goes to who was there so far. */
static void end_stream(struct live_feed *f)
{
	struct ev_sink sink = live_model_sink(&f->model);
	struct diag d = { 0 };
	uint64_t now_ns;

	if (!f->stream)
		return;
	pthread_mutex_lock(&f->lock);
	(void)!f->source.finish(f->stream, &sink, &d);
	now_ns = clock_boot_ns();
	live_model_pause(&f->model, now_ns);
	f->status.attached_ns += now_ns - f->since_ns;
	f->since_ns = 0;
	f->status.is_attached = false;
	f->status.kinds = f->status.missing = 0;
	f->stream_kinds = 0;
	pthread_mutex_unlock(&f->lock);
	f->source.close(f->stream);
	f->stream = NULL;
}

static void begin_stream(struct live_feed *f, void *stream, uint64_t kinds, uint64_t hole_ns)
{
	uint64_t now_ns = f->source.start_ns(stream);

	f->stream = stream;
	take_census(f, now_ns);
	pthread_mutex_lock(&f->lock);
	live_model_resume(&f->model, kinds, now_ns);
	f->stream_kinds = kinds;
	f->since_ns = now_ns;
	f->status.is_attached = true;
	f->status.missing = f->source.missing(stream) & kinds & ALL_KINDS;
	f->status.kinds = kinds & ~f->status.missing & ALL_KINDS;
	f->status.nr_streams++;
	f->status.hole_ns += hole_ns ? now_ns - hole_ns : 0;
	pthread_mutex_unlock(&f->lock);
}

/* The new stream is loaded before the old one goes, so that a failure leaves what there was. */
static int change_stream(struct live_feed *f, uint64_t kinds, struct diag *d)
{
	uint64_t hole_ns = f->stream ? 1 : 0;
	void *next = NULL;
	int err = kinds ? f->source.open(f->source.ctx, kinds, d, &next) : 0;

	if (err)
		return err;
	end_stream(f);
	if (!next)
		return 0;
	hole_ns = hole_ns ? clock_boot_ns() : 0;
	err = f->source.attach(next, d);
	if (err) {
		f->source.close(next);
		return err;
	}
	begin_stream(f, next, kinds, hole_ns);
	return 0;
}

static void answer(struct live_feed *f, uint64_t asked, int err, const struct diag *d)
{
	f->answered = asked;
	f->error = err;
	f->diag = *d;
	pthread_cond_broadcast(&f->change);
}

/* Brings the stream in line with the needs. Called and left with the lock held. */
static void follow_needs(struct live_feed *f)
{
	uint64_t asked = f->asked, kinds = union_of(f);
	struct diag d = { 0 };
	int err = 0;

	/* Only a new request gets another try. */
	if (kinds && kinds == f->refused && f->answered == asked)
		return;
	f->refused = 0;
	if (kinds != f->stream_kinds) {
		pthread_mutex_unlock(&f->lock);
		err = change_stream(f, kinds, &d);
		pthread_mutex_lock(&f->lock);
		if (err)
			f->refused = kinds;
	}
	if (!err)
		apply_uses(f, clock_boot_ns());
	if (f->answered != asked || err)
		answer(f, asked, err, &d);
}

static void drain(struct live_feed *f)
{
	struct ev_sink sink = live_model_sink(&f->model);
	struct diag d = { 0 };

	/* What cannot be read now may be read later: losses are counted by the kernel side. */
	if (f->stream)
		(void)!f->source.poll(f->stream, &sink, &d);
	f->rounds++;
	pthread_cond_broadcast(&f->change);
}

static void sleep_until(struct live_feed *f, uint64_t next_ns)
{
	struct pollfd fds[2] = {
		{ .fd = f->wake_fd, .events = POLLIN },
		{ .fd = f->stream ? f->source.fd(f->stream) : -1, .events = POLLIN },
	};
	uint64_t now_ns = clock_boot_ns(), count;
	int ms = f->stream ? ROUND_MS : -1;

	if (next_ns != UINT64_MAX && !f->stream)
		ms = next_ns > now_ns ? (int)((next_ns - now_ns) / NS_PER_MS) + 1 : 0;
	if (poll(fds, 2, ms) > 0 && (fds[0].revents & POLLIN))
		(void)!read(f->wake_fd, &count, sizeof(count));
}

void *live_feed_run(void *ctx)
{
	struct live_feed *f = ctx;
	uint64_t next_ns;

	pthread_mutex_lock(&f->lock);
	while (!f->is_ending) {
		drain(f);
		expire(f, clock_boot_ns(), &next_ns);
		follow_needs(f);
		if (f->answered != f->asked)
			continue;
		pthread_mutex_unlock(&f->lock);
		sleep_until(f, next_ns);
		pthread_mutex_lock(&f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	end_stream(f);
	return NULL;
}
