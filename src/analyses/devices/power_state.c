/* Steps of suspend and resume in order, and how long each took: from its start to its end, by the step's name. */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"

struct power {
	struct scope sc;
	struct buckets steps; /* by name */
	uint64_t *since_ns;   /* by number of the step's bucket; 0 = not begun */
	uint32_t nr_since;
};

static void done(void *work)
{
	struct power *x = work;

	buckets_done(&x->steps);
	free(x->since_ns);
}

/* How long a step took that ends now. */
static bool took(struct power *x, const struct pair_mark *m, uint64_t *ns)
{
	uint32_t i = m->name_id;
	uint64_t since = i < x->nr_since ? x->since_ns[i] : 0;

	if (m->flags & PAIR_MARK_START || !since)
		return false;
	*ns = m->ts_ns - since;
	return true;
}

static int note_start(struct power *x, const struct pair_mark *m)
{
	if (GROW_ZEROED(x->since_ns, x->nr_since, m->name_id))
		return -ENOMEM;
	x->since_ns[m->name_id] = m->flags & PAIR_MARK_START ? m->ts_ns : 0;
	return 0;
}

static void show_event(const struct power *x, const struct pair_mark *m, const uint64_t *ns,
                       struct report *r)
{
	report_begin_object(r, NULL);
	figure_text(r, "action", x->sc.s, m->name_id);
	report_u64(r, "timestamp", m->ts_ns);
	report_u64(r, "value", m->value);
	report_bool(r, "is_start", m->flags & PAIR_MARK_START);
	if (ns)
		report_u64(r, "duration_ns", *ns);
	else
		report_null(r, "duration_ns");
	report_end_object(r);
}

static int show_events(struct power *x, struct report *r, uint64_t *total)
{
	struct walk w = { .sc = &x->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_SUSPEND) };
	uint32_t limit = pass_limit(&pass_power_state, x->sc.args);
	const union timeline_row *row;
	int err = 0;

	report_begin_array(r, "suspend_resume_events");
	while (!err && (row = walk_next(&w))) {
		uint64_t ns;
		bool has_ended = took(x, &row->mark, &ns);

		if (has_ended)
			buckets_add(&x->steps, row->mark.name_id, ns);
		if ((*total)++ < limit)
			show_event(x, &row->mark, has_ended ? &ns : NULL, r);
		err = note_start(x, &row->mark);
	}
	report_end_array(r);
	return err ? err : buckets_order(&x->steps);
}

static int show_steps(const struct power *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_power_state, x->sc.args) };

	buckets_top(&x->steps, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_action"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		figure_text(r, "action", x->sc.s, (uint32_t)x->steps.at[at].key);
		buckets_report(&x->steps, at, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct power *x = work;
	uint64_t total = 0;
	int err;

	report_string(r, "description", "steps of suspend and resume, and how long each took");
	err = show_events(x, r, &total);
	report_u64(r, "suspend_resume_count", total);
	if (!err)
		err = show_steps(x, r);
	report_string(r, "note",
	              "events in order of time, as many as the limit allows; a step within another "
	              "is part of both");
	return err;
}

const struct pass pass_power_state = {
	.id = "power_state",
	.name = "Power State Analysis",
	.category = "power",
	.what = "steps of suspend and resume, and how long each took",
	.needs = EV_BIT(EV_SUSPEND),
	.cost = 1,
	.default_limit = 100,
	.work = { .size = sizeof(struct power), .show = show, .done = done },
};
