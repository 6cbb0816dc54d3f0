/* Random lives of tasks, as the kernel would tell of them, against sums that were kept by hand. */
#include "../unit.h"

#include "fake_task.h"

#define NR_TASKS   12
#define NR_NAMES   4
#define NR_METRICS STAT_METRICS

static const char *const names[NR_NAMES] = { "a", "b", "c", "d" };

/* What is true of one name and metric. */
struct truth {
	struct hist total;
	struct hist intervals; /* as the tally reported them, added up */
	struct hist now;       /* read in this interval */
};

struct world {
	struct tally *tally;
	struct fake_task tasks[NR_TASKS];
	struct hist unread[NR_TASKS][NR_METRICS];
	uint32_t name_of[NR_TASKS];
	struct truth truth[NR_NAMES][NR_METRICS];
	uint32_t epoch;
	uint32_t next_tid;
	uint64_t now_ns;
	bool is_torn; /* copies may be made in the middle of a sample */
};

static uint32_t pick(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static struct abi_hist *kernel_hist(struct fake_task *f, uint32_t metric)
{
	if (metric == STAT_DSQ_LATENCY)
		return &f->queued.hist;
	return metric == STAT_WAKING ? &f->waking.hist : &f->hists[metric];
}

static void add_sample(struct world *w, uint32_t i)
{
	uint32_t metric = pick(NR_METRICS);
	uint64_t ns = (uint64_t)rand() % ((uint64_t)1 << (1 + pick(31)));

	fake_add(kernel_hist(&w->tasks[i], metric), w->epoch, ns, ++w->now_ns, i);
	hist_add(&w->unread[i][metric], ns, w->now_ns, i);
	hist_add(&w->truth[w->name_of[i]][metric].total, ns, w->now_ns, i);
}

static void read_task(struct world *w, uint32_t i, bool is_last)
{
	struct fake_task copy = w->tasks[i];

	/* The copy is made from front to back, so that its slots may be one sample newer. */
	if (w->is_torn && !is_last) {
		add_sample(w, i);
		for (uint32_t m = 0; m < STAT_STORED_METRICS; m++)
			memcpy(copy.hists[m].slots, w->tasks[i].hists[m].slots,
			       sizeof(copy.hists[m].slots));
	}
	if (pick(2)) {
		fake_send_at(w->tally, &copy, ALL_HISTS, is_last, 0);
		fake_send_waking(w->tally, &copy, is_last);
		fake_send_queued(w->tally, &copy, is_last);
	} else {
		fake_send_queued(w->tally, &copy, is_last);
		fake_send_waking(w->tally, &copy, is_last);
		fake_send_at(w->tally, &copy, ALL_HISTS, is_last, 0);
	}
	for (uint32_t m = 0; m < NR_METRICS; m++)
		hist_merge(&w->truth[w->name_of[i]][m].now, &w->unread[i][m]);
	memset(w->unread[i], 0, sizeof(w->unread[i]));
}

static void start_task(struct world *w, uint32_t i)
{
	w->name_of[i] = pick(NR_NAMES);
	fake_init(&w->tasks[i], ++w->next_tid, names[w->name_of[i]]);
}

static void rename_task(struct world *w, uint32_t i)
{
	read_task(w, i, true);
	w->name_of[i] = pick(NR_NAMES);
	fake_rename(&w->tasks[i], names[w->name_of[i]]);
}

static void live(struct world *w, uint32_t nr_steps)
{
	for (uint32_t step = 0; step < nr_steps; step++) {
		uint32_t i = pick(NR_TASKS), what = pick(40);

		if (what == 0) {
			read_task(w, i, true);
			start_task(w, i);
		} else if (what == 1) {
			rename_task(w, i);
		} else {
			add_sample(w, i);
		}
	}
}

static void expect_same_counts(const struct hist *a, const struct hist *b)
{
	expect_eq(a->count, b->count);
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		expect_eq(a->slots[i], b->slots[i]);
}

static const struct hist *reported(const struct world *w, uint32_t name, enum tally_view_kind view,
                                   uint32_t metric)
{
	static const struct hist empty;

	for (size_t i = 0; i < tally_nr_rows(w->tally); i++) {
		const struct tally_row *row = tally_row_at(w->tally, i);

		if (strcmp(row->comm, names[name]) == 0 && row->view[view].hist[metric])
			return row->view[view].hist[metric];
	}
	return &empty;
}

/* Extremes are in the true slot and never beyond the truth. */
static void check_interval(const struct world *w, const struct hist *h, const struct hist *truth)
{
	if (w->is_torn)
		return;
	expect_same_counts(h, truth);
	expect_eq(h->sum_ns, truth->sum_ns);
	if (h->count == 0)
		return;
	assert_true(h->max_ns <= truth->max_ns && h->min_ns >= truth->min_ns);
	expect_eq(hist_slot(h->max_ns), hist_slot(truth->max_ns));
	expect_eq(hist_slot(h->min_ns), hist_slot(truth->min_ns));
}

static void end_interval(struct world *w)
{
	for (uint32_t n = 0; n < NR_NAMES; n++) {
		for (uint32_t m = 0; m < NR_METRICS; m++) {
			const struct hist *h = reported(w, n, TALLY_INTERVAL, m);

			check_interval(w, h, &w->truth[n][m].now);
			hist_merge(&w->truth[n][m].intervals, h);
			memset(&w->truth[n][m].now, 0, sizeof(struct hist));
		}
	}
	tally_end_tick(w->tally, S);
	tally_begin_interval(w->tally);
}

static void check_totals(const struct world *w)
{
	for (uint32_t n = 0; n < NR_NAMES; n++) {
		for (uint32_t m = 0; m < NR_METRICS; m++) {
			const struct truth *truth = &w->truth[n][m];
			const struct hist *h = reported(w, n, TALLY_TOTAL, m);

			expect_same_counts(h, &truth->total);
			expect_eq(h->sum_ns, truth->total.sum_ns);
			expect_same_counts(&truth->intervals, &truth->total);
			expect_eq(h->min_ns, truth->total.min_ns);
			expect_eq(h->max_ns, truth->total.max_ns);
			if (w->is_torn) /* what came too late for an interval is not in any */
				continue;
			expect_eq(truth->intervals.sum_ns, h->sum_ns);
			expect_eq(truth->intervals.max_ns, h->max_ns);
			expect_eq(truth->intervals.min_ns, h->min_ns);
		}
	}
}

static void run_world(struct world *w, unsigned int seed, bool is_torn)
{
	srand(seed);
	memset(w, 0, sizeof(*w));
	w->is_torn = is_torn;
	w->tally = fake_tally(&(struct tally_cfg){ .by = TALLY_BY_COMM });
	for (uint32_t i = 0; i < NR_TASKS; i++)
		start_task(w, i);
	for (w->epoch = 1; w->epoch < 30;) {
		live(w, pick(100));
		w->epoch++; /* the drain begins */
		for (uint32_t i = 0; i < NR_TASKS; i++) {
			live(w, pick(4));
			read_task(w, i, false);
		}
		if (pick(2))
			end_interval(w);
	}
	for (uint32_t i = 0; i < NR_TASKS; i++)
		read_task(w, i, true);
	end_interval(w);
	check_totals(w);
	tally_free(w->tally);
}

static void totals_and_intervals_are_those_of_the_samples(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 1; seed <= 60; seed++)
		run_world(w, seed, false);
	free(w);
}

static void totals_are_exact_even_if_every_copy_is_torn(void **state)
{
	struct world *w = malloc(sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned int seed = 1; seed <= 60; seed++)
		run_world(w, seed, true);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_and_intervals_are_those_of_the_samples),
		cmocka_unit_test(totals_are_exact_even_if_every_copy_is_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
