/* fuzz/fuzz_perf_map — any text as the map file of a JIT. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(scoped_symtab) struct symtab *t = NULL;
	struct symtab_hit hit;

	fuzz_check(perf_map_parse((const char *)data, size, &t) == 0);
	for (uint64_t a = 1; a; a <<= 1)
		if (symtab_find(t, a, &hit))
			fuzz_check(hit.start <= a && hit.name[0]);
	return 0;
}
