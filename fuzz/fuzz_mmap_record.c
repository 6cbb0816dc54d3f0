/* fuzz/fuzz_mmap_record — a ring of perf, as the kernel might never write it: its records and what is in them, mappings or stacks. */
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "collect/sample/copy_record.h"
#include "collect/sample/mmap_record.h"
#include "collect/sample/perf_ring.h"
#include "fuzz.h"
#include "sys/stack_copy.h"

#define RING_BYTES 4096U

/* All bytes of the stack are read, so that a size that is wrong is noticed. */
static void read_copy(const char *bytes, size_t len)
{
	struct prof_stack walked;
	struct prof_copy note;
	struct stack_copy c;
	volatile uint8_t last = 0;

	if (copy_record_parse((const void *)bytes, len, &note, &walked, &c) != 1)
		return;
	for (uint32_t i = 0; i < c.bytes; i++)
		last = c.stack[i];
	(void)last;
	fuzz_check(!c.walked || c.walked->nr <= PROF_DEPTH);
}

static void read_record(const struct perf_event_header *record)
{
	char *copy = malloc(record->size); /* exactly as long, so that reading past it is noticed */
	struct mmap_report r;

	fuzz_check(copy);
	memcpy(copy, record, record->size);
	if (mmap_record_parse(copy, record->size, &r) == 1) {
		fuzz_check(r.start <= r.end);
		fuzz_check((r.what == MMAP_MAPPED) == (r.path != NULL));
		fuzz_check(!r.path || strlen(r.path) < record->size);
	}
	(void)mmap_record_lost(copy, record->size);
	read_copy(copy, record->size);
	free(copy);
}

/* Two bytes say where in the ring it begins; the rest is what the kernel wrote there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint64_t at = RING_BYTES + fuzz_take(&in, 2) % RING_BYTES / 8 * 8;
	struct perf_event_mmap_page page = { .data_head = at };
	uint8_t whole[PERF_RING_RECORD_MAX], ring[RING_BYTES] = { 0 };
	struct perf_ring r = {
		.page = &page, .data = ring, .bytes = RING_BYTES, .at = at, .whole = whole
	};
	const struct perf_event_header *record;
	bool is_bad = false;

	for (size_t i = 0; i < in.left && i < RING_BYTES; i++)
		ring[page.data_head++ % RING_BYTES] = in.at[i];
	perf_ring_update(&r);
	while ((record = perf_ring_peek(&r, &is_bad))) {
		read_record(record);
		perf_ring_skip(&r, record);
	}
	perf_ring_release(&r);
	fuzz_check(page.data_tail <= page.data_head && page.data_head - page.data_tail < 8);
	return 0;
}
