/*
 * fuzz/fuzz_pair — any records through the state machine and all its listeners: whatever they say, CPUs and
 * tasks must be tiled without gaps or overlaps, and the sums must agree.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/event_log.h"
#include "model/timeline.h"

#define MAX_TASKS 64
#define MAX_CPUS  8
#define START_NS  1000ULL

struct state {
	struct tasks *tasks;
	struct pair *pair;
	struct timeline *timeline;
	struct event_log *log;
	uint64_t task_end_ns[MAX_TASKS];
	uint64_t cpu_end_ns[MAX_CPUS];
	uint64_t busy_ns[MAX_CPUS];
};

static void tile_task(struct state *s, uint32_t task, uint64_t start_ns, uint64_t end_ns)
{
	if (task == TASKS_NONE)
		return;
	fuzz_check(task < MAX_TASKS && end_ns >= start_ns && s->task_end_ns[task] == start_ns);
	s->task_end_ns[task] = end_ns;
}

static void tile_cpu(struct state *s, uint16_t cpu, uint64_t start_ns, uint64_t end_ns)
{
	if (cpu >= MAX_CPUS)
		return;
	fuzz_check(end_ns >= start_ns && s->cpu_end_ns[cpu] == start_ns);
	s->cpu_end_ns[cpu] = end_ns;
}

static void on_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	fuzz_check(task < MAX_TASKS);
	((struct state *)ctx)->task_end_ns[task] = ts_ns;
}

static void on_slice(void *ctx, const struct pair_slice *r)
{
	struct state *s = ctx;

	tile_task(s, r->task, r->start_ns, r->end_ns);
	tile_cpu(s, r->cpu, r->start_ns, r->end_ns);
	if (r->cpu < MAX_CPUS)
		s->busy_ns[r->cpu] += r->end_ns - r->start_ns;
}

static void on_wait(void *ctx, const struct pair_wait *r)
{
	fuzz_check(r->waking_ns || r->wakeup_ns);
	tile_task(ctx, r->task, pair_wait_start_ns(r), r->end_ns);
}

static void on_sleep(void *ctx, const struct pair_sleep *r)
{
	fuzz_check(r->end_ns > r->start_ns);
	tile_task(ctx, r->task, r->start_ns, r->end_ns);
}

static void on_idle(void *ctx, const struct pair_idle *r)
{
	tile_cpu(ctx, r->cpu, r->start_ns, r->end_ns);
}

static void on_gap(void *ctx, const struct pair_gap *r)
{
	fuzz_check((r->task == TASKS_NONE) != (r->cpu == PAIR_NO_CPU));
	if (r->task == TASKS_NONE)
		tile_cpu(ctx, r->cpu, r->start_ns, r->end_ns);
	else
		tile_task(ctx, r->task, r->start_ns, r->end_ns);
}

static void on_span(void *ctx, const struct pair_span *r)
{
	(void)ctx;
	fuzz_check(r->end_ns >= r->start_ns && r->kind < PAIR_SPAN_KINDS);
}

static void on_dsq(void *ctx, const struct pair_dsq *r)
{
	(void)ctx;
	fuzz_check(r->end_ns >= r->start_ns && r->dsq_id != EV_DSQ_INVALID);
	fuzz_check(r->has_start || r->start_ns == r->end_ns);
}

static void add(struct state *s, struct pair_out out)
{
	fuzz_check(pair_add_out(s->pair, &out) == 0);
}

static void open_all(struct state *s)
{
	struct tasks_cfg tasks = { .max_tasks = MAX_TASKS, .keep_dead_ns = 300 };
	struct timeline_cfg timeline = { .cap_bytes = 4 << 20, .window_ns = 5000 };

	fuzz_check(tasks_new(&tasks, &s->tasks) == 0);
	fuzz_check(pair_new(&(struct pair_cfg){ s->tasks, 2 }, &s->pair) == 0);
	fuzz_check(timeline_new(&timeline, &s->timeline) == 0);
	add(s, (struct pair_out){ .ctx = s,
	                          .task_begin = on_begin,
	                          .slice = on_slice,
	                          .wait = on_wait,
	                          .sleep = on_sleep,
	                          .idle = on_idle,
	                          .span = on_span,
	                          .dsq = on_dsq,
	                          .gap = on_gap });
	add(s, timeline_out(s->timeline));
	fuzz_check(event_log_new(&(struct event_log_cfg){ .cap_bytes = 1 << 20 }, &s->log) == 0);
	pair_start(s->pair, START_NS);
	for (uint32_t i = 0; i < MAX_CPUS; i++)
		s->cpu_end_ns[i] = START_NS;
}

static void close_all(struct state *s)
{
	event_log_free(s->log);
	timeline_free(s->timeline);
	pair_free(s->pair);
	tasks_free(s->tasks);
}

/* Few bytes make a record: a kind, a CPU, a step of time, and small numbers for the words of its body. */
static void push_one(struct state *s, struct fuzz_input *in, uint64_t *ts_ns)
{
	uint64_t words[16] = { 0 };
	struct ev_hdr *hdr = (struct ev_hdr *)words;
	struct ev_sink sink = pair_sink(s->pair);
	struct ev_sink log = event_log_sink(s->log);
	uint8_t cpu = (uint8_t)fuzz_take(in, 1), step = (uint8_t)fuzz_take(in, 1);

	for (uint32_t i = 2; i < 5; i++)
		words[i] = fuzz_take(in, 1) | fuzz_take(in, 1) << 32;
	hdr->kind = (uint8_t)fuzz_take(in, 1) % EV_KIND_MAX;
	hdr->size = sizeof(words);
	if (hdr->kind >= EV_SCX_RUN && hdr->kind < EV_TASK_INFO) /* the longer ones */
		words[5] = fuzz_take(in, 1) | fuzz_take(in, 1) << 32;
	hdr->cpu = cpu < 250 ? cpu % MAX_CPUS : cpu * 100U;
	*ts_ns += step < 250 ? step : 0;
	hdr->ts_ns = step < 250 ? *ts_ns : *ts_ns - (step - 249);
	if (hdr->kind == EV_SWITCH)
		((struct ev_switch *)words)->prev_state &= 0x1ff;
	fuzz_check(sink.push(sink.ctx, hdr) == 0);
	fuzz_check(log.push(log.ctx, hdr) == 0);
}

/* All that is kept comes out, and what is asked for by task is that of the task. */
static void check_log(struct event_log *l)
{
	struct event_log_query q = { 0, EVENT_LOG_ANY, EVENT_LOG_ANY, 0, UINT64_MAX };
	uint32_t tids[EVENT_LOG_MAX_TIDS];
	struct event_log_iter it;
	const struct ev_hdr *rec;
	uint64_t nr = 0;

	fuzz_check(event_log_find(l, &q, &it) == 0);
	while (event_log_next(&it))
		nr++;
	fuzz_check(nr == event_log_nr(l));
	q.tid = 3;
	fuzz_check(event_log_find(l, &q, &it) == 0);
	while ((rec = event_log_next(&it))) {
		unsigned int nr_tids = event_log_tids(rec, tids);

		fuzz_check((nr_tids > 0 && tids[0] == 3) || (nr_tids > 1 && tids[1] == 3));
	}
}

/* As if the stream ended here: each CPU is tiled to the end. */
static void check_snapshot(const struct state *s)
{
	struct timeline_query q = { TIMELINE_SLICE, TASKS_NONE, 1, 0, UINT64_MAX };
	uint64_t now_ns = pair_now_ns(s->pair);
	struct timeline *rows = NULL;
	struct tasks *tasks = NULL;
	struct pair *pair = NULL;
	struct timeline_iter it;
	struct pair_cpu cpu;
	struct pair_out out;

	fuzz_check(timeline_snapshot(s->timeline, &rows) == 0);
	fuzz_check(tasks_copy(s->tasks, &tasks) == 0);
	out = timeline_out(rows);
	fuzz_check(pair_snapshot(s->pair, tasks, &out, now_ns, &pair) == 0);
	fuzz_check(timeline_find(rows, &q, &it) == 0);
	while (timeline_next(&it, NULL, NULL)) {
	}
	for (uint32_t i = 0; i < MAX_CPUS; i++)
		if (pair_cpu_at(pair, i, &cpu))
			fuzz_check(cpu.busy_ns + cpu.idle_ns + cpu.unknown_ns ==
			           pair_span_ns(pair));
	timeline_free(rows);
	pair_free(pair);
	tasks_free(tasks);
}

static void check_reads(struct state *s)
{
	struct timeline_query q = { TIMELINE_SLICE, TASKS_NONE, 1, 0, UINT64_MAX };
	struct timeline_iter it;
	union timeline_row row;
	uint64_t end_ns = 0;

	fuzz_check(timeline_find(s->timeline, &q, &it) == 0);
	while (timeline_next(&it, NULL, &row)) {
		fuzz_check(row.slice.cpu == 1 && row.slice.start_ns >= end_ns);
		end_ns = row.slice.end_ns;
	}
}

static void check_sums(const struct state *s)
{
	struct pair_cpu c;

	for (uint32_t i = 0; i < MAX_CPUS; i++) {
		if (!pair_cpu_at(s->pair, i, &c))
			continue;
		fuzz_check(c.busy_ns == s->busy_ns[i]);
		fuzz_check(c.busy_ns + c.idle_ns + c.unknown_ns == pair_span_ns(s->pair));
		fuzz_check(s->cpu_end_ns[i] == pair_now_ns(s->pair));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct state s = { 0 };
	uint64_t ts_ns = START_NS;

	open_all(&s);
	while (in.left)
		push_one(&s, &in, &ts_ns);
	check_reads(&s);
	check_log(s.log);
	check_snapshot(&s);
	pair_finish(s.pair, ts_ns + 1);
	check_sums(&s);
	close_all(&s);
	return 0;
}
