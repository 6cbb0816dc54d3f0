/* tests/collect/fake_ring — a ring buffer as the kernel lays it out, filled by a test. */
#pragma once

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/event.h"
#include "collect/ring.h"

#define FAKE_RING_BYTES 65536

struct fake_ring {
	int fd;
	size_t page;
	uint8_t *map; /* consumer page, producer page, data, data again */
	struct ring *ring;
};

static inline uint64_t *fake_producer(struct fake_ring *f)
{
	return (uint64_t *)(f->map + f->page);
}

static inline void fake_ring_open(struct fake_ring *f)
{
	struct diag d = { 0 };
	size_t bytes;

	f->page = (size_t)sysconf(_SC_PAGESIZE);
	bytes = 2 * f->page + 2 * (size_t)FAKE_RING_BYTES;
	f->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(f->fd >= 0 && ftruncate(f->fd, (off_t)bytes) == 0);
	f->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	assert_true(f->map != MAP_FAILED);
	expect_eq(ring_open(f->fd, FAKE_RING_BYTES, &d, &f->ring), 0);
}

static inline void fake_ring_close(struct fake_ring *f)
{
	ring_close(f->ring);
	munmap(f->map, 2 * f->page + 2 * (size_t)FAKE_RING_BYTES);
	close(f->fd);
}

/* Both copies of the data: the kernel maps the same pages twice, a file cannot. */
static inline void fake_poke(struct fake_ring *f, uint64_t at, const void *bytes, size_t len)
{
	uint8_t *data = f->map + 2 * f->page;

	for (size_t i = 0; i < len; i++) {
		size_t pos = (size_t)((at + i) & (FAKE_RING_BYTES - 1));

		data[pos] = data[pos + FAKE_RING_BYTES] = ((const uint8_t *)bytes)[i];
	}
}

/* Returns the position of the record's header. flags are those of the ring, such as "busy". */
static inline uint64_t fake_put(struct fake_ring *f, const void *rec, uint32_t len, uint32_t flags)
{
	uint64_t at = *fake_producer(f);
	uint32_t head[2] = { len | flags, 0 };

	fake_poke(f, at, head, sizeof(head));
	fake_poke(f, at + sizeof(head), rec, len);
	*fake_producer(f) = at + ((len + sizeof(head) + 7) & ~(uint64_t)7);
	return at;
}

static inline void fake_commit(struct fake_ring *f, uint64_t at, uint32_t len)
{
	fake_poke(f, at, &len, sizeof(len));
}

static inline struct ev_cpu_freq fake_event(uint64_t ts_ns, uint32_t mark)
{
	return (struct ev_cpu_freq){
		.hdr = { sizeof(struct ev_cpu_freq), EV_CPU_FREQ, 0, 0, ts_ns }, .khz = mark
	};
}
