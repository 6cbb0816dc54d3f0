/*
 * fuzz/fuzz_tracks — any track events, well formed, become records that stand the check and are in order.
 *
 * The input is not a trace but a list of small numbers from which one is made: with bytes of a trace as input,
 * few changes would still be events of threads, slices and flows that belong together.
 */
#include <stdlib.h>

#include "abi/event_check.h"
#include "base/diag.h"
#include "base/pb_write.h"
#include "fuzz.h"
#include "trace/perfetto/schema.h"
#include "trace/reader.h"

#define INPUT_MAX 4096U
#define TRACE_CAP (8U << 20)
#define NR_TRACKS 8U

static const char *const categories[] = {
	"ONCPU",   "WAKER",   "WAKER_NEW", "WAKEE",   "WAKEE_NEW", "WAKEE_UNKNOWN", "PREEMPTOR",
	"TIMER",   "PMU",     "FORKING",   "FORKED",  "EXEC",      "RENAME",        "EXIT",
	"FREE",    "HARDIRQ", "SOFTIRQ",   "WQ",      "IPI_SEND",  "IPI",           "SCX_DSQ",
	"REQUEST", "kprobe",  "uprobe",    "unknown",
};
static const char *const keys[] = {
	"cpu",       "offcpu_reason", "waker",         "waker_tid",  "waker_cpu", "switch_from",
	"switch_to", "scx_layer_id",  "scx_dsq_id",    "wakee",      "wakee_tid", "forked_into_tid",
	"filename",  "new_name",      "irq",           "action",     "req_id",    "pmu:cycles",
	"a_kilo",    "switch_to_tid", "sample_period", "target_cpu", "nobody's",  "ip",
};
static const char *const texts[] = { "swapper/0", "a",     "b",     "blocked",  "preempted",
	                             "runnable",  "timer", "/x/y/", "\xff\xfe", "DSQ 7 depth" };

static const char *pick(struct fuzz_input *in, const char *const *list, size_t nr)
{
	return list[fuzz_take(in, 1) % nr];
}
#define PICK(in, list) pick(in, list, sizeof(list) / sizeof((list)[0]))

/* Threads, idle ones, counters and plain tracks, in any relation; beyond the last one nothing is described. */
static void put_track(struct pb *w, struct fuzz_input *in)
{
	struct pb_mark packet = pb_begin(w, TRACE_PACKET);
	struct pb_mark desc = pb_begin(w, PACKET_TRACK_DESCRIPTOR), thread;
	uint64_t kind = fuzz_take(in, 1);

	pb_uint(w, TRACK_UUID, fuzz_take(in, 1) % NR_TRACKS);
	pb_uint(w, TRACK_PARENT_UUID, fuzz_take(in, 1) % NR_TRACKS);
	if (kind & 1)
		pb_string(w, TRACK_NAME, PICK(in, texts));
	if (kind & 2) {
		thread = pb_begin(w, TRACK_THREAD);
		pb_uint(w, THREAD_DESC_PID, 1999999990 + fuzz_take(in, 1) % 14);
		pb_uint(w, THREAD_DESC_TID, fuzz_take(in, 1));
		pb_string(w, THREAD_DESC_NAME, PICK(in, texts));
		pb_end(w, thread);
	}
	if (kind & 4)
		pb_end(w, pb_begin(w, TRACK_COUNTER));
	pb_end(w, desc);
	pb_end(w, packet);
}

enum { NAME = 10, CATEGORY = 22, EVENT_NAME = 23, CALLSTACK = 56 };

static void put_argument(struct pb *w, struct fuzz_input *in)
{
	struct pb_mark arg = pb_begin(w, TRACK_EVENT_ANNOTATIONS);
	uint64_t kind = fuzz_take(in, 1) % 4;

	pb_string(w, NAME, PICK(in, keys));
	if (kind == 0)
		pb_string(w, ANNOTATION_STRING, PICK(in, texts));
	else if (kind == 1)
		pb_double(w, ANNOTATION_DOUBLE, (double)fuzz_take(in, 1) / 2);
	else
		pb_uint(w, kind == 2 ? ANNOTATION_INT : ANNOTATION_UINT, fuzz_take(in, 1));
	pb_end(w, arg);
}

static void put_event(struct pb *w, struct fuzz_input *in)
{
	struct pb_mark packet = pb_begin_large(w, TRACE_PACKET), event;
	uint64_t nr_args;

	pb_uint(w, PACKET_TIMESTAMP, fuzz_take(in, 1) % 16);
	pb_uint(w, PACKET_SEQUENCE_ID, 7);
	event = pb_begin_large(w, PACKET_TRACK_EVENT);
	pb_uint(w, TRACK_EVENT_TYPE, 1 + fuzz_take(in, 1) % 4);
	pb_uint(w, TRACK_EVENT_TRACK_UUID, fuzz_take(in, 1) % (NR_TRACKS + 1));
	pb_string(w, CATEGORY, PICK(in, categories));
	nr_args = fuzz_take(in, 1);
	if (nr_args & 8)
		pb_string(w, EVENT_NAME, PICK(in, texts));
	if (nr_args & 16)
		pb_fixed64(w, TRACK_EVENT_FLOW_IDS, fuzz_take(in, 1) % 8);
	if (nr_args & 32)
		pb_uint(w, TRACK_EVENT_COUNTER_VALUE, fuzz_take(in, 8));
	if (nr_args & 64)
		pb_uint(w, CALLSTACK, 1);
	for (uint64_t i = 0; i < nr_args % 8; i++)
		put_argument(w, in);
	pb_end(w, event);
	pb_end(w, packet);
}

/* A state of a task on a kernel without ftrace. */
static void put_state(struct pb *w, struct fuzz_input *in)
{
	struct pb_mark packet = pb_begin(w, TRACE_PACKET), state;

	pb_uint(w, PACKET_TIMESTAMP, fuzz_take(in, 1) % 16);
	state = pb_begin(w, PACKET_GENERIC_TASK_STATE);
	pb_uint(w, 1, fuzz_take(in, 1) % 4);
	pb_string(w, 2, PICK(in, texts));
	pb_uint(w, 3, fuzz_take(in, 1) % 8);
	pb_uint(w, 4, fuzz_take(in, 1) % 10);
	pb_end(w, state);
	pb_end(w, packet);
}

struct seen {
	uint64_t last_ns;
	uint64_t nr_entries, nr_exits, nr_starts, nr_ends;
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct seen *s = ctx;

	fuzz_check(ev_check(rec, rec->size));
	fuzz_check(rec->ts_ns >= s->last_ns);
	s->last_ns = rec->ts_ns;
	s->nr_entries += rec->kind == EV_IRQ_ENTRY;
	s->nr_exits += rec->kind == EV_IRQ_EXIT;
	s->nr_starts += rec->kind == EV_WORK_START;
	s->nr_ends += rec->kind == EV_WORK_END;
	if (rec->kind == EV_DSQ_LEAVE)
		fuzz_check(((const struct ev_dsq_leave *)rec)->start_ns <= rec->ts_ns);
	if (rec->kind == EV_SPAN)
		fuzz_check(((const struct ev_span *)rec)->start_ns <= rec->ts_ns);
	return 0;
}

static void read_back(const struct pb *w)
{
	const struct trace_read_cfg cfg = { .nr_workers = 1 };
	struct seen seen = { 0 };
	const struct ev_sink sink = { .push = push, .ctx = &seen };
	const struct trace_bytes in = { .bytes = w->buf, .len = w->len, .name = "fuzz" };
	struct trace_info *info = NULL;

	fuzz_check(trace_read_memory(&in, &cfg, &sink, NULL, &info) == 0);
	fuzz_check(seen.nr_exits <= seen.nr_entries && seen.nr_ends <= seen.nr_starts);
	trace_info_free(info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { .at = data, .left = size };
	struct pb w = { .cap = TRACE_CAP };

	if (size > INPUT_MAX)
		return 0;
	while (in.left) {
		uint64_t what = fuzz_take(&in, 1) % 8;

		if (what == 0)
			put_track(&w, &in);
		else if (what == 1)
			put_state(&w, &in);
		else
			put_event(&w, &in);
	}
	if (w.len && !w.error)
		read_back(&w);
	pb_done(&w);
	return 0;
}
