/*
 * fuzz/fuzz_analyzers — any records, and starts, stops and resets between them, through the live model and out again as the
 * reports of all live analyzers: whatever they say, reports are whole, and JSON.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/facts.h"
#include "analyze/pass.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "fuzz.h"
#include "live/live_facts.h"
#include "live/live_model.h"
#include "render/report_json.h"
#include "sys/topology.h"

#define MAX_CPUS 8
#define RECORD   128 /* bytes: as large as the largest of fixed size */

struct state {
	struct topology *topology;
	struct live_model m;
	uint64_t ts_ns;
};

static void open_all(struct state *s)
{
	struct topology_cpu cpus[3] = { 0 };
	struct topology_table table = { .cpus = cpus, .nr_cpus = 3 };

	for (int i = 0; i < 3; i++)
		cpus[i] = (struct topology_cpu){ .llc = i,
			                         .node = i / 2,
			                         .is_possible = true,
			                         .is_present = true,
			                         .is_online = true };
	fuzz_check(topology_new(&table, NULL, &s->topology) == 0);
	fuzz_check(live_model_init(&s->m, s->topology, LIVE_WINDOW_NS, NULL) == 0);
	live_model_resume(&s->m, UINT64_MAX, 0);
	live_model_count(&s->m, s->ts_ns);
	fuzz_check(live_model_start(&s->m, ANALYZERS_ALL, s->ts_ns, NULL) == 0);
}

/* Few bytes make a record: a kind, a CPU, a step of time, and numbers for the words of its body. */
static void push_one(struct state *s, struct fuzz_input *in, unsigned int kind)
{
	uint64_t words[RECORD / 8] = { 0 };
	struct ev_hdr *hdr = (struct ev_hdr *)words;
	struct ev_sink sink = live_model_sink(&s->m);
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
	fuzz_check(sink.push(sink.ctx, hdr) == 0);
	if (step == 248)
		fuzz_check(sink.advance(sink.ctx, s->ts_ns) == 0);
}

static void control(struct state *s, struct fuzz_input *in, unsigned int what)
{
	uint32_t set = (uint32_t)fuzz_take(in, 2);

	if (what == 0)
		fuzz_check(live_model_start(&s->m, set, s->ts_ns, NULL) == 0);
	else if (what == 1)
		live_model_stop(&s->m, set);
	else
		live_model_reset(&s->m, set, s->ts_ns);
	fuzz_check((live_model_running(&s->m) & ~ANALYZERS_ALL) == 0);
}

static void write_out(const struct report_node *node)
{
	struct json_writer w;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fuzz_check(out && node);
	jw_init(&w, out, false);
	report_json(&w, NULL, node);
	fuzz_check(jw_finish(&w) == 0);
	(void)fclose(out);
	fuzz_check(size > 2);
	free(text);
}

static void run_pass(const struct live_shot *shot, const struct pass *pass, struct pass_args args,
                     uint64_t from_ns)
{
	struct report *r = NULL;

	args.from_ns = from_ns;
	if (pass_run(pass, live_shot_source(shot), &args, NULL, &r) == 0)
		write_out(report_root(r));
	else
		fuzz_check(args.category); /* a mode that it does not have */
	report_free(r);
}

static void report_all(struct state *s)
{
	static const char *const modes[] = { NULL,      "bidirectional", "summary",
		                             "for_pid", "by_cpu",        "by_process" };
	static const char *const kinds[] = { "cpu", "llc", "node", "dsq", "process", "thread" };
	struct live_shot *now = NULL;

	fuzz_check(live_shot_new(&s->m, true, &now) == 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct pass_args args = { .cpu = PASS_ANY_CPU,
			                  .layer = EV_NO_LAYER,
			                  .category = modes[i],
			                  .tid = i % 2 ? 3 : 0,
			                  .limit = 100,
			                  .percentile = 1 };

		for (int id = 0; id < ANALYZERS; id++) {
			const struct observer *o = &s->m.observers[id];

			if (live_analyzers[id].pass)
				run_pass(o->kept ? o->kept : now, live_analyzers[id].pass, args,
				         o->since_ns);
		}
		args.category = kinds[i];
		run_pass(now, &pass_totals, args, s->m.stats_since_ns);
	}
	live_shot_put(now);
}

static void report_states(const struct state *s)
{
	struct arena *mem = arena_new(16 << 20);
	struct live_events events = live_model_events(&s->m, true);
	struct facts *facts = NULL;

	fuzz_check(mem);
	for (uint32_t i = 0; i < 2; i++) {
		struct live_facts_args args = { .limit = 100, .has_pid = i, .pid = 3, .after = i };

		facts = facts_new(mem);
		event_buffer_facts(&events, &args, facts);
		event_rates_facts(s->m.rates, &args, facts);
		fuzz_check(history_facts(s->m.history, s->m.tasks, &args, facts) == 0);
		write_out(&facts->node);
	}
	arena_free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct state s = { .ts_ns = 1000 };

	open_all(&s);
	while (in.left) {
		unsigned int kind = (unsigned int)fuzz_take(&in, 1);

		if (kind >= 250)
			control(&s, &in, kind % 3);
		else
			push_one(&s, &in, kind % EV_KIND_MAX);
	}
	report_all(&s);
	report_states(&s);
	live_model_done(&s.m);
	topology_free(s.topology);
	return 0;
}
