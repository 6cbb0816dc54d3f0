#include "session/live_feed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analyze/event_facts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "collect/scx_plan.h"
#include "model/event_buffer.h"
#include "model/live.h"
#include "session/live_model.h"
#include "sys/topology.h"

#define NEEDS_MAX       256U
#define ROUND_MS        50 /* of draining, while something is attached */
#define FIRST_LOOK_NS   200000000ULL
#define LEASE_NS        30000000000ULL
#define NS_PER_MS       1000000ULL
#define MAX_TIDS        (1U << 22)
#define FRESH_ROUNDS    2U /* the first may have begun before the call */
#define FRESH_TIMEOUT_S 2

#define LIFE_KINDS \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
#define SCHED_KINDS \
	(EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW) | EV_BIT(EV_MIGRATE))
#define SOFTIRQ_KINDS (EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT))
#define STATS_KINDS   (SCHED_KINDS | LIFE_KINDS | SCX_KINDS)
#define STREAM_KINDS  (SCHED_KINDS | LIFE_KINDS | SOFTIRQ_KINDS | EV_BIT(EV_HANG) | EV_BIT(EV_WAIT))
/* Whatever collect/events has a program for. */
#define ALL_KINDS                                                                                  \
	(STREAM_KINDS | SCX_KINDS | EV_BIT(EV_WAKEUP) | EV_BIT(EV_IRQ_ENTRY) |                     \
	 EV_BIT(EV_IRQ_EXIT) | EV_BIT(EV_IPI_SEND) | EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IPI_EXIT) |  \
	 EV_BIT(EV_WORK_START) | EV_BIT(EV_WORK_END) | EV_BIT(EV_CPU_IDLE) | EV_BIT(EV_CPU_FREQ) | \
	 EV_BIT(EV_CPU_HOTPLUG) | EV_BIT(EV_HW_PRESSURE) | EV_BIT(EV_GPU_MEM))

struct need {
	bool is_taken;
	unsigned int uses;
	uint64_t kinds;
	uint64_t until_ns; /* 0 = until it is dropped */
};

struct live_feed {
	struct live_feed_cfg cfg;
	struct topology *topology; /* our own; NULL = lent */
	struct live_kernel *kernel;
	struct live_source source;
	int wake_fd;
	bool has_thread;
	pthread_t thread;

	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t change;
	bool is_ending;
	struct need needs[NEEDS_MAX];
	bool is_tracking;
	uint32_t tracker;
	uint32_t wanted_analyzers; /* running, or to be started once their records flow */
	uint64_t asked, answered;  /* changes of the needs, and those that the thread has seen */
	int error;                 /* of the last answer */
	struct diag diag;
	uint64_t refused; /* kinds that could not be had; 0 = none */
	uint64_t rounds;
	unsigned int uses;
	struct live_model model;
	struct live_feed_status status;
	uint64_t since_ns; /* of the stream that is attached */

	uint64_t stream_kinds;
	void *stream; /* the thread's own */
};

static void scoped_feed(struct live_feed *const *f)
{
	live_feed_close(*f);
}

uint64_t live_feed_stats_kinds(void)
{
	return STATS_KINDS;
}

uint64_t live_feed_all_kinds(void)
{
	return ALL_KINDS;
}

static uint64_t kinds_of_type(const char *name, size_t len)
{
	uint64_t kinds = 0;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++) {
		const char *type = stream_type_name(kind);

		if (type && (EV_BIT(kind) & ALL_KINDS) && strlen(type) == len &&
		    strncmp(type, name, len) == 0)
			kinds |= EV_BIT(kind);
	}
	/* One is told of when it ends, with the time at which it began. */
	return kinds & SOFTIRQ_KINDS ? kinds | SOFTIRQ_KINDS : kinds;
}

int live_feed_kinds(const char *types, struct diag *d, uint64_t *out)
{
	uint64_t kinds = 0;

	if (!types || !*types || strcmp(types, "all") == 0) {
		*out = types && *types ? ALL_KINDS : STREAM_KINDS;
		return 0;
	}
	while (*types) {
		size_t len = strcspn(types, ",");
		uint64_t more = kinds_of_type(types, len);

		if (!more)
			return diag_set(
				d, -EINVAL,
				"such as sched_switch, sched_waking, sched_migrate_task, fork, "
				"exit, softirq, ipi; or all",
				"there is no type of events '%.*s'", len < 40 ? (int)len : 40,
				types);
		kinds |= more;
		types += len + (types[len] == ',');
	}
	*out = kinds;
	return 0;
}

static void wake(struct live_feed *f)
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
	/* Names and ends of tasks: without them no record can be understood for long. */
	return kinds ? (kinds | LIFE_KINDS) & ALL_KINDS : 0;
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
	if (uses & ~f->uses & LIVE_USE_STATS)
		live_reset(f->model.live, now_ns);
	if (uses & ~f->uses & LIVE_USE_STREAM)
		event_buffer_resume(f->model.stream);
	f->model.is_streaming = uses & LIVE_USE_STREAM;
	f->uses = uses;
}

/* The tasks that there are, for the model of a new stream. */
struct census {
	struct live_feed *feed;
	struct map *tids; /* NULL without memory: then nobody is buried */
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
	/* Without it the stream itself tells names, a little later. */
	if (f->source.tasks(f->source.ctx, count_task, &c, &d) == 0 && c.tids) {
		pthread_mutex_lock(&f->lock);
		live_model_bury(&f->model, is_counted, &c, ts_ns);
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
	uint64_t now_ns = clock_boot_ns();

	f->stream = stream;
	take_census(f, now_ns);
	pthread_mutex_lock(&f->lock);
	live_model_resume(&f->model, f->wanted_analyzers, now_ns);
	f->stream_kinds = kinds;
	f->since_ns = now_ns;
	f->status.is_attached = true;
	f->status.missing = f->source.missing(stream) & kinds;
	f->status.kinds = kinds & ~f->status.missing;
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

	if (kinds == f->refused && kinds) {
		if (f->answered != asked)
			answer(f, asked, f->error, &f->diag);
		return;
	}
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

static void *run(void *ctx)
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

static int start_thread(struct live_feed *f, struct diag *d)
{
	sigset_t all, before;

	f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake_fd < 0)
		return diag_set(d, -errno, NULL, "cannot create an eventfd");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	f->has_thread = pthread_create(&f->thread, NULL, run, f) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return f->has_thread ? 0 : diag_set(d, -EAGAIN, NULL, "cannot start a thread");
}

int live_feed_open(const struct live_feed_cfg *cfg, struct diag *d, struct live_feed **out)
{
	SCOPED(scoped_feed) struct live_feed *f = calloc(1, sizeof(*f));
	int err = 0;

	if (!f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	f->cfg = *cfg;
	f->wake_fd = -1;
	f->cfg.lease_ns = cfg->lease_ns ? cfg->lease_ns : LEASE_NS;
	f->cfg.first_look_ns = cfg->first_look_ns ? cfg->first_look_ns : FIRST_LOOK_NS;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->change, NULL);
	if (!cfg->topology)
		err = topology_read("/sys", d, &f->topology);
	if (!err && !cfg->source)
		err = live_kernel_new(f->topology, cfg->tgid, d, &f->kernel);
	if (err)
		return err;
	f->source = cfg->source ? *cfg->source : live_kernel_source(f->kernel);
	err = live_model_init(&f->model, cfg->topology ? cfg->topology : f->topology, d);
	if (!err)
		err = start_thread(f, d);
	if (err)
		return err;
	*out = TAKE_PTR(f);
	return 0;
}

void live_feed_close(struct live_feed *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->is_ending = true;
	pthread_cond_broadcast(&f->change);
	pthread_mutex_unlock(&f->lock);
	if (f->has_thread) {
		wake(f);
		pthread_join(f->thread, NULL);
	}
	live_model_done(&f->model);
	live_kernel_free(f->kernel);
	topology_free(f->topology);
	if (f->wake_fd >= 0)
		close(f->wake_fd);
	pthread_cond_destroy(&f->change);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* Until the thread has seen the needs as they are now. */
static int settle(struct live_feed *f, struct diag *d)
{
	uint64_t mine = ++f->asked;

	wake(f);
	while (f->answered < mine && !f->is_ending)
		pthread_cond_wait(&f->change, &f->lock);
	if (f->is_ending)
		return diag_set(d, -ECANCELED, NULL, "the server ends");
	return f->error ? diag_set(d, f->error, f->diag.hint, "%s", f->diag.what) : 0;
}

static int add_need(struct live_feed *f, const struct need *need, struct diag *d, uint32_t *out)
{
	for (uint32_t i = 0; i < NEEDS_MAX; i++) {
		if (f->needs[i].is_taken)
			continue;
		f->needs[i] = *need;
		f->needs[i].is_taken = true;
		*out = i;
		return 0;
	}
	return diag_set(d, -EUSERS, "unsubscribe from some", "too many want live data");
}

static void remove_need(struct live_feed *f, uint32_t i)
{
	if (i >= NEEDS_MAX)
		return;
	f->needs[i] = (struct need){ 0 };
	f->asked++;
	wake(f);
}

static int hold(struct live_feed *f, const struct need *need, struct diag *d, uint32_t *out)
{
	int err = add_need(f, need, d, out);

	if (err)
		return err;
	err = settle(f, d);
	if (err)
		remove_need(f, *out);
	return err;
}

int live_feed_hold(struct live_feed *f, unsigned int uses, uint64_t kinds, struct diag *d,
                   uint32_t *out)
{
	struct need need = { .uses = uses, .kinds = kinds };
	int err;

	pthread_mutex_lock(&f->lock);
	err = hold(f, &need, d, out);
	pthread_mutex_unlock(&f->lock);
	return err;
}

void live_feed_drop(struct live_feed *f, uint32_t holder)
{
	pthread_mutex_lock(&f->lock);
	remove_need(f, holder);
	pthread_mutex_unlock(&f->lock);
}

static struct need *find_lease(struct live_feed *f, unsigned int uses, uint64_t kinds)
{
	for (uint32_t i = 0; i < NEEDS_MAX; i++) {
		struct need *n = &f->needs[i];

		if (n->is_taken && n->until_ns && n->uses == uses && n->kinds == kinds)
			return n;
	}
	return NULL;
}

/* Whether that use has had its first look. */
static bool is_served(const struct live_feed *f, const struct need *need)
{
	return (f->uses & need->uses) == need->uses &&
	       !(need->kinds & ~f->stream_kinds & ALL_KINDS);
}

static void wait_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL) };

	while (nanosleep(&t, &t) && errno == EINTR) {
	}
}

int live_feed_borrow(struct live_feed *f, unsigned int uses, uint64_t kinds, struct diag *d)
{
	struct need need = { .uses = uses, .kinds = kinds }, *lease;
	bool is_first;
	uint32_t slot;
	int err = 0;

	pthread_mutex_lock(&f->lock);
	need.until_ns = clock_boot_ns() + f->cfg.lease_ns;
	is_first = !is_served(f, &need);
	lease = find_lease(f, uses, kinds);
	if (lease)
		lease->until_ns = need.until_ns;
	if (!lease)
		err = hold(f, &need, d, &slot);
	else if (is_first)
		err = settle(f, d);
	pthread_mutex_unlock(&f->lock);
	if (!err && is_first)
		wait_ns(f->cfg.first_look_ns);
	return err;
}

int live_feed_track(struct live_feed *f, bool is_on, struct diag *d)
{
	struct need need = { .uses = LIVE_USE_STATS | LIVE_USE_STREAM, .kinds = ALL_KINDS };
	int err = 0;

	pthread_mutex_lock(&f->lock);
	if (is_on && !f->is_tracking) {
		f->is_tracking = true; /* before the wait: nobody else begins it too */
		err = hold(f, &need, d, &f->tracker);
		if (err)
			f->is_tracking = false;
	} else if (!is_on && f->is_tracking) {
		f->is_tracking = false;
		remove_need(f, f->tracker);
		err = settle(f, d);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

int live_feed_start(struct live_feed *f, uint32_t set, struct diag *d)
{
	uint32_t before;
	int err;

	pthread_mutex_lock(&f->lock);
	before = f->wanted_analyzers;
	f->wanted_analyzers |= set;
	err = settle(f, d);
	if (!err)
		err = analyzers_start(f->model.analyzers, set, clock_boot_ns(), d);
	if (err) {
		f->wanted_analyzers &= before | ~set;
		f->asked++;
		wake(f);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

void live_feed_stop(struct live_feed *f, uint32_t set)
{
	struct diag d = { 0 };

	(void)live_feed_lock(f);
	analyzers_stop(f->model.analyzers, set, clock_boot_ns());
	f->wanted_analyzers &= ~set;
	(void)!settle(f, &d);
	live_feed_unlock(f);
}

void live_feed_reset(struct live_feed *f, uint32_t set)
{
	(void)live_feed_lock(f);
	analyzers_reset(f->model.analyzers, set, clock_boot_ns());
	live_feed_unlock(f);
}

static struct live_view view_of(const struct live_feed *f)
{
	return (struct live_view){ f->model.live, f->model.analyzers, f->model.stream,
		                   f->model.tasks };
}

struct live_view live_feed_lock_now(struct live_feed *f)
{
	pthread_mutex_lock(&f->lock);
	return view_of(f);
}

struct live_view live_feed_lock(struct live_feed *f)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FRESH_TIMEOUT_S;
	pthread_mutex_lock(&f->lock);
	for (unsigned int i = 0; i < FRESH_ROUNDS && f->status.is_attached && !f->is_ending; i++) {
		uint64_t before = f->rounds;
		int err = 0;

		wake(f);
		while (f->rounds == before && !f->is_ending && !err)
			err = pthread_cond_timedwait(&f->change, &f->lock, &until);
	}
	return view_of(f);
}

void live_feed_unlock(struct live_feed *f)
{
	pthread_mutex_unlock(&f->lock);
}

void live_feed_status(struct live_feed *f, struct live_feed_status *out)
{
	pthread_mutex_lock(&f->lock);
	*out = f->status;
	out->is_tracking = f->is_tracking;
	out->uses = f->uses;
	out->running = f->wanted_analyzers;
	if (f->since_ns)
		out->attached_ns += clock_boot_ns() - f->since_ns;
	for (uint32_t i = 0; i < NEEDS_MAX; i++) {
		if (!f->needs[i].is_taken || (f->is_tracking && i == f->tracker))
			continue;
		out->nr_readers += f->needs[i].until_ns != 0;
		out->nr_holders += f->needs[i].until_ns == 0;
	}
	pthread_mutex_unlock(&f->lock);
}
