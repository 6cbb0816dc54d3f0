/* fuzz/fuzz_kallsyms — any text as /proc/kallsyms. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(scoped_kallsyms) struct kallsyms *k = NULL;
	struct diag d = { 0 };
	struct kallsyms_hit hit;
	int err = kallsyms_parse((const char *)data, size, &d, &k);

	if (err) {
		fuzz_check(d.code == err && d.what[0]);
		return 0;
	}
	for (uint64_t a = 1; a; a <<= 1)
		if (kallsyms_find(k, a, &hit))
			fuzz_check(hit.start <= a && hit.name[0] && hit.module[0]);
	return 0;
}
