/* fuzz/fuzz_cpulist — any text as a list of CPUs; what is accepted survives being written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sys/cpulist.h"

static char *format(const struct cpulist *l)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	fuzz_check(out);
	cpulist_for_each(cpu, l) fprintf(out, "%s%d", ftell(out) ? "," : "", cpu);
	fuzz_check(fclose(out) == 0);
	return text;
}

static void check_members(const struct cpulist *l)
{
	uint32_t nr = 0;
	int last = -1;

	cpulist_for_each(cpu, l)
	{
		fuzz_check(cpu > last && cpu < CPULIST_MAX && cpulist_has(l, (uint32_t)cpu));
		last = cpu;
		nr++;
	}
	fuzz_check(nr == l->nr && last == cpulist_last(l));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *first, *second;
	struct cpulist l = { 0 }, again = { 0 };

	if (cpulist_parse(text, &l) == 0) {
		check_members(&l);
		first = format(&l);
		fuzz_check(cpulist_parse(first, &again) == 0);
		second = format(&again);
		fuzz_check(again.nr == l.nr && strcmp(first, second) == 0);
		free(first);
		free(second);
	}
	cpulist_done(&l);
	cpulist_done(&again);
	free(text);
	return 0;
}
