#include "analyzers_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/json_write.h"
#include "live/live_facts.h"
#include "live/live_shot.h"
#include "render/report_json.h"
#include "sys/topology.h"

#define DEFAULT_LIMIT 20U

int fixture_setup(void **state)
{
	struct topology_cpu cpus[4] = { 0 };
	const struct topology_table table = { .cpus = cpus, .nr_cpus = 4 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	for (int i = 0; i < 4; i++)
		cpus[i] = (struct topology_cpu){ .llc = i / 2,
			                         .node = 0,
			                         .is_possible = true,
			                         .is_present = true,
			                         .is_online = true };
	f->mem = arena_new(8 << 20);
	assert_non_null(f->mem);
	expect_eq(topology_new(&table, NULL, &f->topology), 0);
	expect_eq(live_model_init(&f->m, f->topology, LIVE_WINDOW_NS, NULL), 0);
	live_model_resume(&f->m, UINT64_MAX, 0);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	live_model_done(&f->m);
	topology_free(f->topology);
	arena_free(f->mem);
	free(f);
	return 0;
}

void push(struct fixture *f, const void *rec)
{
	struct ev_sink sink = live_model_sink(&f->m);

	expect_eq(sink.push(sink.ctx, rec), 0);
}

void pass_time(struct fixture *f, uint64_t ts)
{
	struct ev_sink sink = live_model_sink(&f->m);

	expect_eq(sink.advance(sink.ctx, ts), 0);
}

void sw(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t prev, uint32_t next, uint32_t st)
{
	push(f, &(struct ev_switch){ HDR(EV_SWITCH, ev_switch, cpu, ts), .prev_tid = prev,
	                             .next_tid = next, .prev_state = st, .prev_prio = 120,
	                             .next_prio = 110 });
}

void waking(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker)
{
	push(f, &(struct ev_wake){ HDR(EV_WAKING, ev_wake, cpu, ts), .tid = tid, .waker_tid = waker,
	                           .target_cpu = cpu, .prio = 120 });
}

void migrate(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to)
{
	push(f, &(struct ev_migrate){ HDR(EV_MIGRATE, ev_migrate, from, ts), .tid = tid,
	                              .from_cpu = from, .to_cpu = to });
}

void named(struct fixture *f, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct ev_task_info ev = { HDR(EV_TASK_INFO, ev_task_info, 0, 10), .tid = tid,
		                   .tgid = tgid };

	memcpy(ev.comm, comm, strlen(comm));
	push(f, &ev);
}

void softirq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, uint64_t ns)
{
	push(f, &(struct ev_softirq){ HDR(EV_SOFTIRQ_ENTRY, ev_softirq, cpu, ts), .vector = vector,
	                              .tid = 7 });
	push(f, &(struct ev_softirq){ HDR(EV_SOFTIRQ_EXIT, ev_softirq, cpu, ts + ns),
	                              .vector = vector, .tid = 7 });
}

/* tid sleeps on cpu, is woken from CPU 0 and runs ns later. */
void wake(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker, uint64_t ns)
{
	sw(f, ts - 5, cpu, tid, 0, EV_STATE_S);
	waking(f, ts, 0, tid, waker);
	sw(f, ts + ns, cpu, 0, tid, 0);
}

json_t *to_json(const struct report_node *node)
{
	struct json_writer w;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_error_t err;
	json_t *json;

	assert_non_null(out);
	jw_init(&w, out, false);
	report_json(&w, NULL, node);
	expect_eq(jw_finish(&w), 0);
	expect_eq(fclose(out), 0);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &err);
	assert_non_null(json);
	free(text);
	return json;
}

static int ask_pass(struct fixture *f, enum analyzer_id id, const struct analyzer_args *args,
                    struct diag *d, json_t **out)
{
	struct observer *o = &f->m.observers[id];
	struct pass_args pass = { .cpu = PASS_ANY_CPU,
		                  .layer = EV_NO_LAYER,
		                  .tid = args->has_pid ? args->pid : 0,
		                  .category = args->mode,
		                  .vector = args->has_softirq_nr ? args->softirq_nr + 1 : 0,
		                  .percentile = args->percentile,
		                  .limit = args->limit };
	struct live_shot *shot = live_shot_get(o->kept);
	struct report *r = NULL;
	int err;

	if (!shot)
		expect_eq(live_shot_new(&f->m, o->is_running, &shot), 0);
	pass.from_ns = live_shot_from_ns(shot, o->since_ns);
	err = pass_run(live_analyzers[id].pass, live_shot_source(shot), &pass, d, &r);
	if (!err)
		*out = to_json(report_root(r));
	report_free(r);
	live_shot_put(shot);
	return err;
}

int ask(struct fixture *f, enum analyzer_id id, struct analyzer_args args, struct diag *d,
        json_t **out)
{
	struct live_facts_args more = { .limit = args.limit ? args.limit : DEFAULT_LIMIT,
		                        .is_running = f->m.observers[id].is_running,
		                        .has_pid = args.has_pid,
		                        .pid = args.pid,
		                        .after = args.after,
		                        .multiplier = args.multiplier };
	struct live_events events;
	struct facts *facts;

	if (live_analyzers[id].pass)
		return ask_pass(f, id, &args, d, out);
	arena_reset(f->mem);
	facts = facts_new(f->mem);
	if (id == ANALYZER_EVENT_BUFFER)
		events = live_model_events(&f->m, true), event_buffer_facts(&events, &more, facts);
	else if (id == ANALYZER_RATE_MONITOR)
		event_rates_facts(f->m.rates, &more, facts);
	else
		expect_eq(history_facts(f->m.history, f->m.tasks, &more, facts), 0);
	assert_true(facts_is_whole(facts));
	*out = to_json(&facts->node);
	return 0;
}

json_t *totals(struct fixture *f, const char *by)
{
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER, .category = by };
	struct live_shot *shot = NULL;
	struct report *r = NULL;
	json_t *json;

	expect_eq(live_shot_new(&f->m, true, &shot), 0);
	args.from_ns = live_shot_from_ns(shot, f->m.stats_since_ns);
	expect_eq(pass_run(&pass_totals, live_shot_source(shot), &args, NULL, &r), 0);
	json = to_json(report_root(r));
	report_free(r);
	live_shot_put(shot);
	return json;
}

json_t *report(struct fixture *f, enum analyzer_id id, struct analyzer_args args)
{
	json_t *json = NULL;

	expect_eq(ask(f, id, args, NULL, &json), 0);
	return json;
}

void start(struct fixture *f, uint64_t ts)
{
	expect_eq(live_model_start(&f->m, ANALYZERS_ALL, ts, NULL), 0);
}

/* "a.0.b": keys of objects and numbers of lists. */
json_t *at(json_t *json, const char *path)
{
	char copy[128], *rest = copy, *word;

	assert_true(strlen(path) < sizeof(copy));
	memcpy(copy, path, strlen(path) + 1);
	while (json && (word = strsep(&rest, ".")))
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(word))
		                           : json_object_get(json, word);
	if (!json)
		print_error("there is no %s\n", path);
	assert_non_null(json);
	return json;
}

void is(json_t *json, const char *path, double value)
{
	json_t *v = at(json, path);

	assert_true(json_is_number(v));
	if (fabs(json_number_value(v) - value) > 1e-3)
		print_error("%s is %g, not %g\n", path, json_number_value(v), value);
	assert_true(fabs(json_number_value(v) - value) <= 1e-3);
}

void is_null(json_t *json, const char *path)
{
	assert_true(json_is_null(at(json, path)));
}

void is_text(json_t *json, const char *path, const char *text)
{
	assert_string_equal(json_string_value(at(json, path)), text);
}

void has_keys(json_t *json, const char *path, const char *keys)
{
	char copy[1024], *rest = copy, *word;
	json_t *sub = *path ? at(json, path) : json;

	assert_true(strlen(keys) < sizeof(copy));
	memcpy(copy, keys, strlen(keys) + 1);
	while ((word = strsep(&rest, " "))) {
		if (!json_object_get(sub, word))
			print_error("there is no %s in %s\n", word, path);
		assert_non_null(json_object_get(sub, word));
	}
}
