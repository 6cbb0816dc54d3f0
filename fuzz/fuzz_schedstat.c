/* fuzz/fuzz_schedstat — any text as /proc/schedstat: the first half against the whole. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "sys/proc/schedstat.h"

/* Two tables, so that differences and sums are reached too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(scoped_schedstat) struct schedstat *whole = NULL;
	SCOPED(scoped_schedstat) struct schedstat *half = NULL;
	SCOPED(scoped_schedstat) struct schedstat *delta = NULL;
	struct schedstat_totals totals;

	if (schedstat_parse((const char *)data, size, NULL, &whole) ||
	    schedstat_parse((const char *)data, size / 2, NULL, &half) ||
	    schedstat_delta(half, whole, NULL, &delta) || schedstat_sum(delta, &totals))
		return 0;
	schedstat_totals_done(&totals);
	return 0;
}
