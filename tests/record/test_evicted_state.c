#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "../trace/records.h"
#include "abi/event_make.h"
#include "record/evicted_state.h"

struct emitted {
	uint32_t nr;
	int fails_at; /* 0 = never */
	struct {
		struct ev_hdr hdr;
		uint32_t id; /* tid, next tid, CPU, probe, first CPUs of a set or state */
		uint32_t tgid;
		char comm[EV_COMM_LEN];
	} recs[64];
};

static int keep(void *ctx, const struct ev_hdr *rec)
{
	struct emitted *t = ctx;

	assert_true(t->nr < 64);
	t->recs[t->nr].hdr = *rec;
	if (rec->kind == EV_TASK_INFO) {
		const struct ev_task_info *info = (const void *)rec;

		t->recs[t->nr].id = info->tid;
		t->recs[t->nr].tgid = info->tgid;
		memcpy(t->recs[t->nr].comm, info->comm, EV_COMM_LEN);
	} else if (rec->kind == EV_SWITCH) {
		t->recs[t->nr].id = ((const struct ev_switch *)rec)->next_tid;
	} else if (rec->kind == EV_CPU_FREQ) {
		t->recs[t->nr].id = ((const struct ev_cpu_freq *)rec)->khz;
	} else if (rec->kind == EV_AFFINITY) {
		t->recs[t->nr].tgid = ((const struct ev_affinity *)rec)->tid;
		t->recs[t->nr].id = (uint32_t) *
		                    (const uint64_t *)((const struct ev_affinity *)rec + 1);
	} else if (rec->kind == EV_POLICY) {
		t->recs[t->nr].tgid = ((const struct ev_policy *)rec)->tid;
		t->recs[t->nr].id = ((const struct ev_policy *)rec)->policy;
	} else if (rec->kind == EV_CGROUP) {
		t->recs[t->nr].tgid = ((const struct ev_cgroup *)rec)->tid;
		t->recs[t->nr].id = (uint32_t)((const struct ev_cgroup *)rec)->cgroup;
		assert_true(((const struct ev_cgroup *)rec)->flags & EV_CGROUP_STATED);
	} else if (rec->kind == EV_CGROUP_INFO) {
		t->recs[t->nr].id = (uint32_t)((const struct ev_cgroup_info *)rec)->cgroup;
		strncpy(t->recs[t->nr].comm, (const char *)((const struct ev_cgroup_info *)rec + 1),
		        EV_COMM_LEN - 1);
	} else if (rec->kind == EV_SCX_STATE) {
		t->recs[t->nr].id = ((const struct ev_scx_state *)rec)->state;
	} else if (rec->kind == EV_PROBE_INFO) {
		t->recs[t->nr].id = ((const struct ev_probe_info *)rec)->probe;
	}
	t->nr++;
	return t->fails_at && t->nr == (uint32_t)t->fails_at ? -ENOSPC : 0;
}

static struct emitted emit(const struct evicted_state *s, uint64_t ts_ns, uint64_t since_ns)
{
	struct emitted t = { 0 };
	struct ev_sink sink = { .push = keep, .ctx = &t };

	expect_eq(evicted_state_emit(s, &sink, ts_ns, since_ns), 0);
	return t;
}

static struct evicted_state *new_state(void)
{
	struct evicted_state *s = NULL;

	expect_eq(evicted_state_new(2, &s), 0);
	return s;
}

static void names_are_those_of_the_moment(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t;

	(void)state;
	evicted_state_add(s, rec_task_info(10, 10, 1, "server"));
	evicted_state_add(s, REC(ev_fork, EV_FORK, 0, 5, .parent_tid = 10, .parent_tgid = 10,
	                         .tid = 11, .tgid = 10, .comm = "server"));
	evicted_state_add(s,
	                  REC(ev_rename, EV_RENAME, 0, 6, .tid = 11, .tgid = 10, .comm = "pool"));
	evicted_state_add(s, REC(ev_fork, EV_FORK, 0, 7, .parent_tid = 10, .parent_tgid = 10,
	                         .tid = 12, .tgid = 12, .comm = "server"));
	evicted_state_add(s, REC(ev_exec, EV_EXEC, 0, 8, .tid = 12, .old_tid = 12, .comm = "ls"));
	t = emit(s, 100, 0);
	expect_eq(t.nr, 3);
	for (uint32_t i = 0; i < 3; i++) {
		expect_eq(t.recs[i].hdr.kind, EV_TASK_INFO);
		expect_eq(t.recs[i].hdr.ts_ns, 100);
		expect_eq(t.recs[i].id, 10 + i);
	}
	assert_string_equal(t.recs[0].comm, "server");
	assert_string_equal(t.recs[1].comm, "pool");
	expect_eq(t.recs[1].tgid, 10);
	assert_string_equal(t.recs[2].comm, "ls");
	expect_eq(t.recs[2].tgid, 12);
	/* Gone for good, but not before the last record about it. */
	evicted_state_add(s, REC(ev_exit, EV_EXIT, 0, 9, .tid = 12, .tgid = 12, .comm = "ls"));
	expect_eq(emit(s, 100, 0).nr, 3);
	evicted_state_add(s, REC(ev_free, EV_FREE, 0, 10, .tid = 12, .comm = "ls"));
	expect_eq(emit(s, 100, 0).nr, 2);
	evicted_state_free(s);
}

static void the_last_switch_of_each_cpu_in_the_order_of_time(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t;

	(void)state;
	evicted_state_add(s, rec_switch(1, 10, 0, 0, 5));
	evicted_state_add(s, rec_switch(0, 20, 0, 0, 6));
	evicted_state_add(s, rec_switch(1, 30, 5, EV_STATE_S, 7));
	evicted_state_add(s, rec_switch(9, 40, 0, 0, 8)); /* no such CPU */
	t = emit(s, 100, 0);
	expect_eq(t.nr, 2);
	expect_eq(t.recs[0].id, 6);
	expect_eq(t.recs[0].hdr.ts_ns, 20);
	expect_eq(t.recs[1].id, 7);
	expect_eq(t.recs[1].hdr.ts_ns, 30);
	t = emit(s, 100, 21); /* too long ago */
	expect_eq(t.nr, 1);
	expect_eq(t.recs[0].id, 7);
	evicted_state_add(s, REC(ev_lost, EV_LOST, 1, 50, .kind = EV_WAKING, .count = 1));
	expect_eq(emit(s, 100, 21).nr, 1);
	evicted_state_add(s, REC(ev_lost, EV_LOST, 1, 50, .kind = EV_SWITCH, .count = 1));
	expect_eq(emit(s, 100, 21).nr, 0);
	evicted_state_free(s);
}

static void frequencies_hold_and_probes_keep_their_names(void **state)
{
	struct evicted_state *s = new_state();
	struct {
		struct ev_probe_info info;
		char name[16];
	} probe = { { { sizeof(probe), EV_PROBE_INFO, 0, 0, 1 }, 3, EV_PROBE_UPROBE }, "f" };
	struct emitted t;

	(void)state;
	evicted_state_add(s, REC(ev_cpu_freq, EV_CPU_FREQ, 0, 10, .khz = 1000, .cpu = 1));
	evicted_state_add(s, REC(ev_cpu_freq, EV_CPU_FREQ, 0, 20, .khz = 2000, .cpu = 1));
	evicted_state_add(s, REC(ev_sampling, EV_SAMPLING, 0, 20, .one_in = 4));
	evicted_state_add(s, &probe.info.hdr);
	evicted_state_add(s, &probe.info.hdr);
	for (probe.info.probe = 100; probe.info.probe < 150; probe.info.probe++)
		evicted_state_add(s, &probe.info.hdr);
	t = emit(s, 100, 0);
	expect_eq(t.nr, 1 + 51 + 1);
	expect_eq(t.recs[0].hdr.kind, EV_SAMPLING);
	expect_eq(t.recs[1].hdr.kind, EV_PROBE_INFO);
	expect_eq(t.recs[1].id, 3);
	expect_eq(t.recs[51].id, 149);
	expect_eq(t.recs[52].hdr.kind, EV_CPU_FREQ);
	expect_eq(t.recs[52].hdr.cpu, 1);
	expect_eq(t.recs[52].hdr.ts_ns, 100);
	expect_eq(t.recs[52].id, 2000);
	evicted_state_free(s);
}

static void take_affinity(struct evicted_state *s, uint32_t tid, uint64_t cpus)
{
	struct {
		struct ev_affinity rec;
		uint64_t words[2];
	} ev = { .rec = { .hdr = { sizeof(ev), EV_AFFINITY, 0, 0, 5 }, .tid = tid, .nr = 2 },
		 .words = { cpus } };

	evicted_state_add(s, &ev.rec.hdr);
}

static void where_living_tasks_may_run_is_kept(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t;

	(void)state;
	take_affinity(s, 9, 1); /* of an unknown task */
	for (uint32_t tid = 1; tid <= 3; tid++)
		evicted_state_add(s, rec_task_info(tid, tid, 1, "x"));
	take_affinity(s, 3, 4);
	take_affinity(s, 1, 1);
	take_affinity(s, 1, 2); /* the last one counts */
	t = emit(s, 100, 0);
	expect_eq(t.nr, 5);
	expect_eq(t.recs[1].hdr.kind, EV_AFFINITY); /* right behind its task */
	expect_eq(t.recs[1].hdr.ts_ns, 100);
	expect_eq(t.recs[1].hdr.size, sizeof(struct ev_affinity) + 16);
	expect_eq(t.recs[1].tgid, 1);
	expect_eq(t.recs[1].id, 2);
	expect_eq(t.recs[2].hdr.kind, EV_TASK_INFO);
	expect_eq(t.recs[4].tgid, 3);
	expect_eq(t.recs[4].id, 4);
	/* Neither the dead nor who gets their number have one. */
	evicted_state_add(s, REC(ev_exit, EV_EXIT, 0, 9, .tid = 1, .tgid = 1, .comm = "x"));
	evicted_state_add(s, REC(ev_free, EV_FREE, 0, 10, .tid = 1, .comm = "x"));
	evicted_state_add(s, REC(ev_fork, EV_FORK, 0, 11, .parent_tid = 2, .parent_tgid = 2,
	                         .tid = 1, .tgid = 1, .comm = "y"));
	evicted_state_add(s, REC(ev_fork, EV_FORK, 0, 12, .parent_tid = 2, .parent_tgid = 2,
	                         .tid = 3, .tgid = 3, .comm = "y"));
	t = emit(s, 100, 0);
	expect_eq(t.nr, 3);
	for (uint32_t i = 0; i < 3; i++)
		expect_eq(t.recs[i].hdr.kind, EV_TASK_INFO);
	evicted_state_free(s);
}

static void policies_of_living_tasks_are_kept(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t;

	(void)state;
	evicted_state_add(s, rec_task_info(1, 1, 0, "x"));
	evicted_state_add(s, rec_task_info(2, 2, 1, "x"));
	evicted_state_add(s, REC(ev_policy, EV_POLICY, 0, 3, .tid = 2, .policy = ABI_POLICY_RR));
	evicted_state_add(s, REC(ev_policy, EV_POLICY, 0, 4, .tid = 2, .policy = ABI_POLICY_IDLE));
	evicted_state_add(s, REC(ev_policy, EV_POLICY, 0, 4, .tid = 9, .policy = ABI_POLICY_IDLE));
	t = emit(s, 100, 0);
	expect_eq(t.nr, 3);
	expect_eq(t.recs[2].hdr.kind, EV_POLICY);
	expect_eq(t.recs[2].hdr.ts_ns, 100);
	expect_eq(t.recs[2].tgid, 2);
	expect_eq(t.recs[2].id, ABI_POLICY_IDLE);
	evicted_state_add(s, REC(ev_free, EV_FREE, 0, 10, .tid = 2, .comm = "x"));
	evicted_state_add(s, REC(ev_fork, EV_FORK, 0, 11, .parent_tid = 1, .parent_tgid = 1,
	                         .tid = 2, .tgid = 2, .comm = "y"));
	expect_eq(emit(s, 100, 0).nr, 2);
	evicted_state_free(s);
}

static void cgroups_of_living_tasks_are_kept(void **state)
{
	struct evicted_state *s = new_state();
	struct ev_cgroup_named path;
	struct emitted t;

	(void)state;
	ev_make_cgroup_info(&path, 7, "/build", 1);
	evicted_state_add(s, &path.info.hdr);
	evicted_state_add(s, REC(ev_cgroup, EV_CGROUP, 0, 1, .tid = 2, .cgroup = 7));
	evicted_state_add(s, rec_task_info(1, 1, 0, "x"));
	evicted_state_add(s, rec_task_info(2, 2, 1, "x"));
	evicted_state_add(s, REC(ev_cgroup, EV_CGROUP, 0, 3, .tid = 1, .cgroup = 5));
	evicted_state_add(s, REC(ev_cgroup, EV_CGROUP, 0, 4, .tid = 1, .cgroup = 6));
	t = emit(s, 100, 0);
	expect_eq(t.nr, 5); /* the others have no path */
	expect_eq(t.recs[0].hdr.kind, EV_CGROUP_INFO);
	expect_eq(t.recs[0].id, 7);
	assert_string_equal(t.recs[0].comm, "/build");
	expect_eq(t.recs[2].hdr.kind, EV_CGROUP);
	expect_eq(t.recs[2].hdr.ts_ns, 100);
	expect_eq(t.recs[2].tgid, 1);
	expect_eq(t.recs[2].id, 6);
	expect_eq(t.recs[4].tgid, 2);
	expect_eq(t.recs[4].id, 7);
	evicted_state_add(s, REC(ev_lost, EV_LOST, 0, 50, .kind = EV_CGROUP, .count = 1));
	expect_eq(emit(s, 100, 0).nr, 3); /* they may have been moved */
	evicted_state_free(s);
}

static void sets_of_many_tasks_are_kept(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t;

	(void)state;
	for (uint32_t tid = 1; tid <= 300; tid++) {
		evicted_state_add(s, rec_task_info(tid, tid, 1, "x"));
		take_affinity(s, tid, tid);
		if (tid <= 280)
			evicted_state_add(s, REC(ev_free, EV_FREE, 0, 10, .tid = tid, .comm = "x"));
	}
	t = emit(s, 100, 0);
	expect_eq(t.nr, 40);
	for (uint32_t i = 1; i < 40; i += 2)
		expect_eq(t.recs[i].id, t.recs[i].tgid);
	evicted_state_free(s);
}

static void the_scheduler_that_is_on_is_reported(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t;

	(void)state;
	evicted_state_add(s,
	                  REC(ev_scx_state, EV_SCX_STATE, 0, 10, .state = EV_SCX_ON, .name = "a"));
	evicted_state_add(s, REC(ev_scx_state, EV_SCX_STATE, 0, 20, .state = EV_SCX_OFF));
	t = emit(s, 100, 0);
	expect_eq(t.nr, 1);
	expect_eq(t.recs[0].hdr.ts_ns, 100);
	expect_eq(t.recs[0].id, EV_SCX_OFF);
	evicted_state_free(s);
}

static void a_sink_that_fails_stops_it(void **state)
{
	struct evicted_state *s = new_state();
	struct emitted t = { .fails_at = 2 };
	struct ev_sink sink = { .push = keep, .ctx = &t };

	(void)state;
	for (uint32_t tid = 1; tid < 6; tid++)
		evicted_state_add(s, rec_task_info(tid, tid, 1, "x"));
	assert_int_equal(evicted_state_emit(s, &sink, 100, 0), -ENOSPC);
	expect_eq(t.nr, 2);
	evicted_state_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_moment),
		cmocka_unit_test(the_last_switch_of_each_cpu_in_the_order_of_time),
		cmocka_unit_test(frequencies_hold_and_probes_keep_their_names),
		cmocka_unit_test(policies_of_living_tasks_are_kept),
		cmocka_unit_test(cgroups_of_living_tasks_are_kept),
		cmocka_unit_test(where_living_tasks_may_run_is_kept),
		cmocka_unit_test(sets_of_many_tasks_are_kept),
		cmocka_unit_test(the_scheduler_that_is_on_is_reported),
		cmocka_unit_test(a_sink_that_fails_stops_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
