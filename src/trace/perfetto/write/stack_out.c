#include "trace/perfetto/write/stack_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/unwind_error.h"
#include "trace/perfetto/write/code_out.h"
#include "trace/perfetto/write/packets.h"

#define STREAMS_MAX    64U /* kinds and events */
#define STACKS_MAX     32768U
#define DEPTH_MAX      1024U       /* deeper ones lose their outermost */
#define INTERNED_BYTES (64U << 10) /* then a packet is due: one frame more takes up to 2 kB */
#define EVENT_BYTES    256U        /* longer names are cut */

/* Two hashes: stacks are compared by 128 bits instead of being kept. */
struct known_stack_key {
	uint64_t hash[2];
};

struct stack_stream {
	enum trace_sample_kind kind;
	char event[EVENT_BYTES];
	uint32_t seq;
	struct code_out code;
	struct map *stacks;
	struct pb defaults;
	bool is_cleared; /* the next packet restarts the tables */
};

void stacks_init(struct stack_out *s, struct chunk_out *chunk, uint64_t frequency)
{
	*s = (struct stack_out){ .chunk = chunk, .frequency = frequency };
}

static void stream_free(struct stack_stream *t)
{
	code_done(&t->code);
	map_free(t->stacks);
	pb_done(&t->defaults);
	free(t);
}

void stacks_done(struct stack_out *s)
{
	for (uint32_t i = 0; i < s->nr_streams; i++)
		stream_free(s->streams[i]);
	free(s->streams);
	*s = (struct stack_out){ 0 };
}

/* What other readers understand, and the kind, which is not to be guessed from it. */
static void make_defaults(struct stack_stream *t, uint64_t frequency)
{
	struct pb *w = &t->defaults;
	struct pb_mark defaults = pb_begin(w, DEFAULTS_PERF_SAMPLE),
		       timebase = pb_begin(w, SAMPLE_DEFAULTS_TIMEBASE), tracepoint;

	if (t->kind == TRACE_SAMPLE_OFFCPU || t->kind == TRACE_SAMPLE_WAKER) {
		tracepoint = pb_begin(w, TIMEBASE_TRACEPOINT);
		pb_string(w, TRACEPOINT_NAME,
		          t->kind == TRACE_SAMPLE_WAKER ? "sched:sched_waking"
		                                        : "sched:sched_switch");
		pb_end(w, tracepoint);
		pb_uint(w, TIMEBASE_PERIOD, 1);
	} else if (t->kind == TRACE_SAMPLE_CPU && frequency) {
		pb_uint(w, TIMEBASE_FREQUENCY, frequency);
	}
	pb_text(w, TIMEBASE_NAME, t->event, sizeof(t->event));
	pb_uint(w, TIMEBASE_KIND, 1U + t->kind);
	pb_end(w, timebase);
	pb_end(w, defaults);
}

static int stream_new(const struct stack_out *s, const struct trace_known_stack *stack,
                      struct stack_stream **out)
{
	struct stack_stream *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->kind = stack->kind;
	memcpy(t->event, stack->event, strnlen(stack->event, sizeof(t->event) - 1));
	t->seq = SEQ_SAMPLES + EV_SAMPLE_KINDS + s->nr_streams;
	t->is_cleared = true;
	t->defaults.cap = 3 * EVENT_BYTES + 128; /* what is not UTF-8 grows threefold */
	err = code_init(&t->code);
	if (!err)
		err = map_new(sizeof(struct known_stack_key), STACKS_MAX, &t->stacks);
	make_defaults(t, s->frequency);
	if (!err)
		err = t->defaults.error;
	if (err)
		stream_free(t);
	else
		*out = t;
	return err;
}

static int find_stream(struct stack_out *s, const struct trace_known_stack *stack,
                       struct stack_stream **out)
{
	struct stack_stream *t;
	int err;

	for (uint32_t i = 0; i < s->nr_streams; i++) {
		t = s->streams[i];
		if (t->kind == stack->kind &&
		    strncmp(t->event, stack->event, sizeof(t->event) - 1) == 0) {
			*out = t;
			return 0;
		}
	}
	if (s->nr_streams == STREAMS_MAX)
		return -ERANGE;
	if (GROW(s->streams, s->room, s->nr_streams))
		return -ENOMEM;
	err = stream_new(s, stack, out);
	if (!err)
		s->streams[s->nr_streams++] = *out;
	return err;
}

static struct packet_head head_of(const struct stack_stream *t)
{
	return (struct packet_head){
		.seq = t->seq,
		.seq_flags = SEQ_NEEDS_STATE | (t->is_cleared ? SEQ_STATE_CLEARED : 0),
		.interned = &t->code.interned,
		.defaults = t->is_cleared ? &t->defaults : NULL,
	};
}

static int packet_done(struct stack_out *s, struct stack_stream *t)
{
	struct pb *w = &s->chunk->packets;

	if (t->code.interned.error && !w->error)
		w->error = t->code.interned.error;
	pb_clear(&t->code.interned);
	t->is_cleared = false;
	return chunk_packet_done(s->chunk);
}

/* New frames of a deep stack may be too many for one packet: those so far get one of their own. */
static int make_room(struct stack_out *s, struct stack_stream *t)
{
	struct packet_head head = head_of(t);

	if (t->code.interned.len < INTERNED_BYTES)
		return 0;
	packet_end(&s->chunk->packets, packet_begin(&s->chunk->packets, &head));
	return packet_done(s, t);
}

static void define_stack(struct stack_stream *t, uint32_t iid, const uint32_t *iids, uint32_t nr)
{
	struct pb *w = &t->code.interned;
	struct pb_mark mark = pb_begin(w, INTERNED_CALLSTACKS);

	pb_uint(w, ENTRY_IID, iid);
	for (uint32_t i = nr; i > 0; i--) /* root first */
		pb_uint(w, CALLSTACK_FRAME_IDS, iids[i - 1]);
	pb_end(w, mark);
}

/* 0 for an empty stack. */
static int stack_iid(struct stack_out *s, struct stack_stream *t,
                     const struct trace_known_stack *stack, uint32_t *out)
{
	uint32_t nr = stack->nr_frames < DEPTH_MAX ? stack->nr_frames : DEPTH_MAX;
	uint32_t iids[DEPTH_MAX];
	struct known_stack_key key;
	int err = 0;

	*out = 0;
	for (uint32_t i = 0; i < nr && !err; i++) {
		err = make_room(s, t);
		if (!err)
			err = code_frame(&t->code, stack->frames[i],
			                 &stack->table[stack->frames[i]], &iids[i]);
	}
	if (err || !nr)
		return err;
	key.hash[0] = hash_bytes(iids, nr * sizeof(iids[0]), 1);
	key.hash[1] = hash_bytes(iids, nr * sizeof(iids[0]), 0x5bd1e995U);
	if (map_find(t->stacks, &key, out))
		return 0;
	err = make_room(s, t);
	if (!err)
		err = map_insert(t->stacks, &key, map_nr(t->stacks) + 1);
	if (err)
		return err;
	*out = map_nr(t->stacks);
	define_stack(t, *out, iids, nr);
	return 0;
}

static int ensure_stack(struct stack_out *s, struct stack_stream *t,
                        const struct trace_known_stack *stack, uint32_t *out)
{
	int err = stack_iid(s, t, stack, out);

	if (err != -E2BIG)
		return err;
	code_clear(&t->code);
	map_clear(t->stacks);
	t->is_cleared = true;
	return stack_iid(s, t, stack, out);
}

int stacks_put(struct stack_out *s, const struct trace_known_stack *stack, uint32_t tgid)
{
	struct pb *w = &s->chunk->packets;
	struct pb_mark packet, body;
	struct stack_stream *t;
	struct packet_head head;
	uint32_t iid;
	int err = find_stream(s, stack, &t);

	if (!err)
		err = ensure_stack(s, t, stack, &iid);
	if (err)
		return err;
	head = head_of(t);
	head.has_ts = true;
	head.ts_ns = stack->ts_ns;
	packet = packet_begin(w, &head);
	body = pb_begin(w, PACKET_PERF_SAMPLE);
	if (stack->cpu != UINT32_MAX)
		pb_uint(w, SAMPLE_CPU, stack->cpu);
	if (tgid || !stack->tid)
		pb_uint(w, SAMPLE_PID, tgid);
	pb_uint(w, SAMPLE_TID, stack->tid);
	if (iid)
		pb_uint(w, SAMPLE_CALLSTACK_IID, iid);
	if (stack->nr_frames)
		pb_uint(w, SAMPLE_CPU_MODE,
		        stack->table[stack->frames[0]].is_kernel ? SAMPLE_MODE_KERNEL
		                                                 : SAMPLE_MODE_USER);
	if (stack->weight != 1)
		pb_uint(w, SAMPLE_WEIGHT, stack->weight);
	if (unwind_error_of(stack->end))
		pb_uint(w, SAMPLE_UNWIND_ERROR, unwind_error_of(stack->end));
	pb_end(w, body);
	packet_end(w, packet);
	return packet_done(s, t);
}
