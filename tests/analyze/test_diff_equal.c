/* Recordings of one generator with different seeds are not called different, and those of a slower one are. */
#include "pass_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/diff.h"

#define CPUS     2U
#define NAMES    20U /* on each CPU */
#define FIRST    100U
#define OTHER    50U /* on each CPU one that preempts */
#define PAIRS    20
#define US       1000.0
#define END_NS   800000000.0
#define PHASE_NS 40000000.0 /* how long a CPU stays calm or busy */

/* Waits are so many times as long as usual, of one name and of all. */
struct world {
	uint64_t seed;
	double factor_of_first, factor_of_all;
};

static double uniform(struct world *w)
{
	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(w->seed >> 33) + 0.5) / 2147483648.0;
}

static double exponential(struct world *w, double mean)
{
	return -mean * log(uniform(w));
}

/* What happens next on each CPU is put together here, and pushed in order of time. */
struct cpu {
	double now, phase_ends;
	bool is_busy;
	uint32_t tid;
	int step;
	bool is_preempted;
};

static void begin_cycle(struct world *w, struct cpu *c, uint32_t cpu)
{
	c->now += exponential(w, 60 * US);
	/* Some names are frequent, others rare. */
	c->tid = FIRST + cpu * NAMES + (uint32_t)(uniform(w) * uniform(w) * NAMES);
	c->is_preempted = uniform(w) < 0.1;
	if (c->now > c->phase_ends) {
		c->is_busy = !c->is_busy;
		c->phase_ends = c->now + exponential(w, PHASE_NS);
	}
	c->step = 0;
}

static double wait_of(struct world *w, const struct cpu *c)
{
	double mean = (5 + 3 * (c->tid % 7)) * US * w->factor_of_all;

	if (c->tid == FIRST)
		mean *= w->factor_of_first;
	if (c->is_busy)
		mean *= 2;
	return exponential(w, uniform(w) < 0.02 ? 20 * mean : mean);
}

static void do_step(struct world *w, struct cpu *c, uint32_t cpu, struct pass_fixture *p)
{
	uint64_t ts = (uint64_t)c->now;
	double slice = (20 + 10 * (c->tid % 5)) * US;

	switch (c->step++) {
	case 0:
		if (uniform(w) < 0.02)
			migrate(&p->f, ts, c->tid, 1 - cpu, cpu);
		waking(&p->f, ts, cpu, c->tid, 0);
		c->now += 1 + wait_of(w, c);
		break;
	case 1:
		sw(&p->f, ts, cpu, 0, c->tid, EV_STATE_RUNNABLE);
		c->now += 1 + exponential(w, slice);
		c->step += c->is_preempted ? 0 : 2;
		break;
	case 2:
		sw(&p->f, ts, cpu, c->tid, OTHER + cpu, EV_STATE_PREEMPTED);
		c->now += 1 + exponential(w, 10 * US);
		break;
	case 3:
		sw(&p->f, ts, cpu, OTHER + cpu, c->tid, EV_STATE_S);
		c->now += 1 + exponential(w, slice);
		break;
	default:
		sw(&p->f, ts, cpu, c->tid, 0, EV_STATE_S);
		begin_cycle(w, c, cpu);
		break;
	}
}

static void make(struct pass_fixture *p, struct world w)
{
	struct cpu cpus[CPUS] = { 0 };
	char name[16];

	for (uint32_t i = 0; i < CPUS * NAMES; i++) {
		snprintf(name, sizeof(name), "task-%u", i);
		forked(&p->f, 1, 1, FIRST + i, name);
	}
	for (uint32_t i = 0; i < CPUS; i++) {
		snprintf(name, sizeof(name), "other-%u", i);
		forked(&p->f, 1, 1, OTHER + i, name);
		sw(&p->f, 2, i, 5, 0, EV_STATE_S);
		cpus[i] = (struct cpu){ .now = 3, .is_busy = i };
		begin_cycle(&w, &cpus[i], i);
	}
	for (;;) {
		uint32_t i = cpus[0].now <= cpus[1].now ? 0 : 1;

		if (cpus[i].now >= END_NS)
			break;
		do_step(&w, &cpus[i], i, p);
	}
	finish(p, (uint64_t)END_NS);
}

static struct report *compare(struct world a, struct world b)
{
	struct report *r = NULL;
	struct diag d = { 0 };
	void *of_a, *of_b;
	struct diff_cfg cfg;

	assert_int_equal(pass_setup(&of_a), 0);
	assert_int_equal(pass_setup(&of_b), 0);
	make(of_a, a);
	make(of_b, b);
	cfg = (struct diff_cfg){ .a = &((struct pass_fixture *)of_a)->source,
		                 .b = &((struct pass_fixture *)of_b)->source,
		                 .args_a = &((struct pass_fixture *)of_a)->args,
		                 .args_b = &((struct pass_fixture *)of_b)->args,
		                 .limit = 10000,
		                 .has_noise = true };
	assert_int_equal(diff_run(&cfg, &d, &r), 0);
	pass_teardown(&of_a);
	pass_teardown(&of_b);
	return r;
}

static bool is_change(const struct report_node *row)
{
	const char *verdict = text_at(row, "verdict");

	return strcmp(verdict, "same") != 0 && strcmp(verdict, "unclear") != 0 &&
	       strcmp(verdict, "too little") != 0;
}

static uint64_t count(const struct report_node *root, const char *key, const char *comm)
{
	uint64_t nr = 0;

	for (const struct report_node *at = report_at(root, key)->first; at; at = at->next)
		nr += is_change(at) && (!comm || !strcmp(text_at(at, "comm"), comm));
	return nr;
}

static void equal_recordings_do_not_differ(void **state)
{
	uint64_t nr_false = 0, nr_tests = 0;

	(void)state;
	for (uint64_t i = 0; i < PAIRS; i++) {
		struct report *r = compare((struct world){ 1000 + i, 1, 1 },
		                           (struct world){ 2000 + i, 1, 1 });
		const struct report_node *root = report_root(r);

		nr_false += count(root, "overall", NULL) + count(root, "changes", NULL);
		expect_eq(num_at(root, "changes_found"), count(root, "changes", NULL));
		nr_tests += num_at(root, "tests");
		report_free(r);
	}
	print_message("# %llu false claims in %llu tests of %d pairs\n",
	              (unsigned long long)nr_false, (unsigned long long)nr_tests, PAIRS);
	assert_true(nr_tests > 250 * PAIRS);
	assert_true(nr_false <= 1);
}

static void one_name_that_waits_longer_is_found(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct report *r = compare((struct world){ 3000 + i, 1, 1 },
		                           (struct world){ 4000 + i, 3, 1 });
		const struct report_node *root = report_root(r);

		expect_eq(count(root, "changes", NULL), count(root, "changes", "task-0"));
		assert_true(count(root, "changes", "task-0") >= 1);
		assert_string_equal(text_at(root, "changes.0.verdict"), "worse");
		assert_non_null(strstr(text_at(root, "summary"), "1 of 42 task names changed."));
		report_free(r);
	}
}

static void all_that_wait_longer_are_one_sentence(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct report *r = compare((struct world){ 5000 + i, 1, 1 },
		                           (struct world){ 6000 + i, 1, 3 });
		const char *said = text_at(report_root(r), "summary");

		assert_non_null(strstr(said, "All tasks together: mean wakeup latency worse ("));
		assert_non_null(strstr(said, "median wakeup latency worse ("));
		assert_true(count(report_root(r), "changes", NULL) >= 5);
		report_free(r);
	}
}

/* More than a short buffer holds: both are so different that nearly every metric changes. */
static void many_changes_are_one_whole_sentence(void **state)
{
	struct report *r = compare((struct world){ 7000, 1, 1 }, (struct world){ 7001, 1, 40 });
	const char *said = text_at(report_root(r), "summary");

	(void)state;
	assert_true(count(report_root(r), "overall", NULL) >= 5);
	assert_int_equal(said[strlen(said) - 1], '.');
	assert_non_null(strstr(said, " task names changed."));
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_recordings_do_not_differ),
		cmocka_unit_test(one_name_that_waits_longer_is_found),
		cmocka_unit_test(all_that_wait_longer_are_one_sentence),
		cmocka_unit_test(many_changes_are_one_whole_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
