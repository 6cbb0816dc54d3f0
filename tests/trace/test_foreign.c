/* What other recorders report and our own does not, written and read back: unknown tasks, spans, stacks, uncounted losses. */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "records.h"
#include "trace/perfetto/write/span_out.h"
#include "trace/perfetto/write/writer.h"
#include "trace/reader.h"

#define T0 1000000000ULL

struct got {
	struct ev_hdr *recs[256];
	size_t nr;
	char texts[16][32]; /* by number */
};

struct file {
	struct trace_writer *w;
	int fd;
	struct got got;
	struct trace_info *info;
};

static void open_file(struct file *f, const struct trace_attr *attrs, size_t nr_attrs)
{
	const struct trace_writer_cfg cfg = {
		.tool = "schedscope", .version = "1", .attrs = attrs, .nr_attrs = nr_attrs
	};
	struct diag d = { 0 };

	*f = (struct file){ .fd = memfd_create("trace", MFD_CLOEXEC) };
	assert_true(f->fd >= 0);
	expect_eq(trace_writer_open(fcntl(f->fd, F_DUPFD_CLOEXEC, 3), &cfg, &d, &f->w), 0);
}

static void push(struct file *f, const struct ev_hdr *rec)
{
	struct ev_sink sink = trace_writer_sink(f->w);

	assert_true(ev_check(rec, rec->size));
	expect_eq(sink.push(sink.ctx, rec), 0);
}

static int keep(void *ctx, const struct ev_hdr *rec)
{
	struct got *got = ctx;
	const struct ev_string *text = (const void *)rec;

	assert_true(ev_check(rec, rec->size));
	if (rec->kind == EV_STRING && text->id < 16)
		(void)snprintf(got->texts[text->id], sizeof(got->texts[0]), "%s",
		               (const char *)(text + 1));
	if (rec->kind == EV_TASK_INFO || rec->kind == EV_STRING)
		return 0;
	assert_true(got->nr < 256);
	got->recs[got->nr] = malloc(rec->size);
	assert_non_null(got->recs[got->nr]);
	memcpy(got->recs[got->nr++], rec, rec->size);
	return 0;
}

static void read_back(struct file *f)
{
	struct ev_sink sink = { .push = keep, .ctx = &f->got };
	struct diag d = { 0 };
	char path[64];

	expect_eq(trace_writer_close(f->w, &d), 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	expect_eq(trace_read_file(path, NULL, &sink, &d, &f->info), 0);
	close(f->fd);
}

static void done(struct file *f)
{
	for (size_t i = 0; i < f->got.nr; i++)
		free(f->got.recs[i]);
	trace_info_free(f->info);
}

/* The nr-th record of a kind; NULL if there are fewer. */
static const void *find(const struct file *f, uint8_t kind, size_t nr)
{
	for (size_t i = 0; i < f->got.nr; i++)
		if (f->got.recs[i]->kind == kind && nr-- == 0)
			return f->got.recs[i];
	return NULL;
}

static void a_task_that_is_unknown_stays_unknown(void **state)
{
	struct ev_switch sw;
	struct ev_wake wake;
	const struct ev_switch *got;
	struct file f;

	(void)state;
	open_file(&f, NULL, 0);
	push(&f, rec_switch(0, T0, 0, 0, 5));
	push(&f, rec_switch(0, T0 + 10, 5, 1, 0));
	memcpy(&sw, rec_switch(0, T0 + 20, 0, 0, 6), sizeof(sw));
	sw.hdr.flags = EV_FLAG_UNKNOWN;
	push(&f, &sw.hdr);
	memcpy(&wake, rec_waking(0, T0 + 30, 0, 7, 0), sizeof(wake));
	wake.hdr.flags = EV_FLAG_UNKNOWN;
	push(&f, &wake.hdr);
	push(&f, rec_switch(0, T0 + 40, 6, 1, 0));
	push(&f, rec_waking(0, T0 + 50, 0, 7, 0));
	read_back(&f);
	expect_eq(f.got.nr, 6);
	got = find(&f, EV_SWITCH, 1);
	expect_eq(got->hdr.flags, 0);
	assert_memory_equal(find(&f, EV_SWITCH, 2), &sw, sizeof(sw));
	assert_memory_equal(find(&f, EV_WAKING, 0), &wake, sizeof(wake));
	expect_eq(((const struct ev_wake *)find(&f, EV_WAKING, 1))->hdr.flags, 0);
	expect_eq(f.info->nr_damage, 0);
	done(&f);
}

static void push_text(struct file *f, uint32_t id, const char *text)
{
	struct {
		struct ev_string rec;
		char text[16];
	} s = { .rec = { .hdr = { .size = sizeof(s), .kind = EV_STRING }, .id = id } };

	(void)snprintf(s.text, sizeof(s.text), "%s", text);
	push(f, &s.rec.hdr);
}

struct known_span {
	uint64_t start, end;
	uint32_t tid;
};

/* Some within each other, some across, some at the same time, of a task and of none. */
static void spans_come_back_whatever_they_cross(void **state)
{
	static const struct known_span spans[] = {
		{ 10, 20, 5 }, { 10, 20, 5 },   { 15, 25, 5 }, { 5, 25, 5 },
		{ 25, 30, 5 }, { 12, 40, 5 },   { 40, 40, 5 }, { 1, 50, 0 },
		{ 1, 51, 0 },  { 30, 60, 100 }, { 2, 61, 5 },
	};
	size_t nr = sizeof(spans) / sizeof(spans[0]);
	const struct ev_span *got;
	struct file f;

	(void)state;
	open_file(&f, NULL, 0);
	push_text(&f, 1, "REQUEST");
	push_text(&f, 2, "query \xff");
	push(&f, rec_task_info(5, 100, 1, "worker"));
	push(&f, rec_task_info(100, 100, 1, "server"));
	for (size_t i = 0; i < nr; i++)
		push(&f,
		     REC(ev_span, EV_SPAN, 3, T0 + spans[i].end, .start_ns = T0 + spans[i].start,
		         .id = i, .tid = spans[i].tid, .category = 1, .name = 2));
	read_back(&f);
	for (size_t i = 0; i < nr; i++) {
		got = find(&f, EV_SPAN, i);
		assert_non_null(got);
		/* Ends of the same time come back in any order. */
		assert_true(got->id < nr);
		expect_eq(got->hdr.ts_ns, T0 + spans[got->id].end);
		expect_eq(got->start_ns, T0 + spans[got->id].start);
		expect_eq(got->tid, spans[got->id].tid);
		expect_eq(got->hdr.cpu, 3);
		assert_string_equal(f.got.texts[got->category], "REQUEST");
		assert_string_equal(f.got.texts[got->name], "query \xef\xbf\xbd");
	}
	assert_null(find(&f, EV_SPAN, nr));
	expect_eq(f.info->nr_damage, 0);
	done(&f);
}

/* What is not remembered of a lane is taken to be crossed: another one, never a wrong one. */
static void lanes_are_bounded(void **state)
{
	struct span_interval span = { 0 };
	struct span_lane *lane;
	struct span_out s;

	(void)state;
	expect_eq(spans_init(&s), 0);
	for (uint64_t i = 1; i < 100; i++) {
		span = (struct span_interval){ 10 * i, 10 * i + 5 };
		expect_eq(spans_lane(&s, 1, &span, &lane), 0);
		expect_eq(lane->number, 0);
	}
	span = (struct span_interval){ 955, 1000 }; /* around the last few */
	expect_eq(spans_lane(&s, 1, &span, &lane), 0);
	expect_eq(lane->number, 0);
	span = (struct span_interval){
		15, 1001
	}; /* around all but the first, of which no more is known */
	expect_eq(spans_lane(&s, 1, &span, &lane), 0);
	expect_eq(lane->number, 1);
	span = (struct span_interval){ 500, 2000 };
	for (uint32_t i = 0; i < 254; i++, span.end_ns++)
		expect_eq(spans_lane(&s, 1, &span, &lane), 0);
	expect_eq(spans_lane(&s, 1, &span, &lane), -ERANGE);
	expect_eq(spans_lane(&s, 2, &span, &lane), 0);
	spans_done(&s);
}

static const struct trace_frame frames[] = {
	{ .name = "leaf",
	  .mapping = "/bin/a",
	  .file = "a.c",
	  .line = 7,
	  .rel_pc = 0x10,
	  .is_inlined = true },
	{ .name = "main", .mapping = "/bin/a", .file = "a.c", .line = 9, .rel_pc = 0x10 },
	{ .name = "do_syscall",
	  .mapping = "kernel",
	  .file = "",
	  .rel_pc = 0xffff000000000010,
	  .is_kernel = true },
	{ .name = "", .mapping = "", .file = "", .rel_pc = 0x77 },
};

static void put_stack(struct file *f, uint64_t ts, enum trace_sample_kind kind, const char *event,
                      uint64_t weight)
{
	static const uint32_t of[] = { 2, 0, 1, 3 };
	struct trace_known_stack stack = { .ts_ns = T0 + ts,
		                           .weight = weight,
		                           .tid = 5,
		                           .cpu = weight == 1 ? 2 : ~0U,
		                           .kind = kind,
		                           .event = event,
		                           .frames = of,
		                           .nr_frames = kind == TRACE_SAMPLE_WAKER ? 0 : 4,
		                           .table = frames };

	expect_eq(trace_writer_stack(f->w, &stack), 0);
}

static void expect_frame(const struct trace_frame *got, const struct trace_frame *want)
{
	assert_string_equal(got->name, want->name);
	assert_string_equal(got->mapping, want->mapping);
	assert_string_equal(got->file, want->file);
	expect_eq(got->line, want->line);
	expect_eq(got->rel_pc, want->rel_pc);
	expect_eq(got->is_kernel, want->is_kernel);
	expect_eq(got->is_inlined, want->is_inlined);
}

static void stacks_keep_frames_kinds_events_and_weights(void **state)
{
	static const uint32_t of[] = { 2, 0, 1, 3 };
	static const struct {
		enum trace_sample_kind kind;
		const char *event;
		uint64_t weight;
	} want[] = {
		{ TRACE_SAMPLE_CPU, "", 1 },          { TRACE_SAMPLE_CPU, "my-clock", 250 },
		{ TRACE_SAMPLE_OFFCPU, "", 1 },       { TRACE_SAMPLE_WAKER, "waker", 1 },
		{ TRACE_SAMPLE_OTHER, "cycles", 99 }, { TRACE_SAMPLE_OTHER, "page-faults", 1 },
		{ TRACE_SAMPLE_CPU, "", 1 },
	};
	size_t nr = sizeof(want) / sizeof(want[0]);
	const struct trace_sample *s;
	struct file f;

	(void)state;
	open_file(&f, NULL, 0);
	push(&f, rec_switch(2, T0, 0, 0, 5));
	for (size_t i = 0; i < nr; i++)
		put_stack(&f, 10 + i, want[i].kind, want[i].event, want[i].weight);
	read_back(&f);
	expect_eq(f.info->nr_samples, nr);
	for (size_t i = 0; i < nr; i++) {
		s = &f.info->samples[i];
		expect_eq(s->ts_ns, T0 + 10 + i);
		expect_eq(s->kind, want[i].kind);
		expect_eq(s->weight, want[i].weight);
		expect_eq(s->tid, 5);
		expect_eq(s->cpu, want[i].weight == 1 ? 2 : ~0U);
		assert_string_equal(f.info->sample_events[s->event], want[i].event);
		if (want[i].kind == TRACE_SAMPLE_WAKER) {
			expect_eq(s->stack, ~0U);
			continue;
		}
		expect_eq(f.info->stacks[s->stack].nr, 4);
		for (uint32_t k = 0; k < 4; k++)
			expect_frame(
				&f.info->frames
					 [f.info->stack_frames[f.info->stacks[s->stack].first + k]],
				&frames[of[k]]);
	}
	done(&f);
}

static size_t nr_of(const struct file *f, uint8_t kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->got.nr; i++)
		nr += f->got.recs[i]->kind == kind;
	return nr;
}

/* Before the next event, behind the last one, and with no event after it. */
static void losses_without_a_number_keep_their_times(void **state)
{
	const struct ev_lost *lost;
	struct file f;

	(void)state;
	open_file(&f, NULL, 0);
	push(&f, rec_switch(0, T0, 0, 0, 5));
	push(&f, rec_switch(1, T0 + 5, 0, 0, 6));
	for (uint32_t i = 0; i < 2; i++) /* of two kinds: one loss */
		push(&f, REC(ev_lost, EV_LOST, 0, T0 + 10, .kind = i ? EV_WAKING : EV_SWITCH));
	push(&f, rec_switch(0, T0 + 20, 7, 1, 0));
	push(&f, REC(ev_lost, EV_LOST, 1, T0 + 30, .kind = EV_SWITCH));
	push(&f, rec_switch(0, T0 + 40, 0, 0, 8));
	push(&f, REC(ev_lost, EV_LOST, 0, T0 + 40, .kind = EV_SWITCH));
	read_back(&f);
	expect_eq(nr_of(&f, EV_LOST), 15);
	lost = find(&f, EV_LOST, 0);
	expect_eq(lost->hdr.ts_ns, T0 + 10);
	expect_eq(lost->kind, EV_SWITCH);
	lost = find(&f, EV_LOST, 5);
	expect_eq(lost->hdr.cpu, 1);
	expect_eq(lost->hdr.ts_ns, T0 + 30);
	lost = find(&f, EV_LOST, 10);
	expect_eq(lost->hdr.ts_ns, T0 + 40);
	expect_eq(f.got.recs[f.got.nr - 1]->kind, EV_LOST); /* behind the switch of that time */
	expect_eq(f.info->end_ns, T0 + 40);
	done(&f);
}

static void a_converted_file_says_what_was_known_of_the_first(void **state)
{
	static const struct trace_attr attrs[] = {
		{ .key = "converted_from", .text = "perf" },
		{ .key = "converted_from_version", .text = "7.2" },
		{ .key = "incomplete", .text = "it was cut" },
		{ .key = "clock", .number = 3 },
		{ .key = "start_ns", .number = T0 - 7 },
		{ .key = "damage.bad_things", .number = 4 },
	};
	struct trace_losses losses = { .other = 11 };
	const struct ev_lost *lost;
	struct file f;

	(void)state;
	losses.kinds[EV_WAKING] = 2;
	open_file(&f, attrs, sizeof(attrs) / sizeof(attrs[0]));
	push(&f, rec_switch(0, T0, 0, 0, 5));
	push(&f, rec_switch(1, T0 + 1, 0, 0, 6));
	push(&f, (const struct ev_hdr *)&(const struct ev_lost){
			 .hdr = { .size = sizeof(struct ev_lost),
	                          .kind = EV_LOST,
	                          .flags = EV_FLAG_LAST,
	                          .cpu = 0,
	                          .ts_ns = T0 + 5 },
			 .kind = EV_SWITCH });
	push(&f, rec_switch(1, T0 + 50, 6, 1, 0));
	trace_writer_losses(f.w, &losses);
	read_back(&f);
	assert_string_equal(f.info->producer_name, "perf");
	assert_string_equal(f.info->producer_version, "7.2");
	assert_string_equal(f.info->incomplete, "it was cut");
	expect_eq(f.info->clock, 3);
	expect_eq(f.info->start_ns, T0 - 7);
	expect_eq(f.info->nr_damage, 1);
	assert_string_equal(f.info->damage[0].name, "bad_things");
	expect_eq(f.info->damage[0].count, 4);
	expect_eq(f.info->cpus[0].until_ns, T0 + 4);
	expect_eq(f.info->cpus[1].until_ns, 0);
	expect_eq(nr_of(&f, EV_LOST), 1);
	lost = find(&f, EV_LOST, 0);
	expect_eq(lost->hdr.ts_ns, T0 + 5);
	expect_eq(lost->hdr.flags, EV_FLAG_LAST);
	for (size_t i = 0; i < f.info->nr_attrs; i++)
		if (strcmp(f.info->attrs[i].key, "lost") == 0)
			expect_eq(f.info->attrs[i].number, 13);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_that_is_unknown_stays_unknown),
		cmocka_unit_test(spans_come_back_whatever_they_cross),
		cmocka_unit_test(lanes_are_bounded),
		cmocka_unit_test(stacks_keep_frames_kinds_events_and_weights),
		cmocka_unit_test(losses_without_a_number_keep_their_times),
		cmocka_unit_test(a_converted_file_says_what_was_known_of_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
