/* Indexes that snapshots share: what they find is what looking at every row finds, whatever came and went between them. */
#include "../unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/budget.h"
#include "model/timeline_moment.h"
#include "model/timeline_priv.h"

#define ROWS     ((uint64_t)TIMELINE_CHUNK_ROWS)
#define PART     (32 * ROWS)
#define NR_TASKS 40U
#define NR_CPUS  5U
#define SHOTS    (IS_SANITIZED ? 2U : 8U)

struct world {
	struct timeline *t;
	struct pair_out out;
	uint64_t now_ns;
	unsigned int seed;
	unsigned int late_in; /* one sleep in so many ends before those that came earlier; 0 = none */
};

static void make(struct world *w, uint64_t window_ns, unsigned int seed, unsigned int late_in)
{
	*w = (struct world){ .now_ns = 1000000, .seed = seed, .late_in = late_in };
	expect_eq(timeline_new(&(struct timeline_cfg){ .window_ns = window_ns }, &w->t), 0);
	w->out = timeline_out(w->t);
}

static uint64_t below(struct world *w, uint64_t n)
{
	return ((uint64_t)rand_r(&w->seed) << 16 ^ (uint64_t)rand_r(&w->seed)) % n;
}

static void add(struct world *w, const struct pair_out *out)
{
	uint64_t len_ns = below(w, 3000), late_ns = 0;
	uint32_t task = (uint32_t)below(w, NR_TASKS);
	uint16_t cpu = (uint16_t)below(w, NR_CPUS);

	w->now_ns += below(w, 3);
	if (w->late_in && below(w, w->late_in) == 0)
		late_ns = below(w, 20000);
	if (below(w, 2))
		out->slice(out->ctx, &(struct pair_slice){ .start_ns = w->now_ns - len_ns,
		                                           .end_ns = w->now_ns,
		                                           .task = task,
		                                           .cpu = cpu });
	else
		out->sleep(out->ctx, &(struct pair_sleep){ .start_ns = w->now_ns - late_ns - len_ns,
		                                           .end_ns = w->now_ns - late_ns,
		                                           .task = task,
		                                           .cpu = cpu });
}

static void add_many(struct world *w, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		add(w, &w->out);
}

/* What a query asks for of a row. */
struct row {
	uint64_t start_ns, end_ns, id;
	uint32_t task, cpu;
};

/* All rows of a table, in the order of their ids. */
struct rows {
	struct row *all;
	size_t nr;
};

static int by_end(const void *left, const void *right)
{
	const struct row *x = left, *y = right;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Slices and sleeps begin with the same members. */
_Static_assert(offsetof(struct pair_slice, end_ns) == offsetof(struct pair_sleep, end_ns) &&
                       offsetof(struct pair_slice, task) == offsetof(struct pair_sleep, task) &&
                       offsetof(struct pair_slice, cpu) == offsetof(struct pair_sleep, cpu),
               "rows are read as slices");

static struct rows read_rows(struct timeline *t, enum timeline_table table)
{
	uint64_t first = timeline_first(t, table), end = timeline_end(t, table);
	struct rows rows = { .all = calloc(end - first + 1, sizeof(struct row)) };
	union timeline_row row;

	assert_non_null(rows.all);
	for (uint64_t id = first; id < end; id++) {
		assert_true(timeline_row(t, table, id, &row));
		rows.all[rows.nr++] = (struct row){ row.slice.start_ns, row.slice.end_ns, id,
			                            row.slice.task, row.slice.cpu };
	}
	return rows;
}

static bool is_of(const struct row *row, const struct timeline_query *q)
{
	return (q->task == TASKS_NONE || row->task == q->task) &&
	       (q->cpu == TIMELINE_ANY_CPU || row->cpu == q->cpu);
}

/* All rows of the key that overlap the time, in the order of their ends. */
static size_t look_at_all(const struct rows *rows, const struct timeline_query *q, struct row *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct row *row = &rows->all[i];

		if (is_of(row, q) && row->start_ns < q->to_ns &&
		    (row->end_ns > q->from_ns ||
		     (row->end_ns == row->start_ns && row->end_ns == q->from_ns)))
			out[nr++] = *row;
	}
	qsort(out, nr, sizeof(*out), by_end);
	return nr;
}

/* The last one of the key that has ended by the beginning of the time. */
static void check_before(struct timeline *t, const struct timeline_query *q,
                         const struct rows *rows)
{
	const struct row *last = NULL;
	union timeline_row row, want;
	bool has;

	for (size_t i = 0; i < rows->nr; i++)
		if (is_of(&rows->all[i], q) && rows->all[i].end_ns <= q->from_ns &&
		    (!last || by_end(&rows->all[i], last) > 0))
			last = &rows->all[i];
	has = timeline_before(t, &(struct timeline_whose){ q->table, q->task, q->cpu }, q->from_ns,
	                      &row);
	expect_eq(has, last != NULL);
	if (!last)
		return;
	assert_true(timeline_row(t, q->table, last->id, &want));
	assert_memory_equal(&row, &want, sizeof(row));
}

static void check(struct world *w, struct timeline *t, unsigned int nr_queries)
{
	const struct rows slices = read_rows(t, TIMELINE_SLICE);
	const struct rows sleeps = read_rows(t, TIMELINE_SLEEP);
	struct row *all = calloc(slices.nr + sleeps.nr + 1, sizeof(*all));

	assert_non_null(all);
	for (unsigned int i = 0; i < nr_queries; i++) {
		bool is_task = below(w, 2);
		struct timeline_query q = {
			.table = below(w, 2) ? TIMELINE_SLICE : TIMELINE_SLEEP,
			.task = is_task ? (uint32_t)below(w, NR_TASKS + 1) : TASKS_NONE,
			.cpu = is_task ? TIMELINE_ANY_CPU : (uint32_t)below(w, NR_CPUS + 1),
			.from_ns = below(w, w->now_ns + 100),
			.to_ns = below(w, 2) ? UINT64_MAX : below(w, w->now_ns + 100),
		};
		const struct rows *rows = q.table == TIMELINE_SLICE ? &slices : &sleeps;
		size_t nr = look_at_all(rows, &q, all), at = 0;
		struct timeline_iter it;
		uint64_t id;

		expect_eq(timeline_find(t, &q, &it), 0);
		for (; timeline_next(&it, &id, NULL); at++)
			assert_true(at < nr && id == all[at].id);
		expect_eq(at, nr);
		check_before(t, &q, rows);
	}
	free(all);
	free(slices.all);
	free(sleeps.all);
}

/* Snapshots of different ages live at the same time; rows are added to them, as those that are open. */
static void run(unsigned int seed, unsigned int late_in)
{
	struct timeline *shots[SHOTS] = { NULL };
	struct world w;

	make(&w, 500000, seed, late_in);
	for (unsigned int i = 0; i < 2 * SHOTS; i++) {
		struct timeline **shot = &shots[below(&w, SHOTS)];
		struct pair_out out;

		add_many(&w, below(&w, below(&w, 4) ? 3 * ROWS : 2 * PART));
		timeline_advance(w.t, w.now_ns);
		if (*shot)
			check(&w, *shot, 3);
		timeline_free(*shot);
		*shot = NULL;
		expect_eq(timeline_snapshot(w.t, shot), 0);
		out = timeline_out(*shot);
		for (uint64_t k = below(&w, 10); k; k--)
			add(&w, &out);
		if (below(&w, 3))
			check(&w, *shot, 4);
		if (below(&w, 4) == 0)
			check(&w, w.t, 3);
	}
	for (unsigned int i = 0; i < SHOTS; i++)
		timeline_free(shots[i]);
	timeline_free(w.t);
}

static void an_index_finds_what_looking_at_all_rows_finds(void **state)
{
	(void)state;
	run(1, 0);
	run(2, 100000);
	run(3, 50); /* so many are late that parts cannot be told apart by time */
}

static uint32_t nr_shared(const struct timeline *a, const struct timeline *b)
{
	const struct timeline_list *x = &a->tables[TIMELINE_SLICE].by_task;
	const struct timeline_list *y = &b->tables[TIMELINE_SLICE].by_task;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < x->nr; i++)
		for (uint32_t k = 0; k < y->nr; k++)
			nr += x->parts[i] == y->parts[k];
	return nr;
}

/* What the next one has to index does not grow with the window: the rows that have come, and what is left of the oldest part. */
static void a_snapshot_takes_over_what_is_indexed(void **state)
{
	struct timeline *first, *second;
	struct world w;

	(void)state;
	make(&w, 2000000, 4, 0);
	add_many(&w, 20 * PART);
	expect_eq(timeline_snapshot(w.t, &first), 0);
	expect_eq(timeline_index(first, TIMELINE_SLICE, true), 0);
	assert_true(first->tables[TIMELINE_SLICE].by_task.nr >= 8);
	add_many(&w, 3 * ROWS);
	expect_eq(timeline_snapshot(w.t, &second), 0);
	assert_true(timeline_first(second, TIMELINE_SLICE) > timeline_first(first, TIMELINE_SLICE));
	expect_eq(timeline_index(second, TIMELINE_SLICE, true), 0);
	/* All but the first and the last part, and the rows of the last chunk. */
	assert_true(nr_shared(first, second) + 3 >= first->tables[TIMELINE_SLICE].by_task.nr);
	check(&w, first, 1);
	timeline_free(first);
	check(&w, second, 2);
	timeline_free(second);
	timeline_free(w.t);
}

static void *index_shot(void *shot)
{
	expect_eq(timeline_index(shot, TIMELINE_SLICE, true), 0);
	expect_eq(timeline_index(shot, TIMELINE_SLEEP, false), 0);
	return NULL;
}

static void snapshots_are_indexed_at_the_same_time(void **state)
{
	struct timeline *shots[4];
	pthread_t threads[4];
	struct world w;

	(void)state;
	make(&w, 300000, 5, 1000);
	for (int i = 0; i < 4; i++) {
		add_many(&w, 2 * PART);
		expect_eq(timeline_snapshot(w.t, &shots[i]), 0);
		expect_eq(pthread_create(&threads[i], NULL, index_shot, shots[i]), 0);
	}
	add_many(&w, PART);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		check(&w, shots[i], 3);
		timeline_free(shots[i]);
	}
	timeline_free(w.t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_finds_what_looking_at_all_rows_finds),
		cmocka_unit_test(a_snapshot_takes_over_what_is_indexed),
		cmocka_unit_test(snapshots_are_indexed_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
