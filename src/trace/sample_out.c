#include "trace/sample_out.h"

#include <errno.h>

#include "base/hash.h"
#include "trace/packets.h"
#include "trace/schema.h"

#define FRAMES_MAX     65536U
#define STACKS_MAX     32768U
#define DEPTH_MAX      128U         /* deeper ones lose their outermost frames */
#define INTERNED_BYTES (112U << 10) /* holds a whole stack of new frames with the longest names */
#define SYMBOL_BYTES   256U

struct frame_key {
	uint64_t address;
	uint64_t tgid; /* 0 = kernel */
};

/* Two hashes: stacks are told apart by 128 bits, not by keeping them. */
struct stack_key {
	uint64_t hash[2];
};

int sample_init(struct sample_out *s, struct chunk_out *chunk)
{
	*s = (struct sample_out){ .chunk = chunk,
		                  .interned.cap = INTERNED_BYTES,
		                  .is_cleared = true };
	if (map_new(sizeof(struct frame_key), FRAMES_MAX, &s->frames) < 0 ||
	    map_new(sizeof(struct stack_key), STACKS_MAX, &s->stacks) < 0)
		return -ENOMEM;
	return 0;
}

void sample_done(struct sample_out *s)
{
	map_free(s->frames);
	map_free(s->stacks);
	pb_done(&s->interned);
}

static void put_frame(struct sample_out *s, const struct frame_key *key, uint32_t iid)
{
	struct pb *w = &s->interned;
	char name[SYMBOL_BYTES];
	bool has_name = s->symbol && s->symbol(s->symbol_ctx, (uint32_t)key->tgid, key->address,
	                                       name, sizeof(name));
	struct pb_mark mark;

	if (has_name) {
		mark = pb_begin(w, INTERNED_FUNCTION_NAMES);
		pb_uint(w, ENTRY_IID, iid);
		pb_string(w, ENTRY_STRING, name);
		pb_end(w, mark);
	}
	mark = pb_begin(w, INTERNED_FRAMES);
	pb_uint(w, ENTRY_IID, iid);
	if (has_name)
		pb_uint(w, FRAME_FUNCTION_NAME_ID, iid);
	pb_uint(w, FRAME_MAPPING_ID, key->tgid ? 2 : 1);
	pb_uint(w, FRAME_REL_PC, key->address);
	pb_uint(w, FRAME_KIND, key->tgid ? FRAME_KIND_NATIVE : FRAME_KIND_KERNEL);
	pb_end(w, mark);
}

static int frame_iid(struct sample_out *s, uint32_t tgid, uint64_t address, uint64_t *out)
{
	struct frame_key key = { .address = address, .tgid = tgid };
	uint32_t idx = map_nr(s->frames) + 1;
	int err;

	if (map_find(s->frames, &key, &idx)) {
		*out = idx;
		return 0;
	}
	err = map_insert(s->frames, &key, idx);
	if (err)
		return err;
	put_frame(s, &key, idx);
	*out = idx;
	return 0;
}

/* Frames as numbers, root first; how many, or an error. */
static int make_frames(struct sample_out *s, const struct ev_sample *rec, uint64_t iids[DEPTH_MAX])
{
	const __u64 *address = (const __u64 *)(rec + 1);
	uint32_t nr = (uint32_t)rec->nr_kernel + rec->nr_user;
	uint32_t kept = nr < DEPTH_MAX ? nr : DEPTH_MAX;
	int err;

	for (uint32_t i = 0; i < kept; i++) {
		bool is_kernel = i < rec->nr_kernel;

		err = frame_iid(s, is_kernel ? 0 : rec->tgid, address[i], &iids[kept - 1 - i]);
		if (err)
			return err;
	}
	return (int)kept;
}

static int stack_iid(struct sample_out *s, const struct ev_sample *rec, uint64_t *out)
{
	struct pb *w = &s->interned;
	uint64_t iids[DEPTH_MAX] = { 0 };
	struct stack_key key;
	struct pb_mark mark;
	uint32_t idx;
	int nr = make_frames(s, rec, iids), err;

	*out = 0;
	if (nr <= 0)
		return nr;
	key.hash[0] = hash_bytes(iids, (size_t)nr * sizeof(iids[0]), 1);
	key.hash[1] = hash_bytes(iids, (size_t)nr * sizeof(iids[0]), 0x5bd1e995U);
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
	for (int i = 0; i < nr; i++)
		pb_uint(w, CALLSTACK_FRAME_IDS, iids[i]);
	pb_end(w, mark);
	*out = idx;
	return 0;
}

/* Addresses are absolute, so one mapping for the kernel and one for the rest say nothing more. */
static void put_mappings(struct pb *w)
{
	for (uint32_t iid = 1; iid <= 2; iid++) {
		struct pb_mark mark = pb_begin(w, INTERNED_MAPPINGS);

		pb_uint(w, ENTRY_IID, iid);
		pb_end(w, mark);
	}
}

static void clear(struct sample_out *s)
{
	map_clear(s->frames);
	map_clear(s->stacks);
	pb_clear(&s->interned);
	s->is_cleared = true;
}

static int ensure_stack(struct sample_out *s, const struct ev_sample *rec, uint64_t *out)
{
	int err;

	if (s->is_cleared && s->interned.len == 0)
		put_mappings(&s->interned);
	err = stack_iid(s, rec, out);
	if (err != -E2BIG)
		return err;
	clear(s);
	put_mappings(&s->interned);
	return stack_iid(s, rec, out);
}

int sample_put(struct sample_out *s, uint64_t ts_ns, const struct ev_sample *rec, uint64_t count)
{
	struct pb *w = &s->chunk->packets;
	struct packet_head head = { .has_ts = true, .ts_ns = ts_ns, .seq = SEQ_SAMPLES };
	struct pb_mark packet, body;
	uint64_t stack;
	int err = ensure_stack(s, rec, &stack);

	if (err)
		return err;
	head.interned = &s->interned;
	head.seq_flags = SEQ_NEEDS_STATE | (s->is_cleared ? SEQ_STATE_CLEARED : 0);
	packet = packet_begin(w, &head);
	body = pb_begin(w, PACKET_PERF_SAMPLE);
	pb_uint(w, SAMPLE_CPU, rec->hdr.cpu);
	pb_uint(w, SAMPLE_PID, rec->tgid);
	pb_uint(w, SAMPLE_TID, rec->tid);
	if (stack)
		pb_uint(w, SAMPLE_CALLSTACK_IID, stack);
	pb_uint(w, SAMPLE_CPU_MODE, rec->nr_kernel ? SAMPLE_MODE_KERNEL : SAMPLE_MODE_USER);
	pb_uint(w, SAMPLE_TIMEBASE_COUNT, count);
	pb_end(w, body);
	packet_end(w, packet);
	if (s->interned.error && !w->error)
		w->error = s->interned.error;
	pb_clear(&s->interned);
	s->is_cleared = false;
	return chunk_packet_done(s->chunk);
}
