/* fuzz/fuzz_serve — any text as an Accept header, as cpu.stat, and as the names that are labels of a page in each format. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "serve/accept.h"
#include "serve/metrics_page.h"
#include "serve/throttle.h"

#define PAGE_BYTES ((size_t)1 << 20)

static void check_page(const struct sums *s, enum metrics_format format)
{
	struct page_facts facts = { .version = "1", .kernel = "", .machine = "" };
	struct exposition e;
	struct bounds b;

	bounds_init(&b, false);
	facts.bounds = facts.cgroup_bounds = &b;
	exposition_init(&e, format, PAGE_BYTES);
	fuzz_check(metrics_page_write(s, &facts, &e) == 0);
	/* A line for each sample: no name breaks one. */
	if (format != FORMAT_PROTOBUF)
		for (size_t i = 0; i < e.out.len; i++)
			fuzz_check(e.out.buf[i] >= ' ' || e.out.buf[i] == '\n');
	exposition_done(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(scoped_free) char *text = strndup((const char *)data, size);
	SCOPED(scoped_sums) struct sums *s = NULL;
	struct sums_peak peak = { .ns = 5000, .tid = 1 };
	struct seat_throttle t = { 0 };
	int format;

	if (!text || sums_new(2, &s))
		return 0;
	format = accept_format(text);
	fuzz_check(format >= -1 && format < FORMATS);
	(void)!throttle_parse(text, &t);
	s->groups = STAT_GROUP_LATENCY;
	seats_note(s->cgroups, seats_find(s->cgroups, text), 1, 1);
	seats_choose(s->cgroups, 1);
	strncpy(peak.comm, text, sizeof(peak.comm) - 1);
	hist_add(&s->dists[DIST_DELAY_WOKEN].hist, peak.ns, 0, 0);
	sums_peak(s, DIST_DELAY_WOKEN, &peak);
	for (int f = 0; f < FORMATS; f++)
		check_page(s, (enum metrics_format)f);
	return 0;
}
