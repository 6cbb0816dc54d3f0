#include "live/live_feed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analyze/event_facts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "collect/scx_plan.h"
#include "live/live_feed_priv.h"
#include "sys/topology.h"

#define FIRST_BATCH_NS   200000000ULL
#define LEASE_NS         30000000000ULL
#define FRESH_ROUNDS     2U /* the first may have begun before the call */
#define FRESH_TIMEOUT_NS 2000000000ULL

DEFINE_SCOPED(live_feed, live_feed_close)

uint64_t live_feed_stats_kinds(void)
{
	return STATS_KINDS;
}

uint64_t live_feed_why_kinds(void)
{
	return analyzers_kinds(ANALYZERS_OF_WHY);
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
	/* One is reported when it ends, with the time at which it began. */
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

static int start_thread(struct live_feed *f, struct diag *d)
{
	f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake_fd < 0)
		return diag_set(d, -errno, NULL, "cannot create an eventfd");
	f->has_thread = thread_start(&f->thread, live_feed_run, f) == 0;
	return f->has_thread ? 0 : diag_set(d, -EAGAIN, NULL, "cannot start a thread");
}

int live_feed_open(const struct live_feed_cfg *cfg, struct diag *d, struct live_feed **out)
{
	SCOPED(scoped_live_feed) struct live_feed *f = calloc(1, sizeof(*f));
	int err = 0;

	if (!f)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	f->cfg = *cfg;
	f->wake_fd = -1;
	f->cfg.lease_ns = cfg->lease_ns ? cfg->lease_ns : LEASE_NS;
	f->cfg.first_batch_ns = cfg->first_batch_ns ? cfg->first_batch_ns : FIRST_BATCH_NS;
	pthread_mutex_init(&f->lock, NULL);
	thread_cond_init(&f->change);
	if (!cfg->topology)
		err = topology_read("/sys", d, &f->topology);
	if (!err && !cfg->source)
		err = live_kernel_new(f->topology, cfg->tgid, d, &f->kernel);
	if (err)
		return err;
	f->source = cfg->source ? *cfg->source : live_kernel_source(f->kernel);
	err = live_model_init(&f->model, cfg->topology ? cfg->topology : f->topology,
	                      LIVE_WINDOW_NS, d);
	if (!err && cfg->tgid) {
		(void)snprintf(f->filter, sizeof(f->filter), "process %u", cfg->tgid);
		f->model.filter = f->filter;
	}
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
		live_feed_wake(f);
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

	live_feed_wake(f);
	while (f->answered < mine && !f->is_ending)
		pthread_cond_wait(&f->change, &f->lock);
	if (f->is_ending)
		return diag_set(d, -ECANCELED, NULL, "the server is shutting down");
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
	return diag_set(d, -EUSERS, "unsubscribe from some", "too many clients of live data");
}

static void remove_need(struct live_feed *f, uint32_t i)
{
	if (i >= NEEDS_MAX)
		return;
	f->needs[i] = (struct need){ 0 };
	f->asked++;
	live_feed_wake(f);
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

/* Whether that use has had its first batch. */
static bool is_served(const struct live_feed *f, const struct need *need)
{
	return (f->uses & need->uses) == need->uses &&
	       !(need->kinds & ~f->stream_kinds & ALL_KINDS);
}

/* Whether holders need all of that anyway: then a reader adds nothing. */
static bool is_held(const struct live_feed *f, const struct need *need)
{
	uint64_t kinds = 0;
	unsigned int uses = 0;

	for (uint32_t i = 0; i < NEEDS_MAX; i++) {
		if (!f->needs[i].is_taken || f->needs[i].until_ns)
			continue;
		kinds |= f->needs[i].kinds;
		uses |= f->needs[i].uses;
	}
	return !(need->uses & ~uses) && !(need->kinds & ~kinds & ALL_KINDS);
}

static void wait_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL) };

	while (nanosleep(&t, &t) && errno == EINTR) {
	}
}

/* With the lock held. */
static int renew(struct live_feed *f, const struct need *need, bool is_first, struct diag *d)
{
	struct need *lease = find_lease(f, need->uses, need->kinds);
	uint32_t slot;

	if (!lease)
		return hold(f, need, d, &slot);
	if (lease->until_ns < need->until_ns)
		lease->until_ns = need->until_ns;
	return is_first ? settle(f, d) : 0;
}

int live_feed_lease(struct live_feed *f, unsigned int uses, uint64_t kinds, uint64_t ns,
                    struct diag *d)
{
	struct need need = { .uses = uses, .kinds = kinds, .until_ns = clock_boot_ns() + ns };
	bool is_first;
	int err;

	pthread_mutex_lock(&f->lock);
	is_first = !is_served(f, &need);
	err = renew(f, &need, is_first, d);
	pthread_mutex_unlock(&f->lock);
	if (!err && is_first)
		wait_ns(f->cfg.first_batch_ns);
	return err;
}

int live_feed_borrow(struct live_feed *f, unsigned int uses, uint64_t kinds, struct diag *d)
{
	struct need need = { .uses = uses, .kinds = kinds };
	bool is_there;

	pthread_mutex_lock(&f->lock);
	is_there = is_served(f, &need) && !find_lease(f, uses, kinds) && is_held(f, &need);
	pthread_mutex_unlock(&f->lock);
	return is_there ? 0 : live_feed_lease(f, uses, kinds, f->cfg.lease_ns, d);
}

void live_feed_return(struct live_feed *f, unsigned int uses, uint64_t kinds)
{
	struct need *lease;

	pthread_mutex_lock(&f->lock);
	lease = find_lease(f, uses, kinds);
	if (lease)
		remove_need(f, (uint32_t)(lease - f->needs));
	pthread_mutex_unlock(&f->lock);
}

int live_feed_track(struct live_feed *f, bool is_on, struct diag *d)
{
	struct need need = { .uses = LIVE_USE_STATS | LIVE_USE_STREAM, .kinds = ALL_KINDS };
	int err = 0;

	pthread_mutex_lock(&f->lock);
	if (is_on && !f->is_tracking) {
		f->is_tracking = true; /* before the wait: no other thread begins it too */
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
		err = live_model_start(&f->model, set, clock_boot_ns(), d);
	if (err) {
		f->wanted_analyzers &= before | ~set;
		f->asked++;
		live_feed_wake(f);
	}
	pthread_mutex_unlock(&f->lock);
	return err;
}

void live_feed_stop(struct live_feed *f, uint32_t set)
{
	struct diag d = { 0 };

	(void)live_feed_lock(f);
	live_model_stop(&f->model, set);
	f->wanted_analyzers &= ~set;
	(void)!settle(f, &d);
	live_feed_unlock(f);
}

void live_feed_reset(struct live_feed *f, uint32_t set)
{
	(void)live_feed_lock(f);
	live_model_reset(&f->model, set, clock_boot_ns());
	live_feed_unlock(f);
}

/* The time that an answer of an analyzer is about, and what it rests on. */
static void observed_of(const struct live_model *m, enum analyzer_id id, struct live_observed *out)
{
	const struct observer *o = &m->observers[id];

	*out = (struct live_observed){
		.is_running = o->is_running,
		.was_started = o->was_started,
		.has_data = o->has_data,
		.is_released = o->is_released,
		.from_ns = o->since_ns,
		.to_ns = o->is_running ? pair_now_ns(m->pair) : o->until_ns,
		.one_in = pair_sampling(m->pair),
		.records = o->records,
		.lost = o->lost,
	};
	if (o->is_running) {
		out->records = live_model_sum(m->seen, id) - o->records;
		out->lost = live_model_sum(m->lost, id) - o->lost;
	}
	if (out->to_ns < out->from_ns)
		out->to_ns = out->from_ns;
}

/* A shot may begin later than what was asked for: the window, or the cap. */
static void fit_to(const struct live_shot *shot, struct live_observed *o)
{
	const struct source *s = live_shot_source(shot);
	struct timeline_loss loss;

	timeline_loss(s->timeline, &loss);
	o->cut_rows = loss.cut;
	o->is_cut = timeline_whole_from_ns(s->timeline) > o->from_ns;
	o->from_ns = live_shot_from_ns(shot, o->from_ns);
	if (o->to_ns < o->from_ns)
		o->to_ns = o->from_ns;
}

int live_feed_observe(struct live_feed *f, enum analyzer_id id, struct diag *d,
                      struct live_shot **shot, struct live_observed *out)
{
	const struct observer *o = &f->model.observers[id];
	int err = 0;

	*shot = NULL;
	(void)live_feed_lock(f);
	observed_of(&f->model, id, out);
	if (o->kept)
		*shot = live_shot_get(o->kept);
	else if (live_analyzers[id].pass && o->was_started)
		err = live_shot_new(&f->model, o->is_running, shot);
	live_feed_unlock(f);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	if (*shot)
		fit_to(*shot, out);
	return 0;
}

int live_feed_look(struct live_feed *f, enum live_use use, struct diag *d, struct live_shot **shot,
                   struct live_observed *out)
{
	const struct live_model *m = &f->model;
	uint64_t since_ns;
	int err;

	(void)live_feed_lock(f);
	since_ns = use == LIVE_USE_WHY ? m->why_since_ns : m->stats_since_ns;
	*out = (struct live_observed){ .is_running = since_ns != 0,
		                       .from_ns = since_ns,
		                       .to_ns = pair_now_ns(m->pair),
		                       .one_in = pair_sampling(m->pair) };
	for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++)
		out->lost += m->lost[kind];
	err = live_shot_new(m, true, shot);
	live_feed_unlock(f);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	fit_to(*shot, out);
	return 0;
}

uint64_t live_feed_seen(struct live_feed *f, uint64_t kinds)
{
	uint64_t sum = 0;

	pthread_mutex_lock(&f->lock);
	for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++)
		if (kinds & EV_BIT(kind))
			sum += f->model.seen[kind];
	pthread_mutex_unlock(&f->lock);
	return sum;
}

static struct live_view view_of(const struct live_feed *f)
{
	const struct live_model *m = &f->model;

	return (struct live_view){ m->history, m->rates, m->tasks };
}

struct live_view live_feed_lock_now(struct live_feed *f)
{
	pthread_mutex_lock(&f->lock);
	return view_of(f);
}

struct live_view live_feed_lock(struct live_feed *f)
{
	uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + FRESH_TIMEOUT_NS;

	pthread_mutex_lock(&f->lock);
	for (unsigned int i = 0; i < FRESH_ROUNDS && f->status.is_attached && !f->is_ending; i++) {
		uint64_t before = f->rounds;
		int err = 0;

		live_feed_wake(f);
		while (f->rounds == before && !f->is_ending && !err)
			err = thread_cond_wait_until(&f->change, &f->lock, until_ns);
	}
	return view_of(f);
}

void live_feed_unlock(struct live_feed *f)
{
	pthread_mutex_unlock(&f->lock);
}

static int copy_events(const struct live_feed *f, bool is_of_buffer, struct diag *d,
                       struct live_events *out)
{
	struct live_events now = live_model_events(&f->model, is_of_buffer);
	int err = live_events_copy(&now, out);

	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

int live_feed_events(struct live_feed *f, bool is_fresh, struct diag *d, struct live_events *out)
{
	int err;

	(void)(is_fresh ? live_feed_lock(f) : live_feed_lock_now(f));
	err = copy_events(f, false, d, out);
	live_feed_unlock(f);
	return err;
}

int live_feed_buffer(struct live_feed *f, struct diag *d, struct live_events *out)
{
	int err;

	(void)live_feed_lock_now(f);
	err = copy_events(f, true, d, out);
	live_feed_unlock(f);
	return err;
}

void live_feed_status(struct live_feed *f, struct live_feed_status *out)
{
	struct timeline_loss loss;

	pthread_mutex_lock(&f->lock);
	*out = f->status;
	out->is_tracking = f->is_tracking;
	out->uses = f->uses;
	out->running = f->wanted_analyzers;
	out->started = 0;
	for (uint32_t i = 0; i < ANALYZERS; i++)
		out->started |= (uint32_t)f->model.observers[i].was_started << i;
	timeline_loss(f->model.timeline, &loss);
	out->cut_rows = loss.cut;
	for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++)
		out->lost += f->model.lost[kind];
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
