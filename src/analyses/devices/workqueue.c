/* Work items of kernel workers, by function and by worker. A recording without addresses shows only workers. */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"

struct works {
	struct scope sc;
	struct buckets functions, workers;
	uint32_t *names; /* by number of the function's bucket */
	uint32_t nr_names, room;
	uint64_t total, total_ns;
};

static void done(void *work)
{
	struct works *x = work;

	buckets_done(&x->functions);
	buckets_done(&x->workers);
	free(x->names);
}

static int note_name(struct works *x, uint32_t function, uint32_t name_id)
{
	if (function < x->nr_names)
		return 0;
	if (GROW(x->names, x->room, function))
		return -ENOMEM;
	x->names[x->nr_names++] = name_id;
	return 0;
}

static int collect(void *work)
{
	struct works *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_WORK };
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w))) {
		uint64_t ns = row->span.end_ns - row->span.start_ns;
		uint32_t function = buckets_add(&x->functions,
		                                row->span.id ? row->span.id : row->span.name_id,
		                                ns);

		x->total++;
		x->total_ns += ns;
		buckets_add(&x->workers, row->span.task, ns);
		err = function == BUCKETS_NONE ? -ENOMEM
		                               : note_name(x, function, row->span.name_id);
	}
	if (!err)
		err = buckets_order(&x->functions);
	return err ? err : buckets_order(&x->workers);
}

static void show_function(const struct works *x, uint32_t i, struct report *r)
{
	uint64_t address = x->functions.at[i].key;
	const char *symbol = source_symbol(x->sc.s, address);

	/* An id of a text is small, an address of the kernel never is; a function known by name has none. */
	if (address > UINT32_MAX && !symbol)
		report_id(r, "function", address);
	else
		report_null(r, "function");
	if (symbol)
		report_string(r, "name", symbol);
	else
		figure_text(r, "name", x->sc.s, x->names[i]);
}

static int show_part(const struct works *x, const struct buckets *b, const char *key,
                     struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_workqueue, x->sc.args) };

	buckets_top(b, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, key); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		if (b == &x->functions)
			show_function(x, at, r);
		else
			task_report(x->sc.s, r, (uint32_t)b->at[at].key);
		buckets_report(b, at, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	const struct works *x = work;
	int err;

	report_string(r, "description", "work items of kernel workers, by function and by worker");
	report_u64(r, "total_works", x->total);
	report_u64(r, "total_duration_ns", x->total_ns);
	err = show_part(x, &x->functions, "by_function", r);
	if (!err)
		err = show_part(x, &x->workers, "by_worker", r);
	report_string(r, "note",
	              "from start to end of an item, sleeps in it included; function is the address "
	              "in the kernel, null where the recording has none");
	return err;
}

const struct pass pass_workqueue = {
	.id = "workqueue",
	.name = "Workqueue Analysis",
	.category = "interrupt",
	.what = "what kernel workers do, for how long",
	.needs = EV_BIT(EV_WORK_START) | EV_BIT(EV_WORK_END),
	.cost = 1,
	.work = { .size = sizeof(struct works), .collect = collect, .show = show, .done = done },
};
