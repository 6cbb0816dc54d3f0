#include "pass_fixture.h"

#include <stdlib.h>
#include <string.h>

static int count_and_push(void *ctx, const struct ev_hdr *rec)
{
	struct pass_fixture *p = ctx;

	p->facts.kinds[rec->kind]++;
	p->facts.nr_events++;
	assert_int_equal(p->log_sink.push(p->log_sink.ctx, rec), 0);
	return p->pair_sink.push(p->pair_sink.ctx, rec);
}

int pass_setup(void **state)
{
	struct pass_fixture *p = calloc(1, sizeof(*p));
	struct timeline_cfg cfg = { 0 };
	struct pair_out out;
	void *made;

	assert_non_null(p);
	assert_int_equal(fixture_setup(&made), 0);
	memcpy(&p->f, made, sizeof(p->f));
	/* The rows of the inner fixture are not looked at; a machine of its own keeps this one whole. */
	pair_free(p->f.pair);
	free(made);
	assert_int_equal(pair_new(&(struct pair_cfg){ .tasks = p->f.tasks }, &p->f.pair), 0);
	assert_int_equal(timeline_new(&cfg, &p->timeline), 0);
	assert_int_equal(event_log_new(&(struct event_log_cfg){ 0 }, &p->log), 0);
	p->log_sink = event_log_sink(p->log);
	out = timeline_out(p->timeline);
	assert_int_equal(pair_add_out(p->f.pair, &out), 0);
	p->pair_sink = pair_sink(p->f.pair);
	p->f.sink = p->pair_sink;
	p->f.sink.push = count_and_push;
	p->f.sink.ctx = p;
	for (int i = 0; i < PASS_MAX_CPUS; i++)
		p->places[i] = (struct live_place){ .llc = i < 4 ? i / 2 : -1,
			                            .node = i < 4 ? 0 : -1 };
	p->facts.name = "test";
	p->facts.producer = "unknown";
	p->facts.clock = "boottime";
	p->facts.places = p->places;
	p->facts.nr_places = PASS_MAX_CPUS;
	p->facts.nr_cpus = 4;
	p->args.cpu = PASS_ANY_CPU;
	p->args.layer = EV_NO_LAYER;
	*state = p;
	return 0;
}

int pass_teardown(void **state)
{
	struct pass_fixture *p = *state;

	report_free(p->report);
	task_lives_free(p->lives);
	event_log_free(p->log);
	timeline_free(p->timeline);
	pair_free(p->f.pair);
	tasks_free(p->f.tasks);
	free(p);
	return 0;
}

void finish(struct pass_fixture *p, uint64_t ts)
{
	pair_finish(p->f.pair, ts);
	assert_int_equal(task_lives_new(p->f.tasks, &p->lives), 0);
	p->source = (struct source){
		.timeline = p->timeline,
		.tasks = p->f.tasks,
		.pair = p->f.pair,
		.log = p->log,
		.lives = p->lives,
		.facts = &p->facts,
		.start_ns = ts - pair_span_ns(p->f.pair),
		.end_ns = ts,
	};
}

const struct report_node *run_pass(struct pass_fixture *p, const struct pass *pass)
{
	struct diag d = { 0 };

	report_free(p->report);
	p->report = NULL;
	if (pass_run(pass, &p->source, &p->args, &d, &p->report))
		fail_msg("%s: %s", pass->id, d.what);
	return report_root(p->report);
}

static const struct report_node *at(const struct report_node *root, const char *path)
{
	const struct report_node *node = report_at(root, path);

	if (!node)
		fail_msg("no %s in the report", path);
	return node;
}

uint64_t num_at(const struct report_node *root, const char *path)
{
	const struct report_node *node = at(root, path);

	if (node->type != REPORT_U64)
		fail_msg("%s is no number but of type %d", path, (int)node->type);
	return node->u64;
}

double real_at(const struct report_node *root, const char *path)
{
	const struct report_node *node = at(root, path);

	if (node->type != REPORT_DOUBLE)
		fail_msg("%s is no fraction but of type %d", path, (int)node->type);
	return node->f;
}

const char *text_at(const struct report_node *root, const char *path)
{
	const struct report_node *node = at(root, path);

	if (node->type != REPORT_STRING)
		fail_msg("%s is no text but of type %d", path, (int)node->type);
	return node->text;
}

bool is_null_at(const struct report_node *root, const char *path)
{
	return at(root, path)->type == REPORT_NULL;
}

uint32_t len_at(const struct report_node *root, const char *path)
{
	const struct report_node *node = at(root, path);

	if (node->type != REPORT_ARRAY)
		fail_msg("%s is no list but of type %d", path, (int)node->type);
	return node->nr;
}
