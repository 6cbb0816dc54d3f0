/* analyses/explain/explain — where the time of all waits of some tasks went. */
#include <inttypes.h>

#include "analyses/blame_sums.h"
#include "analyses/bottlenecks/lost_waits.h"
#include "analyses/explain/explain.h"
#include "base/cleanup.h"

struct all_waits {
	struct scope sc;
	struct units units;
	struct blame_sums sums;
};

static int show(void *work, struct report *r)
{
	struct all_waits *x = work;
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	const struct source *s = x->sc.s;
	struct bottleneck most;
	uint32_t victim = 0;
	int err = explain_ledger(s, s->start_ns, s->end_ns, &l);

	if (!err)
		err = blame_sums_collect(&x->sums, &x->sc, &x->units, l);
	if (err)
		return err;
	report_u64(r, "total_waits", x->sums.all.nr_waits);
	report_u64(r, "total_wait_ns", x->sums.all.wait_ns);
	for (uint32_t i = 1; i < x->units.nr; i++)
		if (x->sums.victims[i].wait_ns > x->sums.victims[victim].wait_ns)
			victim = i;
	if (x->sums.all.nr_waits < 2 || !x->sums.all.wait_ns)
		return 0;
	most.victim = victim;
	err = bottleneck_find(&x->sums, l, &most, 1);
	if (err)
		return err;
	report_string(r, "in_all",
	              report_printf(r, "In all %" PRIu64 " waits%s: %s.", x->sums.all.nr_waits,
	                            x->sums.victims[victim].wait_ns < x->sums.all.wait_ns
	                                    ? ", most of all"
	                                    : "",
	                            bottleneck_text(&x->sums, &most, r)));
	return 0;
}

static void done(void *work)
{
	struct all_waits *x = work;

	blame_sums_done(&x->sums);
}

int explain_all_waits(const struct source *s, const struct pass_args *args, struct report *r,
                      struct diag *d)
{
	static const struct pass_work work = { .size = sizeof(struct all_waits),
		                               .units_at = offsetof(struct all_waits, units),
		                               .show = show,
		                               .done = done };
	struct pass_args by_name = *args;

	by_name.by = PASS_BY_COMM; /* a thread is one of many */
	return pass_run_with(&work, s, &by_name, r, d);
}
