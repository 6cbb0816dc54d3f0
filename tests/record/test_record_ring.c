#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_ring.h"

#define MS        1000000ULL
#define CHUNK     (RECORD_RING_CHUNK + 64)
#define NR_RANDOM 60000U

/* A record of any size with a number of its own. */
struct numbered {
	struct ev_hdr hdr;
	uint64_t number;
	unsigned char filling[4096];
};

static const struct ev_hdr *record(uint64_t ts_ns, uint64_t number, uint16_t size)
{
	static struct numbered rec;

	rec.hdr = (struct ev_hdr){ .size = size, .kind = EV_SWITCH, .ts_ns = ts_ns };
	rec.number = number;
	memset(rec.filling, (int)(number & 0xff), sizeof(rec.filling));
	return &rec.hdr;
}

static uint64_t number_of(const struct ev_hdr *rec)
{
	const struct numbered *n = (const struct numbered *)rec;

	for (size_t i = 0; i + 24 < rec->size; i++)
		expect_eq(n->filling[i], n->number & 0xff);
	return n->number;
}

/* What left, which must be in order. */
struct gone {
	uint64_t next;
	uint64_t nr_unread;
	uint64_t last_unread;
};

static void leaves(void *ctx, const struct ev_hdr *rec, bool is_unread)
{
	struct gone *g = ctx;

	expect_eq(number_of(rec), g->next);
	g->next++;
	g->nr_unread += is_unread;
	if (is_unread)
		g->last_unread = number_of(rec);
}

static struct record_ring *new_ring(uint64_t keep_ns, size_t bytes, struct gone *g)
{
	struct record_ring_cfg cfg = {
		.keep_ns = keep_ns, .max_bytes = bytes, .leaves = leaves, .ctx = g
	};
	struct record_ring *r = NULL;

	expect_eq(record_ring_new(&cfg, &r), 0);
	return r;
}

static void what_is_older_than_the_time_leaves(void **state)
{
	struct gone g = { 0 };
	struct record_ring *r = new_ring(100 * MS, 4 * CHUNK, &g);
	uint64_t oldest_ns;

	(void)state;
	assert_false(record_ring_oldest_ns(r, &oldest_ns));
	for (uint64_t i = 0; i < 1000; i++)
		expect_eq(record_ring_add(r, record(i * MS, i, 32)), 0);
	assert_true(record_ring_oldest_ns(r, &oldest_ns));
	expect_eq(oldest_ns, 899 * MS);
	expect_eq(record_ring_nr(r), 101);
	expect_eq(g.next, 899);
	expect_eq(record_ring_nr_cut(r), 0);
	expect_eq(record_ring_cut_ns(r), 0);
	record_ring_advance(r, 1099 * MS);
	expect_eq(record_ring_nr(r), 1);
	record_ring_advance(r, 5000 * MS);
	expect_eq(record_ring_nr(r), 0);
	assert_false(record_ring_oldest_ns(r, &oldest_ns));
	expect_eq(record_ring_add(r, record(6000 * MS, 1000, 32)), 0);
	expect_eq(record_ring_nr(r), 1);
	record_ring_free(r);
}

static void memory_is_a_bound_and_that_is_reported(void **state)
{
	struct gone g = { 0 };
	struct record_ring *r = new_ring(3600 * 1000 * MS, 3 * CHUNK, &g);
	uint64_t oldest_ns, per_chunk = RECORD_RING_CHUNK / 32;

	(void)state;
	for (uint64_t i = 0; i < 3 * per_chunk; i++)
		expect_eq(record_ring_add(r, record(i, i, 32)), 0);
	expect_eq(record_ring_nr_cut(r), 0);
	expect_eq(record_ring_add(r, record(3 * per_chunk, 3 * per_chunk, 32)), 0);
	expect_eq(record_ring_nr_cut(r), per_chunk);
	expect_eq(record_ring_cut_ns(r), per_chunk - 1);
	expect_eq(g.next, per_chunk);
	assert_true(record_ring_oldest_ns(r, &oldest_ns));
	expect_eq(oldest_ns, per_chunk);
	assert_true(record_ring_bytes(r) <= 3 * CHUNK);
	record_ring_free(r);
}

static void little_needs_little_memory_however_long(void **state)
{
	struct gone g = { 0 };
	struct record_ring *r = new_ring(MS, 64 * CHUNK, &g);

	(void)state;
	for (uint64_t i = 0; i < 40 * RECORD_RING_CHUNK / 1024; i++)
		expect_eq(record_ring_add(r, record(i * MS, i, 1024)), 0);
	assert_true(record_ring_bytes(r) <= 3 * CHUNK);
	record_ring_free(r);
}

static void a_cursor_reads_on_while_records_come(void **state)
{
	struct gone g = { 0 };
	struct record_ring *r = new_ring(10, 4 * CHUNK, &g);

	(void)state;
	assert_null(record_ring_next(r));
	for (uint64_t i = 0; i < 5; i++)
		expect_eq(record_ring_add(r, record(i, i, 32)), 0);
	record_ring_rewind(r);
	for (uint64_t i = 0; i < 5; i++)
		expect_eq(number_of(record_ring_next(r)), i);
	assert_null(record_ring_next(r));
	expect_eq(record_ring_add(r, record(100, 5, 32)), 0);
	expect_eq(record_ring_nr(r), 1); /* those that were read have left */
	expect_eq(record_ring_add(r, record(200, 6, 32)), 0);
	expect_eq(record_ring_nr(r), 2); /* this one has not been read */
	expect_eq(number_of(record_ring_next(r)), 5);
	expect_eq(number_of(record_ring_next(r)), 6);
	expect_eq(g.nr_unread, 0);
	record_ring_release(r);
	assert_null(record_ring_next(r));
	record_ring_free(r);
}

static void unread_ones_are_evicted_only_for_lack_of_memory_and_reported(void **state)
{
	struct gone g = { 0 };
	struct record_ring *r = new_ring(10, 2 * CHUNK, &g);
	uint64_t per_chunk = RECORD_RING_CHUNK / 64;

	(void)state;
	expect_eq(record_ring_add(r, record(0, 0, 64)), 0);
	record_ring_rewind(r);
	for (uint64_t i = 1; i < 2 * per_chunk; i++)
		expect_eq(record_ring_add(r, record(i * 100, i, 64)), 0);
	expect_eq(g.next, 0);
	expect_eq(record_ring_add(r, record(1000000, 2 * per_chunk, 64)), 0);
	expect_eq(g.nr_unread, per_chunk);
	expect_eq(g.last_unread, per_chunk - 1);
	expect_eq(number_of(record_ring_next(r)), per_chunk);
	record_ring_free(r);
}

/* Against a list: what was added is what left, followed by what is there; the cursor misses none silently. */
static void random_sizes_times_and_reads(void **state)
{
	struct gone g = { 0 };
	struct record_ring *r = new_ring(5000, 3 * CHUNK, &g);
	uint64_t *times = calloc(NR_RANDOM, sizeof(*times)), ts = 0, cursor = 0;
	bool has_cursor = false;
	unsigned int seed = 1;

	(void)state;
	for (uint64_t i = 0; i < NR_RANDOM; i++) {
		uint16_t size = (uint16_t)(24 + rand_r(&seed) % 200 * 8);
		uint64_t oldest_ns;

		ts += (uint64_t)rand_r(&seed) % (i / 10000 % 2 ? 3 : 60);
		times[i] = ts;
		expect_eq(record_ring_add(r, record(ts, i, size)), 0);
		expect_eq(g.next + record_ring_nr(r), i + 1);
		assert_true(record_ring_oldest_ns(r, &oldest_ns));
		expect_eq(oldest_ns, times[g.next]);
		if (cursor < g.next)
			cursor = g.next;
		if (!has_cursor && !record_ring_nr_cut(r))
			assert_true(g.next == 0 || times[g.next - 1] + 5000 < ts);
		if (!has_cursor)
			assert_true(times[g.next] + 5000 >= ts);
		switch (rand_r(&seed) % 64) {
		case 0:
			record_ring_rewind(r);
			has_cursor = true;
			cursor = g.next;
			break;
		case 1:
			record_ring_release(r);
			record_ring_advance(r, ts);
			has_cursor = false;
			break;
		default:
			for (int n = rand_r(&seed) % 4; has_cursor && n && cursor <= i; n--)
				expect_eq(number_of(record_ring_next(r)), cursor++);
		}
		assert_true(record_ring_bytes(r) <= 3 * CHUNK);
	}
	assert_true(record_ring_nr_cut(r) > 0 && g.nr_unread > 0);
	free(times);
	record_ring_free(r);
}

static void what_cannot_be_is_refused(void **state)
{
	struct record_ring_cfg cfg = { .keep_ns = 1, .max_bytes = CHUNK };
	struct record_ring *r = NULL;

	(void)state;
	assert_int_equal(record_ring_new(&cfg, &r), -EINVAL);
	cfg = (struct record_ring_cfg){ .max_bytes = 8 * CHUNK };
	assert_int_equal(record_ring_new(&cfg, &r), -EINVAL);
	assert_null(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_older_than_the_time_leaves),
		cmocka_unit_test(memory_is_a_bound_and_that_is_reported),
		cmocka_unit_test(little_needs_little_memory_however_long),
		cmocka_unit_test(a_cursor_reads_on_while_records_come),
		cmocka_unit_test(unread_ones_are_evicted_only_for_lack_of_memory_and_reported),
		cmocka_unit_test(random_sizes_times_and_reads),
		cmocka_unit_test(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
