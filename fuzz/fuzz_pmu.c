/*
 * fuzz/fuzz_pmu — event names and the texts of a PMU: the input is up to three lines, an event, a format and the text of
 * an event file. The name is looked up on a machine without PMUs, so that only its parsing runs.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sys/pmu/pmu.h"
#include "sys/pmu/pmu_format.h"

static void try_terms(const char *text, const struct pmu_format *f)
{
	uint64_t words[PMU_NR_WORDS] = { 0 };
	struct pmu_term t;

	while (pmu_term_next(&text, &t) > 0)
		if (pmu_format_put(f, t.value, words) == 0 && words[f->word] & ~f->mask)
			abort(); /* bits outside of the term */
}

static void try_name(const char *name)
{
	static const struct pmu_paths paths = { .devices = "/nonexistent",
		                                .cpuinfo = "/nonexistent" };
	struct pmu_events events = { 0 };
	struct diag d = { 0 };

	if (pmu_resolve(&paths, name, true, &d, &events) == 0)
		pmu_events_done(&events);
	else if (!d.code || !d.what[0])
		abort(); /* a failure without a reason */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmu_format f = { .word = 0, .mask = 0xf000000ffULL };
	char *text = fuzz_text(data, size);
	char *next, *line;

	next = text;
	line = strsep(&next, "\n");
	try_name(line);
	line = next ? strsep(&next, "\n") : NULL;
	if (line && pmu_format_parse(line, &f) == 0 && (!f.mask || f.word >= PMU_NR_WORDS))
		abort();
	if (next)
		try_terms(next, &f);
	free(text);
	return 0;
}
