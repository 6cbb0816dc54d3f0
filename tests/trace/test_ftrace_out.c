#include "../base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/ftrace_out.h"
#include "trace/perfetto/write/packets.h"

struct fixture {
	struct chunk_out chunk;
	struct trace_tasks *tasks;
	struct names_out names;
	struct ftrace_out out;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct diag d = { 0 };

	if (chunk_open(&f->chunk, open("/dev/null", O_WRONLY | O_CLOEXEC), false, &d) < 0 ||
	    trace_tasks_new(100, &f->tasks) < 0)
		return -1;
	names_init(&f->names, &f->chunk, f->tasks);
	ftrace_init(&f->out, &f->chunk, &f->names);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ftrace_done(&f->out);
	names_done(&f->names);
	trace_tasks_free(f->tasks);
	chunk_close(&f->chunk);
	free(f);
	return 0;
}

static struct ftrace_cpu *at(struct fixture *f, uint32_t cpu, uint64_t ts_ns)
{
	struct ftrace_cpu *c = NULL;

	expect_eq(ftrace_at(&f->out, cpu, &ts_ns, &c), 0);
	return c;
}

static struct trace_task *task(struct fixture *f, uint32_t tid, const char *comm)
{
	struct trace_task *t = trace_tasks_get(f->tasks, tid);
	char name[EV_COMM_LEN] = { 0 };

	memcpy(name, comm, strlen(comm));
	trace_tasks_rename(t, name);
	return t;
}

static void rows_become_columns(void **state)
{
	static const struct ev_switch to_idle = { .prev_state = 1, .next_prio = 120 };
	static const struct ev_switch to_worker = { .next_tid = 77, .next_prio = 120 };
	static const struct ev_wake wake = {
		.hdr.flags = EV_FLAG_HARDIRQ,
		.tid = 77,
		.target_cpu = 2,
		.prio = 120,
		.by = ABI_BY_TIMER,
	};
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 2, 1000);
	struct packet_head head = { .seq = 2 };
	struct pb w = { .cap = 1024 };
	struct pb_mark packet, bundle;

	ftrace_add_switch(c, 1000, &to_idle, NULL);
	ftrace_add_waking(c, 1300, &wake, task(f, 77, "worker"));
	ftrace_add_switch(c, 1350, &to_worker, task(f, 77, "worker"));

	packet = packet_begin(&w, &head);
	bundle = pb_begin(&w, PACKET_FTRACE_EVENTS);
	pb_uint(&w, BUNDLE_CPU, 2);
	ftrace_put_compact(&w, c);
	pb_end(&w, bundle);
	packet_end(&w, packet);
	expect_bytes(&w,
	             "0a 48  50 02  0a 44  08 02  22 40"
	             "2a 09 73 77 61 70 70 65 72 2f 32  2a 06 77 6f 72 6b 65 72"
	             "0a 04 e8 07 de 02  12 02 01 00  1a 02 00 4d  22 02 78 78  32 02 00 01"
	             "3a 02 94 0a  42 01 4d  4a 01 02  52 01 78  5a 01 01  62 01 08  ca 3e 01 01");
	pb_done(&w);
}

static void an_event_in_full_is_timestamp_pid_event(void **state)
{
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 2, 2000);
	struct ftrace_event e = ftrace_begin(c, 2000, 77, FTRACE_SCHED_SWITCH);

	pb_string(e.w, SWITCH_PREV_COMM, "worker");
	pb_uint(e.w, SWITCH_PREV_PID, 77);
	pb_int(e.w, SWITCH_PREV_PRIO, 120);
	pb_uint(e.w, SWITCH_PREV_STATE, 0x100);
	pb_string(e.w, SWITCH_NEXT_COMM, "swapper/2");
	pb_uint(e.w, SWITCH_NEXT_PID, 0);
	pb_int(e.w, SWITCH_NEXT_PRIO, 120);
	ftrace_end(&e, 0);
	expect_bytes(&c->verbose, "12 25  08 d0 0f  10 4d  22 1e"
	                          "0a 06 77 6f 72 6b 65 72  10 4d  18 78  20 80 02"
	                          "2a 09 73 77 61 70 70 65 72 2f 32  30 00  38 78");
}

static void flags_of_an_event_come_last(void **state)
{
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 0, 5);
	struct ftrace_event e = ftrace_begin(c, 5, 0, FTRACE_SOFTIRQ_ENTRY);

	ftrace_end(&e, EV_FLAG_HARDIRQ | EV_FLAG_SOFTIRQ);
	expect_bytes(&c->verbose, "12 09  08 05  10 00  c2 01 00  28 18");
}

static void put(struct ftrace_cpu *c, uint64_t ts_ns)
{
	struct ftrace_event e = ftrace_begin(c, ts_ns, 0, FTRACE_CPU_IDLE);

	ftrace_end(&e, 0);
}

static void a_bundle_says_where_the_last_one_ended(void **state)
{
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 1, 5);

	put(c, 5);
	expect_eq(ftrace_flush(&f->out, 5), 0);
	expect_eq(f->chunk.packets.len, 0);
	expect_eq(ftrace_flush(&f->out, 6), 0);
	expect_bytes(&f->chunk.packets,
	             "0a 12  50 02  68 01  0a 0c  08 01  50 00  12 06 08 05 10 00 6a 00");
	pb_clear(&f->chunk.packets);

	put(at(f, 1, 7), 7);
	expect_eq(ftrace_flush(&f->out, UINT64_MAX), 0);
	expect_bytes(&f->chunk.packets,
	             "0a 10  50 02  0a 0c  08 01  50 05  12 06 08 07 10 00 6a 00");
	pb_clear(&f->chunk.packets);
	expect_eq(ftrace_flush(&f->out, UINT64_MAX), 0);
	expect_eq(f->chunk.packets.len, 0);
}

static void a_loss_closes_the_bundle_and_marks_the_next(void **state)
{
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 0, 5);

	c->knows_current = true;
	put(c, 5);
	expect_eq(ftrace_lost(&f->out, c), 0);
	expect_eq(ftrace_lost(&f->out, c), 0);
	assert_false(ftrace_is_current(c, 0));
	pb_clear(&f->chunk.packets);
	put(c, 6);
	expect_eq(ftrace_flush(&f->out, UINT64_MAX), 0);
	expect_bytes(&f->chunk.packets,
	             "0a 12  50 02  0a 0e  08 00  18 01  50 05  12 06 08 06 10 00 6a 00");
	assert_false(c->has_lost);
}

static void time_on_a_cpu_never_goes_backwards(void **state)
{
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 0, 100);
	uint64_t ts_ns = 90;

	put(c, 100);
	expect_eq(ftrace_at(&f->out, 0, &ts_ns, &c), 0);
	expect_eq(ts_ns, 100);
	expect_eq(f->out.nr_clamped, 1);
	/* Nor across bundles; other CPUs have a time of their own. */
	expect_eq(ftrace_flush(&f->out, UINT64_MAX), 0);
	ts_ns = 80;
	expect_eq(ftrace_at(&f->out, 0, &ts_ns, &c), 0);
	expect_eq(ts_ns, 100);
	ts_ns = 80;
	expect_eq(ftrace_at(&f->out, 1, &ts_ns, &c), 0);
	expect_eq(ts_ns, 80);
	expect_eq(f->out.nr_clamped, 2);
}

static void bundles_end_by_number_time_and_names(void **state)
{
	static const struct ev_switch rec = { .next_tid = 1 };
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 0, 1);

	for (uint64_t i = 1; i <= FTRACE_BUNDLE_EVENTS; i++)
		ftrace_add_switch(at(f, 0, i), i, &rec, NULL);
	expect_eq(f->chunk.packets.len, 0);
	at(f, 0, 2000);
	assert_true(f->chunk.packets.len > 0);
	expect_eq(c->nr_switches, 0);

	pb_clear(&f->chunk.packets);
	put(c, 2000);
	at(f, 0, 2000 + FTRACE_BUNDLE_NS - 1);
	expect_eq(f->chunk.packets.len, 0);
	at(f, 0, 2000 + FTRACE_BUNDLE_NS);
	assert_true(f->chunk.packets.len > 0);

	pb_clear(&f->chunk.packets);
	for (uint32_t i = 0; i < FTRACE_BUNDLE_COMMS; i++) {
		char name[EV_COMM_LEN] = { 0 };

		(void)snprintf(name, sizeof(name), "t%u", i);
		ftrace_add_switch(at(f, 0, 3000000000), 3000000000, &rec, task(f, 9, name));
	}
	expect_eq(c->nr_comms, FTRACE_BUNDLE_COMMS);
	expect_eq(f->chunk.packets.len, 0);
	at(f, 0, 3000000000);
	assert_true(f->chunk.packets.len > 0);
}

/* The worst that fits into one bundle. */
static void a_bundle_stays_below_64_kb(void **state)
{
	const struct ev_switch rec = { .next_tid = UINT32_MAX,
		                       .prev_state = UINT32_MAX,
		                       .next_prio = -1 };
	struct fixture *f = *state;
	char name[EV_COMM_LEN];

	for (uint32_t i = 0; f->chunk.packets.len == 0; i++) {
		struct ftrace_cpu *c = at(f, FTRACE_CPUS_MAX - 1, UINT64_MAX);

		memset(name, 0xff, sizeof(name));
		name[15] = '\0';
		name[14] = (char)(0x80 + i % 500 % 64);
		name[13] = (char)(0x80 + i % 500 / 64);
		if (f->chunk.packets.len)
			break;
		if (i < 90) {
			struct ftrace_event e = ftrace_begin(c, UINT64_MAX, UINT32_MAX,
			                                     FTRACE_KPROBE_EVENT);

			for (int k = 0; k < 4; k++)
				pb_text(e.w, 1, name, 15);
			ftrace_end(&e, 0);
			continue;
		}
		trace_tasks_rename(task(f, 5, "x"), name);
		ftrace_add_switch(c, UINT64_MAX, &rec, trace_tasks_get(f->tasks, 5));
	}
	assert_in_range(f->chunk.packets.len, 50000, 65536);
}

static void a_cpu_that_cannot_be_is_refused(void **state)
{
	struct fixture *f = *state;
	struct ftrace_cpu *c = NULL;
	uint64_t ts_ns = 1;

	expect_eq(ftrace_at(&f->out, FTRACE_CPUS_MAX, &ts_ns, &c), -ERANGE);
	expect_eq(ftrace_at(&f->out, UINT32_MAX, &ts_ns, &c), -ERANGE);
	assert_null(c);
	assert_non_null(at(f, FTRACE_CPUS_MAX - 1, 1));
	assert_non_null(at(f, 3, 1));
}

/* Another name in the middle of a bundle is another entry, and equal names share one. */
static void names_of_a_bundle_follow_the_task(void **state)
{
	static const struct ev_switch rec = { .next_tid = 5 };
	struct fixture *f = *state;
	struct ftrace_cpu *c = at(f, 0, 1);

	ftrace_add_switch(c, 1, &rec, task(f, 5, "old"));
	ftrace_add_switch(c, 2, &rec, task(f, 6, "old"));
	ftrace_add_switch(c, 3, &rec, task(f, 5, "new"));
	ftrace_add_switch(c, 4, &rec, task(f, 5, "old"));
	expect_eq(c->nr_comms, 2);
	expect_eq(c->rows[0].comm_idx, 0);
	expect_eq(c->rows[1].comm_idx, 0);
	expect_eq(c->rows[2].comm_idx, 1);
	expect_eq(c->rows[3].comm_idx, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_become_columns, setup, teardown),
		cmocka_unit_test_setup_teardown(an_event_in_full_is_timestamp_pid_event, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(flags_of_an_event_come_last, setup, teardown),
		cmocka_unit_test_setup_teardown(a_bundle_says_where_the_last_one_ended, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_loss_closes_the_bundle_and_marks_the_next, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(time_on_a_cpu_never_goes_backwards, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(bundles_end_by_number_time_and_names, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_bundle_stays_below_64_kb, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cpu_that_cannot_be_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_a_bundle_follow_the_task, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
