#include "trace/perfetto/write/sample_out.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/unwind_error.h"
#include "trace/perfetto/write/packets.h"

#define STACKS_MAX     32768U
#define ADDRESSES_MAX  (2U * EV_SAMPLE_DEPTH) /* deeper ones lose their outermost */
#define FRAMES_MAX     1024U                  /* with the inlined ones; likewise */
#define INTERNED_BYTES (64U << 10) /* then a packet is due: one address more takes up to 20 kB */
#define DEFAULTS_BYTES 512U
#define TRACING_FRAMES 8U /* at the leaf, among which the machinery of tracing lies */

/* Two hashes: stacks are compared by 128 bits instead of being kept. */
struct stack_out_key {
	uint64_t hash[2];
};

struct frames {
	uint64_t iids[FRAMES_MAX]; /* root first, at the end */
	size_t first;
};

static void put_tracepoint(struct pb *w, const char *name)
{
	struct pb_mark mark = pb_begin(w, TIMEBASE_TRACEPOINT);

	pb_string(w, TRACEPOINT_NAME, name);
	pb_end(w, mark);
	pb_uint(w, TIMEBASE_PERIOD, 1);
}

static void put_clock(struct pb *w, const struct trace_sampling *of)
{
	bool is_cycles = of->event && strcmp(of->event, "cycles") == 0;

	if (of->frequency)
		pb_uint(w, TIMEBASE_FREQUENCY, of->frequency);
	pb_uint(w, TIMEBASE_COUNTER, is_cycles ? COUNTER_HW_CPU_CYCLES : COUNTER_SW_CPU_CLOCK);
	pb_string(w, TIMEBASE_NAME, of->event ? of->event : "cpu-clock");
}

/* A TracePacketDefaults: what was sampled. */
static void make_defaults(struct sample_out *s, const struct trace_sampling *of)
{
	struct pb *w = &s->defaults;
	struct pb_mark defaults = pb_begin(w, DEFAULTS_PERF_SAMPLE),
		       timebase = pb_begin(w, SAMPLE_DEFAULTS_TIMEBASE);

	if (s->event == EV_SAMPLE_OFF_CPU) {
		put_tracepoint(w, "sched:sched_switch");
		pb_string(w, TIMEBASE_NAME, "off-cpu");
	} else if (s->event == EV_SAMPLE_WAKER) {
		put_tracepoint(w, "sched:sched_waking");
		pb_string(w, TIMEBASE_NAME, "waker");
	} else {
		put_clock(w, of);
	}
	pb_end(w, timebase);
	pb_end(w, defaults);
}

int sample_init(struct sample_out *s, struct chunk_out *chunk, uint32_t event,
                const struct trace_sampling *of)
{
	int err;

	*s = (struct sample_out){
		.chunk = chunk, .event = event, .defaults.cap = DEFAULTS_BYTES, .is_cleared = true
	};
	err = code_init(&s->code);
	if (!err)
		err = map_new(sizeof(struct stack_out_key), STACKS_MAX, &s->stacks);
	make_defaults(s, of);
	return err ? err : s->defaults.error;
}

void sample_done(struct sample_out *s)
{
	code_done(&s->code);
	map_free(s->stacks);
	pb_done(&s->defaults);
}

static struct packet_head head_of(const struct sample_out *s)
{
	return (struct packet_head){
		.seq = SEQ_SAMPLES + s->event,
		.seq_flags = SEQ_NEEDS_STATE | (s->is_cleared ? SEQ_STATE_CLEARED : 0),
		.interned = &s->code.interned,
		.defaults = s->is_cleared ? &s->defaults : NULL,
	};
}

static int packet_done(struct sample_out *s)
{
	struct pb *w = &s->chunk->packets;

	if (s->code.interned.error && !w->error)
		w->error = s->code.interned.error;
	pb_clear(&s->code.interned);
	s->is_cleared = false;
	return chunk_packet_done(s->chunk);
}

/* New frames of a deep stack may be too many for one packet: those so far get one of their own. */
static int make_room(struct sample_out *s)
{
	struct packet_head head = head_of(s);

	if (s->code.interned.len < INTERNED_BYTES)
		return 0;
	packet_end(&s->chunk->packets, packet_begin(&s->chunk->packets, &head));
	return packet_done(s);
}

/* From the leaf on, so to the front. */
static void add_run(struct frames *f, const struct code_run *run)
{
	for (uint32_t i = 0; i < run->nr && f->first; i++)
		f->iids[--f->first] = run->first + i;
}

/*
 * The address of the leaf is exact, as is that of the first user frame; all others are where calls return to, and
 * the calls lie before. At a tracepoint even the leaf is a caller.
 */
static uint64_t address_of(const struct sample_out *s, const struct ev_sample *rec, uint32_t i)
{
	const __u64 *address = (const __u64 *)(rec + 1);
	bool is_exact = i == rec->nr_kernel || (i == 0 && s->event == EV_SAMPLE_CPU);

	return address[i] - (is_exact || !address[i] ? 0 : 1);
}

static int run_at(struct sample_out *s, const struct sample_in *in, uint32_t i,
                  struct code_run *out)
{
	bool is_kernel = i < in->rec->nr_kernel;
	struct code_where where = { .tgid = is_kernel ? 0 : in->rec->tgid,
		                    .image = is_kernel ? 0 : in->image,
		                    .ts_ns = in->rec->hdr.ts_ns };
	int err = make_room(s);

	return err ? err : code_at(&s->code, &where, address_of(s, in->rec, i), out);
}

/* How many addresses are of the machinery of tracing, and of the program that it runs. */
static int skip_tracing(struct sample_out *s, const struct sample_in *in, uint32_t *out)
{
	struct code_run run;
	int err = 0;

	*out = 0;
	if (s->event == EV_SAMPLE_CPU)
		return 0;
	for (uint32_t i = 0; !err && i < TRACING_FRAMES && i < in->rec->nr_kernel; i++) {
		err = run_at(s, in, i, &run);
		if (!err && run.is_tracing)
			*out = i + 1;
	}
	return err;
}

static int make_frames(struct sample_out *s, const struct sample_in *in, struct frames *f)
{
	uint32_t nr = (uint32_t)in->rec->nr_kernel + in->rec->nr_user, i;
	struct code_run run;
	int err = skip_tracing(s, in, &i);

	for (; !err && i < nr && i < ADDRESSES_MAX; i++) {
		err = run_at(s, in, i, &run);
		if (!err)
			add_run(f, &run);
	}
	return err;
}

/* 0 for an empty stack. */
static int stack_iid(struct sample_out *s, const struct sample_in *in, uint64_t *out)
{
	struct pb *w = &s->code.interned;
	struct frames f = { .first = FRAMES_MAX };
	struct stack_out_key key;
	struct pb_mark mark;
	uint32_t idx;
	int err = make_frames(s, in, &f);
	size_t bytes = (FRAMES_MAX - f.first) * sizeof(f.iids[0]);

	*out = 0;
	if (err || !bytes)
		return err;
	key.hash[0] = hash_bytes(&f.iids[f.first], bytes, 1);
	key.hash[1] = hash_bytes(&f.iids[f.first], bytes, 0x5bd1e995U);
	if (map_find(s->stacks, &key, &idx)) {
		*out = idx;
		return 0;
	}
	idx = map_nr(s->stacks) + 1;
	err = map_insert(s->stacks, &key, idx);
	if (err)
		return err;
	mark = pb_begin(w, INTERNED_CALLSTACKS);
	pb_uint(w, ENTRY_IID, idx);
	for (size_t i = f.first; i < FRAMES_MAX; i++)
		pb_uint(w, CALLSTACK_FRAME_IDS, f.iids[i]);
	pb_end(w, mark);
	*out = idx;
	return 0;
}

static int ensure_stack(struct sample_out *s, const struct sample_in *in, uint64_t *out)
{
	int err = stack_iid(s, in, out);

	if (err != -E2BIG)
		return err;
	code_clear(&s->code);
	map_clear(s->stacks);
	s->is_cleared = true;
	return stack_iid(s, in, out);
}

int sample_put(struct sample_out *s, const struct sample_in *in)
{
	const struct ev_sample *rec = in->rec;
	struct pb *w = &s->chunk->packets;
	struct pb_mark packet, body;
	struct packet_head head;
	uint64_t stack;
	int err = ensure_stack(s, in, &stack);

	if (err)
		return err;
	head = head_of(s);
	head.has_ts = true;
	head.ts_ns = in->ts_ns;
	packet = packet_begin(w, &head);
	body = pb_begin(w, PACKET_PERF_SAMPLE);
	pb_uint(w, SAMPLE_CPU, rec->hdr.cpu);
	pb_uint(w, SAMPLE_PID, rec->tgid);
	pb_uint(w, SAMPLE_TID, rec->tid);
	if (stack)
		pb_uint(w, SAMPLE_CALLSTACK_IID, stack);
	pb_uint(w, SAMPLE_CPU_MODE, rec->nr_kernel ? SAMPLE_MODE_KERNEL : SAMPLE_MODE_USER);
	pb_uint(w, SAMPLE_TIMEBASE_COUNT, in->count);
	if (rec->nr_user && unwind_error_of(rec->user_end))
		pb_uint(w, SAMPLE_UNWIND_ERROR, unwind_error_of(rec->user_end));
	pb_end(w, body);
	packet_end(w, packet);
	return packet_done(s);
}
