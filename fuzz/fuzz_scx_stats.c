/* fuzz/fuzz_scx_stats — any line as the answer of a scheduler; a failure has its sentence. */
#include <stdlib.h>

#include "base/diag.h"
#include "fuzz.h"
#include "sys/scx/scx_stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { 0 };
	char *out = NULL;

	if (scx_stats_parse((const char *)data, size, &d, &out) == 0)
		fuzz_check(out && *out);
	else
		fuzz_check(!out && d.code && d.what[0]);
	free(out);
	return 0;
}
