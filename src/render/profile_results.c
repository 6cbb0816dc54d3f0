#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/intern.h"
#include "profile/profile_list.h"
#include "profile/stack_ends.h"
#include "render/profile_export.h"
#include "render/profile_words.h"

#define DEFAULT_LIMIT 50U
#define NUMBER_BYTES  32
#define KEY_BYTES     (PROFILE_MAX_DEPTH * sizeof(uint32_t) + sizeof(uint32_t))

/* A row that ends in a function, for those that are listed. */
struct ending {
	uint32_t function;
	uint32_t row;
};

/* Equal stacks of processes of one name. */
struct result_group {
	uint32_t row; /* one of them */
	uint64_t count;
	uint64_t value;
};

struct results_writer {
	const struct profile *p;
	const struct profile_results_cfg *cfg;
	const struct profile_list *list;
	struct json_writer *w;
	struct ending *endings; /* by function */
	uint32_t nr_endings;
	struct result_group *groups;
	uint32_t nr_groups;
	struct intern *names; /* of processes */
	unsigned char *key;
};

static void scoped_results(struct results_writer *r)
{
	free(r->endings);
	free(r->groups);
	intern_free(r->names);
	free(r->key);
}

static void put_address(struct json_writer *w, uint64_t address)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	jw_string(w, "address", text);
}

static void put_percentage(const struct results_writer *r, const char *key, uint64_t value)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof(text), "%.2f%%", 100 * profile_share(value, profile_value(r->p)));
	jw_string(r->w, key, text);
}

static void put_place(struct json_writer *w, const struct profile_frame *frame)
{
	jw_string(w, "symbol", frame->symbol);
	jw_string(w, "module", frame->module);
	jw_string(w, "file", frame->file);
	jw_u64_if(w, "line", frame->line, frame->line);
	put_address(w, frame->address);
}

static void put_frames(const struct results_writer *r, const char *key,
                       const struct profile_stack *stack, bool is_kernel)
{
	jw_begin_array(r->w, key);
	for (size_t i = 0; i < stack->nr; i++) {
		const struct profile_frame *frame = profile_frame_at(r->p, stack->frames[i]);

		if (frame->is_kernel != is_kernel)
			continue;
		jw_begin_object(r->w, NULL);
		put_place(r->w, frame);
		if (frame->is_inlined)
			jw_bool(r->w, "is_inlined", true);
		jw_end_object(r->w);
	}
	jw_end_array(r->w);
}

static const char *process_of(const struct results_writer *r, uint32_t task)
{
	const struct profile_task *known = profile_task_at(r->p, task);

	return known->process ? known->process : known->comm;
}

static void put_group(const struct results_writer *r, const struct result_group *g)
{
	struct profile_stack stack;

	profile_stack_at(r->p, g->row, &stack);
	jw_begin_object(r->w, NULL);
	put_frames(r, "kernel_stack", &stack, true);
	put_frames(r, "user_stack", &stack, false);
	jw_u64(r->w, "count", g->count);
	jw_u64(r->w, "value", g->value);
	jw_string(r->w, "process", process_of(r, stack.task));
	jw_u64(r->w, "pid", profile_task_at(r->p, stack.task)->tgid);
	jw_end_object(r->w);
}

/* Adds a row to the group of its equals, or makes one. */
static int add_to_groups(struct results_writer *r, struct intern *known, uint32_t row)
{
	struct profile_stack stack;
	size_t len;
	uint32_t id, name;
	int err;

	profile_stack_at(r->p, row, &stack);
	len = stack.nr * sizeof(uint32_t);
	err = intern_add(r->names, process_of(r, stack.task), strlen(process_of(r, stack.task)),
	                 &name);
	if (err)
		return err;
	memcpy(r->key, stack.frames, len);
	memcpy(r->key + len, &name, sizeof(name));
	err = intern_add(known, (const char *)r->key, len + sizeof(name), &id);
	if (err)
		return err;
	if (id > r->nr_groups)
		r->groups[r->nr_groups++] = (struct result_group){ .row = row };
	r->groups[id - 1].count += stack.count;
	r->groups[id - 1].value += stack.value;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct result_group *ga = a, *gb = b;

	if (ga->value != gb->value)
		return ga->value < gb->value ? 1 : -1;
	return (ga->row > gb->row) - (ga->row < gb->row);
}

static int by_function(const void *a, const void *b)
{
	const struct ending *ea = a, *eb = b;

	if (ea->function != eb->function)
		return ea->function < eb->function ? -1 : 1;
	return (ea->row > eb->row) - (ea->row < eb->row);
}

static int put_stacks(struct results_writer *r, uint32_t function)
{
	SCOPED(scoped_intern) struct intern *known = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	struct ending *from = r->endings, *end = r->endings + r->nr_endings;
	uint32_t limit = r->cfg->stacks_limit ? r->cfg->stacks_limit : UINT32_MAX;

	if (!known)
		return -ENOMEM;
	/* The first of the function, by halves. */
	while (from < end) {
		struct ending *middle = from + (end - from) / 2;

		if (middle->function < function)
			from = middle + 1;
		else
			end = middle;
	}
	r->nr_groups = 0;
	for (end = r->endings + r->nr_endings; from < end && from->function == function; from++) {
		int err = add_to_groups(r, known, from->row);

		if (err)
			return err;
	}
	qsort(r->groups, r->nr_groups, sizeof(*r->groups), by_value);
	jw_begin_array(r->w, "stack_traces");
	for (uint32_t i = 0; i < r->nr_groups && i < limit; i++)
		put_group(r, &r->groups[i]);
	jw_end_array(r->w);
	return 0;
}

static int put_function(struct results_writer *r, const struct profile_function *f)
{
	const struct profile_weight *w = &f->w[PROFILE_NOW];
	int err = 0;

	jw_begin_object(r->w, NULL);
	put_place(r->w, f->frame);
	jw_u64(r->w, "count", w->self_count);
	put_percentage(r, "percentage", w->self_value);
	jw_u64(r->w, "pid", f->pid);
	jw_u64(r->w, "cpu_id", f->cpu);
	jw_bool(r->w, "is_kernel", f->frame->is_kernel);
	jw_u64_if(r->w, "layer_id", f->layer != PROFILE_NO_LAYER, f->layer);
	jw_u64(r->w, "pids", f->nr_pids);
	jw_u64(r->w, "value", w->self_value);
	jw_u64(r->w, "inclusive_count", w->total_count);
	jw_u64(r->w, "inclusive_value", w->total_value);
	put_percentage(r, "inclusive_percentage", w->total_value);
	if (r->cfg->wants_stacks)
		err = put_stacks(r, f->number);
	jw_end_object(r->w);
	return err;
}

static int find_endings(struct results_writer *r)
{
	uint32_t nr = (uint32_t)profile_nr_stacks(r->p);

	r->endings = calloc((size_t)nr + 1, sizeof(*r->endings));
	r->groups = calloc((size_t)nr + 1, sizeof(*r->groups));
	r->key = malloc(KEY_BYTES);
	r->names = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	if (!r->endings || !r->groups || !r->key || !r->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		struct profile_stack stack;
		size_t leaf;

		profile_stack_at(r->p, i, &stack);
		if (stack.nr == 0)
			continue;
		leaf = profile_list_leaf(r->list, r->p, &stack);
		r->endings[r->nr_endings++] = (struct ending){
			.function = profile_join_function(profile_list_join(r->list), PROFILE_NOW,
			                                  stack.frames[leaf]),
			.row = i,
		};
	}
	qsort(r->endings, r->nr_endings, sizeof(*r->endings), by_function);
	return 0;
}

static int put_symbols(struct results_writer *r, uint32_t *left_out)
{
	uint32_t limit = r->cfg->limit ? r->cfg->limit : DEFAULT_LIMIT, nr = 0;
	int err = 0;

	*left_out = 0;
	jw_begin_array(r->w, "symbols");
	for (uint32_t i = 0; i < profile_list_nr(r->list) && !err; i++) {
		const struct profile_function *f = profile_list_at(r->list, i);

		if (f->w[PROFILE_NOW].self_count == 0)
			continue;
		if (nr++ < limit)
			err = put_function(r, f);
		else
			(*left_out)++;
	}
	jw_end_array(r->w);
	return err;
}

/* Where walks by tables have ended. */
static void put_ends(struct json_writer *w, const uint64_t ends[PROF_NR_ENDS])
{
	uint64_t all = 0;

	for (int i = 0; i < PROF_NR_ENDS; i++)
		all += ends[i];
	if (!all) {
		jw_null(w, "user_stacks");
		return;
	}
	jw_begin_object(w, "user_stacks");
	for (int i = 0; i < PROF_NR_ENDS; i++)
		if (stack_end_key((enum prof_end)i))
			jw_u64(w, stack_end_key((enum prof_end)i), ends[i]);
	jw_end_object(w);
}

/* Why stacks are not whole, of those whose end is known, and what to do. */
static void put_broken(struct json_writer *w, const uint64_t ends[PROF_NR_ENDS])
{
	uint64_t broken = stack_ends_broken(ends), all = ends[PROF_END_WHOLE] + broken;

	if (!broken)
		return;
	jw_begin_array(w, "broken_because");
	for (uint32_t i = 0; i < NR_STACK_ENDS; i++) {
		const struct stack_end *end = &stack_ends[i];

		if (!ends[end->end])
			continue;
		jw_begin_object(w, NULL);
		jw_string(w, "reason", end->key);
		jw_u64(w, "samples", ends[end->end]);
		jw_double(w, "percent", 100.0 * (double)ends[end->end] / (double)all, 2);
		jw_string(w, "what_to_do", end->what_to_do);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_facts(const struct results_writer *r, uint32_t left_out)
{
	const struct profile_facts *f = profile_facts(r->p);

	jw_u64(r->w, "total_samples", profile_count(r->p));
	jw_u64(r->w, "samples_collected", r->cfg->collected);
	jw_u64(r->w, "total_count", profile_value(r->p));
	jw_u64(r->w, "symbols_left_out", left_out);
	jw_string(r->w, "event", f->event);
	jw_string(r->w, "unit", f->unit);
	jw_u64(r->w, "frequency", f->frequency);
	jw_u64(r->w, "period", f->period);
	jw_u64(r->w, "duration_ns", f->duration_ns);
	jw_u64(r->w, "start_real_ns", f->start_real_ns);
	jw_u64(r->w, "lost", f->lost);
	jw_u64(r->w, "broken_stacks", f->broken);
	put_ends(r->w, f->ends);
	put_broken(r->w, f->ends);
}

void profile_results(const struct profile *p, const struct profile_results_cfg *cfg,
                     struct json_writer *w)
{
	SCOPED(scoped_profile_list) struct profile_list *list = NULL;
	SCOPED(scoped_results) struct results_writer r = { .p = p, .cfg = cfg, .w = w };
	const struct profile_list_cfg list_cfg = { .order = PROFILE_BY_SELF };
	uint32_t left_out = 0;
	int err = profile_list_new(p, &list_cfg, &list);

	r.list = list;
	if (!err && cfg->wants_stacks)
		err = find_endings(&r);
	if (!err)
		err = put_symbols(&r, &left_out);
	put_facts(&r, left_out);
	if (err && !w->error)
		w->error = err;
}
