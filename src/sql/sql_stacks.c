/* The tables of samples and their stacks. */
#include "model/task_lives.h"
#include "sql/sql_table_priv.h"

#define NO_STACK        UINT32_MAX
#define FRAMES_OF_STACK 16 /* a guess, for the planner */

static uint64_t nr_samples(struct sql_view *v)
{
	return v->s->stacks ? v->s->stacks->nr_samples : 0;
}

/* The first sample that is not before a time. */
static uint64_t find_time(const struct source_stacks *st, uint64_t ts_ns)
{
	uint64_t low = 0, high = st->nr_samples;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (st->samples[mid].ts_ns < ts_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int begin_samples(struct sql_scan *scan)
{
	const struct source_stacks *st = scan->row.v->s->stacks;

	if (!st)
		return 0;
	scan->at = find_time(st, scan->filter.from_ns);
	scan->end = scan->filter.to_ns == UINT64_MAX ? st->nr_samples
	                                             : find_time(st, scan->filter.to_ns);
	return 0;
}

static bool next_sample(struct sql_scan *scan)
{
	if (scan->at >= scan->end)
		return false;
	scan->row.id = scan->at++;
	return true;
}

static const struct source_sample *sample_of(const struct sql_row *r)
{
	return &r->v->s->stacks->samples[r->id];
}

static void sample_ts(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, sample_of(r)->ts_ns);
}

static void sample_cpu(const struct sql_row *r, struct sql_cell *c)
{
	cell_cpu(c, sample_of(r)->cpu);
}

static void sample_utid(const struct sql_row *r, struct sql_cell *c)
{
	const struct source_sample *x = sample_of(r);
	const struct source *s = r->v->s;

	if (!x->tid)
		return;
	cell_utid(c, s->lives ? task_lives_at(s->lives, x->tid, x->ts_ns)
	                      : tasks_find(s->tasks, x->tid));
}

static void sample_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, sample_of(r)->tid);
}

static void sample_kind(const struct sql_row *r, struct sql_cell *c)
{
	static const char *const kinds[SOURCE_STACK_OTHER] = {
		[SOURCE_STACK_CPU] = "cpu",
		[SOURCE_STACK_OFF_CPU] = "off_cpu",
		[SOURCE_STACK_WAKER] = "waker",
	};
	const struct source_stacks *st = r->v->s->stacks;
	uint32_t kind = sample_of(r)->kind;

	if (kind < SOURCE_STACK_OTHER)
		cell_text(c, kinds[kind]);
	else if (kind - SOURCE_STACK_OTHER < st->nr_events)
		cell_text(c, st->events[kind - SOURCE_STACK_OTHER].name);
}

static void sample_stack(const struct sql_row *r, struct sql_cell *c)
{
	if (sample_of(r)->stack != NO_STACK)
		cell_u64(c, sample_of(r)->stack);
}

/* clang-format off */
static const struct sql_column sample_columns[] = {
	{ "ts", SQL_INTEGER, SQL_TIME, "when", sample_ts },
	{ "cpu", SQL_INTEGER, SQL_PLAIN, "where", sample_cpu },
	{ "utid", SQL_INTEGER, SQL_PLAIN, "thread.utid of the task; null for idle", sample_utid },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number of the task; 0 for idle", sample_tid },
	{ "kind", SQL_TEXT, SQL_PLAIN, "cpu (where a CPU was), off_cpu (where a task went to sleep), waker, or the event", sample_kind },
	{ "stack_id", SQL_INTEGER, SQL_PLAIN, "stack.stack_id; null if there is none", sample_stack },
};
/* clang-format on */

static const struct sql_ops sample_ops = { nr_samples, begin_samples, next_sample };

const struct sql_table sql_table_sample = {
	.name = "sample",
	.doc = "samples of CPUs, and of events with stacks (record --stacks, perf record)",
	SQL_COLUMNS(sample_columns),
	.rows = TIMELINE_TABLES,
	.ops = &sample_ops,
};

static uint64_t nr_frames(struct sql_view *v)
{
	return v->s->stacks ? FRAMES_OF_STACK * v->s->stacks->nr_stacks : 0;
}

static int begin_stacks(struct sql_scan *scan)
{
	const struct source_stacks *st = scan->row.v->s->stacks;

	scan->end = st ? st->nr_stacks : 0;
	if (!scan->filter.has_key)
		return 0;
	scan->at = scan->filter.key;
	scan->end = scan->at < scan->end ? scan->at + 1 : 0;
	return 0;
}

/* row.inner is the place of the next frame. */
static bool next_frame(struct sql_scan *scan)
{
	const struct source_stacks *st = scan->row.v->s->stacks;

	for (; scan->at < scan->end; scan->at++, scan->row.inner = 0)
		if (scan->row.inner < st->stacks[scan->at].nr) {
			scan->row.id = scan->at;
			scan->row.inner++;
			return true;
		}
	return false;
}

static const struct source_frame *frame_of(const struct sql_row *r)
{
	const struct source_stacks *st = r->v->s->stacks;

	return &st->frames[st->stack_frames[st->stacks[r->id].first + r->inner - 1]];
}

static void frame_stack(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->id);
}

static void frame_depth(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->inner - 1);
}

static void frame_name(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, frame_of(r)->name);
}

static void frame_module(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, frame_of(r)->module);
}

static void frame_file(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, frame_of(r)->file);
}

static void frame_line(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, frame_of(r)->line);
}

static void frame_address(const struct sql_row *r, struct sql_cell *c)
{
	cell_hex(c, frame_of(r)->address);
}

static void frame_is_kernel(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, frame_of(r)->is_kernel);
}

static void frame_is_inlined(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, frame_of(r)->is_inlined);
}

/* clang-format off */
static const struct sql_column stack_columns[] = {
	{ "stack_id", SQL_INTEGER, SQL_KEY, "number of the stack", frame_stack },
	{ "depth", SQL_INTEGER, SQL_PLAIN, "0 is the leaf, then its callers", frame_depth },
	{ "name", SQL_TEXT, SQL_PLAIN, "function", frame_name },
	{ "module", SQL_TEXT, SQL_PLAIN, "file of the code, or part of the kernel", frame_module },
	{ "file", SQL_TEXT, SQL_PLAIN, "of the source", frame_file },
	{ "line", SQL_INTEGER, SQL_PLAIN, "in it", frame_line },
	{ "address", SQL_TEXT, SQL_PLAIN, "as 0x..., in its file or as recorded", frame_address },
	{ "is_kernel", SQL_INTEGER, SQL_PLAIN, "1 for code of the kernel", frame_is_kernel },
	{ "is_inlined", SQL_INTEGER, SQL_PLAIN, "1 for a function that was inlined into the next one", frame_is_inlined },
};
/* clang-format on */

static const struct sql_ops stack_ops = { nr_frames, begin_stacks, next_frame };

const struct sql_table sql_table_stack = {
	.name = "stack",
	.doc = "frames of the stacks of samples, one row each",
	SQL_COLUMNS(stack_columns),
	.rows = TIMELINE_TABLES,
	.ops = &stack_ops,
	.rows_per_key = FRAMES_OF_STACK,
};
