#include "pair_fixture.h"

#include <errno.h>
#include <string.h>

#include "model/trigger_eval.h"

#define MS     1000000ULL
#define SLEEPS EV_STATE_S

struct hits {
	uint32_t nr;
	struct trigger_hit list[32];
};

static void keep(void *ctx, const struct trigger_hit *hit)
{
	struct hits *h = ctx;

	assert_true(h->nr < 32);
	h->list[h->nr++] = *hit;
}

static struct trigger_eval *watching(struct fixture *f, struct hits *h, const char *const *texts,
                                     size_t nr)
{
	struct trigger triggers[TRIGGER_MAX];
	struct trigger_eval_cfg cfg = { .triggers = triggers,
		                        .nr = nr,
		                        .tasks = f->tasks,
		                        .pair = f->pair,
		                        .fire = keep,
		                        .ctx = h };
	struct trigger_eval *e = NULL;
	struct pair_out out;

	for (size_t i = 0; i < nr; i++)
		expect_eq(trigger_parse(texts[i], NULL, &triggers[i]), 0);
	expect_eq(trigger_eval_new(&cfg, &e), 0);
	out = trigger_eval_out(e);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return e;
}

#define WATCH(f, h, ...)                                     \
	watching(f, h, (const char *const[]){ __VA_ARGS__ }, \
	         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void info(struct fixture *f, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct ev_task_info rec = { .hdr = { sizeof(rec), EV_TASK_INFO, 0, 0, 1 },
		                    .tid = tid,
		                    .tgid = tgid };

	memcpy(rec.comm, comm, strlen(comm));
	push(f, &rec);
}

/* 5 is woken at 10 ms, runs at 16.2 ms till 20 ms. */
static void one_wakeup(struct fixture *f)
{
	sw(f, 1 * MS, 0, 5, 0, SLEEPS);
	waking(f, 10 * MS, 1, 5, 0);
	sw(f, 16 * MS + 200000, 0, 0, 5, 0);
	sw(f, 20 * MS, 0, 5, 0, SLEEPS);
}

static void a_wait_from_the_waking_to_the_switch_in(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "wakeup-latency>6199999ns", "wakeup-latency>6200us");

	info(f, 5, 4, "nginx");
	one_wakeup(f);
	expect_eq(h.nr, 1); /* the limit itself is not above the limit */
	expect_eq(h.list[0].kind, TRIGGER_WAKEUP_LATENCY);
	expect_eq(h.list[0].trigger, 0);
	expect_eq(h.list[0].value, 6200000);
	expect_eq(h.list[0].ts_ns, 16200000);
	expect_eq(h.list[0].tid, 5);
	expect_eq(h.list[0].tgid, 4);
	expect_eq(h.list[0].cpu, 0);
	assert_string_equal(h.list[0].comm, "nginx");
	trigger_eval_free(e);
}

static void being_preempted_is_no_wakeup(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "wakeup-latency>1ms");

	sw(f, 1 * MS, 0, 0, 5, 0);
	sw(f, 2 * MS, 0, 5, 6, EV_STATE_PREEMPTED);
	sw(f, 20 * MS, 0, 6, 5, SLEEPS);
	done(f, 40 * MS);
	expect_eq(h.nr, 0);
	trigger_eval_free(e);
}

static void sleeps_and_slices_when_they_end(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "sleep>8ms", "slice>3ms");

	one_wakeup(f);
	expect_eq(h.nr, 2);
	expect_eq(h.list[0].kind, TRIGGER_SLEEP);
	expect_eq(h.list[0].value, 9 * MS);
	expect_eq(h.list[1].kind, TRIGGER_SLICE);
	expect_eq(h.list[1].value, 3800000);
	expect_eq(h.list[1].trigger, 1);
	waking(f, 900 * MS, 1, 5, 0);
	sw(f, 901 * MS, 0, 0, 5, 0);
	expect_eq(h.nr, 3);
	done(f, 5000 * MS); /* what is open has not ended */
	expect_eq(h.nr, 3);
	trigger_eval_free(e);
}

static void the_depth_of_a_queue(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "queue-depth>2");

	sw(f, 10, 0, 0, 1, 0);
	wakeup(f, 20, 0, 2, 0);
	expect_eq(h.nr, 0);
	wakeup(f, 30, 0, 3, 0);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].value, 3);
	expect_eq(h.list[0].tid, 3);
	trigger_eval_free(e);
}

static void only_the_named_tasks(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "slice>1ms,comm=ng*x", "slice>1ms,comm=n",
	                               "slice>1ms,pid=4", "slice>1ms,pid=5",
	                               "slice>1ms,tid=5,comm=?ginx", "slice>1ms,tid=4");

	info(f, 5, 4, "nginx");
	one_wakeup(f);
	expect_eq(h.nr, 3);
	expect_eq(h.list[0].trigger, 0);
	expect_eq(h.list[1].trigger, 2);
	expect_eq(h.list[2].trigger, 4);
	trigger_eval_free(e);
}

static void a_name_may_be_a_regular_expression(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "slice>1ms,comm=/^ngin(x|y)/", "slice>1ms,comm=/gin/",
	                               "slice>1ms,comm=/^gin/", "slice>1ms,comm=ngin(x|y)");

	info(f, 5, 4, "nginx");
	one_wakeup(f);
	expect_eq(h.nr, 2);
	expect_eq(h.list[0].trigger, 0);
	expect_eq(h.list[1].trigger, 1);
	trigger_eval_free(e);
}

static void a_task_without_a_name_matches_none(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "slice>1ms,comm=?*", "slice>1ms");

	one_wakeup(f);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].trigger, 1);
	assert_string_equal(h.list[0].comm, "");
	trigger_eval_free(e);
}

static void probe(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t id)
{
	struct ev_probe rec = { .hdr = { sizeof(rec), EV_PROBE, 0, 1, ts },
		                .probe = id,
		                .tid = tid };

	push(f, &rec);
}

enum { ENTRY = 70, RETURN = 71 };

static void a_call_is_from_entry_to_return_of_a_task(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "slice>1h", "uprobe:/bin/x:f>10ms");

	trigger_eval_probes(e, 1, ENTRY, RETURN);
	probe(f, 1 * MS, 5, RETURN); /* called before we looked */
	probe(f, 2 * MS, 5, ENTRY);
	probe(f, 3 * MS, 6, ENTRY);
	probe(f, 4 * MS, 9, 33); /* another probe */
	probe(f, 5 * MS, 6, RETURN);
	probe(f, 13 * MS, 5, RETURN);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].kind, TRIGGER_UPROBE);
	expect_eq(h.list[0].trigger, 1);
	expect_eq(h.list[0].value, 11 * MS);
	expect_eq(h.list[0].tid, 5);
	expect_eq(h.list[0].cpu, 1);
	trigger_eval_free(e);
}

static void nested_calls_are_distinguished(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "uprobe:/bin/x:f>0ns");

	trigger_eval_probes(e, 0, ENTRY, RETURN);
	for (uint64_t i = 0; i < TRIGGER_NESTED + 2; i++)
		probe(f, 100 + i, 5, ENTRY);
	for (uint64_t i = 0; i < TRIGGER_NESTED + 2; i++)
		probe(f, 1000 + i, 5, RETURN);
	expect_eq(h.nr, TRIGGER_NESTED); /* of the two outermost nothing is known */
	for (uint64_t i = 0; i < TRIGGER_NESTED; i++)
		expect_eq(h.list[i].value, 1000 + i - (100 + TRIGGER_NESTED + 1 - i));
	trigger_eval_free(e);
}

static void lost_hits_and_ended_tasks_leave_no_open_calls(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "uprobe:/bin/x:f>1ms");

	trigger_eval_probes(e, 0, ENTRY, RETURN);
	probe(f, 1 * MS, 5, ENTRY);
	trigger_eval_lost(e, &(struct ev_lost){ .kind = EV_PROBE, .count = 1 });
	probe(f, 50 * MS, 5, RETURN);
	probe(f, 60 * MS, 5, ENTRY);
	exiting(f, 61 * MS, 5);
	freed(f, 62 * MS, 5);
	probe(f, 90 * MS, 5, RETURN); /* another one with this tid */
	expect_eq(h.nr, 0);
	expect_eq(trigger_eval_no_room(e), 0);
	trigger_eval_free(e);
}

/* Calls that never return, of very many tasks: counted, and the memory serves again. */
static void callers_are_bounded(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "uprobe:/bin/x:f>1ms");

	trigger_eval_probes(e, 0, ENTRY, RETURN);
	for (uint32_t tid = 1; tid <= 16384 + 3; tid++) {
		probe(f, tid, tid, ENTRY);
		f->nr_marks = 0; /* bounded in the fixture, and of no interest here */
	}
	expect_eq(trigger_eval_no_room(e), 3);
	probe(f, 20000, 1, RETURN);
	probe(f, 20001, 16385, ENTRY);
	expect_eq(trigger_eval_no_room(e), 3);
	trigger_eval_free(e);
}

static void leave(struct fixture *f, uint64_t start, uint64_t ts, bool is_moved)
{
	struct ev_dsq_leave rec = { .hdr = { sizeof(rec), EV_DSQ_LEAVE, 0, 1, ts },
		                    .start_ns = start,
		                    .dsq_id = 4,
		                    .tid = 5,
		                    .is_moved = is_moved };

	push(f, &rec);
}

static void a_dispatch_queue_is_left_for_a_cpu(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "dsq-latency>2ms");

	info(f, 5, 4, "nginx");
	leave(f, 7 * MS, 9 * MS, false);
	leave(f, 7 * MS, 19 * MS, true); /* for another queue */
	leave(f, 0, 29 * MS, false);     /* since when is unknown */
	expect_eq(h.nr, 0);
	leave(f, 30 * MS, 32 * MS + 1, false);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].kind, TRIGGER_DSQ_LATENCY);
	expect_eq(h.list[0].value, 2 * MS + 1);
	expect_eq(h.list[0].ts_ns, 32 * MS + 1);
	expect_eq(h.list[0].tid, 5);
	trigger_eval_free(e);
}

/* Time goes on on CPU 3, with events that have nothing to do with those who wait. */
static void tick(struct fixture *f, struct trigger_eval *e, uint64_t ts)
{
	softirq(f, ts, 3, 1, false);
	softirq(f, ts, 3, 1, true);
	trigger_eval_advance(e, ts);
}

static void a_stall_fires_while_it_lasts_and_once(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "stall>5ms", "stall>9ms", "stall>2ms,comm=other");

	info(f, 5, 4, "victim");
	sw(f, 1 * MS, 0, 5, 0, SLEEPS);
	sw(f, 2 * MS, 0, 0, 6, 0); /* 6 runs, and is not seen to leave */
	waking(f, 10 * MS, 1, 5, 0);
	tick(f, e, 15 * MS);
	expect_eq(h.nr, 0); /* the limit itself is not above the limit */
	tick(f, e, 15 * MS + 1);
	tick(f, e, 16 * MS);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].kind, TRIGGER_STALL);
	expect_eq(h.list[0].value, 5 * MS + 1);
	expect_eq(h.list[0].tid, 5);
	expect_eq(h.list[0].trigger, 0);
	trigger_eval_advance(e, 20 * MS); /* without an event */
	expect_eq(h.nr, 2);
	expect_eq(h.list[1].trigger, 1);
	expect_eq(h.list[1].value, 10 * MS);
	trigger_eval_advance(e, 99 * MS);
	expect_eq(h.nr, 2);
	sw(f, 100 * MS, 0, 6, 5, SLEEPS);
	tick(f, e, 120 * MS);
	expect_eq(h.nr, 2);
	trigger_eval_free(e);
}

static void a_preempted_task_stalls_too(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "stall>5ms");

	sw(f, 1 * MS, 0, 0, 5, 0);
	sw(f, 2 * MS, 0, 5, 6, EV_STATE_PREEMPTED);
	tick(f, e, 8 * MS);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].tid, 5);
	expect_eq(h.list[0].value, 6 * MS);
	/* It runs for a moment: another wait begins. */
	sw(f, 9 * MS, 0, 6, 5, EV_STATE_PREEMPTED);
	sw(f, 10 * MS, 0, 5, 6, EV_STATE_PREEMPTED);
	tick(f, e, 16 * MS);
	expect_eq(h.nr, 2);
	expect_eq(h.list[1].value, 6 * MS);
	trigger_eval_free(e);
}

static void what_may_have_run_does_not_stall(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "stall>5ms");

	migrate(f, 1, 9, 0,
	        1); /* migrations are recorded, so that a task is where its waking put it */
	sw(f, 1 * MS, 0, 5, 6, SLEEPS);
	wakeup(f, 2 * MS, 1, 5, 0);
	sw(f, 3 * MS, 0, 6, 0, SLEEPS); /* its CPU goes idle and leaves it there: it is hidden */
	tick(f, e, 20 * MS);
	expect_eq(h.nr, 0);
	sw(f, 21 * MS, 0, 0, 7, 0);
	sw(f, 22 * MS, 0, 7, 6, EV_STATE_PREEMPTED);
	lost(f, 23 * MS, 0, EV_SWITCH, 3);
	tick(f, e, 40 * MS);
	expect_eq(h.nr, 0);
	trigger_eval_free(e);
}

static void a_throttled_wait_fires_while_it_lasts(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "throttled>5ms", "throttled>8ms");

	sw(f, 1 * MS, 0, 0, 5, 0);
	sw(f, 10 * MS, 0, 5, 6, EV_STATE_PREEMPTED);
	throttle(f, 10 * MS, 0, 5, 7);
	tick(f, e, 15 * MS);
	expect_eq(h.nr, 0); /* the limit itself is not above the limit */
	tick(f, e, 15 * MS + 1);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].kind, TRIGGER_THROTTLED);
	expect_eq(h.list[0].value, 5 * MS + 1);
	expect_eq(h.list[0].tid, 5);
	tick(f, e, 17 * MS);
	expect_eq(h.nr, 1);
	/* Refilled: it waits, but nothing throttles it. */
	refill(f, 18 * MS, 7, EVERY_CPU);
	tick(f, e, 60 * MS);
	sw(f, 80 * MS, 0, 6, 5, EV_STATE_PREEMPTED);
	expect_eq(h.nr, 1);
	/* Another wait. Nothing comes between the limit and its end. */
	sw(f, 90 * MS, 0, 5, 6, EV_STATE_PREEMPTED);
	throttle(f, 90 * MS, 0, 5, 7);
	sw(f, 98 * MS + 1, 0, 6, 5, SLEEPS);
	expect_eq(h.nr, 3);
	expect_eq(h.list[1].trigger, 0);
	expect_eq(h.list[2].trigger, 1);
	expect_eq(h.list[2].value, 8 * MS + 1);
	trigger_eval_free(e);
}

/* Before Linux 6.18: what is known at the end of a period only, and adds up. */
static void throttled(struct fixture *f, uint64_t ts, uint64_t start_ns)
{
	struct ev_throttled rec = { .hdr = { sizeof(rec), EV_THROTTLED, 0, 0, ts },
		                    .cgroup = 7,
		                    .start_ns = start_ns,
		                    .cpu = 0 };

	push(f, &rec);
}

static void in_cgroup(struct fixture *f, uint32_t tid)
{
	struct {
		struct ev_cgroup_info info;
		char path[8];
	} name = { { { sizeof(name), EV_CGROUP_INFO, 0, 0, 1 }, 7 }, "/a/b" };
	struct ev_cgroup in = { .hdr = { sizeof(in), EV_CGROUP, 0, 0, 1 },
		                .tid = tid,
		                .cgroup = 7 };

	push(f, &name);
	push(f, &in);
}

static void tasks_are_chosen_by_cgroup(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "slice>1ms,cgroup=/a", "slice>1ms,cgroup=b",
	                               "slice>1ms,cgroup=/b", "slice>1ms,cgroup=a*,tid=6");

	in_cgroup(f, 5);
	sw(f, 1 * MS, 0, 0, 5, 0);
	sw(f, 10 * MS, 0, 5, 6, SLEEPS);
	sw(f, 20 * MS, 0, 6, 0, SLEEPS); /* of no cgroup that is known */
	expect_eq(h.nr, 2);
	expect_eq(h.list[0].trigger, 0);
	expect_eq(h.list[1].trigger, 1);
	expect_eq(h.list[1].tid, 5);
	trigger_eval_free(e);
}

static void losses_fire_by_their_count(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "lost>9", "slice>1ns");
	struct ev_lost rec = { .hdr = { .ts_ns = 5 * MS }, .kind = EV_SWITCH, .count = 9 };

	trigger_eval_lost(e, &rec);
	expect_eq(h.nr, 0);
	rec.count = 10;
	trigger_eval_lost(e, &rec);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].value, 10);
	expect_eq(h.list[0].ts_ns, 5 * MS);
	expect_eq(h.list[0].tid, 0);
	trigger_eval_free(e);
}

static void throttlings_of_a_wait_add_up(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "throttled>5ms");

	in_cgroup(f, 5);
	sw(f, 1 * MS, 0, 0, 5, 0);
	sw(f, 10 * MS, 0, 5, 6, EV_STATE_PREEMPTED);
	throttled(f, 13 * MS, 9 * MS); /* 3 ms of the wait */
	tick(f, e, 30 * MS);
	expect_eq(h.nr, 0);
	throttled(f, 33 * MS, 31 * MS); /* 5 in all: the limit itself */
	tick(f, e, 40 * MS);
	expect_eq(h.nr, 0);
	throttled(f, 42 * MS, 41 * MS);
	tick(f, e, 42 * MS);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].value, 6 * MS);
	trigger_eval_free(e);
}

/* The other task waits for as long, but for a CPU. */
static void only_what_is_throttled_is_throttled(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "throttled>5ms", "stall>40ms,tid=6");

	sw(f, 1 * MS, 0, 0, 6, 0);
	sw(f, 2 * MS, 0, 6, 5, EV_STATE_PREEMPTED);
	sw(f, 3 * MS, 0, 5, 7, EV_STATE_PREEMPTED);
	throttle(f, 3 * MS, 0, 5, 7);
	refill(f, 8 * MS, 7, EVERY_CPU); /* just the limit */
	tick(f, e, 30 * MS);
	expect_eq(h.nr, 0);
	/* Nothing was seen while it went over the limit, and it ends. */
	sw(f, 50 * MS, 0, 7, 6, SLEEPS);
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].kind, TRIGGER_STALL);
	expect_eq(h.list[0].value, 48 * MS);
	trigger_eval_free(e);
}

static void scx_state(struct fixture *f, uint64_t ts, uint32_t state, const char *name)
{
	struct ev_scx_state rec = { .hdr = { sizeof(rec), EV_SCX_STATE, 0, 0, ts },
		                    .state = state };

	memcpy(rec.name, name, strlen(name));
	push(f, &rec);
}

static void a_scheduler_is_ejected(void **state)
{
	struct fixture *f = *state;
	struct hits h = { 0 };
	struct trigger_eval *e = WATCH(f, &h, "stall>5ms", "scx-eject");

	scx_state(f, 1 * MS, EV_SCX_ON, "rusty");
	scx_state(f, 2 * MS, EV_SCX_OFF, "rusty");
	scx_state(f, 3 * MS, EV_SCX_ON, "layered");
	expect_eq(h.nr, 0);
	scx_state(f, 4 * MS, EV_SCX_EJECTED, "layered");
	expect_eq(h.nr, 1);
	expect_eq(h.list[0].kind, TRIGGER_SCX_EJECT);
	expect_eq(h.list[0].trigger, 1);
	expect_eq(h.list[0].ts_ns, 4 * MS);
	expect_eq(h.list[0].tid, 0);
	assert_string_equal(h.list[0].comm, "layered");
	trigger_eval_free(e);
}

static void too_many_are_refused(void **state)
{
	struct trigger triggers[TRIGGER_MAX + 1] = { 0 };
	struct trigger_eval_cfg cfg = { .triggers = triggers, .nr = TRIGGER_MAX + 1 };
	struct trigger_eval *e = NULL;

	(void)state;
	assert_int_equal(trigger_eval_new(&cfg, &e), -E2BIG);
	assert_null(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
		CASE(a_wait_from_the_waking_to_the_switch_in),
		CASE(being_preempted_is_no_wakeup),
		CASE(sleeps_and_slices_when_they_end),
		CASE(the_depth_of_a_queue),
		CASE(only_the_named_tasks),
		CASE(a_name_may_be_a_regular_expression),
		CASE(a_task_without_a_name_matches_none),
		CASE(a_call_is_from_entry_to_return_of_a_task),
		CASE(nested_calls_are_distinguished),
		CASE(lost_hits_and_ended_tasks_leave_no_open_calls),
		CASE(tasks_are_chosen_by_cgroup),
		CASE(losses_fire_by_their_count),
		CASE(callers_are_bounded),
		CASE(a_dispatch_queue_is_left_for_a_cpu),
		CASE(a_stall_fires_while_it_lasts_and_once),
		CASE(a_preempted_task_stalls_too),
		CASE(what_may_have_run_does_not_stall),
		CASE(a_throttled_wait_fires_while_it_lasts),
		CASE(throttlings_of_a_wait_add_up),
		CASE(only_what_is_throttled_is_throttled),
		CASE(a_scheduler_is_ejected),
		cmocka_unit_test(too_many_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
