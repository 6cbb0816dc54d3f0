/*
 * Random machines: tasks that run, sleep, wake and move on three CPUs, with interrupts, dispatch queues, quotas, stolen
 * time and lost records. The parts of every wait must be those of a second, plain calculation: each nanosecond of each
 * CPU is painted, and each nanosecond of a wait is looked up by itself. What was stolen has no place: of each part it is
 * its share.
 */
#include "ledger_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "ledger/divide.h"

#define WORLDS    RANDOM_WORLDS(400U)
#define STEPS     60
#define TASKS     7
#define MAX_TIME  4096
#define MAX_PARTS 4096
#define GROUPS    70 /* the first of two cgroups with quotas */

enum mode { SLEEPING, QUEUED, RUNNING };

struct machine {
	struct world w;
	unsigned int seed;
	uint64_t now;
	enum mode modes[TASKS];
	uint32_t cpus[TASKS];
	int on_cpu[WORLD_CPUS];
	bool has_moves, has_losses, has_quotas, has_steal;
	uint64_t queue_end[TASKS]; /* of its newest dispatch queue */
};

struct paint {
	uint8_t kind;
	uint64_t what;
};

static uint32_t roll(struct machine *m, uint32_t n)
{
	return (uint32_t)rand_r(&m->seed) % n;
}

static uint32_t tid_of(int task)
{
	return task < 0 ? 0 : 100 + (uint32_t)task;
}

static bool is_dropped(struct machine *m, uint32_t cpu, uint32_t kind)
{
	if (!m->has_losses || roll(m, 12))
		return false;
	lost(m->w.f, m->now, cpu, kind, 1);
	return true;
}

static void switch_to(struct machine *m, uint32_t cpu, int next)
{
	int prev = m->on_cpu[cpu];
	bool is_sleep = prev >= 0 && roll(m, 2);

	if (prev >= 0)
		m->modes[prev] = is_sleep ? SLEEPING : QUEUED;
	if (next >= 0)
		m->modes[next] = RUNNING;
	m->on_cpu[cpu] = next;
	if (is_dropped(m, cpu, EV_SWITCH))
		return;
	sw(m->w.f, m->now, cpu, tid_of(prev), tid_of(next), is_sleep ? EV_STATE_S : 0);
	if (m->has_quotas && prev >= 0 && !is_sleep && roll(m, 8))
		throttle(m->w.f, m->now, cpu, tid_of(prev), GROUPS + (uint32_t)prev % 2);
	if (m->has_steal && roll(m, 2))
		steal(m->w.f, m->now, cpu, 1 + roll(m, roll(m, 2) ? 10 : 200));
}

static void try_refill(struct machine *m)
{
	if (m->has_quotas)
		refill(m->w.f, m->now, GROUPS + roll(m, 2),
		       roll(m, 2) ? roll(m, WORLD_CPUS) : EVERY_CPU);
}

static void try_switch(struct machine *m)
{
	uint32_t cpu = roll(m, WORLD_CPUS), task = roll(m, TASKS);

	if (m->modes[task] == QUEUED && m->cpus[task] == cpu)
		switch_to(m, cpu, (int)task);
	else if (m->on_cpu[cpu] >= 0 && !roll(m, 3))
		switch_to(m, cpu, -1);
}

static void try_wake(struct machine *m)
{
	uint32_t task = roll(m, TASKS), cpu = roll(m, WORLD_CPUS);

	if (m->modes[task] != SLEEPING)
		return;
	if (roll(m, 2))
		waking(m->w.f, m->now, cpu, tid_of((int)task), tid_of(m->on_cpu[cpu]));
	m->now += roll(m, 3);
	m->cpus[task] = roll(m, WORLD_CPUS);
	m->modes[task] = QUEUED;
	if (!is_dropped(m, cpu, EV_WAKEUP))
		wakeup(m->w.f, m->now, cpu, tid_of((int)task), m->cpus[task]);
}

static void try_move(struct machine *m)
{
	uint32_t task = roll(m, TASKS), to = roll(m, WORLD_CPUS);

	if (m->modes[task] != QUEUED || to == m->cpus[task])
		return;
	if (!is_dropped(m, to, EV_MIGRATE))
		migrate(m->w.f, m->now, tid_of((int)task), m->cpus[task], to);
	m->cpus[task] = to;
}

/* A softirq with an interrupt in it, or only one of them. */
static void interrupt(struct machine *m)
{
	uint32_t cpu = roll(m, WORLD_CPUS);
	bool has_softirq = roll(m, 2);

	if (has_softirq)
		softirq(m->w.f, m->now, cpu, 3, false);
	if (!has_softirq || roll(m, 2)) {
		m->now += roll(m, 10);
		irq(m->w.f, m->now, cpu, 7, false);
		m->now += roll(m, 10);
		irq(m->w.f, m->now, cpu, 7, true);
	}
	m->now += roll(m, 10);
	if (has_softirq)
		softirq(m->w.f, m->now, cpu, 3, true);
}

static void dispatch(struct machine *m)
{
	struct pair_out out = timeline_out(m->w.timeline);
	uint32_t task = roll(m, TASKS), index = task_of(m->w.f, tid_of((int)task));
	uint64_t from = m->queue_end[task] + roll(m, 100), to = from + roll(m, 100);
	uint64_t id = roll(m, 2) ? 0x42 : 1ULL << 63 | (roll(m, 2) ? 2 : 1ULL << 62 | 1);

	if (index == TASKS_NONE || to > m->now)
		return;
	out.dsq(out.ctx, &(struct pair_dsq){ .start_ns = from,
	                                     .end_ns = to,
	                                     .dsq_id = id,
	                                     .task = index,
	                                     .has_start = 1 });
	m->queue_end[task] = to;
}

static void run(struct machine *m, unsigned int seed)
{
	memset(m, 0, sizeof(*m));
	m->seed = seed;
	m->has_moves = roll(m, 4);
	m->has_losses = !roll(m, 3);
	m->has_quotas = roll(m, 2);
	m->has_steal = roll(m, 2);
	world_begin(&m->w);
	for (int i = 0; i < WORLD_CPUS; i++)
		m->on_cpu[i] = -1;
	for (int i = 0; i < STEPS; i++) {
		m->now += 1 + roll(m, 30);
		switch (roll(m, 9)) {
		case 0:
		case 1:
		case 2:
			try_switch(m);
			break;
		case 3:
		case 4:
			try_wake(m);
			break;
		case 5:
			if (m->has_moves)
				try_move(m);
			break;
		case 6:
			interrupt(m);
			break;
		case 7:
			try_refill(m);
			break;
		default:
			dispatch(m);
		}
	}
	world_done(&m->w, m->now + 20, m->has_moves);
	assert_true(m->w.end_ns < MAX_TIME);
}

static void brush(struct paint *cpu, uint64_t from, uint64_t to, struct paint with)
{
	for (uint64_t t = from; t < to; t++)
		cpu[t] = with;
}

/* Where a CPU is known, and has no handler of that kind yet. */
static void brush_handlers(const struct fixture *f, struct paint (*cpus)[MAX_TIME], uint8_t span,
                           uint8_t kind)
{
	for (uint32_t i = 0; i < f->nr_spans; i++) {
		const struct pair_span *s = &f->spans[i];

		for (uint64_t t = s->start_ns; s->kind == span && t < s->end_ns; t++)
			if (cpus[s->cpu][t].kind != LEDGER_UNKNOWN && cpus[s->cpu][t].kind != kind)
				cpus[s->cpu][t] = (struct paint){ kind, i };
	}
}

static void paint(const struct machine *m, struct paint (*cpus)[MAX_TIME])
{
	const struct fixture *f = m->w.f;

	memset(cpus, 0, WORLD_CPUS * sizeof(*cpus));
	for (uint32_t i = 0; i < f->nr_idles; i++)
		brush(cpus[f->idles[i].cpu], f->idles[i].start_ns, f->idles[i].end_ns,
		      (struct paint){ LEDGER_IDLE, 0 });
	for (uint32_t i = 0; i < f->nr_slices; i++)
		brush(cpus[f->slices[i].cpu], f->slices[i].start_ns, f->slices[i].end_ns,
		      (struct paint){ LEDGER_TASK, f->slices[i].task });
	brush_handlers(f, cpus, PAIR_SOFTIRQ, LEDGER_SOFTIRQ);
	brush_handlers(f, cpus, PAIR_IRQ, LEDGER_INTERRUPT);
}

/* When a task came into a queue: by its wakeup, or where its waker put it while its CPU did nothing else. */
static uint64_t queued_at(const struct machine *m, struct paint (*cpus)[MAX_TIME],
                          const struct pair_wait *w)
{
	const struct fixture *f = m->w.f;

	if (w->wakeup_ns)
		return w->wakeup_ns;
	for (uint32_t i = 0; i < f->nr_migrations && m->has_moves && w->cause == PAIR_WOKEN; i++) {
		const struct pair_migration *move = &f->migrations[i];
		const struct paint *cpu = cpus[move->cpu];

		if (move->task != w->task || move->ts_ns < w->waking_ns || move->ts_ns >= w->end_ns)
			continue;
		if (move->cpu != w->waker_cpu)
			break;
		for (uint64_t t = w->waking_ns; t <= move->ts_ns; t++)
			if (cpu[t].kind != cpu[w->waking_ns].kind ||
			    cpu[t].what != cpu[w->waking_ns].what)
				return w->waking_ns;
		return move->ts_ns;
	}
	return w->waking_ns;
}

/* In whose queue a waiting task was at a time; PAIR_NO_CPU = unknown. */
static uint32_t place_at(const struct machine *m, const struct pair_wait *w, uint64_t t)
{
	const struct fixture *f = m->w.f;
	uint64_t queued = w->wakeup_ns ? w->wakeup_ns : w->waking_ns;
	uint32_t before = w->cause == PAIR_PREEMPTED ? w->from_cpu : PAIR_NO_CPU, after = w->cpu;
	bool is_after_found = false;

	for (uint32_t i = 0; i < f->nr_migrations && m->has_moves; i++) {
		const struct pair_migration *move = &f->migrations[i];

		if (move->task != w->task || move->ts_ns < queued || move->ts_ns >= w->end_ns)
			continue;
		if (move->ts_ns <= t) {
			before = move->to_cpu;
		} else if (!is_after_found) {
			after = move->from_cpu;
			is_after_found = true;
		}
	}
	return before == PAIR_NO_CPU || before == after ? after : PAIR_NO_CPU;
}

static bool in_shared_queue(const struct machine *m, uint32_t task, uint64_t t)
{
	uint64_t id;

	for (id = timeline_first(m->w.timeline, TIMELINE_DSQ);
	     id < timeline_end(m->w.timeline, TIMELINE_DSQ); id++) {
		union timeline_row row;

		assert_true(timeline_row(m->w.timeline, TIMELINE_DSQ, id, &row));
		if (row.dsq.task == task && row.dsq.start_ns <= t && t < row.dsq.end_ns)
			return row.dsq.dsq_id == 0x42;
	}
	return false;
}

/* By which row. */
static bool is_throttled(const struct machine *m, uint32_t task, uint64_t t, uint64_t *row)
{
	const struct fixture *f = m->w.f;

	for (uint32_t i = 0; i < f->nr_throttles; i++)
		if (f->throttles[i].task == task && f->throttles[i].start_ns <= t &&
		    t < f->throttles[i].end_ns) {
			*row = i;
			return true;
		}
	return false;
}

/* Of a CPU up to a time: each row gives its share, rounded down. */
static uint64_t stolen_until(const struct fixture *f, uint32_t cpu, uint64_t t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->nr_steals; i++) {
		const struct pair_steal *s = &f->steals[i];
		uint64_t end = t < s->end_ns ? t : s->end_ns;

		if (s->cpu == cpu && s->start_ns < end)
			sum += s->ns * (end - s->start_ns) / (s->end_ns - s->start_ns);
	}
	return sum;
}

static struct ledger_part expected_at(const struct machine *m, struct paint (*cpus)[MAX_TIME],
                                      const struct pair_wait *w, uint64_t t)
{
	struct ledger_part p = { .cpu = PAIR_NO_CPU };
	uint32_t cpu;

	if (t < queued_at(m, cpus, w)) {
		p.kind = LEDGER_WAKING;
		return p;
	}
	if (in_shared_queue(m, w->task, t)) {
		p.kind = LEDGER_QUEUE;
		p.what = 0x42;
		return p;
	}
	cpu = place_at(m, w, t);
	p.cpu = (uint16_t)cpu;
	if (is_throttled(m, w->task, t, &p.what)) {
		p.kind = LEDGER_THROTTLED;
		return p;
	}
	if (cpu == PAIR_NO_CPU)
		return p;
	p.kind = cpus[cpu][t].kind;
	p.what = cpus[cpu][t].what;
	return p;
}

static uint32_t check(struct machine *m, struct paint (*cpus)[MAX_TIME], const struct pair_wait *w)
{
	struct ledger_part parts[MAX_PARTS];
	uint32_t nr = world_parts(&m->w, w, parts, MAX_PARTS);
	uint64_t at = pair_wait_woken_ns(w);

	for (uint32_t i = 0, next; i < nr; i = next) {
		uint64_t stolen = 0, start = at;
		struct ledger_part e = expected_at(m, cpus, w, at);

		/* All that follows of the same cause, with what was stolen of it. */
		for (next = i; next < nr && at < w->end_ns; next++) {
			struct ledger_part now = expected_at(m, cpus, w, at);

			if (next > i &&
			    (now.kind != e.kind || now.cpu != e.cpu || now.what != e.what))
				break;
			expect_eq(parts[next].start_ns, at);
			assert_true(parts[next].end_ns > at);
			if (parts[next].kind == LEDGER_STOLEN) {
				stolen += parts[next].end_ns - at;
				expect_eq(parts[next].what, 0);
			} else {
				expect_eq(parts[next].kind, e.kind);
				expect_eq(parts[next].what, e.what);
			}
			expect_eq(parts[next].cpu, e.cpu);
			for (; at < parts[next].end_ns; at++) {
				now = expected_at(m, cpus, w, at);
				expect_eq(now.kind, e.kind);
				expect_eq(now.cpu, e.cpu);
				expect_eq(now.what, e.what);
			}
		}
		expect_eq(stolen, e.kind < LEDGER_STOLEN
		                          ? 0
		                          : stolen_until(m->w.f, e.cpu, at) -
		                                    stolen_until(m->w.f, e.cpu, start));
	}
	expect_eq(at, w->end_ns);
	return nr;
}

static bool has_kind(struct machine *m, const struct pair_wait *w, uint8_t kind)
{
	struct ledger_part parts[MAX_PARTS];
	uint32_t nr = world_parts(&m->w, w, parts, MAX_PARTS);

	for (uint32_t i = 0; i < nr; i++)
		if (parts[i].kind == kind)
			return true;
	return false;
}

static void parts_are_those_of_a_plain_calculation(void **state)
{
	static struct paint cpus[WORLD_CPUS][MAX_TIME];
	static struct machine m;
	uint64_t nr_waits = 0, nr_parts = 0, nr_throttled = 0, nr_stolen = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= WORLDS; seed++) {
		run(&m, seed);
		paint(&m, cpus);
		for (uint32_t i = 0; i < m.w.f->nr_waits; i++) {
			nr_parts += check(&m, cpus, &m.w.f->waits[i]);
			nr_throttled += has_kind(&m, &m.w.f->waits[i], LEDGER_THROTTLED);
			nr_stolen += has_kind(&m, &m.w.f->waits[i], LEDGER_STOLEN);
		}
		nr_waits += m.w.f->nr_waits;
		world_end(&m.w);
	}
	assert_true(nr_waits > 5 * WORLDS && nr_parts > nr_waits);
	assert_true(nr_throttled > WORLDS / 4 && nr_stolen > WORLDS / 4);
}

#define UNITS 3 /* tasks are added up by their number modulo this */

struct sums {
	uint64_t ns[UNITS][LEDGER_KINDS];
	uint64_t by_what[UNITS][TASKS + 3]; /* of tasks */
};

static void add(struct sums *sums, uint32_t unit, uint32_t nr, const struct ledger_part *part)
{
	uint64_t ns = nr * (part->end_ns - part->start_ns);

	sums->ns[unit][part->kind] += ns;
	if (part->kind == LEDGER_TASK)
		sums->by_what[unit][part->what] += ns;
}

static int add_part(void *ctx, uint32_t unit, const struct ledger_part *part)
{
	add(ctx, unit, 1, part);
	return 0;
}

#define WIDTH (LEDGER_KINDS + TASKS + 3)

/* Some tasks have a column, some from a time on, some none. */
static void choose_columns(struct divide_column *columns, unsigned int seed)
{
	for (uint32_t i = 0; i < TASKS + 3; i++) {
		static const uint64_t since[] = { 0, MAX_TIME / 4, UINT64_MAX };

		columns[i] = (struct divide_column){ since[(i + seed) % 3], LEDGER_KINDS + i };
	}
}

static void add_matrix(struct sums *sums, const struct divide *d)
{
	for (uint32_t unit = 0; unit < UNITS; unit++) {
		const uint64_t *row = d->sums + unit * d->width;

		for (uint32_t i = 0; i < LEDGER_KINDS; i++)
			sums->ns[unit][i] += row[i];
		for (uint32_t i = 0; i < TASKS + 3; i++) {
			sums->ns[unit][LEDGER_TASK] += row[LEDGER_KINDS + i];
			sums->by_what[unit][i] += row[LEDGER_KINDS + i];
		}
	}
}

/* Where a wait is said to be one stay, it is: that, and nothing else. */
static bool is_stay(struct machine *m, const struct pair_wait *w)
{
	struct ledger_part only, part;
	struct ledger_walk walk;

	if (!ledger_is_stay(m->w.ledger, w, &only))
		return false;
	expect_eq(ledger_begin(m->w.ledger, w, &walk), 0);
	assert_true(ledger_next_stay(&walk, &part));
	expect_eq(only.kind, part.kind);
	expect_eq(only.cpu, part.cpu);
	expect_eq(only.start_ns, part.start_ns);
	expect_eq(only.end_ns, part.end_ns);
	assert_false(ledger_next_stay(&walk, &part));
	return true;
}

static void waits_that_are_one_stay_are_known(void **state)
{
	static struct machine m;
	uint32_t nr = 0, nr_others = 0;

	(void)state;
	for (unsigned int seed = 1; seed <= WORLDS; seed++) {
		run(&m, seed);
		for (uint32_t i = 0; i < m.w.f->nr_waits; i++)
			*(is_stay(&m, &m.w.f->waits[i]) ? &nr : &nr_others) += 1;
		world_end(&m.w);
	}
	assert_true(nr && nr_others);
}

static void add_parts(struct machine *m, struct sums *alone, struct sums *divided, struct divide *d)
{
	for (uint32_t i = 0; i < m->w.f->nr_waits; i++) {
		const struct pair_wait *w = &m->w.f->waits[i];
		uint32_t unit = w->task % UNITS;
		struct ledger_walk walk;
		struct ledger_part part;

		expect_eq(ledger_begin(m->w.ledger, w, &walk), 0);
		while (ledger_next(&walk, &part))
			add(alone, unit, 1, &part);
		expect_eq(ledger_begin(m->w.ledger, w, &walk), 0);
		while (ledger_next_stay(&walk, &part)) {
			struct ledger_stay stay = { part.start_ns, part.end_ns, unit, part.cpu };

			if (part.kind == LEDGER_STAY)
				expect_eq(divide_stay(d, &stay), 0);
			else
				add(divided, unit, 1, &part);
		}
	}
}

/* Places are listed once each, when they are no longer 0. */
static void expect_touched(const struct divide *d)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < UNITS * d->width; i++)
		nr += d->sums[i] != 0;
	expect_eq(nr, d->nr_touched);
	for (uint32_t i = 0; i < nr; i++)
		assert_true(d->sums[d->touched[i]]);
}

static void divided_stays_give_the_sums_of_all_parts(void **state)
{
	static struct machine m;

	(void)state;
	for (unsigned int seed = 1; seed <= WORLDS; seed++) {
		struct sums alone = { 0 }, divided = { 0 };
		struct divide_column columns[TASKS + 3];
		uint64_t matrix[UNITS * WIDTH] = { 0 };
		uint32_t touched[UNITS * WIDTH];
		struct divide_map *map;
		struct divide d = { .columns = columns,
			            .sums = seed % 4 ? matrix : NULL,
			            .width = WIDTH,
			            .touched = touched,
			            .is_urgent_apart = seed % 2,
			            .part = add_part,
			            .ctx = &divided };

		run(&m, seed);
		choose_columns(columns, seed);
		d.l = m.w.ledger;
		d.map = map = seed % 3 ? divide_map_new(&d) : NULL;
		assert_true(map || seed % 3 == 0);
		expect_eq(divide_init(&d), 0);
		add_parts(&m, &alone, &divided, &d);
		if (d.sums) {
			add_matrix(&divided, &d);
			expect_touched(&d);
		}
		divide_done(&d);
		divide_map_free(map);
		assert_memory_equal(alone.ns, divided.ns, sizeof(alone.ns));
		assert_memory_equal(alone.by_what, divided.by_what, sizeof(alone.by_what));
		world_end(&m.w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_those_of_a_plain_calculation),
		cmocka_unit_test(waits_that_are_one_stay_are_known),
		cmocka_unit_test(divided_stays_give_the_sums_of_all_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
