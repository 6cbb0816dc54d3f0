#include "analyzers_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "render/report_json.h"

int fixture_setup(void **state)
{
	static const struct live_place places[] = { { 0, 0 }, { 0, 0 }, { 1, 0 }, { 1, 0 } };
	struct fixture *f = calloc(1, sizeof(*f));
	struct pair_out out;

	assert_non_null(f);
	f->mem = arena_new(8 << 20);
	assert_non_null(f->mem);
	expect_eq(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = S }, &f->tasks), 0);
	expect_eq(pair_new(&(struct pair_cfg){ .tasks = f->tasks }, &f->pair), 0);
	expect_eq(analyzers_new(&(struct analyzers_cfg){ .pair = f->pair,
	                                                 .tasks = f->tasks,
	                                                 .places = places,
	                                                 .nr_places = 4 },
	                        &f->a),
	          0);
	out = analyzers_out(f->a);
	expect_eq(pair_add_out(f->pair, &out), 0);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	analyzers_free(f->a);
	pair_free(f->pair);
	tasks_free(f->tasks);
	arena_free(f->mem);
	free(f);
	return 0;
}

void push(struct fixture *f, const void *rec)
{
	struct ev_sink pair = pair_sink(f->pair), also = analyzers_sink(f->a);

	expect_eq(pair.push(pair.ctx, rec), 0);
	expect_eq(also.push(also.ctx, rec), 0);
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

json_t *to_json(const struct facts *facts)
{
	struct json_writer w;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_error_t err;
	json_t *json;

	assert_non_null(out);
	jw_init(&w, out, false);
	report_json(&w, NULL, &facts->node);
	expect_eq(jw_finish(&w), 0);
	expect_eq(fclose(out), 0);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &err);
	assert_non_null(json);
	free(text);
	return json;
}

json_t *report(struct fixture *f, enum analyzer_id id, struct analyzer_args args)
{
	struct facts *facts = NULL;

	arena_reset(f->mem);
	expect_eq(analyzers_report(f->a, id, &args, f->mem, NULL, &facts), 0);
	return to_json(facts);
}

void start(struct fixture *f, uint64_t ts)
{
	expect_eq(analyzers_start(f->a, ANALYZERS_ALL, ts, NULL), 0);
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
