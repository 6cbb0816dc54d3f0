/*
 * bench/model-speed: what one record costs the model, in ns.
 *
 * Half the records are switches, half wakings, over 8 CPUs and 1000 tasks: the state machine alone, then with
 * each of its listeners. The last line is that of the state machine with live aggregates, the way of a live
 * run: `name value bar pass|fail`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/live.h"
#include "model/timeline.h"

#define NR_CPUS   8U
#define NR_TASKS  1000U
#define NR_EVENTS (1U << 20)
#define ROUNDS    5
#define BAR_NS    100.0

union record {
	struct ev_hdr hdr;
	struct ev_switch sw;
	struct ev_wake wake;
};

enum setup { PAIR_ONLY, WITH_LIVE, WITH_TIMELINE, WITH_WINDOW, SETUPS };

static const char *const names[SETUPS] = { "pair", "pair+live", "pair+timeline", "pair+window" };

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void make_wake(union record *r, uint64_t ts_ns, uint32_t cpu, uint32_t tid, uint32_t waker)
{
	r->wake = (struct ev_wake){ .hdr = { sizeof(r->wake), EV_WAKING, 0, cpu, ts_ns },
		                    .tid = tid,
		                    .waker_tid = waker,
		                    .target_cpu = cpu };
}

static void make_switch(union record *r, uint64_t ts_ns, uint32_t cpu, uint32_t prev, uint32_t next)
{
	r->sw = (struct ev_switch){ .hdr = { sizeof(r->sw), EV_SWITCH, 0, cpu, ts_ns },
		                    .prev_tid = prev,
		                    .next_tid = next,
		                    .prev_state = EV_STATE_S };
}

/* Each CPU passes through its share of the tasks: somebody is woken, and comes on as the other sleeps. */
static void make_stream(union record *records)
{
	uint32_t on_cpu[NR_CPUS] = { 0 }, turn[NR_CPUS] = { 0 };
	uint64_t ts_ns = 1000000;

	for (uint32_t i = 0; i + 1 < NR_EVENTS; i += 2) {
		uint32_t cpu = (uint32_t)rand() % NR_CPUS;
		uint32_t next = 100 + cpu + NR_CPUS * (turn[cpu]++ % (NR_TASKS / NR_CPUS));

		ts_ns += 500;
		make_wake(&records[i], ts_ns, (cpu + 1) % NR_CPUS, next,
		          on_cpu[(cpu + 1) % NR_CPUS]);
		ts_ns += 700;
		make_switch(&records[i + 1], ts_ns, cpu, on_cpu[cpu], next);
		on_cpu[cpu] = next;
	}
}

struct model {
	struct tasks *tasks;
	struct pair *pair;
	struct live *live;
	struct timeline *timeline;
};

static int add_listener(struct model *m, enum setup setup)
{
	struct live_cfg live = { .pair = m->pair, .tasks = m->tasks, .keep_dead_ns = 1000000000 };
	struct timeline_cfg timeline = {
		.window_ns = setup == WITH_WINDOW ? 100000000 : 0,
	};
	struct pair_out out;
	int err;

	if (setup == PAIR_ONLY)
		return 0;
	if (setup == WITH_LIVE)
		err = live_new(&live, &m->live);
	else
		err = timeline_new(&timeline, &m->timeline);
	if (err)
		return err;
	out = setup == WITH_LIVE ? live_out(m->live) : timeline_out(m->timeline);
	return pair_add_out(m->pair, &out);
}

static int make_model(struct model *m, enum setup setup)
{
	int err = tasks_new(&(struct tasks_cfg){ .keep_dead_ns = 1000000000 }, &m->tasks);

	if (!err)
		err = pair_new(&(struct pair_cfg){ .tasks = m->tasks, .nr_cpus = NR_CPUS },
		               &m->pair);
	return err ? err : add_listener(m, setup);
}

/* The best of some rounds: what the code costs, not what the machine did meanwhile. */
static double measure(const union record *records, enum setup setup)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		struct model m = { 0 };
		struct ev_sink sink;
		double start, ns;

		if (make_model(&m, setup) < 0) {
			fprintf(stderr, "model-speed: out of memory\n");
			exit(1);
		}
		sink = pair_sink(m.pair);
		start = now_ns();
		for (uint32_t i = 0; i < NR_EVENTS; i++)
			(void)sink.push(sink.ctx, &records[i].hdr);
		ns = (now_ns() - start) / NR_EVENTS;
		best = ns < best ? ns : best;
		if (m.timeline && round == 0)
			printf("%s: %.1f bytes of memory per record\n", names[setup],
			       (double)timeline_bytes(m.timeline) / NR_EVENTS);
		live_free(m.live);
		timeline_free(m.timeline);
		pair_free(m.pair);
		tasks_free(m.tasks);
	}
	return best;
}

int main(void)
{
	union record *records = calloc(NR_EVENTS, sizeof(*records));
	double ns[SETUPS];

	if (!records)
		return 1;
	srand(1);
	make_stream(records);
	for (int i = 0; i < SETUPS; i++) {
		ns[i] = measure(records, (enum setup)i);
		printf("%s: %.1f ns per record\n", names[i], ns[i]);
	}
	free(records);
	printf("model-speed %.1f %.0f %s\n", ns[WITH_LIVE], BAR_NS,
	       ns[WITH_LIVE] <= BAR_NS ? "pass" : "fail");
	return ns[WITH_LIVE] <= BAR_NS ? 0 : 1;
}
