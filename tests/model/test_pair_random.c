/*
 * Random streams against a simulated machine that knows the truth. Whole streams must give exactly its rows;
 * damaged ones must still tile every CPU and every task, and say nothing that is not true where losses were
 * reported. Filtered and sampled streams must give the true rows of what they tell of, and no others.
 */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/pair.h"

#define NR_CPUS   4
#define NR_TASKS  12
#define MAX_TRUTH 60000
#define STEPS     6000
#define LOSSY     200 /* worlds: what goes wrong there takes several losses at the wrong moments */

enum { RUNNING, RUNNABLE, SLEEPING, BEING_WOKEN };

struct row {
	uint64_t a_ns, b_ns,
		end_ns; /* slice and sleep: start in a; wait: waking in a, wakeup in b */
	uint32_t tid;
	uint32_t what; /* cpu, or cause, or sleep state */
};

struct rows {
	struct row *at;
	size_t nr;
};

struct sim_task {
	uint32_t tid;
	int mode;
	uint32_t cpu; /* runs, or ran */
	uint64_t since_ns, waking_ns, wakeup_ns;
	uint32_t cause;
	uint32_t sleep;
	bool is_woken_early;
	bool is_known; /* its first state was seen to begin */
};

struct world {
	unsigned int seed;
	uint64_t now_ns;
	bool has_wakeups;       /* whether WAKEUP is recorded */
	unsigned int drop_1_in; /* 0 = none */
	bool reports_losses;
	uint32_t nr_wanted; /* tasks of a filtered stream; 0 = all */
	uint32_t one_in;    /* of a sampled stream; 0 = all */
	int follow[NR_TASKS];
	size_t nr_followed_in, nr_followed_out; /* switches of those */
	struct sim_task tasks[NR_TASKS];
	int on_cpu[NR_CPUS]; /* index of a task, -1 idle */
	uint64_t since_ns[NR_CPUS];
	bool is_cpu_known[NR_CPUS];
	uint64_t nr_dropped;
	struct rows slices, waits, sleeps; /* truth */
	struct rows got_slices, got_waits, got_sleeps;
	struct tasks *table;
	struct pair *pair;
	struct ev_sink sink;
	/* Sums of what came out. */
	uint64_t busy_ns[NR_CPUS], idle_ns[NR_CPUS], unknown_ns[NR_CPUS];
	uint64_t cpu_end_ns[NR_CPUS];
	uint64_t run_ns;            /* of all tasks */
	uint64_t task_end_ns[4096]; /* where the tiles of each entry have got to; 0 = none yet */
};

static uint32_t roll(struct world *w, uint32_t n)
{
	return (uint32_t)rand_r(&w->seed) % n;
}

static void add(struct rows *rows, struct row row)
{
	assert_true(rows->nr < MAX_TRUTH);
	rows->at[rows->nr++] = row;
}

static uint32_t tid_of(const struct world *w, uint32_t task)
{
	return task == TASKS_NONE ? 0 : tasks_at(w->table, task)->tid;
}

/* Each tile of a task begins where the one before it ended. */
static void tile(struct world *w, uint32_t task, uint64_t start_ns, uint64_t end_ns)
{
	assert_true(task < 4096 && end_ns >= start_ns);
	if (w->task_end_ns[task])
		expect_eq(w->task_end_ns[task], start_ns);
	w->task_end_ns[task] = end_ns;
}

static void tile_cpu(struct world *w, uint32_t cpu, uint64_t start_ns, uint64_t end_ns)
{
	assert_true(cpu < NR_CPUS && end_ns >= start_ns);
	if (w->cpu_end_ns[cpu])
		expect_eq(w->cpu_end_ns[cpu], start_ns);
	w->cpu_end_ns[cpu] = end_ns;
}

static void got_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct world *w = ctx;

	assert_true(task < 4096);
	w->task_end_ns[task] = ts_ns;
}

static void got_slice(void *ctx, const struct pair_slice *r)
{
	struct world *w = ctx;

	tile_cpu(w, r->cpu, r->start_ns, r->end_ns);
	w->busy_ns[r->cpu] += r->end_ns - r->start_ns;
	tile(w, r->task, r->start_ns, r->end_ns);
	w->run_ns += r->end_ns - r->start_ns;
	if (r->end != PAIR_END_OPEN)
		add(&w->got_slices,
		    (struct row){ r->start_ns, 0, r->end_ns, tid_of(w, r->task), r->cpu });
}

static void got_idle(void *ctx, const struct pair_idle *r)
{
	struct world *w = ctx;

	tile_cpu(w, r->cpu, r->start_ns, r->end_ns);
	w->idle_ns[r->cpu] += r->end_ns - r->start_ns;
}

static void got_wait(void *ctx, const struct pair_wait *r)
{
	struct world *w = ctx;

	tile(w, r->task, pair_wait_start_ns(r), r->end_ns);
	if (!r->is_open)
		add(&w->got_waits, (struct row){ r->waking_ns, r->wakeup_ns, r->end_ns,
		                                 tid_of(w, r->task), r->cause });
}

static void got_sleep(void *ctx, const struct pair_sleep *r)
{
	struct world *w = ctx;

	tile(w, r->task, r->start_ns, r->end_ns);
	if (!r->is_open)
		add(&w->got_sleeps,
		    (struct row){ r->start_ns, 0, r->end_ns, tid_of(w, r->task), r->state });
}

static void got_gap(void *ctx, const struct pair_gap *r)
{
	struct world *w = ctx;

	if (r->task != TASKS_NONE) {
		tile(w, r->task, r->start_ns, r->end_ns);
		return;
	}
	tile_cpu(w, r->cpu, r->start_ns, r->end_ns);
	w->unknown_ns[r->cpu] += r->end_ns - r->start_ns;
}

static void setup(struct world *w, unsigned int seed)
{
	struct rows *all[] = { &w->slices,     &w->waits,     &w->sleeps,
		               &w->got_slices, &w->got_waits, &w->got_sleeps };
	struct tasks_cfg cfg = { .max_tasks = 4096, .keep_dead_ns = UINT64_MAX };
	struct pair_out out = { .ctx = w,
		                .task_begin = got_begin,
		                .slice = got_slice,
		                .idle = got_idle,
		                .wait = got_wait,
		                .sleep = got_sleep,
		                .gap = got_gap };

	*w = (struct world){ .seed = seed, .now_ns = 1000 };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		all[i]->at = malloc(MAX_TRUTH * sizeof(struct row));
		assert_non_null(all[i]->at);
	}
	expect_eq(tasks_new(&cfg, &w->table), 0);
	expect_eq(pair_new(&(struct pair_cfg){ w->table, NR_CPUS }, &w->pair), 0);
	expect_eq(pair_add_out(w->pair, &out), 0);
	w->sink = pair_sink(w->pair);
	pair_start(w->pair, w->now_ns);
	for (int i = 0; i < NR_TASKS; i++)
		w->tasks[i] = (struct sim_task){ .tid = 100 + (uint32_t)i, .mode = SLEEPING };
	for (int i = 0; i < NR_CPUS; i++)
		w->on_cpu[i] = -1;
}

static void teardown(struct world *w)
{
	pair_free(w->pair);
	tasks_free(w->table);
	free(w->slices.at);
	free(w->waits.at);
	free(w->sleeps.at);
	free(w->got_slices.at);
	free(w->got_waits.at);
	free(w->got_sleeps.at);
}

static bool is_wanted(const struct world *w, uint32_t tid)
{
	return !w->nr_wanted || (tid >= 100 && tid < 100 + w->nr_wanted);
}

enum { NOT, EARLY, WAIT, SLICE };

/* What src/bpf/events_follow.bpf.h does with a wake. */
static bool is_wake_followed(struct world *w, const struct ev_wake *ev)
{
	int task = (int)ev->tid - 100, *state = &w->follow[task];
	bool is_running = w->tasks[task].mode == RUNNING;

	if (ev->hdr.kind == EV_WAKING) {
		if (*state != NOT || roll(w, w->one_in))
			return false;
		*state = is_running ? EARLY : WAIT;
		return !is_running;
	}
	if (*state == EARLY)
		*state = is_running ? NOT : WAIT;
	return *state == WAIT;
}

/* And with a switch. */
static bool is_switch_followed(struct world *w, struct ev_switch *ev)
{
	int none = NOT;
	int *prev = ev->prev_tid ? &w->follow[ev->prev_tid - 100] : &none;
	int *next = ev->next_tid ? &w->follow[ev->next_tid - 100] : &none;
	bool has_prev = *prev == SLICE, has_next = *next == WAIT;

	if (has_prev)
		*prev = NOT;
	if (has_next)
		*next = SLICE;
	w->nr_followed_out += has_prev;
	w->nr_followed_in += has_next;
	ev->hdr.flags = (uint8_t)((has_prev ? EV_FLAG_LAST : EV_FLAG_OTHER_PREV) |
	                          (has_next ? 0 : EV_FLAG_OTHER_NEXT));
	return has_prev || has_next;
}

/* Whether the stream tells of it; sets the flags of a switch. */
static bool is_recorded(struct world *w, struct ev_hdr *rec)
{
	struct ev_switch *ev = (struct ev_switch *)rec;
	bool has_prev, has_next;

	if (w->one_in && rec->kind == EV_SWITCH)
		return is_switch_followed(w, ev);
	if (w->one_in)
		return is_wake_followed(w, (const struct ev_wake *)rec);
	if (rec->kind != EV_SWITCH)
		return is_wanted(w, ((const struct ev_wake *)rec)->tid);
	has_prev = is_wanted(w, ev->prev_tid);
	has_next = is_wanted(w, ev->next_tid);
	rec->flags = (uint8_t)((has_prev ? 0 : EV_FLAG_OTHER_PREV) |
	                       (has_next ? 0 : EV_FLAG_OTHER_NEXT));
	return has_prev || has_next;
}

static void deliver(struct world *w, struct ev_hdr *rec)
{
	struct ev_lost ev = { .hdr = { sizeof(ev), EV_LOST, 0, rec->cpu, rec->ts_ns },
		              .kind = rec->kind,
		              .count = 1 };

	if (!is_recorded(w, rec))
		return;
	if (!w->drop_1_in || roll(w, w->drop_1_in)) {
		expect_eq(w->sink.push(w->sink.ctx, rec), 0);
		return;
	}
	w->nr_dropped++;
	if (w->reports_losses)
		expect_eq(w->sink.push(w->sink.ctx, &ev.hdr), 0);
}

static void send_wake(struct world *w, uint8_t kind, const struct sim_task *t)
{
	struct ev_wake ev = { .hdr = { sizeof(ev), kind, 0, roll(w, NR_CPUS), w->now_ns },
		              .tid = t->tid,
		              .waker_tid = 100 + roll(w, NR_TASKS),
		              .target_cpu = roll(w, NR_CPUS) };

	deliver(w, &ev.hdr);
}

/* Takes the task off its CPU and tells what was true. */
static uint32_t switch_out(struct world *w, uint32_t cpu)
{
	static const uint32_t sleeps[] = { EV_STATE_S, EV_STATE_D, EV_STATE_IDLE };
	static const uint32_t runnable[] = { EV_STATE_RUNNABLE, EV_STATE_PREEMPTED };
	struct sim_task *t = &w->tasks[w->on_cpu[cpu]];
	uint32_t state;

	if (w->is_cpu_known[cpu])
		add(&w->slices, (struct row){ w->since_ns[cpu], 0, w->now_ns, t->tid, cpu });
	t->since_ns = w->now_ns;
	t->is_known = true;
	t->cpu = cpu;
	if (roll(w, 3) == 0 && !t->is_woken_early) {
		t->mode = RUNNABLE;
		t->cause = PAIR_PREEMPTED;
		t->waking_ns = 0;
		t->wakeup_ns = w->now_ns;
		return runnable[roll(w, 2)];
	}
	t->sleep = roll(w, 3);
	state = sleeps[t->sleep];
	t->mode = SLEEPING;
	if (t->is_woken_early) {
		t->mode = BEING_WOKEN;
		t->waking_ns = w->now_ns;
	}
	t->is_woken_early = false;
	return state;
}

static void switch_in(struct world *w, struct sim_task *t, uint32_t cpu)
{
	if (t->is_known && t->mode == BEING_WOKEN && t->waking_ns > t->since_ns)
		add(&w->sleeps, (struct row){ t->since_ns, 0, t->waking_ns, t->tid, t->sleep });
	if (t->mode == BEING_WOKEN)
		add(&w->waits, (struct row){ t->waking_ns, 0, w->now_ns, t->tid, PAIR_WOKEN });
	else
		add(&w->waits,
		    (struct row){ t->waking_ns, t->wakeup_ns, w->now_ns, t->tid, t->cause });
	t->mode = RUNNING;
	t->cpu = cpu;
	t->waking_ns = 0;
	t->is_known = true;
}

/* A task that may run, or -1. */
static int pick_runnable(struct world *w)
{
	int start = (int)roll(w, NR_TASKS);

	for (int i = 0; i < NR_TASKS; i++) {
		int k = (start + i) % NR_TASKS;

		if (w->tasks[k].mode == RUNNABLE)
			return k;
		if (w->tasks[k].mode == BEING_WOKEN && !w->has_wakeups)
			return k;
	}
	return -1;
}

static void sim_switch(struct world *w)
{
	uint32_t cpu = roll(w, NR_CPUS);
	int prev = w->on_cpu[cpu], next = roll(w, 4) ? pick_runnable(w) : -1;
	struct ev_switch ev = { .hdr = { sizeof(ev), EV_SWITCH, 0, cpu, w->now_ns } };

	if (prev == next)
		return;
	if (prev >= 0) {
		ev.prev_tid = w->tasks[prev].tid;
		ev.prev_state = switch_out(w, cpu);
	}
	if (next >= 0) {
		ev.next_tid = w->tasks[next].tid;
		switch_in(w, &w->tasks[next], cpu);
	}
	w->on_cpu[cpu] = next;
	w->since_ns[cpu] = w->now_ns;
	w->is_cpu_known[cpu] = true;
	deliver(w, &ev.hdr);
}

static void sim_wake(struct world *w)
{
	struct sim_task *t = &w->tasks[roll(w, NR_TASKS)];

	if (t->mode == SLEEPING) {
		t->mode = BEING_WOKEN;
		t->waking_ns = w->now_ns;
		send_wake(w, EV_WAKING, t);
	} else if (t->mode == BEING_WOKEN && w->has_wakeups) {
		if (t->is_known)
			add(&w->sleeps,
			    (struct row){ t->since_ns, 0, w->now_ns, t->tid, t->sleep });
		t->mode = RUNNABLE;
		t->cause = PAIR_WOKEN;
		t->wakeup_ns = w->now_ns;
		send_wake(w, EV_WAKEUP, t);
	} else if (t->mode == RUNNING && !t->is_woken_early && roll(w, 4) == 0) {
		/* Woken on its CPU: it stays runnable, or goes to sleep at once and is woken there. */
		send_wake(w, EV_WAKING, t);
		if (w->has_wakeups && roll(w, 2))
			send_wake(w, EV_WAKEUP, t);
		else
			t->is_woken_early = true;
	}
}

static void run(struct world *w)
{
	for (int i = 0; i < STEPS; i++) {
		w->now_ns += 1 + roll(w, 1000);
		if (roll(w, 2))
			sim_switch(w);
		else
			sim_wake(w);
	}
	/* Who is being woken at the end has slept. */
	for (const struct sim_task *t = w->tasks; t < w->tasks + NR_TASKS; t++)
		if (t->is_known && t->mode == BEING_WOKEN && t->waking_ns > t->since_ns)
			add(&w->sleeps,
			    (struct row){ t->since_ns, 0, t->waking_ns, t->tid, t->sleep });
	w->now_ns += 10;
	pair_finish(w->pair, w->now_ns);
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct row));
}

static void expect_same(struct rows *want, struct rows *got)
{
	qsort(want->at, want->nr, sizeof(struct row), by_bytes);
	qsort(got->at, got->nr, sizeof(struct row), by_bytes);
	expect_eq(want->nr, got->nr);
	assert_memory_equal(want->at, got->at, want->nr * sizeof(struct row));
}

static void expect_subset(struct rows *want, const struct rows *got)
{
	qsort(want->at, want->nr, sizeof(struct row), by_bytes);
	for (size_t i = 0; i < got->nr; i++)
		assert_non_null(
			bsearch(&got->at[i], want->at, want->nr, sizeof(struct row), by_bytes));
}

/* The true row of a task that begins, or ends, at that time. */
static const struct row *truth_at(const struct rows *want, uint32_t tid, uint64_t a_ns,
                                  uint64_t end_ns)
{
	for (const struct row *r = want->at; r < want->at + want->nr; r++)
		if (r->tid == tid && (r->a_ns == a_ns || r->end_ns == end_ns))
			return r;
	return NULL;
}

/* Each time that a row gives is the true one; of sleeps, the waking may stand in for a lost wakeup. */
static void expect_true(const struct world *w)
{
	for (size_t i = 0; i < w->got_waits.nr; i++) {
		const struct row *got = &w->got_waits.at[i];
		const struct row *r = truth_at(&w->waits, got->tid, UINT64_MAX, got->end_ns);

		assert_non_null(r);
		expect_eq(got->what, r->what);
		assert_true(got->a_ns == 0 || got->a_ns == r->a_ns);
		assert_true(got->b_ns == 0 || got->b_ns == r->b_ns);
	}
	for (size_t i = 0; i < w->got_sleeps.nr; i++) {
		const struct row *got = &w->got_sleeps.at[i];
		const struct row *r = truth_at(&w->sleeps, got->tid, got->a_ns, UINT64_MAX);

		assert_non_null(r);
		expect_eq(got->what, r->what);
		assert_true(got->end_ns <= r->end_ns);
	}
}

static void expect_tiled(const struct world *w)
{
	uint64_t by_cpu = 0;
	struct pair_cpu c;

	for (uint32_t i = 0; i < NR_CPUS; i++) {
		assert_true(pair_cpu_at(w->pair, i, &c));
		expect_eq(c.busy_ns, w->busy_ns[i]);
		expect_eq(c.idle_ns, w->idle_ns[i]);
		expect_eq(c.unknown_ns, w->unknown_ns[i]);
		expect_eq(c.busy_ns + c.idle_ns + c.unknown_ns, pair_span_ns(w->pair));
		expect_eq(w->cpu_end_ns[i], pair_now_ns(w->pair));
		by_cpu += c.busy_ns;
	}
	expect_eq(w->run_ns, by_cpu);
	for (uint32_t i = 0; i < tasks_nr(w->table); i++)
		if (!tasks_at(w->table, i)->end_ns)
			expect_eq(w->task_end_ns[i], pair_now_ns(w->pair));
}

static void expect_unbroken(const struct world *w)
{
	struct pair_breaks b;

	pair_breaks(w->pair, &b);
	expect_eq(b.prev_mismatch + b.running_twice + b.missing_in + b.missing_wakeup, 0);
	expect_eq(b.double_waking + b.missed_run + b.lost_slices + b.lost_states, 0);
}

static void whole_streams_give_the_rows_of_the_machine_that_made_them(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 0; seed < 40; seed++) {
		setup(w, seed);
		w->has_wakeups = seed % 2;
		run(w);
		expect_unbroken(w);
		expect_same(&w->slices, &w->got_slices);
		expect_same(&w->waits, &w->got_waits);
		expect_same(&w->sleeps, &w->got_sleeps);
		expect_tiled(w);
		assert_true(w->slices.nr > 500 && w->waits.nr > 500 && w->sleeps.nr > 200);
		teardown(w);
	}
	free(w);
}

/* Switches and wakes are dropped at random, each loss reported at once. */
static void streams_with_reported_losses_say_nothing_untrue(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 0; seed < LOSSY; seed++) {
		setup(w, seed);
		w->has_wakeups = seed % 2;
		w->drop_1_in = 5 + seed / 2 % 20;
		w->reports_losses = true;
		run(w);
		assert_true(w->nr_dropped > 20);
		expect_subset(&w->slices, &w->got_slices);
		expect_true(w);
		expect_tiled(w);
		assert_true(w->got_slices.nr > 100);
		teardown(w);
	}
	free(w);
}

static void silently_damaged_streams_still_tile_everything(void **state)
{
	struct world *w = malloc(sizeof(*w));
	struct pair_breaks b;

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 0; seed < 40; seed++) {
		setup(w, seed);
		w->has_wakeups = seed % 2;
		w->drop_1_in = 3 + seed;
		run(w);
		expect_tiled(w);
		pair_breaks(w->pair, &b);
		assert_true(b.prev_mismatch > 0);
		teardown(w);
	}
	free(w);
}

/* Keeps the true rows of the tasks that were asked for. */
static void keep_wanted(const struct world *w, struct rows *rows)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++)
		if (is_wanted(w, rows->at[i].tid))
			rows->at[nr++] = rows->at[i];
	rows->nr = nr;
}

static void filtered_streams_give_the_rows_of_those_asked_for(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 0; seed < 40; seed++) {
		setup(w, seed);
		w->has_wakeups = seed % 2;
		w->nr_wanted = 1 + seed % 6;
		run(w);
		keep_wanted(w, &w->slices);
		keep_wanted(w, &w->waits);
		keep_wanted(w, &w->sleeps);
		expect_unbroken(w);
		expect_same(&w->slices, &w->got_slices);
		expect_same(&w->waits, &w->got_waits);
		expect_same(&w->sleeps, &w->got_sleeps);
		expect_tiled(w);
		assert_true(w->slices.nr > 40);
		teardown(w);
	}
	free(w);
}

static void sampled_streams_give_whole_waits_and_slices_and_no_sleeps(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 0; seed < 40; seed++) {
		setup(w, seed);
		w->has_wakeups = true;
		w->one_in = 2 + seed % 8;
		run(w);
		expect_unbroken(w);
		expect_eq(w->got_slices.nr, w->nr_followed_out);
		expect_eq(w->got_waits.nr, w->nr_followed_in);
		expect_eq(w->got_sleeps.nr, 0);
		expect_subset(&w->slices, &w->got_slices);
		expect_true(w);
		expect_tiled(w);
		assert_true(w->nr_followed_out > 30);
		teardown(w);
	}
	free(w);
}

static void push_noise(struct world *w)
{
	static const uint8_t kinds[] = { EV_SWITCH,    EV_WAKING,   EV_WAKEUP,    EV_WAKEUP_NEW,
		                         EV_MIGRATE,   EV_FORK,     EV_EXEC,      EV_EXIT,
		                         EV_FREE,      EV_LOST,     EV_RENAME,    EV_SOFTIRQ_ENTRY,
		                         EV_PMU,       EV_SCX_RUN,  EV_DSQ_LEAVE, EV_DSQ_DEPTH,
		                         EV_SCX_STATE, EV_SPAN,     EV_BLOCK,     EV_NET,
		                         EV_MEMORY,    EV_FSYNC,    EV_SUSPEND,   EV_BLOCKED,
		                         EV_STRING,    EV_THROTTLE, EV_REFILL,    EV_STEAL,
		                         EV_SLEEP,     EV_POLICY,   EV_LOCK };
	uint64_t words[16];
	struct ev_hdr *hdr = (struct ev_hdr *)words;

	for (size_t i = 0; i < 16; i++)
		words[i] = (uint64_t)roll(w, 8) << 32 | roll(w, 8);
	hdr->kind = kinds[roll(w, sizeof(kinds))];
	hdr->size = sizeof(words);
	hdr->flags = (uint8_t)(roll(w, 2) ? 0 : roll(w, 64));
	hdr->cpu = roll(w, NR_CPUS);
	hdr->ts_ns = w->now_ns - (roll(w, 20) == 0 ? 5 : 0);
	if (hdr->kind == EV_SWITCH && roll(w, 8) == 0)
		((struct ev_switch *)words)->prev_state = EV_STATE_DEAD;
	expect_eq(w->sink.push(w->sink.ctx, hdr), 0);
}

static void noise_still_tiles_everything(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 0; seed < 40; seed++) {
		setup(w, seed);
		for (int i = 0; i < 3000; i++) {
			w->now_ns += roll(w, 50);
			push_noise(w);
		}
		w->now_ns += 10;
		pair_finish(w->pair, w->now_ns);
		expect_tiled(w);
		teardown(w);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_streams_give_the_rows_of_the_machine_that_made_them),
		cmocka_unit_test(streams_with_reported_losses_say_nothing_untrue),
		cmocka_unit_test(silently_damaged_streams_still_tile_everything),
		cmocka_unit_test(filtered_streams_give_the_rows_of_those_asked_for),
		cmocka_unit_test(sampled_streams_give_whole_waits_and_slices_and_no_sleeps),
		cmocka_unit_test(noise_still_tiles_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
