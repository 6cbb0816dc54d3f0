#include "../unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "collect/sample/mmap_record.h"
#include "collect/sample/perf_ring.h"

#define RING_BYTES 4096U
#define TIME       123456789ULL

/* A record under construction: the kernel's layout, number by number. */
struct wire {
	_Alignas(8) uint8_t bytes[4096];
	size_t len;
};

static void put(struct wire *w, const void *from, size_t n)
{
	memcpy(w->bytes + w->len, from, n);
	w->len += n;
}

static void put32(struct wire *w, uint32_t v)
{
	put(w, &v, sizeof(v));
}

static void put64(struct wire *w, uint64_t v)
{
	put(w, &v, sizeof(v));
}

static struct wire begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header head = { .type = type, .misc = misc };
	struct wire w = { .len = 0 };

	put(&w, &head, sizeof(head));
	return w;
}

static void set_size(struct wire *w)
{
	((struct perf_event_header *)w->bytes)->size = (uint16_t)w->len;
}

static void end(struct wire *w, uint32_t pid)
{
	put32(w, pid);
	put32(w, pid);
	put64(w, TIME);
	set_size(w);
}

static void put_padded(struct wire *w, const char *text)
{
	size_t len = strlen(text) + 1;

	put(w, text, len);
	while (w->len % 8)
		put(w, "", 1);
}

static struct wire mapping(const char *path, uint16_t misc)
{
	struct wire w = begin(PERF_RECORD_MMAP2, misc);

	put32(&w, 7);
	put32(&w, 8);
	put64(&w, 0x10000);
	put64(&w, 0x3000);
	put64(&w, 0x2000);
	put32(&w, 8);
	put32(&w, 1);
	put64(&w, 4711);
	put64(&w, 1);
	put32(&w, 5);
	put32(&w, 2);
	put_padded(&w, path);
	end(&w, 7);
	return w;
}

static struct wire life(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid)
{
	struct wire w = begin(type, 0);

	put32(&w, pid);
	put32(&w, ppid);
	put32(&w, tid);
	put32(&w, ppid);
	put64(&w, TIME - 1);
	end(&w, pid);
	return w;
}

static void a_mapping_has_its_file_and_place(void **state)
{
	struct wire w = mapping("/lib/x.so", 0);
	struct mmap_report r;

	(void)state;
	expect_eq(mmap_record_parse(w.bytes, w.len, &r), 1);
	expect_eq(r.what, MMAP_MAPPED);
	expect_eq(r.ts_ns, TIME);
	expect_eq(r.tgid, 7);
	expect_eq(r.start, 0x10000);
	expect_eq(r.end, 0x13000);
	expect_eq(r.offset, 0x2000);
	expect_eq(r.dev_major, 8);
	expect_eq(r.dev_minor, 1);
	expect_eq(r.inode, 4711);
	assert_string_equal(r.path, "/lib/x.so");
}

static void a_mark_of_others_that_ask_for_build_ids_changes_nothing(void **state)
{
	struct wire w = mapping("/lib/x.so", PERF_RECORD_MISC_MMAP_BUILD_ID);
	struct mmap_report r;

	(void)state;
	expect_eq(mmap_record_parse(w.bytes, w.len, &r), 1);
	expect_eq(r.inode, 4711);
	expect_eq(r.dev_major, 8);
	assert_string_equal(r.path, "/lib/x.so");
}

static void an_exec_is_reported_and_another_name_is_not(void **state)
{
	struct wire exec = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC),
		    name = begin(PERF_RECORD_COMM, 0);
	struct mmap_report r;

	(void)state;
	put32(&exec, 7);
	put32(&exec, 7);
	put_padded(&exec, "ls");
	end(&exec, 7);
	put32(&name, 7);
	put32(&name, 9);
	put_padded(&name, "worker");
	end(&name, 7);
	expect_eq(mmap_record_parse(exec.bytes, exec.len, &r), 1);
	expect_eq(r.what, MMAP_EXEC);
	expect_eq(r.tgid, 7);
	expect_eq(mmap_record_parse(name.bytes, name.len, &r), 0);
}

static void processes_begin_and_end_and_threads_are_left_out(void **state)
{
	struct wire child = life(PERF_RECORD_FORK, 9, 7, 9),
		    thread = life(PERF_RECORD_FORK, 7, 7, 10),
		    leader = life(PERF_RECORD_EXIT, 9, 7, 9),
		    other = life(PERF_RECORD_EXIT, 7, 7, 10);
	struct mmap_report r;

	(void)state;
	expect_eq(mmap_record_parse(child.bytes, child.len, &r), 1);
	expect_eq(r.what, MMAP_FORK);
	expect_eq(r.tgid, 9);
	expect_eq(r.parent_tgid, 7);
	expect_eq(mmap_record_parse(thread.bytes, thread.len, &r), 0);
	expect_eq(mmap_record_parse(leader.bytes, leader.len, &r), 1);
	expect_eq(r.what, MMAP_EXIT);
	expect_eq(r.tgid, 9);
	expect_eq(mmap_record_parse(other.bytes, other.len, &r), 0);
}

static void losses_are_counted(void **state)
{
	struct wire lost = begin(PERF_RECORD_LOST, 0), other = life(PERF_RECORD_EXIT, 9, 7, 9);
	struct mmap_report r;

	(void)state;
	put64(&lost, 1);
	put64(&lost, 42);
	end(&lost, 0);
	expect_eq(mmap_record_parse(lost.bytes, lost.len, &r), 0);
	expect_eq(mmap_record_lost(lost.bytes, lost.len), 42);
	expect_eq(mmap_record_lost(other.bytes, other.len), 0);
	expect_eq(mmap_record_lost(lost.bytes, 16), 0);
}

static void every_cut_of_a_record_is_refused(void **state)
{
	struct wire w = mapping("/lib/x.so", 0), fork = life(PERF_RECORD_FORK, 9, 7, 9);
	struct mmap_report r;

	(void)state;
	for (size_t len = 0; len < w.len; len += 8) {
		struct wire cut = w;

		cut.len = len;
		if (len >= sizeof(struct perf_event_header))
			set_size(&cut);
		expect_eq(mmap_record_parse(cut.bytes, len, &r), -EINVAL);
	}
	fork.len -= 8;
	expect_eq(mmap_record_parse(fork.bytes, fork.len, &r), -EINVAL); /* size says more */
	set_size(&fork);
	expect_eq(mmap_record_parse(fork.bytes, fork.len, &r), -EINVAL);
}

static void a_mapping_that_wraps_around_is_refused(void **state)
{
	struct wire w = mapping("/lib/x.so", 0);
	uint64_t all = UINT64_MAX;
	struct mmap_report r;

	(void)state;
	memcpy(w.bytes + 24, &all, sizeof(all));
	expect_eq(mmap_record_parse(w.bytes, w.len, &r), -EINVAL);
}

/* A ring in memory of our own. */
struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[RING_BYTES];
	uint8_t whole[PERF_RING_RECORD_MAX];
	struct perf_ring ring;
};

static void fake_init(struct fake *f, uint64_t at)
{
	memset(f, 0, sizeof(*f));
	f->page.data_head = at;
	f->page.data_tail = at;
	f->ring = (struct perf_ring){
		.page = &f->page,
		.data = f->data,
		.bytes = RING_BYTES,
		.at = at,
		.until = at,
		.whole = f->whole,
	};
}

static void fake_write(struct fake *f, const struct wire *w)
{
	for (size_t i = 0; i < w->len; i++)
		f->data[(f->page.data_head + i) % RING_BYTES] = w->bytes[i];
	f->page.data_head += w->len;
}

static void a_record_that_goes_round_the_end_is_whole(void **state)
{
	struct wire first = life(PERF_RECORD_EXIT, 9, 7, 9), second = mapping("/lib/x.so", 0);
	const struct perf_event_header *record;
	struct mmap_report r;
	struct fake f;
	bool is_bad;

	(void)state;
	fake_init(&f, 10 * RING_BYTES - first.len - 16);
	fake_write(&f, &first);
	fake_write(&f, &second);
	assert_null(perf_ring_peek(&f.ring, &is_bad)); /* not looked yet */
	perf_ring_update(&f.ring);
	record = perf_ring_peek(&f.ring, &is_bad);
	expect_eq(mmap_record_parse(record, record->size, &r), 1);
	expect_eq(r.what, MMAP_EXIT);
	perf_ring_skip(&f.ring, record);
	record = perf_ring_peek(&f.ring, &is_bad);
	assert_non_null(record);
	expect_eq(mmap_record_parse(record, record->size, &r), 1);
	assert_string_equal(r.path, "/lib/x.so");
	perf_ring_skip(&f.ring, record);
	assert_null(perf_ring_peek(&f.ring, &is_bad));
	assert_false(is_bad);
	perf_ring_release(&f.ring);
	expect_eq(f.page.data_tail, f.page.data_head);
}

static void a_size_that_cannot_be_ends_the_reading_once(void **state)
{
	static const uint16_t sizes[] = { 0, 4, 9, 4000, 60000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct wire w = life(PERF_RECORD_EXIT, 9, 7, 9);
		struct fake f;
		bool is_bad;

		((struct perf_event_header *)w.bytes)->size = sizes[i];
		fake_init(&f, 0);
		fake_write(&f, &w);
		perf_ring_update(&f.ring);
		assert_null(perf_ring_peek(&f.ring, &is_bad));
		assert_true(is_bad);
		assert_null(perf_ring_peek(&f.ring, &is_bad));
		assert_false(is_bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_has_its_file_and_place),
		cmocka_unit_test(a_mark_of_others_that_ask_for_build_ids_changes_nothing),
		cmocka_unit_test(an_exec_is_reported_and_another_name_is_not),
		cmocka_unit_test(processes_begin_and_end_and_threads_are_left_out),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(every_cut_of_a_record_is_refused),
		cmocka_unit_test(a_mapping_that_wraps_around_is_refused),
		cmocka_unit_test(a_record_that_goes_round_the_end_is_whole),
		cmocka_unit_test(a_size_that_cannot_be_ends_the_reading_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
