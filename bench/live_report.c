/*
 * bench/live-report: what a live report costs on a full window of a million rows, while more records come between reports.
 *
 * Half the records are switches, half wakings, over 8 CPUs and 1000 tasks. Per report: how long the stream waits for the
 * snapshot, the live analyzers that take longest, and the first question by task and by CPU, which needs an index. The last line is
 * that of the indexes of one report, in ms: `name value bar pass|fail`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyze/pass.h"
#include "live/live_model.h"
#include "sys/topology.h"

#define NR_CPUS  8U
#define NR_TASKS 1000U
#define NR_FIRST 500000U /* pairs of a waking and a switch: two rows each, or more */
#define NR_MORE  16000U  /* between two reports */
#define ROUNDS   20
#define BAR_MS   60.0

struct bench {
	struct topology *topology;
	struct live_model m;
	uint64_t ts_ns;
	uint32_t on_cpu[NR_CPUS], turn[NR_CPUS];
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void must(int err)
{
	if (err) {
		(void)fprintf(stderr, "live-report: error %d\n", err);
		exit(1);
	}
}

/* Each CPU passes through its share of the tasks: a task is woken, and is switched in when the other sleeps. */
static void push_pair(struct bench *b)
{
	struct ev_sink sink = live_model_sink(&b->m);
	uint32_t cpu = (uint32_t)rand() % NR_CPUS, other = (cpu + 1) % NR_CPUS;
	uint32_t next = 100 + cpu + NR_CPUS * (b->turn[cpu]++ % (NR_TASKS / NR_CPUS));
	struct ev_wake wake = { .hdr = { sizeof(wake), EV_WAKING, 0, other, b->ts_ns += 500 },
		                .tid = next,
		                .waker_tid = b->on_cpu[other],
		                .target_cpu = cpu };
	struct ev_switch sw = { .hdr = { sizeof(sw), EV_SWITCH, 0, cpu, b->ts_ns += 700 },
		                .prev_tid = b->on_cpu[cpu],
		                .next_tid = next,
		                .prev_state = EV_STATE_S };

	must(sink.push(sink.ctx, &wake.hdr));
	must(sink.push(sink.ctx, &sw.hdr));
	b->on_cpu[cpu] = next;
}

static void push_many(struct bench *b, uint32_t nr)
{
	struct ev_sink sink = live_model_sink(&b->m);

	for (uint32_t i = 0; i < nr; i++)
		push_pair(b);
	must(sink.advance(sink.ctx, b->ts_ns));
}

static void open_all(struct bench *b)
{
	struct topology_cpu cpus[NR_CPUS] = { 0 };
	struct topology_table table = { .cpus = cpus, .nr_cpus = NR_CPUS };

	for (uint32_t i = 0; i < NR_CPUS; i++)
		cpus[i] = (struct topology_cpu){ .is_possible = true,
			                         .is_present = true,
			                         .is_online = true };
	must(topology_new(&table, NULL, &b->topology));
	must(live_model_init(&b->m, b->topology, LIVE_WINDOW_NS, NULL));
	live_model_resume(&b->m, UINT64_MAX, 0);
	must(live_model_start(&b->m, ANALYZERS_ALL, 0, NULL));
}

static double run_analyzer(const struct live_shot *shot, enum analyzer_id id)
{
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	double begun = now_ms();
	struct report *r = NULL;

	must(pass_run(live_analyzers[id].pass, live_shot_source(shot), &args, NULL, &r));
	report_free(r);
	return now_ms() - begun;
}

/* By task and by CPU, of the two tables that explanations ask most. */
static double make_indexes(const struct live_shot *shot)
{
	struct timeline *t = live_shot_source(shot)->timeline;
	double begun = now_ms();

	for (int is_by_task = 0; is_by_task < 2; is_by_task++) {
		must(timeline_index(t, TIMELINE_SLICE, is_by_task));
		must(timeline_index(t, TIMELINE_WAIT, is_by_task));
	}
	return now_ms() - begun;
}

static void keep_least(double *to, double value)
{
	if (*to == 0 || value < *to)
		*to = value;
}

int main(void)
{
	struct bench b = { .ts_ns = 1000000 };
	double waits = 0, analyzers[ANALYZERS] = { 0 }, indexes = 0, first = 0;
	uint64_t rows = 0;

	open_all(&b);
	push_many(&b, NR_FIRST);
	for (int round = 0; round < ROUNDS; round++) {
		struct live_shot *shot = NULL;
		double begun = now_ms(), took;

		must(live_shot_new(&b.m, true, &shot));
		keep_least(&waits, now_ms() - begun);
		for (uint32_t i = 0; i < ANALYZERS; i++)
			if (live_analyzers[i].pass)
				keep_least(&analyzers[i], run_analyzer(shot, (enum analyzer_id)i));
		took = make_indexes(shot);
		if (round == 0)
			first = took;
		else
			keep_least(&indexes, took);
		rows = timeline_end(live_shot_source(shot)->timeline, TIMELINE_SLICE) -
		       timeline_first(live_shot_source(shot)->timeline, TIMELINE_SLICE) +
		       timeline_end(live_shot_source(shot)->timeline, TIMELINE_WAIT) -
		       timeline_first(live_shot_source(shot)->timeline, TIMELINE_WAIT);
		live_shot_put(shot);
		push_many(&b, NR_MORE);
	}
	printf("%llu slices and waits; the stream waits %.2f ms for a snapshot\n",
	       (unsigned long long)rows, waits);
	for (uint32_t i = 0; i < ANALYZERS; i++)
		if (live_analyzers[i].pass)
			printf("%-22s %7.2f ms\n", live_analyzers[i].name, analyzers[i]);
	printf("indexes of the first report %.2f ms\n", first);
	printf("live-report-indexes-ms %.2f %.1f %s\n", indexes, BAR_MS,
	       indexes <= BAR_MS ? "pass" : "fail");
	live_model_done(&b.m);
	topology_free(b.topology);
	return indexes > BAR_MS;
}
