/*
 * fuzz/fuzz_analyzers — any records, and starts, stops and resets between them, through all live analyzers and
 * out again as reports: whatever they say, reports are whole, and JSON.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/analyzers_report.h"
#include "analyze/event_groups.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "fuzz.h"
#include "model/dsq_monitor.h"
#include "render/report_json.h"

#define MAX_TASKS 64
#define MAX_CPUS  8
#define MAX_ROWS  6
#define RECORD    128 /* bytes: as large as the largest of fixed size */

struct state {
	struct tasks *tasks;
	struct pair *pair;
	struct live *live;
	struct analyzers *a;
	uint64_t ts_ns;
};

static void open_all(struct state *s)
{
	static const struct live_place places[] = { { 0, 0 }, { 1, 0 }, { 2, 1 } };
	struct tasks_cfg tasks = { .max_tasks = MAX_TASKS, .keep_dead_ns = 300 };
	struct pair_out out;

	fuzz_check(tasks_new(&tasks, &s->tasks) == 0);
	fuzz_check(pair_new(&(struct pair_cfg){ s->tasks, 2 }, &s->pair) == 0);
	fuzz_check(live_new(&(struct live_cfg){ .pair = s->pair, .tasks = s->tasks, .max_dsqs = 4 },
	                    &s->live) == 0);
	fuzz_check(analyzers_new(&(struct analyzers_cfg){ .pair = s->pair,
	                                                  .tasks = s->tasks,
	                                                  .places = places,
	                                                  .nr_places = 3,
	                                                  .max_events = 32,
	                                                  .max_bytes = 4096,
	                                                  .max_rows = MAX_ROWS },
	                         &s->a) == 0);
	out = analyzers_out(s->a);
	fuzz_check(pair_add_out(s->pair, &out) == 0);
	fuzz_check(analyzers_start(s->a, ANALYZERS_ALL, 0, NULL) == 0);
}

static void close_all(struct state *s)
{
	analyzers_free(s->a);
	live_free(s->live);
	pair_free(s->pair);
	tasks_free(s->tasks);
}

/* Few bytes make a record: a kind, a CPU, a step of time, and numbers for the words of its body. */
static void push_one(struct state *s, struct fuzz_input *in, unsigned int kind)
{
	uint64_t words[RECORD / 8] = { 0 };
	struct ev_hdr *hdr = (struct ev_hdr *)words;
	struct ev_sink sinks[3] = { pair_sink(s->pair), analyzers_sink(s->a),
		                    dsq_live_sink(s->live) };
	uint8_t cpu = (uint8_t)fuzz_take(in, 1), step = (uint8_t)fuzz_take(in, 1);

	for (uint32_t i = 2; i < 7; i++)
		words[i] = fuzz_take(in, 1) | fuzz_take(in, 1) << 32;
	hdr->kind = (uint8_t)kind;
	hdr->size = RECORD;
	hdr->flags = step & 3;
	hdr->cpu = cpu < 250 ? cpu % MAX_CPUS : cpu * 100U;
	s->ts_ns += step < 250 ? step : 0;
	hdr->ts_ns = step < 250 ? s->ts_ns : s->ts_ns - (step - 249);
	if (step == 249)
		s->ts_ns += 1000000000; /* another second */
	for (int i = 0; i < 3; i++)
		fuzz_check(sinks[i].push(sinks[i].ctx, hdr) == 0);
}

static void control(struct state *s, struct fuzz_input *in, unsigned int what)
{
	uint32_t set = (uint32_t)fuzz_take(in, 2);

	if (what == 0)
		fuzz_check(analyzers_start(s->a, set, s->ts_ns, NULL) == 0);
	else if (what == 1)
		analyzers_stop(s->a, set, s->ts_ns);
	else
		analyzers_reset(s->a, set, s->ts_ns);
	fuzz_check((analyzers_running(s->a) & ~ANALYZERS_ALL) == 0);
}

static void write_out(const struct facts *facts)
{
	struct json_writer w;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fuzz_check(out && facts);
	jw_init(&w, out, false);
	report_json(&w, NULL, &facts->node);
	fuzz_check(jw_finish(&w) == 0);
	(void)fclose(out);
	fuzz_check(size > 2);
	free(text);
}

static void report_all(const struct state *s, struct arena *mem)
{
	static const char *const modes[] = { NULL, "bidirectional", "summary", "by_cpu",
		                             "by_process" };
	static const char *const by[] = { "type", "cpu" }, *const metrics[] = { "p95_latency",
		                                                                "ts" };
	struct event_groups_cfg groups = {
		.group_by = by, .nr_group_by = 2, .metrics = metrics, .nr_metrics = 2
	};
	struct facts *facts = NULL;

	for (int id = 0; id < ANALYZERS; id++)
		for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
			struct analyzer_args args = { .mode = modes[i],
				                      .has_pid = i % 2,
				                      .pid = 3,
				                      .limit = 100,
				                      .percentile = 1 };

			arena_reset(mem);
			if (analyzers_report(s->a, (enum analyzer_id)id, &args, mem, NULL,
			                     &facts) == 0)
				write_out(facts);
			else
				fuzz_check(modes[i]);
		}
	arena_reset(mem);
	fuzz_check(event_groups_make(&groups, analyzers_event_buffer(s->a), s->tasks, mem, NULL,
	                             &facts) == 0);
	write_out(facts);
	fuzz_check(live_nr_dsqs(s->live) <= 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct arena *mem = arena_new(16 << 20);
	struct state s = { .ts_ns = 1000 };

	fuzz_check(mem);
	open_all(&s);
	while (in.left) {
		unsigned int kind = (unsigned int)fuzz_take(&in, 1);

		if (kind >= 250)
			control(&s, &in, kind % 3);
		else
			push_one(&s, &in, kind % EV_KIND_MAX);
	}
	report_all(&s, mem);
	close_all(&s);
	arena_free(mem);
	return 0;
}
