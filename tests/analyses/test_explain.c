#include "../analyze/pass_fixture.h"

#include <stdio.h>
#include <string.h>

#include "analyses/passes.h"
#include "model/allowed.h"

#define US 1000ULL

/*
 * 20 sleeps. 30 runs on CPU 1 after a wait of 40 us, and 10 us later wakes 20, which waits 100 us for CPU 0: 80 us for
 * 10 (two slices, with a softirq of 5 us inside), 20 us for 11. CPU 2 is idle for the last 60 us of that; CPU 3 never
 * speaks. 20 was moved once meanwhile.
 */
static void one_long_wait(struct pass_fixture *p)
{
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 2, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 31, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	waking(&p->f, 1050 * US, 0, 30, 10);
	sw(&p->f, 1090 * US, 1, 31, 30, EV_STATE_S);
	waking(&p->f, 1100 * US, 1, 20, 30);
	migrate(&p->f, 1101 * US, 20, 1, 0);
	softirq(&p->f, 1110 * US, 0, 1, false);
	softirq(&p->f, 1115 * US, 0, 1, true);
	sw(&p->f, 1130 * US, 0, 10, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1140 * US, 2, 12, 0, EV_STATE_S);
	sw(&p->f, 1150 * US, 0, 11, 10, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 10, 20, EV_STATE_S);
	finish(p, 1300 * US);
}

static const struct report_node *explain_20(struct pass_fixture *p)
{
	one_long_wait(p);
	p->args.tid = 20;
	return run_pass(p, &pass_explain);
}

static void parts_add_up_to_the_wait(void **state)
{
	const struct report_node *root = explain_20(*state);

	expect_eq(num_at(root, "waits_explained"), 1);
	expect_eq(num_at(root, "waits.0.wait_ns"), 100 * US);
	assert_string_equal(text_at(root, "waits.0.from"), "waking");
	expect_eq(len_at(root, "waits.0.parts"), 4);
	expect_eq(num_at(root, "waits.0.parts.0.tid"), 10);
	expect_eq(num_at(root, "waits.0.parts.0.ns"), 74 * US);
	expect_eq(num_at(root, "waits.0.parts.0.times"), 3); /* the softirq divides a slice */
	expect_eq(num_at(root, "waits.0.parts.1.tid"), 11);
	expect_eq(num_at(root, "waits.0.parts.1.ns"), 20 * US);
	assert_string_equal(text_at(root, "waits.0.parts.2.kind"), "softirq");
	assert_string_equal(text_at(root, "waits.0.parts.3.kind"), "waking");
	expect_eq(num_at(root, "waits.0.task_ns"), 94 * US);
	expect_eq(num_at(root, "waits.0.waking_ns"), 1 * US);
	expect_eq(num_at(root, "waits.0.idle_ns"), 0);
	expect_eq(num_at(root, "waits.0.unknown_ns"), 0);
	expect_eq(num_at(root, "waits.0.softirq_ns"), 5 * US);
	assert_true(report_at(root, "waits.0.irq_ns")->type ==
	            REPORT_NULL); /* none were recorded */
	expect_eq(num_at(root, "waits.0.stays"), 1);
}

/* 20 queues on CPU 0 for 30 us behind 10, is moved, and runs on CPU 1, where 11 had run meanwhile. */
static void a_moved_task_waited_for_its_first_cpu(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	forked(&p->f, 900 * US, 1, 10, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	waking(&p->f, 1100 * US, 1, 20, 11);
	wakeup(&p->f, 1100 * US, 1, 20, 0);
	migrate(&p->f, 1130 * US, 20, 0, 1);
	sw(&p->f, 1131 * US, 1, 11, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_explain);
	assert_string_equal(
		text_at(root, "waits.0.sentences.0"),
		"late (20) was woken by ? (11) 200us after the start and waited 31.0us for CPU 0, then for CPU 1.");
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "It waited 30.0us of it (97 %) behind hog (10) on CPU 0.");
	assert_string_equal(text_at(root, "waits.0.sentences.2"),
	                    "It was moved from CPU 0 to CPU 1 after 30.0us.");
	expect_eq(len_at(root, "waits.0.stay_list"), 2);
}

/* 20 waits 60 us behind thirty tasks of one name, 2 us each. */
static void a_crowd_is_one_culprit(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	for (uint32_t i = 0; i < 30; i++)
		forked(&p->f, 900 * US, 1, 100 + i, "cc1");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 100, EV_STATE_S);
	wakeup(&p->f, 1010 * US, 0, 20, 0);
	for (uint32_t i = 1; i < 30; i++)
		sw(&p->f, (1010 + 2 * i) * US, 0, 99 + i, 100 + i, EV_STATE_S);
	sw(&p->f, 1070 * US, 0, 129, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_explain);
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "It waited all of it behind 30 tasks called cc1 on CPU 0.");
	expect_eq(num_at(root, "waits.0.parts.0.tasks"), 30);
	expect_eq(len_at(root, "waits.0.parts"), 1);
}

/* What 20 is said to wait behind: a task of that priority and policy, 0 = not recorded. */
static const char *behind(struct pass_fixture *p, int16_t prio, uint8_t policy)
{
	struct ev_policy word = { .hdr = { sizeof(word), EV_POLICY, 0, 0, 1010 * US },
		                  .tid = 10,
		                  .policy = policy };
	struct ev_switch in = { .hdr = { sizeof(in), EV_SWITCH, 0, 0, 1010 * US },
		                .prev_tid = 20,
		                .next_tid = 10,
		                .prev_state = EV_STATE_RUNNABLE,
		                .prev_prio = 120,
		                .next_prio = prio };

	forked(&p->f, 900 * US, 1, 10, "backup");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	if (policy)
		push(&p->f, &word);
	push(&p->f, &in);
	wakeup(&p->f, 1020 * US, 0, 21, 0);
	sw(&p->f, 1110 * US, 0, 10, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
	return text_at(run_pass(p, &pass_explain), "waits.0.sentences.1");
}

static void the_priority_of_a_culprit_is_named(void **state)
{
	assert_string_equal(
		behind(*state, 49, ABI_POLICY_UNKNOWN),
		"It waited all of it behind backup (10, real-time priority 50) on CPU 0.");
}

static void the_policy_of_a_culprit_is_named(void **state)
{
	static const struct {
		int16_t prio;
		uint8_t policy;
		const char *marks;
	} worlds[] = {
		{ 49, ABI_POLICY_FIFO, ", FIFO 50" },
		{ 0, ABI_POLICY_FIFO, ", FIFO 99" },
		{ 98, ABI_POLICY_RR, ", RR 1" },
		{ 49, ABI_POLICY_NORMAL, ", inherited real-time priority 50" },
		{ -1, ABI_POLICY_DEADLINE, ", deadline" },
		{ -1, ABI_POLICY_NORMAL, ", inherited deadline" },
		{ 120, ABI_POLICY_IDLE, ", SCHED_IDLE" },
		{ 120, ABI_POLICY_BATCH, ", BATCH" },
		{ 125, ABI_POLICY_BATCH, ", BATCH, nice 5" },
		{ 125, ABI_POLICY_NORMAL, ", nice 5" },
		{ 120, ABI_POLICY_NORMAL, "" },
		{ 0, ABI_POLICY_UNKNOWN, "" },
	};
	char expected[128];

	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		if (i) {
			pass_teardown(state);
			pass_setup(state);
		}
		(void)snprintf(expected, sizeof(expected),
		               "It waited all of it behind backup (10%s) on CPU 0.",
		               worlds[i].marks);
		assert_string_equal(behind(*state, worlds[i].prio, worlds[i].policy), expected);
	}
}

static void all_waits_of_a_task_are_summed_up(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	forked(&p->f, 900 * US, 1, 10, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	for (uint64_t ts = 1100; ts < 1500; ts += 100) {
		sw(&p->f, ts * US, 0, 20, 10, EV_STATE_RUNNABLE);
		sw(&p->f, (ts + 40) * US, 0, 10, 20, EV_STATE_RUNNABLE);
	}
	wakeup(&p->f, 1450 * US, 1, 12, 1);
	finish(p, 1500 * US);
	p->args.tid = 20;
	p->args.limit = 1;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 1);
	expect_eq(num_at(root, "total_waits"), 4);
	expect_eq(num_at(root, "total_wait_ns"), 160 * US);
	assert_string_equal(
		text_at(root, "in_all"),
		"In all 4 waits: late (20) waited 160us for a CPU: 160us behind hog; longest wait 40.0us.");
	p->args.at_ns = 1120 * US;
	assert_null(report_at(run_pass(p, &pass_explain), "in_all"));
	p->args.at_ns = p->args.tid = 0;
	assert_null(report_at(run_pass(p, &pass_explain), "in_all"));
}

static void idle_cpus_are_named(void **state)
{
	const struct report_node *root = explain_20(*state);

	expect_eq(len_at(root, "waits.0.idle_cpus"), 1);
	expect_eq(num_at(root, "waits.0.idle_cpus.0.cpu"), 2);
	expect_eq(num_at(root, "waits.0.idle_cpus.0.idle_ns"), 60 * US);
	expect_eq(num_at(root, "waits.0.other_cpu_idle_ns"), 60 * US);
}

/* How many sentences on the first wait begin like this. */
static uint32_t nr_sentences(const struct report_node *root, const char *begin)
{
	uint32_t nr = 0;

	for (const struct report_node *at = report_at(root, "waits.0.sentences")->first; at;
	     at = at->next)
		nr += strncmp(at->text, begin, strlen(begin)) == 0;
	return nr;
}

static void an_idle_cpu_that_is_isolated_is_no_chance(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	p->places[2].is_isolated = true;
	root = explain_20(p);
	expect_eq(len_at(root, "waits.0.idle_cpus"), 0);
	expect_eq(num_at(root, "waits.0.other_cpu_idle_ns"), 0);
	expect_eq(nr_sentences(root,
	                       "No other CPU that it may use was idle meanwhile, but for isolated"),
	          1);
}

/* CPU 2 is taken offline before the wait begins. */
static void a_cpu_that_is_offline_is_no_chance_and_not_unknown(void **state)
{
	struct ev_cpu_hotplug rec = {
		{ sizeof(rec), EV_CPU_HOTPLUG, 0, 1, 950 * US }, .cpu = 2, .target = 0, .step = 230
	};
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 940 * US, 2, 30, 0, EV_STATE_S);
	push(&p->f, &rec);
	root = explain_20(p);
	expect_eq(len_at(root, "waits.0.idle_cpus"), 0);
	expect_eq(nr_sentences(root, "No other CPU that it may use was idle meanwhile."), 1);
}

static void the_chain_leads_back_to_the_first_waker(void **state)
{
	const struct report_node *root = explain_20(*state);

	/* 20 was woken by 30, 30 by 10, and 10 came on without a wait that was seen. */
	expect_eq(len_at(root, "waits.0.chain"), 2);
	expect_eq(num_at(root, "waits.0.chain.1.tid"), 30);
	expect_eq(num_at(root, "waits.0.chain.1.wait_ns"), 40 * US);
	expect_eq(num_at(root, "waits.0.chain.1.run_ns"), 10 * US);
	expect_eq(num_at(root, "waits.0.compound_delay_ns"), 140 * US);
	expect_eq(nr_sentences(root,
	                       "Before that, ? (30) had itself waited 40.0us and run 10.0us."),
	          1);
	expect_eq(nr_sentences(root, "The 1 waits"), 0);
}

static void sentences_say_it(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	forked(&p->f, 900 * US, 1, 10, "hog");
	forked(&p->f, 900 * US, 1, 30, "waker");
	root = explain_20(p);
	assert_string_equal(
		text_at(root, "waits.0.sentences.0"),
		"late (20) was woken by waker (30) 200us after the start and waited 100us for CPU 0.");
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "It waited 74.0us of it (74 %) behind hog (10) on CPU 0.");
	assert_string_equal(text_at(root, "waits.0.sentences.2"),
	                    "It waited 20.0us of it (20 %) behind ? (11) on CPU 0.");
	assert_string_equal(text_at(root, "waits.0.sentences.3"),
	                    "It waited 5.00us of it (5 %) for the timer softirq on CPU 0.");
	assert_non_null(strstr(text_at(root, "waits.0.sentences.4"),
	                       "(60 %) another CPU that it may use was idle, CPU 2"));
}

/* 20 waits for CPU 0, where 10 ran when it was woken. */
static const char *woken_by(struct pass_fixture *p, uint8_t flags, uint16_t by)
{
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	forked(&p->f, 900 * US, 1, 10, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	irq(&p->f, 1090 * US, 0, 27, false);
	irq(&p->f, 1091 * US, 0, 27, true);
	push(&p->f,
	     &(struct ev_wake){ .hdr = { sizeof(struct ev_wake), EV_WAKING, flags, 0, 1100 * US },
	                        .tid = 20,
	                        .waker_tid = 10,
	                        .by = by });
	sw(&p->f, 1200 * US, 0, 10, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_explain);
	if (flags)
		assert_true(report_at(root, "waits.0.waker_comm")->type == REPORT_NULL);
	assert_null(
		report_at(root, "waits.0.chain.1")); /* 10 has not waited for anything of this */
	return text_at(root, "waits.0.sentences.0");
}

static void the_timer_is_named_not_the_interrupted_task(void **state)
{
	assert_string_equal(
		woken_by(*state, EV_FLAG_HARDIRQ, ABI_BY_TIMER),
		"late (20) was woken by the timer interrupt 200us after the start and waited 100us for CPU 0.");
}

static void a_softirq_is_named(void **state)
{
	assert_string_equal(
		woken_by(*state, EV_FLAG_SOFTIRQ, ABI_BY_SOFTIRQ + 3),
		"late (20) was woken by the network receive softirq 200us after the start and waited 100us for CPU 0.");
}

static void a_device_has_the_name_of_its_handler(void **state)
{
	assert_string_equal(
		woken_by(*state, EV_FLAG_HARDIRQ, ABI_BY_IRQ + 27),
		"late (20) was woken by the interrupt of timer 200us after the start and waited 100us for CPU 0.");
}

static void an_interrupt_without_a_name_stays_one(void **state)
{
	assert_string_equal(
		woken_by(*state, EV_FLAG_HARDIRQ, ABI_BY_UNKNOWN),
		"late (20) was woken by an interrupt (which one is not known) 200us after the start and waited 100us for CPU 0.");
}

static void where_it_is_not_recorded_both_are_named(void **state)
{
	assert_string_equal(
		woken_by(*state, 0, ABI_BY_NOT_RECORDED),
		"late (20) was woken by hog (10) or an interrupt during it (interrupts were not "
		"recorded) 200us after the start and waited 100us for CPU 0.");
}

/* 20 is woken and does not run again. */
static void a_wait_that_does_not_end_is_explained_so_far(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 20, "late");
	forked(&p->f, 900 * US, 1, 10, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 0, 20, 0);
	finish(p, 1300 * US);
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 1);
	assert_true(report_at(root, "waits.0.is_open")->b);
	expect_eq(num_at(root, "waits.0.wait_ns"), 200 * US);
	assert_non_null(strstr(text_at(root, "waits.0.sentences.0"),
	                       "waited 200us for CPU 0, and still did at the end."));
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "It waited all of it behind hog (10) on CPU 0.");
}

/* mask: CPUs that tid may use. */
static bool has_sentence(struct pass_fixture *p, uint32_t tid, uint64_t mask, const char *text)
{
	struct {
		struct ev_affinity head;
		uint64_t mask;
	} rec = { .head = { .hdr = { .size = sizeof(rec), .kind = EV_AFFINITY, .ts_ns = 1 },
		            .tid = tid,
		            .nr = 1 },
		  .mask = mask };
	const struct report_node *sentences;
	struct allowed *affinity;
	struct ev_sink sink;
	bool is_said = false;

	assert_int_equal(allowed_new(0, &affinity), 0);
	sink = allowed_sink(affinity);
	assert_int_equal(sink.push(sink.ctx, &rec.head.hdr), 0);
	p->source.affinity = affinity;
	sentences = report_at(run_pass(p, &pass_explain), "waits.0.sentences");
	assert_non_null(sentences);
	for (const struct report_node *at = sentences->first; at; at = at->next)
		is_said |= strcmp(at->text, text) == 0;
	allowed_free(affinity);
	p->source.affinity = NULL;
	return is_said;
}

static void a_bound_task_is_reported_as_bound(void **state)
{
	struct pass_fixture *p = *state;
	uint32_t tid;

	one_long_wait(p);
	tid = (uint32_t)num_at(run_pass(p, &pass_explain), "waits.0.tid");
	assert_true(has_sentence(p, tid, 1, "It is bound to CPU 0 and cannot run elsewhere."));
	assert_false(
		has_sentence(p, tid, UINT64_MAX, "It is bound to CPU 0 and cannot run elsewhere."));
	assert_false(
		has_sentence(p, tid + 1000, 1, "It is bound to CPU 0 and cannot run elsewhere."));
}

static void the_longest_waits_come_first(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	one_long_wait(p);
	p->args.limit = 2;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits_explained"), 2);
	expect_eq(num_at(root, "waits.0.tid"), 20);
	expect_eq(num_at(root, "waits.1.tid"), 30);
}

static void a_moment_finds_its_wait(void **state)
{
	struct pass_fixture *p = *state;

	one_long_wait(p);
	p->args.at_ns = 1060 * US;
	expect_eq(num_at(run_pass(p, &pass_explain), "waits.0.tid"), 30);
	p->args.at_ns = 1045 * US; /* none waits, 20 sleeps */
	expect_eq(num_at(run_pass(p, &pass_explain), "sleeps.0.tid"), 20);
	p->args.category = "waits";
	expect_eq(num_at(run_pass(p, &pass_explain), "waits_explained"), 0);
}

/* Two tasks that wake each other for ever: links go back in time and end. */
static void a_ping_pong_does_not_turn_in_circles(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1001 * US, 1, 11, 0, EV_STATE_S);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = (1010 + 10 * i) * US;
		uint32_t waker = i % 2 ? 11 : 10, wakee = i % 2 ? 10 : 11, cpu = (uint32_t)(i % 2);

		waking(&p->f, t, cpu, wakee, waker);
		sw(&p->f, t + 1 * US, cpu, waker, 0, EV_STATE_S);
		sw(&p->f, t + 2 * US, 1 - cpu, 0, wakee, EV_STATE_RUNNABLE);
	}
	finish(p, 2000 * US);
	p->args.limit = 1;
	p->args.from_ns = 1390 * US;
	root = run_pass(p, &pass_explain);
	expect_eq(len_at(root, "waits.0.chain"), 16);
	expect_eq(num_at(root, "waits.0.compound_delay_ns"), 16 * 2 * US);
	/* None of them stands out. */
	expect_eq(nr_sentences(root, "Before that,"), 0);
	expect_eq(nr_sentences(
			  root,
			  "The 15 waits before it, along the chain of wakings, add up to 30.0us."),
	          1);
}

/* A shell forks a child, which waits for the CPU that the shell holds, runs and calls exec: it waited as the shell's child. */
static void names_are_those_of_the_time_of_the_wait(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	exec(&p->f, 900 * US, 10, 10, "sh");
	sw(&p->f, 1000 * US, 0, 0, 10, EV_STATE_RUNNABLE);
	forked(&p->f, 1010 * US, 10, 20, "sh");
	wakeup_new(&p->f, 1010 * US, 0, 20, 10);
	sw(&p->f, 1110 * US, 0, 10, 20, EV_STATE_S);
	exec(&p->f, 1120 * US, 20, 20, "cat");
	exec(&p->f, 1130 * US, 10, 10, "bash");
	finish(p, 1300 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_explain);
	assert_string_equal(text_at(root, "waits.0.comm"), "sh");
	assert_string_equal(text_at(root, "waits.0.waker_comm"), "sh");
	assert_string_equal(text_at(root, "waits.0.parts.0.comm"), "sh");
	assert_non_null(
		strstr(text_at(root, "waits.0.sentences.0"), "sh (20) was started by sh (10)"));
}

/* 20 waits from 1100 to 1200 us; the switch from 11 to 12, between 1120 and 1180, is missing. */
static void an_unknown_part_says_why(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 0, 20, 0);
	sw(&p->f, 1120 * US, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 1180 * US, 0, 12, 13, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 13, 20, EV_STATE_S);
	finish(p, 1300 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits.0.unknown_ns"), 60 * US);
	assert_string_equal(text_at(root, "waits.0.parts.0.text"), "unknown (events are missing)");
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "What it waited for during 60.0us of it (60 %) is unknown: events are "
	                    "missing.");
	p->facts.filter = "the process 4711";
	assert_string_equal(text_at(run_pass(p, &pass_explain), "waits.0.sentences.1"),
	                    "What it waited for during 60.0us of it (60 %) is unknown: the "
	                    "recording covers only the process 4711.");
	p->facts.filter = NULL;
	p->facts.incomplete = "the recorder was killed";
	assert_string_equal(text_at(run_pass(p, &pass_explain), "waits.0.sentences.1"),
	                    "What it waited for during 60.0us of it (60 %) is unknown: the "
	                    "recording is incomplete.");
}

/*
 * 20 is throttled at 1000 us on CPU 0, which 10 has then, while CPU 1 is idle; its quota is refilled at 80 ms. It is moved
 * to CPU 1 only 20 ms later. A tenth of the time of CPU 0 is stolen.
 */
static void throttled(struct pass_fixture *p, uint32_t flags)
{
	measures(&p->f, flags);
	waking(&p->f, 800 * US, 0, 12, 0);
	sw(&p->f, 900 * US, 1, 12, 0, EV_STATE_S);
	sw(&p->f, 900 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 0, 20, 10, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * US + 1, 0, 20, 77);
	refill(&p->f, 80000 * US, 77, EVERY_CPU);
	migrate(&p->f, 100000 * US, 20, 0, 1);
	sw(&p->f, 100010 * US, 1, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 101000 * US, 0, 10, 0, EV_STATE_S);
	steal(&p->f, 101000 * US + 1, 0, 10000 * US);
	finish(p, 110000 * US);
	p->args.tid = 20;
}

static void a_quota_is_named_and_blames_nobody(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	throttled(p, EV_MEASURES_QUOTA | EV_MEASURES_STEAL);
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits.0.wait_ns"), 99010 * US);
	expect_eq(num_at(root, "waits.0.throttled_ns"), 79000 * US);
	expect_eq(num_at(root, "waits.0.stolen_ns"), 2000 * US);
	expect_eq(num_at(root, "waits.0.task_ns"), 18000 * US);
	assert_string_equal(text_at(root, "waits.0.parts.0.kind"), "throttled");
	expect_eq(num_at(root, "waits.0.parts.0.cgroup_id"), 77);
	expect_eq(num_at(root, "waits.0.parts.0.quota_ns"), 20000000);
	expect_eq(num_at(root, "waits.0.parts.0.period_ns"), 100000000);
	/* 10 came next, and is not the reason. */
	assert_non_null(strstr(text_at(root, "waits.0.sentences.0"), "was throttled on CPU 0"));
	assert_null(strstr(text_at(root, "waits.0.sentences.0"), "(10)"));
	assert_string_equal(text_at(root, "waits.0.sentences.1"),
	                    "It waited 79.0ms of it (80 %) throttled (cgroup quota, 20.0ms per "
	                    "100ms).");
	assert_string_equal(text_at(root, "waits.0.parts.2.text"),
	                    "while the hypervisor had CPU 0 (estimated)");
	/* That another CPU was idle while it was throttled says nothing. */
	expect_eq(num_at(root, "waits.0.other_cpu_idle_ns"), 20000 * US);
	expect_eq(num_at(root, "waits.0.stays"), 2);
	root = run_pass(p, &pass_summary);
	assert_string_equal(text_at(root, "longest_waits.0.cause"), "throttled");
	assert_true(is_null_at(root, "longest_waits.0.by"));
	root = run_pass(p, &pass_preemptions);
	expect_eq(num_at(root, "total_preemptions"), 0);
	expect_eq(num_at(root, "total_throttled"), 1);
	expect_eq(len_at(root, "processes"), 0);
}

/* From running on CPU 0, throttled until the refill. */
static void throttled_until(struct pass_fixture *p, uint64_t from_ms, uint64_t to_ms)
{
	sw(&p->f, from_ms * 1000 * US, 0, 20, 0, EV_STATE_RUNNABLE);
	throttle(&p->f, from_ms * 1000 * US + 1, 0, 20, 77);
	refill(&p->f, to_ms * 1000 * US, 77, EVERY_CPU);
	sw(&p->f, to_ms * 1000 * US + 1, 0, 0, 20, EV_STATE_RUNNABLE);
}

/*
 * Six periods of 100 ms: 20 is throttled across the first refill, not in the third period, in the fourth, and twice in the fifth, in
 * which the slack timer refills once.
 */
static void a_quota_says_in_how_many_periods(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_QUOTA);
	waking(&p->f, US, 0, 20, 0);
	sw(&p->f, US, 0, 0, 20, EV_STATE_RUNNABLE);
	throttled_until(p, 20, 200);
	throttled_until(p, 320, 400);
	throttled_until(p, 420, 480);
	throttled_until(p, 490, 500);
	finish(p, 600 * 1000 * US);
	p->args.tid = 20;
	root = run_pass(p, &pass_explain);
	expect_eq(num_at(root, "waits.0.throttled_ns"), 180000 * US);
	expect_eq(num_at(root, "waits.0.parts.0.throttled_periods"), 4);
	expect_eq(num_at(root, "waits.0.parts.0.passed_periods"), 6);
	assert_string_equal(text_at(root, "waits.0.parts.0.text"),
	                    "throttled (cgroup quota, 20.0ms per 100ms, in 4 of about 6 periods)");
	root = run_pass(p, &pass_preemptions);
	expect_eq(num_at(root, "total_throttled"), 4);
}

static void a_quota_that_nobody_measured_is_null(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	throttled(p, EV_MEASURES_STEAL);
	root = run_pass(p, &pass_explain);
	assert_true(is_null_at(root, "waits.0.throttled_ns"));
	expect_eq(num_at(root, "waits.0.stolen_ns"), 2000 * US);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(parts_add_up_to_the_wait),
		CASE(a_moved_task_waited_for_its_first_cpu),
		CASE(a_crowd_is_one_culprit),
		CASE(the_priority_of_a_culprit_is_named),
		CASE(the_policy_of_a_culprit_is_named),
		CASE(an_unknown_part_says_why),
		CASE(all_waits_of_a_task_are_summed_up),
		CASE(idle_cpus_are_named),
		CASE(an_idle_cpu_that_is_isolated_is_no_chance),
		CASE(a_cpu_that_is_offline_is_no_chance_and_not_unknown),
		CASE(the_chain_leads_back_to_the_first_waker),
		CASE(sentences_say_it),
		CASE(the_timer_is_named_not_the_interrupted_task),
		CASE(a_softirq_is_named),
		CASE(a_device_has_the_name_of_its_handler),
		CASE(an_interrupt_without_a_name_stays_one),
		CASE(where_it_is_not_recorded_both_are_named),
		CASE(a_bound_task_is_reported_as_bound),
		CASE(a_wait_that_does_not_end_is_explained_so_far),
		CASE(the_longest_waits_come_first),
		CASE(a_moment_finds_its_wait),
		CASE(a_ping_pong_does_not_turn_in_circles),
		CASE(names_are_those_of_the_time_of_the_wait),
		CASE(a_quota_is_named_and_blames_nobody),
		CASE(a_quota_says_in_how_many_periods),
		CASE(a_quota_that_nobody_measured_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
