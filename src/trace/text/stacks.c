/*
 * Samples of perf script, with the names that it has found: an event, and below it one line for each frame, the leaf first:
 * "	    c6472f qht_lookup_custom+0x2f (/usr/bin/qemu)".
 *
 * Stacks are a tree while they are read: a node is its parent and a frame, so that equal ones become one.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "trace/text/text.h"

#define DEPTH_MAX      512U /* further frames are left out */
#define FRAMES_MAX     (1U << 22)
#define NODES_MAX      (1U << 24)
#define TEXTS_MAX      (1U << 22)
#define EVENTS_MAX     1024U
#define NONE           UINT32_MAX
#define KERNEL_HALF    (1ULL << 63)
#define HEX_DIGITS     16
#define TEXT_BYTES_MAX ((size_t)256 << 20)

struct node {
	uint32_t parent, frame;
	uint32_t stack; /* that ends here; NONE = none */
};

struct frame {
	uint32_t name, mapping; /* in texts */
	uint64_t address;       /* where it has no name */
	bool is_kernel, is_inlined;
};

struct frame_key {
	uint64_t address;
	uint32_t name, mapping_and_bits;
};

struct text_stacks {
	struct reader *r;
	struct intern *texts, *events;
	struct map *frame_ids, *node_ids;
	struct frame *frames;
	size_t nr_frames, cap_frames;
	struct node *nodes;
	size_t nr_nodes, cap_nodes;
	struct trace_stack *stacks;
	size_t nr_stacks, cap_stacks;
	uint32_t *stack_frames;
	size_t nr_stack_frames, cap_stack_frames;
	struct trace_sample *samples;
	size_t nr_samples, cap_samples;
	/* The event whose frames are read. */
	bool is_open, is_tracepoint, is_unsorted;
	struct trace_sample now;
	uint32_t chain[DEPTH_MAX];
	uint32_t nr_chain;
	int err;
};

struct text_stacks *text_stacks_new(struct reader *r)
{
	struct text_stacks *s = calloc(1, sizeof(*s));
	size_t bytes = TEXT_BYTES_MAX;

	if (!s)
		return NULL;
	if (bytes > budget_limit(r->cfg.budget))
		bytes = (size_t)budget_limit(r->cfg.budget);
	s->r = r;
	s->texts = intern_new(TEXTS_MAX, bytes);
	s->events = intern_new(EVENTS_MAX, bytes);
	if (!s->texts || !s->events ||
	    map_new(sizeof(struct frame_key), FRAMES_MAX, &s->frame_ids) ||
	    map_new(2 * sizeof(uint32_t), NODES_MAX, &s->node_ids)) {
		text_stacks_free(s);
		return NULL;
	}
	return s;
}

void text_stacks_free(struct text_stacks *s)
{
	if (!s)
		return;
	intern_free(s->texts);
	intern_free(s->events);
	map_free(s->frame_ids);
	map_free(s->node_ids);
	free(s->frames);
	free(s->nodes);
	free(s->stacks);
	free(s->stack_frames);
	free(s->samples);
	free(s);
}

/* What is sampled by time is where CPUs were; what tracepoints have is known from their events. */
static uint8_t kind_of(const struct text_line *line, uint32_t member, bool is_tracepoint)
{
	static const char *const clocks[] = { "cpu-clock",  "task-clock",      "cycles",
		                              "cpu/cycles", "cpu_core/cycles", "cpu_atom/cycles",
		                              "cpu-cycles" };

	if (member == FTRACE_SCHED_SWITCH)
		return TRACE_SAMPLE_OFFCPU;
	if (member == FTRACE_SCHED_WAKING)
		return TRACE_SAMPLE_WAKER;
	for (size_t i = 0; !is_tracepoint && i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (span_begins(line->event, clocks[i], strlen(clocks[i])))
			return TRACE_SAMPLE_CPU;
	return TRACE_SAMPLE_OTHER;
}

int text_stacks_begin(struct text_stacks *s, const struct text_line *line, uint32_t member)
{
	uint32_t event = 0;

	text_stacks_end(s);
	if (s->err)
		return s->err;
	s->is_tracepoint = line->has_system;
	if (intern_add(s->events, line->event.at, span_len(line->event), &event) < 0)
		event = 0;
	s->now = (struct trace_sample){ .ts_ns = line->ts_ns,
		                        .weight = line->period ? line->period : 1,
		                        .tid = line->pid,
		                        .cpu = line->cpu,
		                        .stack = NONE,
		                        .event = (uint16_t)event,
		                        .kind = kind_of(line, member, s->is_tracepoint) };
	s->is_open = true;
	if (!s->is_tracepoint)
		(void)text_stacks_frame(s, line->fields);
	return 0;
}

/* "c6472f name+0x2f (/path)" */
static bool split_frame(struct span in, uint64_t *address, struct span *name, struct span *mapping)
{
	const char *begin;

	span_skip_spaces(&in);
	begin = in.at;
	*mapping = *name = (struct span){ in.end, in.end };
	if (!span_hex(&in, address) || in.at - begin > HEX_DIGITS ||
	    (in.at < in.end && *in.at != ' '))
		return false;
	span_skip_spaces(&in);
	while (in.end > in.at && in.end[-1] == ' ')
		in.end--;
	*name = in;
	begin = in.end > in.at && in.end[-1] == ')' ? memrchr(in.at, '(', span_len(in)) : NULL;
	if (begin && (begin == in.at || begin[-1] == ' ')) {
		*mapping = (struct span){ begin + 1, in.end - 1 };
		name->end = begin > in.at ? begin - 1 : begin;
	}
	return true;
}

bool text_stacks_is_frame(struct span in)
{
	struct span name, mapping;
	uint64_t address;

	return in.at < in.end && (*in.at == ' ' || *in.at == '\t') &&
	       split_frame(in, &address, &name, &mapping);
}

static bool has_room(struct text_stacks *s, void *array, size_t nr, size_t *cap, size_t size)
{
	if (grow_counted(s->r, array, nr, cap, size))
		return true;
	s->err = budget_is_exceeded(s->r->cfg.budget) ? -E2BIG : -ENOMEM;
	return false;
}

/* The number of the frame, new or not; NONE where there is no room. */
static uint32_t frame_of(struct text_stacks *s, const struct frame *f)
{
	const struct frame_key key = { f->address, f->name,
		                       f->mapping << 2 | (uint32_t)f->is_kernel << 1 |
		                               (uint32_t)f->is_inlined };
	uint32_t at;

	if (map_find(s->frame_ids, &key, &at))
		return at;
	if (s->nr_frames == FRAMES_MAX ||
	    !has_room(s, &s->frames, s->nr_frames, &s->cap_frames, sizeof(*s->frames)) ||
	    map_insert(s->frame_ids, &key, (uint32_t)s->nr_frames) < 0)
		return NONE;
	s->frames[s->nr_frames] = *f;
	return (uint32_t)s->nr_frames++;
}

bool text_stacks_frame(struct text_stacks *s, struct span in)
{
	struct span name, mapping;
	struct frame f = { 0 };
	uint64_t address;
	const char *plus;
	uint32_t at;

	if (!s->is_open || !split_frame(in, &address, &name, &mapping))
		return false;
	if (s->err || s->nr_chain == DEPTH_MAX)
		return true;
	f.is_inlined = span_len(mapping) == 7 && memcmp(mapping.at, "inlined", 7) == 0;
	if (f.is_inlined || SPAN_BEGINS(mapping, "[unknown]"))
		mapping.end = mapping.at;
	plus = span_len(name) ? memrchr(name.at, '+', span_len(name)) : NULL;
	if (plus && SPAN_BEGINS(((struct span){ plus, name.end }), "+0x"))
		name.end = plus;
	if (SPAN_BEGINS(name, "[unknown]"))
		name.end = name.at;
	f.is_kernel = address & KERNEL_HALF || SPAN_BEGINS(mapping, "[kernel");
	if (intern_add(s->texts, name.at, span_len(name), &f.name) < 0 ||
	    intern_add(s->texts, mapping.at, span_len(mapping), &f.mapping) < 0)
		f.name = f.mapping = 0;
	if (!f.name)
		f.address = address;
	at = frame_of(s, &f);
	if (at != NONE)
		s->chain[s->nr_chain++] = at;
	return true;
}

static uint32_t node_of(struct text_stacks *s, uint32_t parent, uint32_t frame)
{
	const uint32_t key[2] = { parent, frame };
	uint32_t at;

	if (map_find(s->node_ids, key, &at))
		return at;
	if (s->nr_nodes == NODES_MAX ||
	    !has_room(s, &s->nodes, s->nr_nodes, &s->cap_nodes, sizeof(*s->nodes)) ||
	    map_insert(s->node_ids, key, (uint32_t)s->nr_nodes) < 0)
		return NONE;
	s->nodes[s->nr_nodes] = (struct node){ .parent = parent, .frame = frame, .stack = NONE };
	return (uint32_t)s->nr_nodes++;
}

/* The stack of the chain; NONE where there is no room. */
static uint32_t stack_of(struct text_stacks *s)
{
	uint32_t node = NONE;

	for (uint32_t i = s->nr_chain; i-- > 0;) {
		node = node_of(s, node, s->chain[i]);
		if (node == NONE)
			return NONE;
	}
	if (s->nodes[node].stack != NONE)
		return s->nodes[node].stack;
	if (!has_room(s, &s->stacks, s->nr_stacks, &s->cap_stacks, sizeof(*s->stacks)) ||
	    !has_room(s, &s->stack_frames, s->nr_stack_frames + s->nr_chain, &s->cap_stack_frames,
	              sizeof(*s->stack_frames)))
		return NONE;
	s->stacks[s->nr_stacks] = (struct trace_stack){ .first = (uint32_t)s->nr_stack_frames,
		                                        .nr = s->nr_chain };
	memcpy(s->stack_frames + s->nr_stack_frames, s->chain, s->nr_chain * sizeof(s->chain[0]));
	s->nr_stack_frames += s->nr_chain;
	s->nodes[node].stack = (uint32_t)s->nr_stacks;
	return (uint32_t)s->nr_stacks++;
}

void text_stacks_end(struct text_stacks *s)
{
	if (!s->is_open)
		return;
	s->is_open = false;
	if (s->nr_chain && s->nr_stack_frames < UINT32_MAX - DEPTH_MAX)
		s->now.stack = stack_of(s);
	if ((s->nr_chain || !s->is_tracepoint) && !s->err &&
	    has_room(s, &s->samples, s->nr_samples, &s->cap_samples, sizeof(*s->samples))) {
		if (s->nr_samples && s->samples[s->nr_samples - 1].ts_ns > s->now.ts_ns)
			s->is_unsorted = true;
		s->samples[s->nr_samples++] = s->now;
	}
	s->nr_chain = 0;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_sample *x = a, *y = b;

	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static const void *keep(struct text_stacks *s, const void *array, size_t nr, size_t size)
{
	void *copy = arena_alloc(s->r->mem, nr + 1, size, 8);

	if (!copy)
		s->err = -ENOMEM;
	else if (nr)
		memcpy(copy, array, nr * size);
	return copy;
}

static const char *text_of(struct text_stacks *s, const struct intern *in, uint32_t id)
{
	size_t len = 0;
	const char *text = intern_string(in, id, &len);

	return text ? info_text(s->r, text, len) : "";
}

static void put_frames(struct text_stacks *s)
{
	struct trace_frame *out = ARENA_ARRAY(s->r->mem, struct trace_frame, s->nr_frames + 1);

	if (!out) {
		s->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < s->nr_frames; i++)
		out[i] = (struct trace_frame){
			.name = text_of(s, s->texts, s->frames[i].name),
			.mapping = text_of(s, s->texts, s->frames[i].mapping),
			.file = "",
			.rel_pc = s->frames[i].address,
			.is_kernel = s->frames[i].is_kernel,
			.is_inlined = s->frames[i].is_inlined,
		};
	s->r->info.frames = out;
	s->r->info.nr_frames = s->nr_frames;
}

static void put_events(struct text_stacks *s)
{
	uint32_t nr = intern_nr(s->events);
	const char **names = ARENA_ARRAY(s->r->mem, const char *, nr);

	if (!names) {
		s->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < nr; i++)
		names[i] = text_of(s, s->events, i);
	s->r->info.sample_events = names;
	s->r->info.nr_sample_events = nr;
}

int text_stacks_finish(struct text_stacks *s)
{
	struct trace_info *info = &s->r->info;

	text_stacks_end(s);
	if (s->err || !s->nr_samples)
		return s->err;
	if (s->is_unsorted)
		qsort(s->samples, s->nr_samples, sizeof(*s->samples), by_time);
	put_frames(s);
	put_events(s);
	info->samples = keep(s, s->samples, s->nr_samples, sizeof(*s->samples));
	info->stacks = keep(s, s->stacks, s->nr_stacks, sizeof(*s->stacks));
	info->stack_frames = keep(s, s->stack_frames, s->nr_stack_frames, sizeof(uint32_t));
	if (s->err)
		return s->err;
	info->nr_samples = s->nr_samples;
	info->nr_stacks = s->nr_stacks;
	return 0;
}
