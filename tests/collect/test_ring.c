#include "collect/ring.h"

#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define BYTES ((size_t)1 << 20)

/*
 * A file that lies as the kernel's map does: a page of the consumer, one of the producer, the data, and the data again. What a producer
 * writes is written into both.
 */
struct fake {
	int fd;
	size_t page;
	uint8_t *all;
	uint64_t at; /* of the producer */
};

static void fake_init(struct fake *f)
{
	f->page = (size_t)sysconf(_SC_PAGESIZE);
	f->at = 0;
	f->fd = memfd_create("test-ring", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
	assert_int_equal(ftruncate(f->fd, (off_t)(2 * f->page + 2 * BYTES)), 0);
	f->all = mmap(NULL, 2 * f->page + 2 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	assert_ptr_not_equal(f->all, MAP_FAILED);
}

static void fake_done(struct fake *f)
{
	munmap(f->all, 2 * f->page + 2 * BYTES);
	close(f->fd);
}

static void put_bytes(struct fake *f, uint64_t at, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t place = 2 * f->page + ((at + i) & (BYTES - 1));

		f->all[place] = f->all[place + BYTES] = ((const uint8_t *)bytes)[i];
	}
}

static uint64_t whole(size_t len)
{
	return (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
}

/* A record of that many bytes, all of one value. */
static void put(struct fake *f, size_t len, uint8_t value, uint32_t flags)
{
	uint32_t head[2] = { (uint32_t)len | flags, 0 };
	uint8_t *bytes = malloc(len);

	assert_non_null(bytes);
	memset(bytes, value, len);
	put_bytes(f, f->at, head, sizeof(head));
	put_bytes(f, f->at + BPF_RINGBUF_HDR_SZ, bytes, len);
	free(bytes);
	f->at += whole(len);
	__atomic_store_n((uint64_t *)(f->all + f->page), f->at, __ATOMIC_RELEASE);
}

static void expect_record(struct ring *r, size_t wanted_len, uint8_t value)
{
	const void *rec = NULL;
	size_t len = 0;

	assert_int_equal(ring_next(r, ring_end(r), &rec, &len), RING_RECORD);
	assert_int_equal(len, wanted_len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(((const uint8_t *)rec)[i], value);
}

static uint64_t consumer(const struct fake *f)
{
	return __atomic_load_n((const uint64_t *)f->all, __ATOMIC_ACQUIRE);
}

static void records_come_in_order_and_room_is_given_back(void **state)
{
	struct ring *r = NULL;
	struct fake f;
	const void *rec;
	size_t len;

	(void)state;
	fake_init(&f);
	assert_int_equal(ring_open(f.fd, BYTES, NULL, &r), 0);
	assert_int_equal(ring_next(r, ring_end(r), &rec, &len), RING_END);
	put(&f, 24, 1, 0);
	put(&f, 100, 2, BPF_RINGBUF_DISCARD_BIT);
	put(&f, 1, 3, 0);
	put(&f, 40, 4, BPF_RINGBUF_BUSY_BIT);
	expect_record(r, 24, 1);
	expect_record(r, 1, 3);
	assert_int_equal(ring_next(r, ring_end(r), &rec, &len), RING_BUSY);
	assert_int_equal(consumer(&f), 0);
	ring_release(r);
	assert_int_equal(consumer(&f), whole(24) + whole(100) + whole(1));
	ring_close(r);
	fake_done(&f);
}

static uint64_t room_to_end(const struct fake *f)
{
	return BYTES - (f->at & (BYTES - 1));
}

static void put_and_read(struct fake *f, struct ring *r, size_t len, uint8_t value)
{
	put(f, len, value, 0);
	expect_record(r, len, value);
	ring_release(r);
}

/* The longest that there is, begun 8, 16, ... bytes before the end. */
static void a_record_across_the_end_is_whole(void **state)
{
	struct ring *r = NULL;
	struct fake f;

	(void)state;
	fake_init(&f);
	assert_int_equal(ring_open(f.fd, BYTES, NULL, &r), 0);
	for (uint8_t i = 1; i <= 16; i++) {
		while (room_to_end(&f) > RING_RECORD_MAX)
			put_and_read(&f, r, 40000, i);
		put_and_read(&f, r, room_to_end(&f) - 8U * i - BPF_RINGBUF_HDR_SZ, i);
		assert_int_equal(room_to_end(&f), 8U * i);
		put_and_read(&f, r, RING_RECORD_MAX, (uint8_t)(100 + i));
	}
	ring_close(r);
	fake_done(&f);
}

/* Of the mappings of test rings in this process. */
static size_t bytes_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512];
	size_t sum = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:test-ring") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2) /* NOLINT(cert-err34-c) */
			sum += to - from;
	fclose(maps);
	return sum;
}

/* All pages of such a mapping count as resident, used or not. */
static void it_is_not_mapped_twice(void **state)
{
	struct ring *r = NULL;
	struct fake f;
	size_t before, while_open;

	(void)state;
	fake_init(&f);
	before = bytes_mapped();
	assert_int_equal(ring_open(f.fd, BYTES, NULL, &r), 0);
	while_open = bytes_mapped() - before;
	assert_true(while_open >= BYTES + RING_RECORD_MAX);
	assert_true(while_open <= BYTES + RING_RECORD_MAX + 3 * f.page);
	ring_close(r);
	assert_int_equal(bytes_mapped(), before);
	fake_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order_and_room_is_given_back),
		cmocka_unit_test(a_record_across_the_end_is_whole),
		cmocka_unit_test(it_is_not_mapped_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
