/* Compound delays and pairs of tasks against brute force, on streams of whole records made by reference.c. */
#include "reference.h"

#include "analyses/passes.h"

#define STREAMS RANDOM_WORLDS(1000U)

static uint64_t delay(const struct ref_wait *w)
{
	return w->end - (w->waking ? w->waking : w->wakeup);
}

/* The latest wait of a task that had ended by then; -1 if there is none. */
static int latest(const struct ref *ref, uint32_t tid, uint64_t by)
{
	int best = -1;

	for (int i = 0; i < ref->nr_waits; i++) {
		const struct ref_wait *w = &ref->waits[i];

		if (w->tid == tid && !w->is_open && w->end <= by &&
		    (best < 0 || w->end >= ref->waits[best].end))
			best = i;
	}
	return best;
}

/* Until a task would come a second time, but for what it waited before it was preempted. */
static uint64_t compound(const struct ref *ref, int i, uint64_t *links)
{
	bool has[REF_TASKS] = { false };
	uint64_t sum = 0;

	while (i >= 0) {
		const struct ref_wait *w = &ref->waits[i];

		has[w->tid - REF_FIRST] = true;
		sum += delay(w);
		(*links)++;
		i = -1;
		if (w->cause == PAIR_PREEMPTED)
			i = latest(ref, w->tid, w->wakeup);
		else if (w->by && w->by != REF_INTERRUPT && !has[w->by - REF_FIRST])
			i = latest(ref, w->by, w->edge);
	}
	return sum;
}

static void check_compound(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_compound_delay);
	uint64_t nr = 0, sum = 0, max = 0, longest = 0;

	for (int i = 0; i < ref->nr_waits; i++) {
		uint64_t links = 0, ns = compound(ref, i, &links);

		nr++;
		sum += ns;
		max = ns > max ? ns : max;
		longest = links > longest ? links : longest;
	}
	expect_eq(num_at(root, "total_waits"), nr);
	if (!nr)
		return;
	expect_eq(num_at(root, "compound_delay.max"), max);
	assert_true(real_at(root, "compound_delay.mean") == (double)sum / (double)nr);
	expect_eq(num_at(root, "longest_chain"), longest);
}

static void check_pair(const struct ref *ref, const struct report_node *at)
{
	uint64_t by = !is_null_at(at, "waker_interrupt") ? REF_INTERRUPT
	              : is_null_at(at, "waker_pid")      ? 0
	                                                 : num_at(at, "waker_pid");
	uint64_t tid = num_at(at, "wakee_pid"), nr = 0, max = 0;

	for (int i = 0; i < ref->nr_waits; i++) {
		const struct ref_wait *w = &ref->waits[i];

		if (w->is_open || w->cause == PAIR_PREEMPTED || w->tid != tid || w->by != by)
			continue;
		nr++;
		max = delay(w) > max ? delay(w) : max;
	}
	expect_eq(num_at(at, "wakeup_count"), nr);
	assert_true(real_at(at, "max_latency_us") == (double)max / 1e3);
}

static void check_pairs(struct pass_fixture *p, const struct ref *ref)
{
	const struct report_node *root = run_pass(p, &pass_wakeup_relations);
	uint64_t nr = 0, shown = 0;

	for (int i = 0; i < ref->nr_waits; i++)
		nr += !ref->waits[i].is_open && ref->waits[i].cause != PAIR_PREEMPTED;
	for (const struct report_node *at = report_at(root, "relationships")->first; at;
	     at = at->next) {
		check_pair(ref, at);
		shown += num_at(at, "wakeup_count");
	}
	expect_eq(num_at(root, "total_wakeups"), nr);
	expect_eq(shown, nr);
}

static void wakers_and_delays(void **state)
{
	static struct ref ref;

	(void)state;
	for (unsigned int seed = 1; seed <= STREAMS; seed++) {
		struct ref_cfg cfg = { .seed = seed,
			               .has_waking = seed % 3 != 0,
			               .has_wakeup = seed % 3 != 1,
			               .scale = 1000 };
		struct pass_fixture *p;
		void *made;

		assert_int_equal(pass_setup(&made), 0);
		p = made;
		p->args.limit = 1000;
		ref_make(&ref, &cfg);
		ref_push(&ref, p);
		ref_pair(&ref);
		if (pass_applies(&pass_compound_delay, &p->source)) {
			check_compound(p, &ref);
			check_pairs(p, &ref);
		}
		pass_teardown(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wakers_and_delays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
