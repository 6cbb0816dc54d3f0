#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "collect/stat/stat_unpack.h"

#define HEAD offsetof(struct abi_hist, slots)

/* A packed record under construction. */
struct wire {
	_Alignas(8) char bytes[sizeof(union stat_unpacked)];
	size_t len;
};

static void put(struct wire *w, const void *from, size_t n)
{
	memcpy(w->bytes + w->len, from, n);
	w->len += n;
}

static void put_hist(struct wire *w, const struct abi_hist *h)
{
	put(w, h, HEAD);
	for (unsigned int b = 0; b < HIST_BLOCKS; b++)
		if (h->blocks & (1U << b))
			put(w, &h->slots[b * HIST_BLOCK_SLOTS], HIST_BLOCK_SLOTS * sizeof(__u32));
}

static struct stat_rec *rec_of(struct wire *w)
{
	return (struct stat_rec *)w->bytes;
}

static struct abi_hist some_hist(__u32 seed)
{
	struct abi_hist h = { .sum_ns = seed, .count = 3, .blocks = 1U << 2 | 1U << 26 };

	h.slots[2 * HIST_BLOCK_SLOTS + 1] = seed;
	h.slots[26 * HIST_BLOCK_SLOTS + 7] = seed + 1;
	return h;
}

static struct wire task_record(void)
{
	struct stat_task task = { 0 };
	struct abi_hist first = some_hist(10), second = some_hist(20);
	struct stat_depth depth = { .count = 1, .blocks = 1U << 1, .slots = { [9] = 1 } };
	__u64 counters[1 + STAT_COUNTERS] = { 5, 6, 7 };
	struct wire w = { .len = 0 };

	task.rec.kind = STAT_REC_TASK | STAT_REC_PACKED | STAT_REC_HAS_DEPTH |
	                STAT_REC_HAS_COUNTERS;
	task.rec.mask = 1U << STAT_DELAY_WOKEN | 1U << STAT_SLEEP_D;
	task.id.tid = 7;
	put(&w, &task, offsetof(struct stat_task, depth));
	put(&w, &depth, offsetof(struct stat_depth, slots));
	put(&w, &depth.slots[HIST_BLOCK_SLOTS], HIST_BLOCK_SLOTS * sizeof(__u32));
	put(&w, counters, sizeof(counters));
	put_hist(&w, &first);
	put_hist(&w, &second);
	rec_of(&w)->size = (__u32)w.len;
	return w;
}

static void a_task_comes_out_with_all_its_slots(void **state)
{
	struct wire w = task_record();
	struct abi_hist first = some_hist(10), second = some_hist(20);
	union stat_unpacked out;

	(void)state;
	memset(&out, 0, sizeof(out));
	expect_eq(stat_unpack(rec_of(&w), w.len, &out),
	          sizeof(struct stat_task) + 2 * sizeof(struct abi_hist));
	expect_eq(out.rec.kind, STAT_REC_TASK);
	expect_eq(out.rec.size, sizeof(struct stat_task) + 2 * sizeof(struct abi_hist));
	expect_eq(out.task.task.id.tid, 7);
	expect_eq(out.task.task.depth.slots[9], 1);
	expect_eq(out.task.task.depth.slots[1], 0);
	expect_eq(out.task.task.counter_slices, 5);
	expect_eq(out.task.task.counters[1], 7);
	assert_memory_equal(&out.task.hists[0], &first, sizeof(first));
	assert_memory_equal(&out.task.hists[1], &second, sizeof(second));
}

static void a_waking_comes_out_with_all_its_slots(void **state)
{
	struct stat_waking waking = { 0 };
	struct abi_hist hist = some_hist(5);
	struct wire w = { .len = 0 };
	union stat_unpacked out = { 0 };

	(void)state;
	waking.rec.kind = STAT_REC_WAKING | STAT_REC_PACKED;
	waking.id.tid = 9;
	put(&w, &waking, offsetof(struct stat_waking, hist));
	put_hist(&w, &hist);
	rec_of(&w)->size = (__u32)w.len;

	expect_eq(stat_unpack(rec_of(&w), w.len, &out), sizeof(struct stat_waking));
	expect_eq(out.waking.id.tid, 9);
	assert_memory_equal(&out.waking.hist, &hist, sizeof(hist));
}

static void what_came_from_queues_comes_out_whole(void **state)
{
	struct stat_queued queued = { .runs = { 100, 3, 2, 7, 1, 5 } };
	struct abi_hist hist = some_hist(5);
	struct wire w = { .len = 0 };
	union stat_unpacked out = { 0 };

	(void)state;
	queued.rec.kind = STAT_REC_QUEUED | STAT_REC_PACKED;
	queued.id.tid = 9;
	put(&w, &queued, offsetof(struct stat_queued, hist));
	put_hist(&w, &hist);
	rec_of(&w)->size = (__u32)w.len;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), sizeof(struct stat_queued));
	expect_eq(out.rec.kind, STAT_REC_QUEUED);
	assert_memory_equal(&out.queued.runs, &queued.runs, sizeof(queued.runs));
	assert_memory_equal(&out.queued.hist, &hist, sizeof(hist));
	rec_of(&w)->size = (__u32)--w.len;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), -EBADMSG);
}

static void parts_without_changes_come_out_as_zeroes(void **state)
{
	struct stat_task task = { .run_ns = 3 };
	struct wire w = { .len = 0 };
	union stat_unpacked out;

	(void)state;
	memset(&out, 0xff, sizeof(out));
	task.rec.kind = STAT_REC_TASK | STAT_REC_PACKED;
	task.rec.size = offsetof(struct stat_task, depth);
	put(&w, &task, offsetof(struct stat_task, depth));
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), sizeof(struct stat_task));
	expect_eq(out.task.task.run_ns, 3);
	expect_eq(out.task.task.depth.count, 0);
	expect_eq(out.task.task.counters[0], 0);
}

static void every_shorter_length_is_refused(void **state)
{
	struct wire w = task_record();
	union stat_unpacked out;

	(void)state;
	for (size_t len = sizeof(struct stat_rec); len < w.len; len++) {
		rec_of(&w)->size = (__u32)len;
		expect_eq(stat_unpack(rec_of(&w), len, &out), -EBADMSG);
	}
}

static void what_does_not_add_up_is_refused(void **state)
{
	struct wire w = task_record();
	union stat_unpacked out;

	(void)state;
	expect_eq(stat_unpack(rec_of(&w), 4, &out), -EBADMSG);
	rec_of(&w)->size++;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), -EBADMSG); /* size is not the length */
	w = task_record();
	rec_of(&w)->kind = STAT_REC_TASK;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), -EBADMSG); /* not packed */
	w = task_record();
	rec_of(&w)->mask |= 1U << STAT_STORED_METRICS;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), -EBADMSG); /* no such metric */
	w = task_record();
	rec_of(&w)->mask = 0;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), -EBADMSG); /* bytes are left over */
	w = task_record();
	((struct stat_depth *)(w.bytes + offsetof(struct stat_task, depth)))->blocks |= 1U << 8;
	expect_eq(stat_unpack(rec_of(&w), w.len, &out), -EBADMSG); /* no such block */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_comes_out_with_all_its_slots),
		cmocka_unit_test(a_waking_comes_out_with_all_its_slots),
		cmocka_unit_test(what_came_from_queues_comes_out_whole),
		cmocka_unit_test(parts_without_changes_come_out_as_zeroes),
		cmocka_unit_test(every_shorter_length_is_refused),
		cmocka_unit_test(what_does_not_add_up_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
