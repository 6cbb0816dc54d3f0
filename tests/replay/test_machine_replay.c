#include "replay_story.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../analyze/more_records.h"
#include "analyses/passes.h"
#include "machine/machine_play.h"
#include "machine/machine_zoom.h"
#include "replay/machine_replay.h"

#define MS        1000000ULL
#define ANY       UINT32_MAX
#define ALL_NEEDS (MACHINE_CPUS | MACHINE_TASKS | MACHINE_LATENCY | MACHINE_DSQS | MACHINE_HEAT)
/* So many are generated, for what a single one may not have: rows that begin or end between two intervals. */
#define STORIES 20U

struct stage {
	struct pass_fixture *p;
	struct story story;
	bool has_migrations;
	struct machine_replay *replay;
	struct machine_request request;
	const struct machine *m;
};

static int set_up(void **state)
{
	struct stage *s = calloc(1, sizeof(*s));
	void *made;

	assert_non_null(s);
	assert_int_equal(pass_setup(&made), 0);
	s->p = made;
	s->request = (struct machine_request){ .needs = ALL_NEEDS };
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *s = *state;
	void *made = s->p;

	machine_replay_close(s->replay);
	pass_teardown(&made);
	free(s);
	return 0;
}

static void reopen(struct stage *s)
{
	struct diag d = { 0 };

	machine_replay_close(s->replay);
	s->replay = NULL;
	assert_int_equal(machine_replay_open(&(struct machine_replay_cfg){ .source = &s->p->source },
	                                     &d, &s->replay),
	                 0);
}

static const struct machine *go(struct stage *s, uint64_t interval_ns, int64_t steps)
{
	struct diag d = { 0 };

	s->request.play = (struct machine_play_request){ .interval_ns = interval_ns,
		                                         .steps = steps };
	assert_int_equal(machine_replay_refresh(s->replay, &s->request, &d, &s->m), 0);
	return s->m;
}

static void generate(struct stage *s, uint32_t seed, bool has_migrations)
{
	void *made = s->p;

	machine_replay_close(s->replay);
	s->replay = NULL;
	pass_teardown(&made);
	assert_int_equal(pass_setup(&made), 0);
	s->p = made;
	story_generate(&s->story, s->p, seed, has_migrations);
	s->has_migrations = has_migrations;
	reopen(s);
}

static struct story_cut cut_of(const struct machine *m)
{
	struct story_cut c = { .to_ns = m->play->position_ns };
	uint64_t into_ns = c.to_ns - m->play->start_ns, interval_ns = m->play->interval_ns;

	c.is_last = c.to_ns == m->play->end_ns;
	c.from_ns = m->play->start_ns + (into_ns - 1) / interval_ns * interval_ns;
	return c;
}

static const struct machine_task *task_in(const struct machine_task *all, size_t nr, uint32_t tid)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i].tid == tid)
			return &all[i];
	return NULL;
}

static void same_dist(const struct machine_dist *a, const struct machine_dist *b)
{
	expect_eq(a->count, b->count);
	expect_eq(a->p50_ns, b->p50_ns);
	expect_eq(a->p99_ns, b->p99_ns);
	expect_eq(a->max_ns, b->max_ns);
	assert_true(fabs(a->mean_ns - b->mean_ns) < 1e-3);
}

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-9 * (1 + fabs(wanted))))
		fail_msg("%.12f is not %.12f", value, wanted);
}

static void check_cpu(const struct stage *s, const struct story_cut *c, uint32_t cpu)
{
	const struct machine_cpu *row = &s->m->cpus[cpu];
	double seconds = (double)(c->to_ns - c->from_ns) / 1e9;
	uint64_t busy = story_time(&s->story, c, STORY_SLICE, 0, cpu);
	uint64_t idle = story_time(&s->story, c, STORY_IDLE, 0, cpu);

	expect_eq(row->cpu, cpu);
	if (!(busy + idle)) {
		assert_true(isnan(row->busy) && isnan(row->switches_per_s));
		return;
	}
	near(row->busy, (double)busy / (double)(busy + idle));
	near(row->switches_per_s, story_count(&s->story, c, 's', cpu) / seconds);
	near(row->wakeups_per_s, story_count(&s->story, c, 'w', cpu) / seconds);
	near(row->migrations_per_s, story_count(&s->story, c, 'm', cpu) / seconds);
	near(row->busy_history.values[row->busy_history.nr - 1], row->busy);
	/* Else it is unknown where a task queues whose wait has no end. */
	if (s->has_migrations && c->to_ns > c->from_ns)
		near(row->waiting, (double)(story_time(&s->story, c, STORY_WAIT, 0, cpu) +
		                            story_time(&s->story, c, STORY_PREEMPTED, 0, cpu)) /
		                           1e9 / seconds);
	near(row->waiting_history.values[row->waiting_history.nr - 1], row->waiting);
	assert_true(isnan(row->user) && isnan(row->mhz));
}

static char state_of(const struct story_row *r)
{
	if (!r)
		return '?';
	return r->kind == STORY_SLEEP ? r->how : 'R';
}

static void check_dists(const struct stage *s, const struct story_cut *c,
                        const struct machine_task *t, uint32_t nr)
{
	struct machine_dist latency = story_dist(&s->story, c, STORY_LATENCY, t->tid, nr);
	struct machine_dist preempted = story_dist(&s->story, c, STORY_PREEMPTED, t->tid, nr);
	struct machine_dist slice = story_dist(&s->story, c, STORY_SLICE, t->tid, nr);
	struct machine_dist sleep = story_dist(&s->story, c, STORY_SLEEP, t->tid, nr);

	same_dist(&t->latency, &latency);
	same_dist(&t->preempted, &preempted);
	same_dist(&t->slice, &slice);
	same_dist(&t->sleep, &sleep);
}

static uint32_t moves_of(const struct stage *s, const struct story_cut *c, uint32_t tid,
                         bool is_far)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->story.nr_moments; i++) {
		const struct story_moment *o = &s->story.moments[i];

		nr += o->kind == 'm' && o->tid == tid && o->ts_ns >= c->from_ns &&
		      (o->ts_ns < c->to_ns || (c->is_last && o->ts_ns == c->to_ns)) &&
		      (!is_far || o->cpu / 2 != o->from_cpu / 2);
	}
	return nr;
}

static void check_task(const struct stage *s, const struct story_cut *c, uint32_t tid)
{
	const struct machine_task *t = task_in(s->m->threads, s->m->nr_threads, tid);
	const struct story_row *at = story_at(&s->story, c, tid);
	double span = (double)(c->to_ns - c->from_ns), seconds = span / 1e9;

	assert_non_null(t);
	expect_eq(t->tgid, tid - (tid - STORY_TID) % STORY_THREADS);
	expect_eq(t->comm[6], 'a' + (tid - STORY_TID));
	near(t->run, (double)story_time(&s->story, c, STORY_SLICE, tid, ANY) / span);
	near(t->wait, (double)(story_time(&s->story, c, STORY_WAIT, tid, ANY) +
	                       story_time(&s->story, c, STORY_PREEMPTED, tid, ANY)) /
	                      span);
	check_dists(s, c, t, 1);
	near(t->voluntary_per_s, story_ends(&s->story, c, tid, 'V') / seconds);
	near(t->involuntary_per_s, story_ends(&s->story, c, tid, 'I') / seconds);
	near(t->migrations_per_s, moves_of(s, c, tid, false) / seconds);
	near(t->llc_migrations_per_s, moves_of(s, c, tid, true) / seconds);
	near(t->node_migrations_per_s, 0);
	expect_eq(t->state, state_of(at));
	if (at && at->kind == STORY_SLICE) {
		expect_eq(t->last_cpu, at->cpu);
		expect_eq(s->m->cpus[at->cpu].tid, tid);
		assert_string_equal(s->m->cpus[at->cpu].comm, t->comm);
		assert_string_equal(t->class_name, "fair");
	}
}

static void check_process(const struct stage *s, const struct story_cut *c, uint32_t tgid)
{
	const struct machine_task *t = task_in(s->m->processes, s->m->nr_processes, tgid);
	double run = 0, wait = 0;

	assert_non_null(t);
	expect_eq(t->nr_threads, STORY_THREADS);
	for (uint32_t i = 0; i < STORY_THREADS; i++) {
		const struct machine_task *th = task_in(s->m->threads, s->m->nr_threads, tgid + i);

		run += th->run;
		wait += th->wait;
	}
	near(t->run, run);
	near(t->wait, wait);
	check_dists(s, c, t, STORY_THREADS);
}

static void check_all(const struct stage *s)
{
	struct story_cut c = cut_of(s->m);
	struct machine_dist woken = story_dist(&s->story, &c, STORY_LATENCY, STORY_TID,
	                                       STORY_TASKS);
	uint64_t heat = 0;

	near(s->m->interval_s, (double)(c.to_ns - c.from_ns) / 1e9);
	expect_eq(s->m->nr_cpus, STORY_CPUS);
	expect_eq(s->m->nr_threads, STORY_TASKS);
	for (uint32_t cpu = 0; cpu < STORY_CPUS; cpu++)
		check_cpu(s, &c, cpu);
	for (uint32_t i = 0; i < STORY_TASKS; i++)
		check_task(s, &c, STORY_TID + i);
	for (uint32_t i = 0; i < STORY_TASKS; i += STORY_THREADS)
		check_process(s, &c, STORY_TID + i);
	for (uint32_t row = 0; row < MACHINE_HEAT_ROWS; row++)
		heat += s->m->heat.columns[s->m->heat.nr - 1][row];
	expect_eq(heat, woken.count);
}

/* Every interval, of lengths that fit the recording and that do not. */
static void check_intervals(struct stage *s)
{
	static const uint64_t lengths[] = { 1 * MS, 7 * MS + 13, 10 * MS, 33 * MS, 1000 * MS };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint64_t nr = 1;

		reopen(s);
		go(s, lengths[i], 1);
		check_all(s);
		for (; s->m->play->position_ns < STORY_END; nr++) {
			go(s, lengths[i], 1);
			check_all(s);
		}
		expect_eq(nr, (STORY_END - STORY_START - 1) / lengths[i] + 1);
		go(s, lengths[i], 1); /* not beyond the end */
		expect_eq(s->m->play->position_ns, STORY_END);
	}
}

static void intervals_are_what_happened_in_them(void **state)
{
	for (uint32_t seed = 1; seed <= STORIES / 5; seed++) { /* of so many intervals each */
		generate(*state, seed, true);
		check_intervals(*state);
	}
}

static void moves_that_were_not_recorded_follow_from_slices(void **state)
{
	struct stage *s = *state;

	for (uint32_t seed = 1; seed <= STORIES; seed++) {
		generate(s, seed, false);
		expect_eq(s->p->facts.kinds[EV_MIGRATE], 0);
		for (go(s, 9 * MS, 1); s->m->play->position_ns < STORY_END; go(s, 9 * MS, 1))
			check_all(s);
		check_all(s);
	}
}

/* All that a look tells, as bytes: to be compared with that of another. */
struct picture {
	struct machine_task threads[STORY_TASKS], processes[STORY_TASKS];
	struct machine_cpu cpus[STORY_CPUS];
	double history[STORY_CPUS][MACHINE_HISTORY], waiting[STORY_CPUS][MACHINE_HISTORY];
	uint32_t heat[MACHINE_HISTORY][MACHINE_HEAT_ROWS];
	uint32_t nr;
};

static void take(const struct machine *m, struct picture *to)
{
	/* Between two members stands anything. */
	const size_t hole = offsetof(struct machine_cpu, is_online) + sizeof(bool);

	memset(to, 0, sizeof(*to));
	assert_true(m->nr_threads <= STORY_TASKS && m->nr_cpus <= STORY_CPUS);
	memcpy(to->threads, m->threads, m->nr_threads * sizeof(*m->threads));
	memcpy(to->processes, m->processes, m->nr_processes * sizeof(*m->processes));
	memcpy(to->heat, m->heat.columns, m->heat.nr * sizeof(*to->heat));
	to->nr = m->heat.nr;
	for (size_t i = 0; i < m->nr_cpus; i++) {
		to->cpus[i] = m->cpus[i];
		memcpy(to->history[i], m->cpus[i].busy_history.values,
		       m->cpus[i].busy_history.nr * sizeof(double));
		memcpy(to->waiting[i], m->cpus[i].waiting_history.values,
		       m->cpus[i].waiting_history.nr * sizeof(double));
		/* Where histories lie in memory is no part of what is shown. */
		memset(&to->cpus[i].busy_history, 0, sizeof(to->cpus[i].busy_history));
		memset(&to->cpus[i].user_history, 0, sizeof(to->cpus[i].user_history));
		memset(&to->cpus[i].system_history, 0, sizeof(to->cpus[i].system_history));
		memset(&to->cpus[i].irq_history, 0, sizeof(to->cpus[i].irq_history));
		memset(&to->cpus[i].waiting_history, 0, sizeof(to->cpus[i].waiting_history));
		memset(&to->cpus[i].event_history, 0, sizeof(to->cpus[i].event_history));
		memset((char *)&to->cpus[i] + hole, 0, offsetof(struct machine_cpu, busy) - hole);
	}
}

static void the_same_position_shows_the_same_however_reached(void **state)
{
	struct stage *s = *state;
	uint32_t nr = 0, random = 3;
	struct picture *played = calloc(200, sizeof(*played)), *again = calloc(1, sizeof(*again));

	assert_true(played && again);
	generate(s, 2, true);
	do
		take(go(s, MS, 1), &played[nr++]);
	while (s->m->play->position_ns < STORY_END);
	expect_eq(nr, 100);
	for (int i = 0, at = (int)nr - 1, to; i < 300; i++, at = to) {
		random = random * 1664525U + 1013904223U;
		to = (int)((random >> 8) % nr);
		if (i % 50 == 49) { /* jumped to at once */
			reopen(s);
			at = -1;
		}
		if (i % 7 ==
		    6) { /* in other steps meanwhile; so the place is another, and its end is kept */
			go(s, 5 * MS, 0);
			at = (int)((s->m->play->position_ns - STORY_START) / MS) - 1;
		}
		take(go(s, MS, to - at), again);
		assert_memory_equal(again, &played[to], sizeof(*again));
	}
	free(played);
	free(again);
}

static void while_paused_it_shows_what_else_is_requested(void **state)
{
	struct stage *s = *state;
	uint64_t position_ns;

	generate(s, 4, true);
	s->request.needs = MACHINE_CPUS;
	position_ns = go(s, 10 * MS, 3)->play->position_ns;
	expect_eq(position_ns, STORY_START + 30 * MS);
	expect_eq(s->m->nr_threads, 0);
	s->request.needs = ALL_NEEDS;
	go(s, 10 * MS, 0);
	expect_eq(s->m->play->position_ns, position_ns);
	check_all(s);
}

static void steps_end_at_the_ends(void **state)
{
	struct stage *s = *state;

	generate(s, 5, true);
	expect_eq(go(s, 10 * MS, INT64_MAX)->play->position_ns, STORY_END);
	check_all(s);
	expect_eq(go(s, 10 * MS, INT64_MIN)->play->position_ns, STORY_START + 10 * MS);
	expect_eq(go(s, 10 * MS, -1)->play->position_ns, STORY_START + 10 * MS);
	expect_eq(go(s, 10 * MS, 1000)->play->position_ns, STORY_END);
	expect_eq(go(s, 10 * MS, -1)->play->position_ns, STORY_END - 10 * MS);
	/* Twice as long: the interval in which one was. Half as long: where one was. */
	expect_eq(go(s, 20 * MS, 0)->play->position_ns, STORY_END);
	expect_eq(go(s, 20 * MS, -1)->play->position_ns, STORY_END - 20 * MS);
	expect_eq(go(s, 5 * MS, 0)->play->position_ns, STORY_END - 20 * MS);
	check_all(s);
}

/* As one interval it has the numbers of the analyses. */
static void the_whole_is_what_analyses_report(void **state)
{
	struct stage *s = *state;
	const struct report_node *r;
	char path[64];

	generate(s, 6, true);
	go(s, 10000 * MS, 1);
	s->p->args.limit = 100;
	r = run_pass(s->p, &pass_wakeup_latency);
	expect_eq(num_at(r, "total_wakeups"),
	          story_dist(&s->story, &(struct story_cut){ STORY_START, STORY_END, true },
	                     STORY_LATENCY, STORY_TID, STORY_TASKS)
	                  .count);
	r = run_pass(s->p, &pass_task_states);
	expect_eq(len_at(r, "processes"), STORY_TASKS);
	for (uint32_t i = 0; i < STORY_TASKS; i++) {
		const struct machine_task *t;

		snprintf(path, sizeof(path), "processes.%u.pid", i);
		t = task_in(s->m->threads, s->m->nr_threads, (uint32_t)num_at(r, path));
		assert_non_null(t);
		snprintf(path, sizeof(path), "processes.%u.running_time_ns", i);
		near(t->run * 1e8, (double)num_at(r, path));
		snprintf(path, sizeof(path), "processes.%u.runnable_time_ns", i);
		near(t->wait * 1e8, (double)num_at(r, path));
		snprintf(path, sizeof(path), "processes.%u.voluntary_switches", i);
		near(t->voluntary_per_s / 10, (double)num_at(r, path));
		snprintf(path, sizeof(path), "processes.%u.scheduler_latency_count", i);
		expect_eq(t->latency.count + t->preempted.count, num_at(r, path));
	}
}

static void the_thread_that_is_shown_has_a_past(void **state)
{
	struct stage *s = *state;
	struct machine_history now;
	double runs[20];

	generate(s, 9, true);
	s->request.tid = STORY_TID + 4;
	for (uint32_t i = 0; i < 20; i++) {
		const struct machine_task *t;

		go(s, 5 * MS, 1);
		t = task_in(s->m->threads, s->m->nr_threads, STORY_TID + 4);
		runs[i] = t->run;
		now = t->run_history;
		expect_eq(now.nr, i + 1);
		for (uint32_t k = 0; k <= i; k++)
			near(now.values[k], runs[k]);
	}
	assert_null(task_in(s->m->threads, s->m->nr_threads, STORY_TID + 5)->run_history.values);
	s->request.tid = STORY_TID + 3; /* a process too */
	go(s, 5 * MS, 0);
	for (int i = 0; i < 5; i++) {
		const struct machine_task *p = task_in(s->m->processes, s->m->nr_processes,
		                                       STORY_TID + 3);

		near(p->run_history.values[p->run_history.nr - 1], p->run);
		go(s, 5 * MS, -1);
	}
	go(s, 5 * MS, 5);
	s->request.tid = STORY_TID + 5; /* another one, at the same place */
	go(s, 5 * MS, 0);
	assert_null(task_in(s->m->threads, s->m->nr_threads, STORY_TID + 4)->run_history.values);
	near(task_in(s->m->threads, s->m->nr_threads, STORY_TID + 5)->run_history.values[19],
	     task_in(s->m->threads, s->m->nr_threads, STORY_TID + 5)->run);
}

/* Its waits, and who had the CPU meanwhile, worked out from the story. */
static void check_zoom(const struct stage *s, uint32_t tid)
{
	const struct machine_zoom *z = s->m->zoom;
	struct story_cut c = cut_of(s->m);
	struct machine_dist woken = story_dist(&s->story, &c, STORY_LATENCY, tid, 1);
	struct machine_dist preempted = story_dist(&s->story, &c, STORY_PREEMPTED, tid, 1);
	uint64_t wakers = 0, rivals = z->other_rivals_ns, slept = 0;
	uint64_t waited = (uint64_t)(woken.mean_ns * (double)woken.count +
	                             preempted.mean_ns * (double)preempted.count + 0.5);

	expect_eq(z->tid, tid);
	expect_eq(z->row->tid, tid);
	assert_null(z->missing);
	same_dist(&z->waits[MACHINE_WOKEN], &woken);
	same_dist(&z->waits[MACHINE_PREEMPTED], &preempted);
	expect_eq(z->migrations, moves_of(s, &c, tid, false));
	for (size_t i = 0; i < z->nr_wakers; i++)
		wakers += z->wakers[i].wait.count;
	expect_eq(wakers, woken.count);
	for (size_t i = 0; i < z->nr_rivals; i++) {
		rivals += z->rivals[i].ns;
		assert_true(z->rivals[i].tid != tid &&
		            (!i || z->rivals[i].ns <= z->rivals[i - 1].ns));
	}
	expect_eq(rivals, waited);
	for (int i = 0; i < MACHINE_SLEEPS; i++)
		slept += z->sleeps[i].count;
	expect_eq(slept, story_dist(&s->story, &c, STORY_SLEEP, tid, 1).count);
	expect_eq(z->nr_last,
	          woken.count + preempted.count < 32 ? woken.count + preempted.count : 32);
}

static void one_thread_closely(void **state)
{
	struct stage *s = *state;

	s->request.needs |= MACHINE_ZOOM;
	for (uint32_t seed = 1; seed <= STORIES; seed++) {
		generate(s, seed, true);
		for (uint32_t i = 0; i < 10 * STORY_TASKS; i++) {
			s->request.tid = STORY_TID + i % STORY_TASKS;
			go(s, 10 * MS, i % STORY_TASKS == 0);
			check_zoom(s, s->request.tid);
		}
	}
	s->request.tid = 0;
	assert_null(go(s, 10 * MS, 0)->zoom);
}

static const struct machine_task *row_of(const struct machine_task *rows, size_t nr, uint32_t id)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].tid == id)
			return &rows[i];
	fail_msg("no row of %u", id);
	return NULL;
}

static void a_wait_that_lasts_is_a_stall(void **state)
{
	struct stage *s = *state;
	struct fixture *f = &s->p->f;
	const struct machine *m;

	sw(f, 1 * MS, 0, 0, 60, 0);
	sw(f, 100 * MS, 0, 60, 61, EV_STATE_PREEMPTED);
	sw(f, 700 * MS, 0, 61, 60, EV_STATE_PREEMPTED);
	sw(f, 790 * MS, 0, 60, 61, EV_STATE_S);
	finish(s->p, 801 * MS);
	reopen(s);
	m = go(s, 200 * MS, 1);
	expect_eq(row_of(m->threads, m->nr_threads, 60)->stall_ns, 0); /* 100 ms so far */
	m = go(s, 200 * MS, 1);
	assert_in_range(row_of(m->threads, m->nr_threads, 60)->stall_ns, 299 * MS, 301 * MS);
	assert_in_range(row_of(m->processes, m->nr_processes, 60)->stall_ns, 299 * MS, 301 * MS);
	expect_eq(row_of(m->threads, m->nr_threads, 61)->stall_ns, 0);
	m = go(s, 200 * MS, 1);
	assert_in_range(row_of(m->threads, m->nr_threads, 60)->stall_ns, 499 * MS, 501 * MS);
	m = go(s, 200 * MS, 1);
	expect_eq(row_of(m->threads, m->nr_threads, 60)->stall_ns, 0);
}

static void the_task_it_waited_for_has_a_name(void **state)
{
	struct stage *s = *state;
	struct fixture *f = &s->p->f;
	const struct machine_zoom *z;

	sw(f, 1 * MS, 0, 0, 60, 0);
	sw(f, 2 * MS, 1, 0, 50, 0);
	waking(f, 3 * MS, 1, 70, 50);
	sw(f, 5 * MS, 0, 60, 61, EV_STATE_S);
	sw(f, 6 * MS, 0, 61, 0, EV_STATE_S);
	sw(f, 7 * MS, 0, 0, 70, 0);
	sw(f, 8 * MS, 0, 70, 60, EV_STATE_PREEMPTED);
	sw(f, 9 * MS, 0, 60, 70, EV_STATE_S);
	finish(s->p, 10 * MS);
	reopen(s);
	s->request.tid = 70;
	z = go(s, 100 * MS, 1)->zoom;
	expect_eq(z->nr_wakers, 1);
	expect_eq(z->wakers[0].tid, 50);
	expect_eq(z->nr_rivals, 3);
	expect_eq(z->rivals[0].tid, 60); /* 3 to 5, and 8 to 9 */
	expect_eq(z->rivals[0].ns, 3 * MS);
	expect_eq(z->rivals[0].times, 2);
	expect_eq(z->rivals[0].taken, 1);
	near(z->rivals[0].share, 0.6);
	expect_eq(z->rivals[1].ns + z->rivals[2].ns, 2 * MS); /* 61, and no task */
	expect_eq(z->nr_last, 2);
	expect_eq(z->last[0].cause, MACHINE_PREEMPTED);
	expect_eq(z->last[0].run_ns, 1 * MS);
	expect_eq(z->last[1].wait_ns, 4 * MS);
	expect_eq(z->last[1].nr_holders, 3);
	expect_eq(z->last[1].holders[0].tid, 60);
	expect_eq(z->last[1].holders[1].tid, 61);
	expect_eq(z->last[1].holders[2].tid, 0);
	expect_eq(z->last[1].waker_tid, 50);
}

static void a_task_that_ends_is_seen_once_more(void **state)
{
	struct stage *s = *state;
	struct fixture *f = &s->p->f;

	sw(f, 1 * MS, 0, 0, 50, 0);
	forked(f, 2 * MS, 50, 51, "child");
	wakeup_new(f, 2 * MS, 0, 51, 50);
	sw(f, 3 * MS, 0, 50, 51, EV_STATE_S);
	exiting(f, 12 * MS, 51);
	sw(f, 13 * MS, 0, 51, 0, EV_STATE_DEAD);
	freed(f, 14 * MS, 51);
	sw(f, 35 * MS, 0, 0, 0, 0);
	finish(s->p, 41 * MS);
	reopen(s);
	go(s, 10 * MS, 1);
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 51)->state, 'R');
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 51)->latency.count, 1);
	expect_eq(task_in(s->m->processes, s->m->nr_processes, 51)->nr_threads, 1);
	go(s, 10 * MS, 1);
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 51)->state, 'X');
	near(task_in(s->m->threads, s->m->nr_threads, 51)->run, 0.2);
	near(task_in(s->m->processes, s->m->nr_processes, 51)->run, 0.2);
	expect_eq(task_in(s->m->processes, s->m->nr_processes, 51)->nr_threads, 0);
	go(s, 10 * MS, 1);
	assert_null(task_in(s->m->threads, s->m->nr_threads, 51));
	assert_null(task_in(s->m->processes, s->m->nr_processes, 51));
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 50)->state, 'S');
	expect_eq(s->m->cpus[0].tid, 0);
}

static void queues_and_frequencies_where_they_are_recorded(void **state)
{
	struct stage *s = *state;
	struct fixture *f = &s->p->f;

	sw(f, 0, 0, 0, 50, 0);
	freq(f, 1 * MS, 0, 0, 1500000);
	dsq_leave(f, 4 * MS, 1 * MS, 7, 50, 2);
	dsq_leave(f, 6 * MS, 0, 7, 51, 2);
	freq(f, 12 * MS, 0, 0, 2000000);
	dsq_leave(f, 14 * MS, 8 * MS, 7, 50, 3);
	sw(f, 20 * MS, 0, 50, 0, EV_STATE_S);
	finish(s->p, 30 * MS);
	s->p->facts.has_scx = true;
	reopen(s);
	go(s, 10 * MS, 1);
	assert_string_equal(s->m->scx_state, "enabled");
	near(s->m->cpus[0].mhz, 1500);
	expect_eq(s->m->nr_dsqs, 1);
	expect_eq(s->m->dsqs[0].id, 7);
	expect_eq(s->m->dsqs[0].latency.count, 1);
	expect_eq(s->m->dsqs[0].latency.max_ns, 3 * MS);
	near(s->m->dsqs[0].dispatches_per_s, 200);
	near(s->m->dsqs[0].depth, 1); /* from 8 ms on */
	expect_eq(s->m->dsqs[0].depth_max, 1);
	expect_eq(s->m->dsqs[0].inserts, 2);
	assert_true(isnan(s->m->dsqs[0].vtime_delta));
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 50)->layer, 2);
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 50)->prio, 120);
	/* It has not run yet. */
	assert_int_equal(task_in(s->m->threads, s->m->nr_threads, 51)->prio, MACHINE_NO_PRIO);
	assert_int_equal(task_in(s->m->processes, s->m->nr_processes, 51)->prio, MACHINE_NO_PRIO);
	assert_string_equal(task_in(s->m->threads, s->m->nr_threads, 50)->class_name, "ext");
	go(s, 10 * MS, 1);
	near(s->m->cpus[0].mhz, 2000);
	expect_eq(s->m->dsqs[0].latency.max_ns, 6 * MS);
	near(s->m->dsqs[0].depth, 0);
	expect_eq(s->m->dsqs[0].inserts, 0);
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 50)->layer, 3);
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 50)->dsq, 7);
	go(s, 10 * MS, 1);
	expect_eq(s->m->nr_dsqs, 0);
}

/* The moment between two intervals is of the later one. */
static void a_task_that_leaves_a_queue_between_two_intervals_is_counted_once(void **state)
{
	struct stage *s = *state;
	struct fixture *f = &s->p->f;

	sw(f, 0, 0, 0, 50, 0);
	dsq_leave(f, 10 * MS - 1, 0, 9, 51, 2);
	dsq_leave(f, 10 * MS, 4 * MS, 7, 50, 2);
	sw(f, 20 * MS, 0, 50, 0, EV_STATE_S);
	finish(s->p, 20 * MS);
	reopen(s);
	go(s, 10 * MS, 1);
	expect_eq(s->m->nr_dsqs, 2);
	expect_eq(s->m->dsqs[1].id, 7);
	expect_eq(s->m->dsqs[1].inserts, 1);
	expect_eq(s->m->dsqs[1].latency.count, 0);
	near(s->m->dsqs[1].depth, 1);
	go(s, 10 * MS, 1);
	expect_eq(s->m->nr_dsqs, 1);
	expect_eq(s->m->dsqs[0].latency.count, 1);
	expect_eq(s->m->dsqs[0].latency.max_ns, 6 * MS);
	near(s->m->dsqs[0].dispatches_per_s, 100);
	expect_eq(s->m->dsqs[0].inserts, 0);
	near(s->m->dsqs[0].depth, 0);
}

static void unknown_is_not_zero(void **state)
{
	struct stage *s = *state;
	struct fixture *f = &s->p->f;

	s->p->facts.places = NULL;
	s->p->facts.lost = 9;
	sw(f, 1 * MS, 1, 0, 50, 0);
	lost(f, 12 * MS, 1, EV_SWITCH, 9);
	sw(f, 35 * MS, 1, 60, 0, EV_STATE_S);
	finish(s->p, 40 * MS);
	reopen(s);
	go(s, 10 * MS, 3);
	expect_eq(s->m->lost, 9);
	assert_non_null(s->m->notice); /* no wakeups */
	assert_true(isnan(s->m->load[0]) && isnan(s->m->own_cpu));
	assert_true(isnan(s->m->cpus[1].busy) && isnan(s->m->cpus[1].switches_per_s));
	expect_eq((uint64_t)s->m->cpus[1].tid, (uint64_t)-1);
	expect_eq(task_in(s->m->threads, s->m->nr_threads, 50)->state, '?');
	assert_true(isnan(task_in(s->m->threads, s->m->nr_threads, 50)->llc_migrations_per_s));
	expect_eq((uint64_t)s->m->cpus[1].llc, (uint64_t)-1);
	assert_true(s->m->play->absent & MACHINE_MEMORY);
	assert_null(s->m->scheduler);
	assert_null(s->m->scx_state);
}

static void an_empty_recording_is_an_empty_machine(void **state)
{
	struct stage *s = *state;

	finish(s->p, 0);
	reopen(s);
	go(s, 0, 1);
	expect_eq(s->m->nr_threads + s->m->nr_processes + s->m->nr_cpus + s->m->nr_dsqs, 0);
	assert_non_null(s->m->notice); /* no switches */
	go(s, 1, INT64_MAX);
	go(s, UINT64_MAX, INT64_MIN);
	expect_eq(s->m->play->position_ns, 0);
}

static void one_process_alone(void **state)
{
	struct stage *s = *state;
	struct diag d = { 0 };

	generate(s, 8, true);
	machine_replay_close(s->replay);
	assert_int_equal(machine_replay_open(&(struct machine_replay_cfg){ .source = &s->p->source,
	                                                                   .tgid = STORY_TID + 3 },
	                                     &d, &s->replay),
	                 0);
	go(s, 10 * MS, 5);
	expect_eq(s->m->nr_threads, STORY_THREADS);
	expect_eq(s->m->nr_processes, 1);
	expect_eq(s->m->processes[0].tid, STORY_TID + 3);
	for (uint32_t cpu = 0; cpu < STORY_CPUS; cpu++)
		check_cpu(s, &(struct story_cut){ STORY_START + 40 * MS, STORY_START + 50 * MS, 0 },
		          cpu);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(intervals_are_what_happened_in_them),
		CASE(moves_that_were_not_recorded_follow_from_slices),
		CASE(the_same_position_shows_the_same_however_reached),
		CASE(while_paused_it_shows_what_else_is_requested),
		CASE(steps_end_at_the_ends),
		CASE(the_whole_is_what_analyses_report),
		CASE(the_thread_that_is_shown_has_a_past),
		CASE(one_thread_closely),
		CASE(a_wait_that_lasts_is_a_stall),
		CASE(the_task_it_waited_for_has_a_name),
		CASE(a_task_that_ends_is_seen_once_more),
		CASE(queues_and_frequencies_where_they_are_recorded),
		CASE(a_task_that_leaves_a_queue_between_two_intervals_is_counted_once),
		CASE(unknown_is_not_zero),
		CASE(an_empty_recording_is_an_empty_machine),
		CASE(one_process_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
