/* Time during which a task waited while a CPU that it may use was idle (analyses/waste), and which CPUs these were. */
#include <errno.h>
#include <stdlib.h>

#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyses/waste.h"
#include "analyze/pass.h"
#include "analyze/scope.h"
#include "base/cleanup.h"

/* What is shown. */
struct wasted {
	const struct source *s;
	struct scope sc;
	struct waste_sums sums;
};

struct pair_sum {
	uint32_t waiting, idle;
	uint64_t ns;
};

static int by_ns(const void *a, const void *b)
{
	const struct pair_sum *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return left->waiting != right->waiting ? (left->waiting < right->waiting ? -1 : 1)
	                                       : (left->idle < right->idle ? -1 : 1);
}

static void show_pair(const struct wasted *w, const struct pair_sum *p, struct report *r)
{
	int32_t llc = source_llc(w->s, p->waiting), node = source_node(w->s, p->waiting);

	report_begin_object(r, NULL);
	report_u64(r, "waiting_cpu", p->waiting);
	report_u64(r, "idle_cpu", p->idle);
	report_u64(r, "time_ns", p->ns);
	if (llc < 0)
		report_null(r, "is_same_llc");
	else
		report_bool(r, "is_same_llc", llc == source_llc(w->s, p->idle));
	if (node < 0)
		report_null(r, "is_same_node");
	else
		report_bool(r, "is_same_node", node == source_node(w->s, p->idle));
	report_end_object(r);
}

/* Without places of CPUs nothing is near or far. */
static void show_distance(struct report *r, const char *key, const struct wasted *w, uint64_t ns)
{
	report_u64_if(r, key, w->s->facts->places, ns);
}

/* Sums over pairs within a cache, across caches of a node, across nodes; a pair of unknown places counts as unknown. */
static void show_places(const struct wasted *w, struct report *r)
{
	uint64_t same_llc = 0, same_node = 0, far = 0, unknown = 0;

	for (uint32_t a = 0; a < w->sums.nr_cpus; a++)
		for (uint32_t b = 0; b < w->sums.nr_cpus; b++) {
			uint64_t ns = w->sums.pairs[(size_t)a * w->sums.nr_cpus + b];

			if (source_llc(w->s, a) < 0 || source_llc(w->s, b) < 0)
				unknown += ns;
			else if (source_llc(w->s, a) == source_llc(w->s, b))
				same_llc += ns;
			else if (source_node(w->s, a) == source_node(w->s, b))
				same_node += ns;
			else
				far += ns;
		}
	report_begin_object(r, "by_distance");
	show_distance(r, "same_llc_ns", w, same_llc);
	show_distance(r, "same_node_ns", w, same_node);
	show_distance(r, "other_node_ns", w, far);
	report_u64(r, "unknown_ns", unknown);
	report_end_object(r);
}

static int show_pairs(const struct wasted *w, struct report *r)
{
	size_t nr = (size_t)w->sums.nr_cpus * w->sums.nr_cpus, used = 0;
	SCOPED(scoped_free) struct pair_sum *sums = calloc(nr ? nr : 1, sizeof(*sums));
	uint32_t limit = pass_limit(&pass_wasted_cores, w->sc.args);

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (w->sums.pairs[i])
			sums[used++] = (struct pair_sum){ (uint32_t)(i / w->sums.nr_cpus),
				                          (uint32_t)(i % w->sums.nr_cpus),
				                          w->sums.pairs[i] };
	if (used)
		qsort(sums, used, sizeof(*sums), by_ns);
	report_u64(r, "total_pairs", used);
	report_begin_array(r, "cpu_pairs");
	for (size_t i = 0; i < used && i < limit; i++)
		show_pair(w, &sums[i], r);
	report_end_array(r);
	return 0;
}

static int show(const struct wasted *w, struct report *r)
{
	report_u64(r, "span_ns", w->sc.span_ns);
	report_u64(r, "waits", w->sums.nr_waits);
	report_u64(r, "waits_too_short", w->sums.nr_short);
	report_u64(r, "shortest_wait_ns", WASTE_MIN_WAIT_NS);
	report_u64(r, "total_wait_ns", w->sums.total_wait_ns);
	report_u64(r, "wasted_ns", w->sums.wasted_ns);
	report_percent(r, "wasted_percent", w->sums.wasted_ns, w->sc.span_ns);
	report_string(r, "affinity",
	              w->s->affinity ? "as recorded" : "unknown: every task may use every CPU");
	show_places(w, r);
	return show_pairs(w, r);
}

static void scoped_wasted(struct wasted *w)
{
	scope_done(&w->sc);
	waste_sums_done(&w->sums);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	SCOPED(scoped_wasted) struct wasted w = { .s = s };
	int err = scope_init(&w.sc, s, args, d);

	if (err)
		return err;
	err = explain_ledger(s, s->start_ns, s->end_ns, &l);
	if (!err)
		err = waste_measure(&(struct waste_cfg){ .sc = &w.sc, .ledger = l }, &w.sums);
	if (!err)
		err = show(&w, r);
	if (err == -E2BIG)
		return diag_set(d, err, "ask for a part of the time, with --from and --to",
		                "the tasks have too many different affinity masks");
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_wasted_cores = {
	.id = "wasted_cores",
	.name = "Wasted Cores",
	.category = "scheduling",
	.what = "time during which a task waited while a CPU that it may use was idle",
	.needs = EV_BIT(EV_SWITCH),
	.needs_all_tasks = true,
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 4,
	.uses_ledger = true,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.run = run,
};
