/* How long each CPU was idle at most: an analysis as docs/adding-an-analysis.md writes it, part of no table. */
#include "outside_pass.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "model/timeline.h"

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	uint32_t nr_cpus = pair_nr_cpus(s->pair);
	SCOPED(scoped_free) uint64_t *longest = calloc(nr_cpus + 1, sizeof(*longest));
	struct timeline_query q = { .table = TIMELINE_IDLE,
		                    .task = TASKS_NONE,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .to_ns = UINT64_MAX };
	struct timeline_iter it;
	union timeline_row row;

	if (!longest || timeline_find(s->timeline, &q, &it))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	while (timeline_next(&it, NULL, &row)) {
		uint64_t from = row.idle.start_ns, to = row.idle.end_ns;

		if (!pass_takes_cpu(args, row.idle.cpu) || !pass_cut(s, args, &from, &to))
			continue;
		if (to - from > longest[row.idle.cpu])
			longest[row.idle.cpu] = to - from;
	}
	report_begin_array(r, "cpus");
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		if (!longest[cpu])
			continue;
		report_begin_object(r, NULL);
		report_u64(r, "cpu", cpu);
		report_u64(r, "longest_idle_ns", longest[cpu]);
		report_end_object(r);
	}
	report_end_array(r);
	return 0;
}

const struct pass outside_pass = {
	.id = "longest_idle",
	.name = "Longest Idle",
	.category = "scheduling",
	.what = "for how long each CPU was idle at most",
	.needs = EV_BIT(EV_SWITCH),
	.cost = 1,
	.run = run,
};
