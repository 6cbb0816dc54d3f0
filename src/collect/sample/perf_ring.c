#include "collect/sample/perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_ring_map(struct perf_ring *r, int fd, size_t bytes)
{
	uint8_t *whole = malloc(PERF_RING_RECORD_MAX);
	void *map;

	if (!whole)
		return -ENOMEM;
	map = mmap(NULL, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		free(whole);
		return -errno;
	}
	*r = (struct perf_ring){
		.page = map,
		.data = (const uint8_t *)map + page_bytes(),
		.bytes = bytes,
		.whole = whole,
	};
	return 0;
}

void perf_ring_unmap(struct perf_ring *r)
{
	if (r->page)
		munmap(r->page, page_bytes() + r->bytes);
	free(r->whole);
	*r = (struct perf_ring){ 0 };
}

void perf_ring_update(struct perf_ring *r)
{
	if (r->page)
		r->until = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

static void copy_out(const struct perf_ring *r, uint8_t *to, size_t bytes)
{
	size_t from = (size_t)(r->at & (r->bytes - 1));
	size_t first = r->bytes - from < bytes ? r->bytes - from : bytes;

	memcpy(to, r->data + from, first);
	memcpy(to + first, r->data, bytes - first);
}

const struct perf_event_header *perf_ring_peek(struct perf_ring *r, bool *is_bad)
{
	struct perf_event_header head;
	size_t from;

	*is_bad = false;
	if (r->until - r->at < sizeof(head))
		return NULL;
	copy_out(r, (uint8_t *)&head, sizeof(head));
	if (head.size < sizeof(head) || head.size % 8 || head.size > r->until - r->at) {
		*is_bad = true;
		r->at = r->until;
		return NULL;
	}
	from = (size_t)(r->at & (r->bytes - 1));
	if (from + head.size <= r->bytes)
		return (const void *)(r->data + from);
	copy_out(r, r->whole, head.size);
	return (const void *)r->whole;
}

void perf_ring_skip(struct perf_ring *r, const struct perf_event_header *record)
{
	r->at += record->size;
}

void perf_ring_release(struct perf_ring *r)
{
	if (r->page)
		__atomic_store_n(&r->page->data_tail, r->at, __ATOMIC_RELEASE);
}
