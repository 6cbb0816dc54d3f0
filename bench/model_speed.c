/*
 * bench/model-speed: what one record costs the model, in ns and bytes, and what a question to the log costs.
 *
 * Half the records are switches, half wakings, over 8 CPUs and 1000 tasks: the state machine alone, then with
 * each of its listeners, then the way of a recording: tables but for the wakeups, which are in the log, and
 * the log. The last line is that of the state machine with a rolling window, the way of a live run:
 * `name value bar pass|fail`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/event_log.h"
#include "model/timeline.h"

#define NR_CPUS   8U
#define NR_TASKS  1000U
#define NR_EVENTS (1U << 20)
#define ROUNDS    5
#define BAR_NS    100.0
#define NR_ROWS   1000
#define QUESTIONS 100

union record {
	struct ev_hdr hdr;
	struct ev_switch sw;
	struct ev_wake wake;
};

enum setup { PAIR_ONLY, WITH_TIMELINE, WITH_WINDOW, WITH_LOG, SETUPS };

static const char *const names[SETUPS] = { "pair", "pair+timeline", "pair+window",
	                                   "pair+timeline+log" };

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

/* Each CPU passes through its share of the tasks: a task is woken, and is switched in when the other sleeps. */
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
	struct timeline *timeline;
	struct event_log *log;
};

static int add_listener(struct model *m, enum setup setup)
{
	struct timeline_cfg timeline = {
		.window_ns = setup == WITH_WINDOW ? 100000000 : 0,
		.tables = setup == WITH_LOG ? ~(1U << TIMELINE_WAKEUP) : 0,
	};
	struct pair_out out;
	int err;

	if (setup == PAIR_ONLY)
		return 0;
	err = timeline_new(&timeline, &m->timeline);
	if (!err && setup == WITH_LOG)
		err = event_log_new(&(struct event_log_cfg){ 0 }, &m->log);
	if (err)
		return err;
	out = timeline_out(m->timeline);
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

static void free_model(struct model *m)
{
	event_log_free(m->log);
	timeline_free(m->timeline);
	pair_free(m->pair);
	tasks_free(m->tasks);
}

static double push_all(const struct model *m, const union record *records)
{
	struct ev_sink sink = pair_sink(m->pair), log = { 0 };
	double start = now_ns();

	if (m->log)
		log = event_log_sink(m->log);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		(void)sink.push(sink.ctx, &records[i].hdr);
		if (m->log)
			(void)log.push(log.ctx, &records[i].hdr);
	}
	return (now_ns() - start) / NR_EVENTS;
}

static size_t bytes_of(const struct model *m)
{
	return timeline_bytes(m->timeline) + (m->log ? event_log_bytes(m->log) : 0);
}

/* The first NR_ROWS records that answer; a negative time without memory. */
static double ask(struct event_log *l, const struct event_log_query *q)
{
	struct event_log_iter it;
	double start = now_ns();
	int nr = 0;

	if (event_log_find(l, q, &it) < 0)
		return -1;
	while (nr < NR_ROWS && event_log_next(&it))
		nr++;
	return now_ns() - start;
}

static void ask_all(struct event_log *l, const union record *records)
{
	const struct event_log_query any = { 0, EVENT_LOG_ANY, EVENT_LOG_ANY, 0, UINT64_MAX };
	struct event_log_query by[3] = { any, any, any };
	static const char *const how[3] = { "CPU", "task", "time" };

	by[0].cpu = 3;
	by[1].tid = 100;
	for (int i = 0; i < 3; i++) {
		double first = ask(l, &by[i]), worst = 0;

		for (uint32_t k = 0; k < QUESTIONS; k++) {
			double ns;

			by[i].from_ns = records[(size_t)NR_EVENTS / QUESTIONS * k].hdr.ts_ns;
			ns = ask(l, &by[i]);
			worst = ns > worst ? ns : worst;
		}
		printf("log by %s: the first question %.2f ms, then at most %.3f ms for %d rows\n",
		       how[i], first / 1e6, worst / 1e6, NR_ROWS);
	}
	printf("log with both indexes: %.1f bytes of memory per record\n",
	       (double)event_log_bytes(l) / NR_EVENTS);
}

/* The best of some rounds: what the code costs, not what the machine did meanwhile. */
static double measure(const union record *records, enum setup setup)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		struct model m = { 0 };
		double ns;

		if (make_model(&m, setup) < 0) {
			fprintf(stderr, "model-speed: out of memory\n");
			exit(1);
		}
		ns = push_all(&m, records);
		best = ns < best ? ns : best;
		if (m.timeline && round == 0)
			printf("%s: %.1f bytes of memory per record\n", names[setup],
			       (double)bytes_of(&m) / NR_EVENTS);
		if (m.log && round == 0)
			ask_all(m.log, records);
		free_model(&m);
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
	printf("model-speed %.1f %.0f %s\n", ns[WITH_WINDOW], BAR_NS,
	       ns[WITH_WINDOW] <= BAR_NS ? "pass" : "fail");
	return ns[WITH_WINDOW] <= BAR_NS ? 0 : 1;
}
