#include "report/stack_cells.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"
#include "model/task_lives.h"
#include "profile/source_profile.h"

#define NONE            UINT32_MAX
#define STACK_LATE_NS   50000U /* from a switch to the stamp of its stack, at most */
#define NODE_BYTES      5U     /* in the page, about */
#define FUNCTION_BYTES  40U    /* besides its names */
#define MAX_NODES       (1U << 24)
#define MAX_NAMES_BYTES (64U << 20)
#define MAX_KINDS       63U /* of stacks; a key has 6 bits for them */

void stack_cells_done(struct stack_cells *c)
{
	free(c->leaves);
	free(c->nodes);
	free(c->functions);
	*c = (struct stack_cells){ 0 };
}

struct maker {
	struct stack_cells *c;
	struct gather *g;
	const struct source_stacks *stacks;
	struct map *places;   /* of nodes */
	struct intern *names; /* of functions */
	uint32_t *by_name;    /* by id of a name: 1 + the function */
	uint32_t room_by_name;
	uint32_t *by_frame; /* by frame of the source: 1 + the function */
	uint64_t bytes, max_bytes;
};

static void maker_done(struct maker *m)
{
	map_free(m->places);
	intern_free(m->names);
	free(m->by_name);
	free(m->by_frame);
}

/* Functions of the same names are one. */
static int function_of(struct maker *m, uint32_t frame, uint32_t *out)
{
	const struct source_frame *f = &m->stacks->frames[frame];
	char text[1024];
	uint32_t id;
	int len, err;

	if (m->by_frame[frame]) {
		*out = m->by_frame[frame] - 1;
		return 0;
	}
	len = snprintf(text, sizeof(text), "%c%s\n%s\n%" PRIx64, f->is_kernel ? 'k' : 'u', f->name,
	               f->module, *f->name ? 0 : f->address);
	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	err = intern_add(m->names, text, (size_t)len, &id);
	if (err)
		return err;
	if (GROW_ZEROED(m->by_name, m->room_by_name, id))
		return -ENOMEM;
	if (!m->by_name[id]) {
		if (GROW(m->c->functions, m->c->room_functions, m->c->nr_functions))
			return -ENOMEM;
		m->c->functions[m->c->nr_functions++] = frame;
		m->by_name[id] = m->c->nr_functions;
		m->bytes += FUNCTION_BYTES + (uint64_t)len;
	}
	m->by_frame[frame] = m->by_name[id];
	*out = m->by_frame[frame] - 1;
	return 0;
}

static int node_of(struct maker *m, uint32_t parent, uint32_t function, uint32_t *out)
{
	struct stack_node key = { parent, function };

	if (map_find(m->places, &key, out))
		return 0;
	*out = m->c->nr;
	if (GROW(m->c->nodes, m->c->room, m->c->nr))
		return -ENOMEM;
	m->c->nodes[m->c->nr++] = key;
	m->bytes += NODE_BYTES;
	return map_insert(m->places, &key, *out);
}

/* The path of a stack, from the root to its leaf. */
static int add_path(struct maker *m, uint32_t stack)
{
	const struct source_stack *s = &m->stacks->stacks[stack];
	uint32_t parent = 0, function, node = NONE;
	int err = 0;

	for (uint32_t i = s->nr; i-- > 0 && !err;) {
		err = function_of(m, m->stacks->stack_frames[s->first + i], &function);
		if (!err)
			err = node_of(m, parent, function, &node);
		parent = node + 1;
	}
	m->c->leaves[stack] = node;
	return err;
}

static bool is_wanted(const struct maker *m, const struct source_sample *s)
{
	return s->ts_ns >= m->g->sc->from_ns && s->ts_ns < m->g->sc->to_ns &&
	       s->kind <= MAX_KINDS && s->stack < m->stacks->nr_stacks &&
	       m->stacks->stacks[s->stack].nr;
}

struct seen {
	uint32_t stack;
	uint32_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Those that were seen most first, as long as there is room. */
static int make_tree(struct maker *m)
{
	SCOPED(scoped_free) struct seen *seen = calloc(m->stacks->nr_stacks + 1, sizeof(*seen));
	uint32_t other = NONE;
	int err = seen ? 0 : -ENOMEM;

	for (size_t i = 0; seen && i < m->stacks->nr_stacks; i++)
		seen[i].stack = (uint32_t)i;
	for (size_t i = 0; seen && i < m->stacks->nr_samples; i++)
		if (is_wanted(m, &m->stacks->samples[i]))
			seen[m->stacks->samples[i].stack].count++;
	if (seen)
		qsort(seen, m->stacks->nr_stacks, sizeof(*seen), by_count);
	for (size_t i = 0; !err && i < m->stacks->nr_stacks && seen[i].count; i++) {
		if (m->bytes < m->max_bytes) {
			err = add_path(m, seen[i].stack);
			continue;
		}
		if (other == NONE) {
			if (GROW(m->c->functions, m->c->room_functions, m->c->nr_functions))
				return -ENOMEM;
			m->c->functions[m->c->nr_functions++] = NONE;
			err = node_of(m, 0, m->c->nr_functions - 1, &other);
		}
		m->c->leaves[seen[i].stack] = other;
	}
	return err;
}

static uint32_t task_of(const struct source *s, const struct source_sample *sample)
{
	if (!sample->tid)
		return TASKS_NONE;
	return s->lives ? task_lives_at(s->lives, sample->tid, sample->ts_ns)
	                : tasks_find(s->tasks, sample->tid);
}

static bool is_filtered(const struct pass_args *a)
{
	return a->pid || a->tid || a->comm || a->comm_match || a->cgroup;
}

static uint64_t key_of(const struct maker *m, uint32_t kind, uint32_t task, uint64_t ts_ns,
                       uint32_t stack)
{
	const struct who *w = m->g->who;
	uint32_t raw = who_at(w, task, ts_ns);

	return table_key(TABLE_SAMPLE, (uint32_t[]){ kind, w->as_who ? w->as_who[raw] : raw,
	                                             m->c->leaves[stack] });
}

/* Each sample counts once; those of sleepers come with their sleeps. */
static int add_samples(struct maker *m)
{
	struct cells *to = &m->g->tables->at[TABLE_SAMPLE];
	const struct scope *sc = m->g->sc;
	int err = 0;

	for (size_t i = 0; !err && i < m->stacks->nr_samples; i++) {
		const struct source_sample *s = &m->stacks->samples[i];
		uint32_t task;

		if (!is_wanted(m, s) || s->kind == SOURCE_STACK_OFF_CPU)
			continue;
		task = task_of(sc->s, s);
		/* An idle CPU is no use of it; wakers may be interrupts. */
		if (task == TASKS_NONE ? is_filtered(sc->args) || s->kind == SOURCE_STACK_CPU
		                       : !scope_takes(sc, task, s->ts_ns))
			continue;
		m->c->kinds |= 1ULL << s->kind;
		err = cells_add(to, axis_at(&m->g->axis, s->ts_ns),
		                key_of(m, s->kind, task, s->ts_ns, s->stack), 1, 0);
	}
	return err;
}

struct left {
	uint32_t tid;
	uint32_t stack;
	uint64_t ts_ns;
};

static int by_tid_and_time(const void *a, const void *b)
{
	const struct left *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

/* The first of that task from a time on; nr = none. */
static size_t find_left(const struct left *at, size_t nr, uint32_t tid, uint64_t from_ns)
{
	const struct left key = { .tid = tid, .ts_ns = from_ns };
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_tid_and_time(&at[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A sleep counts where it begins, its time where it lies. */
static int add_sleep(struct maker *m, const struct pair_sleep *row, uint32_t stack)
{
	struct gather *g = m->g;
	uint64_t key = key_of(m, SOURCE_STACK_OFF_CPU, row->task, row->start_ns, stack);
	uint64_t at_ns = row->start_ns > g->sc->from_ns ? row->start_ns : g->sc->from_ns;
	uint64_t end_ns = row->end_ns < g->sc->to_ns ? row->end_ns : g->sc->to_ns, count = 1;
	uint32_t bucket = axis_at(&g->axis, at_ns);
	int err;

	m->c->kinds |= 1ULL << SOURCE_STACK_OFF_CPU;
	do {
		uint64_t edge_ns = bucket + 1 < g->axis.nr ? axis_edge(&g->axis, bucket + 1)
		                                           : end_ns;
		uint64_t until_ns = edge_ns < end_ns ? edge_ns : end_ns;

		err = cells_add(&g->tables->at[TABLE_SAMPLE], bucket++, key, count,
		                until_ns > at_ns ? until_ns - at_ns : 0);
		at_ns = until_ns;
		count = 0;
	} while (!err && at_ns < end_ns);
	return err;
}

static int add_sleeps(struct maker *m)
{
	uint64_t nr_left = m->stacks->nr_of[SOURCE_STACK_OFF_CPU];
	SCOPED(scoped_free) struct left *left = calloc(nr_left + 1, sizeof(*left));
	struct rows it = { .sc = m->g->sc };
	struct pair_sleep row;
	size_t nr = 0;
	int err = left ? 0 : -ENOMEM;

	for (size_t i = 0; left && i < m->stacks->nr_samples && nr < nr_left; i++) {
		const struct source_sample *s = &m->stacks->samples[i];

		if (s->kind == SOURCE_STACK_OFF_CPU && s->stack < m->stacks->nr_stacks &&
		    m->c->leaves[s->stack] != NONE)
			left[nr++] = (struct left){ s->tid, s->stack, s->ts_ns };
	}
	if (nr)
		qsort(left, nr, sizeof(*left), by_tid_and_time);
	while (!err && nr && rows_sleep(&it, &row)) {
		uint32_t tid = source_tid(m->g->sc->s, row.task);
		size_t at = find_left(left, nr, tid, row.start_ns);

		/* A task that is woken at once has slept for less than it takes to walk a stack. */
		if (at < nr && left[at].tid == tid && left[at].ts_ns < row.end_ns + STACK_LATE_NS)
			err = add_sleep(m, &row, left[at].stack);
	}
	return err;
}

static int make(struct maker *m)
{
	size_t nr_stacks = m->stacks->nr_stacks, nr_frames = m->stacks->nr_frames;
	int err = map_new(sizeof(struct stack_node), MAX_NODES, &m->places);

	m->names = intern_new(MAX_NODES, MAX_NAMES_BYTES);
	m->by_frame = calloc(nr_frames + 1, sizeof(*m->by_frame));
	m->c->leaves = malloc((nr_stacks + 1) * sizeof(*m->c->leaves));
	if (err || !m->names || !m->by_frame || !m->c->leaves)
		return -ENOMEM;
	memset(m->c->leaves, 0xff, nr_stacks * sizeof(*m->c->leaves));
	err = make_tree(m);
	if (!err)
		err = add_samples(m);
	return err ? err : add_sleeps(m);
}

int stack_cells_gather(struct stack_cells *c, struct gather *g, uint64_t max_bytes)
{
	struct maker m = { .c = c, .g = g, .stacks = g->sc->s->stacks, .max_bytes = max_bytes };
	int err;

	*c = (struct stack_cells){ .s = g->sc->s };
	if (!m.stacks || !m.stacks->nr_stacks || !m.stacks->nr_samples || !g->sc->span_ns)
		return 0;
	err = make(&m);
	maker_done(&m);
	return err;
}

int stack_cells_pack(const struct stack_cells *c, struct pack *out)
{
	*out = (struct pack){ .table = "frame" };
	pack_column(out, "parent", true);
	pack_column(out, "name", false);
	for (uint32_t i = 0; i < c->nr; i++)
		pack_row(out, (uint64_t[]){ c->nodes[i].parent, c->nodes[i].function });
	return pack_close(out);
}

static void write_function(const struct stack_cells *c, uint32_t frame, struct json_writer *out)
{
	const struct source_frame *f = frame == NONE ? NULL : &c->s->stacks->frames[frame];
	char hex[32];

	jw_begin_object(out, NULL);
	if (!f) {
		jw_string(out, "name", "[other stacks]");
		jw_string(out, "module", NULL);
	} else {
		(void)snprintf(hex, sizeof(hex), "0x%" PRIx64, f->address);
		jw_string(out, "name", *f->name ? f->name : f->address ? hex : "unknown");
		jw_string(out, "module", *f->module ? f->module : NULL);
	}
	jw_bool(out, "kernel", f && f->is_kernel);
	jw_end_object(out);
}

void stack_cells_document(const struct stack_cells *c, struct json_writer *out)
{
	if (!c->kinds)
		return;
	jw_begin_array(out, "functions");
	for (uint32_t i = 0; i < c->nr_functions; i++)
		write_function(c, c->functions[i], out);
	jw_end_array(out);
	jw_begin_array(out, "stack_kinds");
	for (uint32_t i = 0; i <= MAX_KINDS && c->kinds >> i; i++)
		jw_string(out, NULL, source_stack_name(c->s, (enum source_stack_kind)i));
	jw_end_array(out);
}
