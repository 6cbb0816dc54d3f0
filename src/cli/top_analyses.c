#include "cli/top_analyses.h"

#include <stdlib.h>

#include "cli/top_blame.h"
#include "cli/top_events.h"
#include "cli/top_lanes.h"
#include "cli/top_ledger.h"
#include "cli/top_verdict.h"
#include "live/live_analyzers.h"

struct top_analyses {
	struct top_events events;
	struct machine shown;
	struct top_blame blame;
	struct top_ledger ledger;
	struct top_lanes lanes;
	struct top_verdict verdict; /* of a recording: a live machine has its own */
	uint64_t verdict_from_ns, verdict_to_ns;
	enum pass_by by;
	uint32_t needs, tid, nr_columns; /* that the data is for */
	struct diag diag;
};

struct top_analyses *top_analyses_new(const struct source *recording, enum pass_by by)
{
	struct top_analyses *a = calloc(1, sizeof(*a));

	if (a) {
		a->events.recording = recording;
		a->by = by;
	}
	return a;
}

void top_analyses_free(struct top_analyses *a)
{
	if (!a)
		return;
	top_events_stop(&a->events);
	top_lanes_done(&a->lanes);
	free(a);
}

static void forget(struct top_analyses *a, const char *why)
{
	a->blame.blame = (struct machine_blame){ .note = why };
	a->ledger.ledger = (struct machine_ledger){ .tid = a->tid, .note = why };
	a->lanes.lanes = (struct machine_lanes){ .note = why };
}

/* Another question: there is no answer yet. */
static void ask(struct top_analyses *a, uint32_t needs, uint32_t tid)
{
	if (needs == a->needs && tid == a->tid)
		return;
	a->needs = needs;
	a->tid = tid;
	forget(a, NULL);
	top_events_renew(&a->events);
}

/* Other columns are made of the next window; a recording stands still, so its is new. */
static void ask_columns(struct top_analyses *a, const struct machine_request *request)
{
	if (a->needs & MACHINE_LANES && request->nr_columns != a->nr_columns)
		top_events_renew(&a->events);
	a->nr_columns = request->nr_columns;
}

static enum analyzer_id analyzer_of(uint32_t needs)
{
	if (needs & MACHINE_LANES)
		return ANALYZER_CPU_HOTSPOT; /* switches and wakings, and hardly more */
	return needs & MACHINE_BLAME ? ANALYZER_BLAME : ANALYZER_EXPLAIN;
}

static void answer(struct top_analyses *a, const struct machine *m)
{
	struct diag d = { 0 };
	struct top_window w;
	bool is_new = top_events_window(&a->events, 1U << analyzer_of(a->needs), m, &d, &w);

	if (is_new && a->needs & MACHINE_LANES)
		top_lanes_fill(&a->lanes, &w, a->nr_columns, !a->events.recording, &d);
	else if (is_new && a->needs & MACHINE_BLAME)
		top_blame_fill(&a->blame, &w, a->by, &d);
	else if (is_new)
		top_ledger_fill(&a->ledger, &w, a->tid, &d);
	if (!d.code)
		return;
	a->diag = d;
	forget(a, a->diag.what);
}

/* Explained again when another interval is shown. */
static void show_verdict(struct top_analyses *a, const struct machine_request *request)
{
	struct diag d = { 0 };
	struct top_window w;

	if (!a->events.recording || !(request->needs & MACHINE_VERDICT))
		return;
	top_events_of_play(&a->events, &a->shown, &w);
	if (w.from_ns != a->verdict_from_ns || w.to_ns != a->verdict_to_ns)
		top_verdict_fill(&a->verdict, &w, &d);
	a->verdict_from_ns = w.from_ns;
	a->verdict_to_ns = w.to_ns;
	a->shown.verdict = a->verdict.verdict.text ? &a->verdict.verdict : NULL;
}

void top_analyses_show(struct top_analyses *a, const struct machine_request *request,
                       const struct machine **m)
{
	uint32_t needs = request->needs & (MACHINE_BLAME | MACHINE_LEDGER | MACHINE_LANES);

	if (!a)
		return;
	ask(a, needs, needs & MACHINE_LEDGER ? request->tid : 0);
	ask_columns(a, request);
	a->shown = **m;
	show_verdict(a, request);
	*m = &a->shown;
	if (!needs || (needs == MACHINE_LEDGER && !a->tid)) {
		top_events_stop(&a->events);
		return;
	}
	answer(a, *m);
	a->shown.blame = needs & MACHINE_BLAME ? &a->blame.blame : NULL;
	a->shown.lanes = needs & MACHINE_LANES ? &a->lanes.lanes : NULL;
	a->shown.ledger = needs & MACHINE_LEDGER ? &a->ledger.ledger : NULL;
}
