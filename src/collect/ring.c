#include "collect/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct ring {
	int fd;
	size_t page;
	uint64_t mask;
	uint64_t at; /* next position to read */
	uint64_t *consumer;
	uint64_t *producer; /* its page, then the data, and its beginning again: no record is ever cut */
	size_t mapped;      /* of these */
	const uint8_t *data;
};

/* What the last record can take of the beginning. The kernel would map all of it twice, and all of that counts as resident. */
static size_t again(size_t bytes, size_t page)
{
	size_t most = (RING_RECORD_MAX + BPF_RINGBUF_HDR_SZ + page - 1) / page * page;

	return bytes < most ? bytes : most;
}

int ring_open(int fd, size_t bytes, struct diag *d, struct ring **out)
{
	struct ring *r = calloc(1, sizeof(*r));
	void *map;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->fd = fd;
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	r->mask = bytes - 1;
	map = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int err = -errno;

		free(r);
		return diag_set(d, err, NULL, "cannot map a ring buffer");
	}
	r->consumer = map;
	r->mapped = r->page + bytes + again(bytes, r->page);
	map = mmap(NULL, r->mapped, PROT_READ, MAP_SHARED, fd, (off_t)r->page);
	if (map == MAP_FAILED) {
		int err = -errno;

		munmap(r->consumer, r->page);
		free(r);
		return diag_set(d, err, NULL, "cannot map a ring buffer of %zu bytes", bytes);
	}
	r->producer = map;
	r->data = (const uint8_t *)map + r->page;
	r->at = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE);
	*out = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	munmap(r->producer, r->mapped);
	munmap(r->consumer, r->page);
	free(r);
}

uint64_t ring_end(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

static uint64_t bytes_of(uint32_t head)
{
	uint32_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return (size + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
}

enum ring_state ring_next(struct ring *r, uint64_t end, const void **rec, size_t *len)
{
	while (r->at < end) {
		const uint8_t *at = r->data + (r->at & r->mask);
		uint32_t head = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);

		if (head & BPF_RINGBUF_BUSY_BIT)
			return RING_BUSY;
		r->at += bytes_of(head);
		if (head & BPF_RINGBUF_DISCARD_BIT)
			continue;
		*rec = at + BPF_RINGBUF_HDR_SZ;
		*len = head;
		return RING_RECORD;
	}
	return RING_END;
}

void ring_skip(struct ring *r)
{
	r->at += bytes_of(
		__atomic_load_n((const uint32_t *)(r->data + (r->at & r->mask)), __ATOMIC_ACQUIRE));
}

void ring_release(struct ring *r)
{
	__atomic_store_n(r->consumer, r->at, __ATOMIC_RELEASE);
}
