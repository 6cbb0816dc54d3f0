/* fuzz/fuzz_event — any bytes as a stream of records; what passes the check must be safe to read. */
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "fuzz.h"

/* Longer ones say nothing new and only fill the sanitizer's memory. */
#define INPUT_MAX 8192U

/* Reads what the record promises, so that a sanitizer sees a promise that is not kept. */
static void read_all(const struct ev_hdr *rec)
{
	const struct ev_sample *sample = (const void *)rec;
	const struct ev_pmu *pmu = (const void *)rec;
	const char *end = (const char *)rec + rec->size;

	fuzz_check(ev_kind_name(rec->kind) && rec->size >= ev_fixed_size(rec->kind));
	if (rec->kind == EV_SAMPLE)
		fuzz_check((const char *)((const __u64 *)(sample + 1) + sample->nr_kernel +
		                          sample->nr_user) == end);
	if (rec->kind == EV_PMU)
		fuzz_check((const char *)((const __u64 *)(pmu + 1) + pmu->nr) == end);
	if (rec->kind == EV_PROBE_INFO)
		fuzz_check(strlen((const char *)rec + sizeof(struct ev_probe_info)) > 0);
	if (rec->kind == EV_RENAME)
		fuzz_check(strlen(((const struct ev_rename *)rec)->comm) < EV_COMM_LEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0;
	char *copy;

	if (size > INPUT_MAX)
		return 0;
	/* Exactly as long as the input, so that reading past it is noticed. */
	copy = malloc(size ? size : 1);
	fuzz_check(copy);
	if (size)
		memcpy(copy, data, size);
	while (ev_check(copy + at, size - at)) {
		read_all((const struct ev_hdr *)(copy + at));
		at += ((const struct ev_hdr *)(copy + at))->size;
	}
	free(copy);
	return 0;
}
