#include "profile/profiler/profile_thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/worker.h"
#include "profile/profile_top.h"
#include "profile/profiler/profiler.h"
#include "profile/stack_ends.h"

#define POLL_MS     100
#define SHOT_NS     200000000ULL  /* between two shots, at least */
#define SHOT_COSTS  20            /* times the CPU time of the last one */
#define PAUSE_NS    3000000000ULL /* and at most */
#define NR_REMARKS  4
#define REMARK_LEN  320
#define EVENT_BYTES 96

/* The thread adds to it while shots lend its texts. */
struct kept {
	struct profile *profile;
	atomic_uint nr_users;
};

struct profile_shot {
	struct machine_profile shown;
	struct kept *kept;
	struct profile_top *top;
	char event[EVENT_BYTES];
	char why_event[REMARK_LEN];
	char refusal[REMARK_LEN];
	char remarks[NR_REMARKS][REMARK_LEN];
	size_t nr_remarks;
};

struct wanted {
	double hz;
	uint64_t nr; /* grows with each new beginning */
};

struct profile_thread {
	uint32_t tgid;
	struct worker *worker; /* its lock is for these two: */
	struct wanted wanted;
	struct profile_shot *fresh;

	/* Of the thread alone. */
	struct worker *self;
	struct profiler *profiler;
	struct kept *kept; /* NULL while nothing is sampled */
	struct wanted current;
	bool is_idle; /* refused, or the process has exited: until it is restarted */
	uint64_t next_shot_ns;
};

static void let_go(struct kept *k)
{
	if (!k || atomic_fetch_sub(&k->nr_users, 1) > 1)
		return;
	profile_free(k->profile);
	free(k);
}

void profile_shot_free(struct profile_shot *s)
{
	if (!s)
		return;
	profile_top_free(s->top);
	let_go(s->kept);
	free(s);
}

DEFINE_SCOPED(profile_shot, profile_shot_free)

const struct machine_profile *profile_shot_show(const struct profile_shot *s)
{
	return &s->shown;
}

const char *profile_shot_remark(const struct profile_shot *s, size_t idx)
{
	return idx < s->nr_remarks ? s->remarks[idx] : NULL;
}

/* One that is outdated by then is discarded. */
static void publish(struct profile_thread *t, struct profile_shot *s)
{
	worker_lock(t->self);
	if (t->wanted.nr == t->current.nr) {
		struct profile_shot *old = t->fresh;

		t->fresh = s;
		s = old;
	}
	worker_unlock(t->self);
	profile_shot_free(s);
}

static void refuse(struct profile_thread *t, const struct diag *why)
{
	struct profile_shot *s = calloc(1, sizeof(*s));

	t->is_idle = true;
	profiler_clear(t->profiler);
	if (!s)
		return;
	diag_format(why, s->refusal, sizeof(s->refusal));
	s->shown.refusal = s->refusal;
	s->shown.hz = t->current.hz;
	publish(t, s);
}

static void take_remarks(struct profile_thread *t, struct profile_shot *s)
{
	struct diag d = { 0 };

	while (s->nr_remarks < NR_REMARKS && profiler_remark(t->profiler, &d)) {
		diag_format(&d, s->remarks[s->nr_remarks++], REMARK_LEN);
		d = (struct diag){ 0 };
	}
}

static void take_status(struct profile_thread *t, struct profile_shot *s)
{
	struct machine_profile *m = &s->shown;
	const struct stack_end *worst;
	struct profiler_status status;

	profiler_status(t->profiler, &status);
	snprintf(s->event, sizeof(s->event), "%s", status.event ? status.event : "");
	snprintf(s->why_event, sizeof(s->why_event), "%s",
	         status.why_default ? status.why_default : "");
	m->event = s->event;
	m->why_event = s->why_event[0] ? s->why_event : NULL;
	m->hz = (double)status.frequency;
	m->seconds = (double)status.duration_ns / 1e9;
	m->lost = status.lost;
	m->idle = status.idle;
	m->throttled = status.throttled;
	m->broken = profile_facts(t->kept->profile)->broken;
	worst = stack_ends_worst(profile_facts(t->kept->profile)->ends);
	m->why_broken = worst ? worst->name : NULL;
	profile_top_show(s->top, m);
}

static int make_shot(struct profile_thread *t, struct diag *d)
{
	SCOPED(scoped_profile_shot) struct profile_shot *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = profiler_add_new(t->profiler, t->kept->profile, d);
	if (!err && profile_top_new(t->kept->profile, &s->top))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err)
		return err;
	atomic_fetch_add(&t->kept->nr_users, 1);
	s->kept = t->kept;
	take_status(t, s);
	take_remarks(t, s);
	publish(t, TAKE_PTR(s));
	return 0;
}

static int keep_new(struct profile_thread *t, struct diag *d)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k || profile_new(&(struct profile_facts){ 0 }, &k->profile)) {
		free(k);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	atomic_init(&k->nr_users, 1);
	t->kept = k;
	return 0;
}

static void begin(struct profile_thread *t)
{
	const struct profiler_cfg cfg = {
		.frequency = (uint64_t)t->current.hz,
		.cpu = PROFILER_ANY_CPU,
		.tgid = t->tgid,
		.wants_lines = true,
	};
	struct diag why = { 0 };

	profiler_clear(t->profiler);
	let_go(TAKE_PTR(t->kept));
	t->is_idle = false;
	t->next_shot_ns = 0;
	if (keep_new(t, &why) || profiler_start(t->profiler, &cfg, &why))
		refuse(t, &why);
}

static void step(struct profile_thread *t)
{
	struct diag why = { 0 };
	bool is_over = false;
	uint64_t now_ns = clock_boot_ns();
	int err;

	if (t->is_idle || !t->kept)
		return;
	err = profiler_poll(t->profiler, &is_over, &why);
	/* The process has exited: what was found of it stays. */
	t->is_idle = is_over;
	if (!err && (is_over || now_ns >= t->next_shot_ns)) {
		uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), pause_ns;

		err = make_shot(t, &why);
		pause_ns = SHOT_COSTS * (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
		t->next_shot_ns = now_ns + SHOT_NS + (pause_ns < PAUSE_NS ? pause_ns : PAUSE_NS);
	}
	if (err)
		refuse(t, &why);
}

static void run(struct worker *w, void *state)
{
	struct profile_thread *t = state;

	t->self = w;
	worker_lock(w);
	while (!worker_is_cancelled(w)) {
		bool is_new = t->current.nr != t->wanted.nr;

		t->current = t->wanted;
		worker_unlock(w);
		if (is_new)
			begin(t);
		step(t);
		worker_lock(w);
		if (!worker_is_cancelled(w) && t->current.nr == t->wanted.nr)
			worker_wait(w, POLL_MS);
	}
	worker_unlock(w);
	profiler_free(TAKE_PTR(t->profiler));
	let_go(TAKE_PTR(t->kept));
}

static void destroy(void *state)
{
	struct profile_thread *t = state;

	profile_shot_free(t->fresh);
	profiler_free(t->profiler);
	free(t);
}

int profile_thread_start(const struct profile_thread_cfg *cfg, struct profile_thread **out)
{
	const struct worker_job job = { .run = run, .free = destroy };
	struct profile_thread *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->tgid = cfg->tgid;
	t->wanted = (struct wanted){ cfg->hz, 1 };
	err = profiler_new(&t->profiler);
	if (!err)
		err = worker_start(&job, t, &t->worker);
	if (err) {
		destroy(t);
		return err;
	}
	*out = t;
	return 0;
}

void profile_thread_anew(struct profile_thread *t, double hz)
{
	struct profile_shot *old;

	worker_lock(t->worker);
	t->wanted = (struct wanted){ hz, t->wanted.nr + 1 };
	old = TAKE_PTR(t->fresh);
	worker_signal(t->worker);
	worker_unlock(t->worker);
	profile_shot_free(old);
}

struct profile_shot *profile_thread_take(struct profile_thread *t)
{
	struct profile_shot *s;

	worker_lock(t->worker);
	s = TAKE_PTR(t->fresh);
	worker_unlock(t->worker);
	return s;
}

void profile_thread_end(struct profile_thread *t)
{
	worker_cancel(t->worker);
}

bool profile_thread_is_over(const struct profile_thread *t)
{
	return worker_poll(t->worker, 0);
}

void profile_thread_free(struct profile_thread *t)
{
	if (t)
		worker_end(t->worker);
}
