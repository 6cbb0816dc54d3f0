/*
 * Stacks: where CPUs spent their time, where tasks slept, from where they were woken; by function and by stack. The
 * same profile is what a flame graph draws (render/flame).
 *
 * Self is what a function itself is the leaf of, of sleeps and wakers the function that waits or wakes (profile/waits); total also counts what it called, once per stack, however often a
 * recursion passes through it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "profile/profile.h"
#include "profile/profile_groups.h"
#include "profile/source_profile.h"
#include "profile/stack_ends.h"
#include "profile/waits.h"

#define DEFAULT_LIMIT 20
#define STACK_BYTES   4096U /* of one stack's text; longer ones are cut */

struct function {
	uint64_t self;
	uint64_t total;
	uint32_t frame; /* one of its frames */
	uint64_t seen;  /* number of the last stack + 1 that was counted */
};

/* A call path of a task, and how often it occurred. */
struct path {
	size_t stack; /* one of them */
	uint64_t count;
	uint64_t value;
};

struct graph {
	const struct pass_args *args;
	enum source_stack_kind kind;
	struct profile *p;
	bool is_of_waits;
	struct function *functions;
	size_t nr;
	struct path *paths;
	size_t nr_paths;
};

static void done(struct graph *g)
{
	profile_free(g->p);
	free(g->functions);
	free(g->paths);
}

static bool is_time(const struct graph *g)
{
	return g->kind == SOURCE_STACK_OFF_CPU || g->kind == SOURCE_STACK_WALL;
}

static void add_stack(struct graph *g, size_t idx)
{
	struct profile_stack stack;
	size_t leaf;

	profile_stack_at(g->p, idx, &stack);
	leaf = g->is_of_waits ? profile_waiter(g->p, &stack) : 0;
	for (size_t i = leaf; i < stack.nr; i++) {
		struct function *f = &g->functions[profile_function_of(g->p, stack.frames[i])];

		f->frame = stack.frames[i];
		if (i == leaf)
			f->self += stack.value;
		if (f->seen != idx + 1)
			f->total += stack.value;
		f->seen = idx + 1;
	}
}

/* Samples of different events are not added up: each has a graph of its own. */
static void show_others(const struct graph *g, const struct source *s, struct report *r)
{
	size_t nr = SOURCE_STACK_OTHER + (s->stacks ? s->stacks->nr_events : 0);

	report_begin_array(r, "other_categories");
	for (size_t i = 0; i < nr; i++) {
		enum source_stack_kind kind = (enum source_stack_kind)i;

		if (kind == g->kind || !source_stack_nr(s, kind))
			continue;
		report_begin_object(r, NULL);
		report_string(r, "category", source_stack_name(s, kind));
		report_u64(r, "samples", source_stack_nr(s, kind));
		report_end_object(r);
	}
	report_end_array(r);
}

/* Why stacks are not whole, as far as the recorder has said. */
static void show_ends(const struct graph *g, struct report *r)
{
	const struct profile_facts *f = profile_facts(g->p);

	if (!stack_ends_broken(f->ends))
		return;
	report_begin_array(r, "broken_because");
	for (uint32_t i = 0; i < NR_STACK_ENDS; i++) {
		uint64_t nr = f->ends[stack_ends[i].end];

		if (!nr)
			continue;
		report_begin_object(r, NULL);
		report_string(r, "reason", stack_ends[i].key);
		report_u64(r, "samples", nr);
		report_percent(r, "percent", nr, profile_count(g->p));
		report_string(r, "what_to_do", stack_ends[i].what_to_do);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_facts(const struct graph *g, const struct source *s, struct report *r)
{
	const struct profile_facts *f = profile_facts(g->p);

	report_string(r, "category", source_stack_name(s, g->kind));
	report_string(r, "event", f->event);
	if (f->frequency)
		report_u64(r, "frequency_hz", f->frequency);
	report_u64(r, "span_ns", f->duration_ns);
	report_u64(r, "total_samples", profile_count(g->p));
	if (is_time(g))
		report_u64(r, "total_time_ns", profile_value(g->p));
	report_u64(r, "threads", profile_nr_tasks(g->p));
	report_u64(r, "broken_user_stacks", f->broken);
	report_percent(r, "broken_user_stacks_percent", f->broken, profile_count(g->p));
	show_ends(g, r);
	show_others(g, s, r);
}

static void show_function(const struct graph *g, const struct function *f, struct report *r)
{
	const struct profile_frame *frame = profile_frame_at(g->p, f->frame);
	uint64_t whole = profile_value(g->p);

	report_begin_object(r, NULL);
	report_string(r, "function", frame->symbol);
	report_string(r, "module", frame->module);
	report_string(r, "mode", frame->is_kernel ? "kernel" : "user");
	report_u64(r, is_time(g) ? "self_ns" : "self_samples", f->self);
	report_percent(r, "self_percent", f->self, whole);
	report_u64(r, is_time(g) ? "total_ns" : "total_samples", f->total);
	report_percent(r, "total_percent", f->total, whole);
	report_end_object(r);
}

/* Those that did most themselves first, then those through which most went. */
static int show_functions(const struct graph *g, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top by_self = { .limit = limit }, by_total = { .limit = limit };

	for (size_t i = 0; i < g->nr; i++) {
		if (g->functions[i].self)
			top_add(&by_self, g->functions[i].self, i);
		top_add(&by_total, g->functions[i].total, i);
	}
	if (by_self.has_failed || by_total.has_failed)
		return -ENOMEM;
	top_rank(&by_self);
	top_rank(&by_total);
	report_begin_array(r, "functions");
	for (uint32_t i = 0; i < by_self.nr; i++)
		show_function(g, &g->functions[by_self.entries[i].id], r);
	report_end_array(r);
	report_begin_array(r, "callers");
	for (uint32_t i = 0; i < by_total.nr; i++)
		show_function(g, &g->functions[by_total.entries[i].id], r);
	report_end_array(r);
	return 0;
}

/* Root first, with semicolons; what does not fit is the leaf's end. */
static void fold(const struct graph *g, const struct profile_stack *stack, char buf[STACK_BYTES])
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = stack->nr; i-- > 0 && len + 1 < STACK_BYTES;) {
		const char *name = profile_frame_at(g->p, stack->frames[i])->symbol;
		int more = snprintf(buf + len, STACK_BYTES - len, "%s%s", len ? ";" : "", name);

		len += more > 0 ? (size_t)more : 0;
	}
}

static void show_path(const struct graph *g, const struct path *path, struct report *r)
{
	const struct profile_task *task;
	struct profile_stack stack;
	char folded[STACK_BYTES];

	profile_stack_at(g->p, path->stack, &stack);
	fold(g, &stack, folded);
	task = profile_task_at(g->p, stack.task);
	report_string(r, "comm", task->comm);
	report_id(r, "tid", task->tid);
	report_u64(r, "samples", path->count);
	if (is_time(g))
		report_u64(r, "time_ns", path->value);
	report_percent(r, "percent", path->value, profile_value(g->p));
	report_string(r, "stack", folded);
}

/* Distinguished by 128 bits of hash. */
struct path_key {
	uint64_t hash[2];
};

static int path_key(const struct graph *g, const struct profile_stack *stack, uint32_t **list,
                    struct path_key *out)
{
	uint32_t *grown = reallocarray(*list, stack->nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	for (size_t i = 0; i < stack->nr; i++)
		grown[i] = profile_function_of(g->p, stack->frames[i]);
	grown[stack->nr] = stack->task;
	out->hash[0] = hash_bytes(grown, (stack->nr + 1) * sizeof(*grown), 1);
	out->hash[1] = hash_bytes(grown, (stack->nr + 1) * sizeof(*grown), 0x5bd1e995U);
	return 0;
}

/* Stacks of a task that differ in addresses alone are one path. */
static int add_path(struct graph *g, size_t idx, struct map *known, uint32_t **list)
{
	struct profile_stack stack;
	struct path_key key;
	uint32_t at;
	int err;

	profile_stack_at(g->p, idx, &stack);
	err = path_key(g, &stack, list, &key);
	if (err)
		return err;
	if (!map_find(known, &key, &at)) {
		at = (uint32_t)g->nr_paths++;
		g->paths[at].stack = idx;
		err = map_insert(known, &key, at);
	}
	g->paths[at].count += stack.count;
	g->paths[at].value += stack.value;
	return err;
}

static int add_paths(struct graph *g)
{
	SCOPED(scoped_map) struct map *known = NULL;
	SCOPED(scoped_free) uint32_t *list = NULL;
	size_t nr = profile_nr_stacks(g->p);
	int err = map_new(sizeof(struct path_key), MAP_MAX_CAP, &known);

	g->paths = calloc(nr ? nr : 1, sizeof(*g->paths));
	if (!g->paths)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++)
		err = add_path(g, i, known, &list);
	return err;
}

static int add_up(struct graph *g)
{
	g->is_of_waits = profile_is_of_waits(g->p);
	g->nr = profile_nr_functions(g->p);
	g->functions = calloc(g->nr ? g->nr : 1, sizeof(*g->functions));
	if (!g->functions)
		return -ENOMEM;
	for (size_t i = 0; i < profile_nr_stacks(g->p); i++)
		add_stack(g, i);
	return add_paths(g);
}

static int show_paths(const struct graph *g, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };

	for (size_t i = 0; i < g->nr_paths; i++)
		top_add(&top, g->paths[i].value, i);
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "different_stacks", g->nr_paths);
	for (uint32_t i = 0; top_row(&top, i, r, "stacks"); i++)
		show_path(g, &g->paths[top.entries[i].id], r);
	return 0;
}

static void show_group(const struct graph *g, const struct profile_group *group, enum profile_by by,
                       struct report *r)
{
	static const char *const names[] = { [PROFILE_GROUP_THREAD] = "comm",
		                             [PROFILE_GROUP_PROCESS] = "comm",
		                             [PROFILE_GROUP_CGROUP] = "cgroup",
		                             [PROFILE_GROUP_WAIT] = "waited_for" };

	report_begin_object(r, NULL);
	report_string(r, names[by], group->name);
	if (by == PROFILE_GROUP_THREAD || by == PROFILE_GROUP_PROCESS)
		report_id(r, by == PROFILE_GROUP_THREAD ? "tid" : "pid", group->id);
	report_u64(r, "samples", group->count);
	if (is_time(g))
		report_u64(r, "time_ns", group->value);
	report_percent(r, "percent", group->value, profile_value(g->p));
	report_string(r, "most_in", group->most ? group->most->symbol : NULL);
	report_end_object(r);
}

static int show_groups(const struct graph *g, const char *key, enum profile_by by, uint32_t limit,
                       struct report *r)
{
	SCOPED(scoped_profile_groups) struct profile_groups *groups = NULL;
	int err = profile_groups_new(g->p, by, &groups);

	if (err)
		return err;
	report_begin_array(r, key);
	for (uint32_t i = 0; i < profile_groups_nr(groups) && i < limit; i++)
		show_group(g, profile_groups_at(groups, i), by, r);
	report_end_array(r);
	return 0;
}

/* The same by other things than functions. */
static int show_all_groups(const struct graph *g, const struct source *s, uint32_t limit,
                           struct report *r)
{
	int err = 0;

	if (g->kind == SOURCE_STACK_OFF_CPU)
		err = show_groups(g, "waits", PROFILE_GROUP_WAIT, limit, r);
	if (!err)
		err = show_groups(g, "processes", PROFILE_GROUP_PROCESS, limit, r);
	if (!err)
		err = show_groups(g, "thread_list", PROFILE_GROUP_THREAD, limit, r);
	if (!err && tasks_nr_cgroups(s->tasks))
		err = show_groups(g, "cgroups", PROFILE_GROUP_CGROUP, limit, r);
	return err;
}

static const char *note(const struct graph *g, const struct source *s)
{
	if (g->kind == SOURCE_STACK_OFF_CPU &&
	    (!s->stacks || !s->stacks->nr_of[SOURCE_STACK_OFF_CPU]))
		return "no stacks were recorded at switches: sleeps are shown by state only; "
		       "record with --stacks=off-cpu";
	if (g->kind == SOURCE_STACK_WALL)
		return "samples of CPUs weigh the time between two of them, divided by the number of CPUs "
		       "that ran tasks of the filter at that moment";
	return is_time(g)
	               ? "the time of every sleep, under the stack with which it began; time spent "
	                 "waiting for a CPU is not sleep"
	               : NULL;
}

/* A category of analyses is what a batch was asked for, and says nothing of stacks. */
static const char *asked_kind(const struct pass_args *args)
{
	for (size_t i = 0; args->category && i < nr_passes; i++)
		if (strcmp(args->category, passes[i]->category) == 0)
			return NULL;
	return args->category;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(done) struct graph g = { .args = args };
	uint32_t limit = pass_limit(&pass_flamegraph, args);
	int err = source_stack_kind(s, asked_kind(args), d, &g.kind);

	if (!err)
		err = source_profile(s, args, g.kind, d, &g.p);
	if (err)
		return err;
	err = add_up(&g);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	show_facts(&g, s, r);
	err = show_functions(&g, limit, r);
	if (!err)
		err = show_all_groups(&g, s, limit, r);
	if (!err)
		err = show_paths(&g, limit, r);
	if (note(&g, s))
		report_string(r, "note", note(&g, s));
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_flamegraph = {
	.id = "flamegraph",
	.name = "Flame Graph",
	.category = "extended",
	.what = "in which functions CPUs were busy, tasks slept, and wakers woke them",
	.needs_any = EV_BIT(EV_SAMPLE) | EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_BLOCKED),
	.cost = 2,
	.default_limit = DEFAULT_LIMIT,
	.run = run,
};
