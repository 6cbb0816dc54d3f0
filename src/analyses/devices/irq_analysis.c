/*
 * Interrupt handlers: how often, how long, by interrupt and by CPU. Handlers of a shared interrupt are one row with
 * both names. The time of a CPU in interrupts is what handlers cover together; an IPI inside a handler (arm64) is part
 * of that, one outside is added.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/cover.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

#define MAX_NAMES 4
#define KINDS     (1ULL << PAIR_IRQ | 1ULL << PAIR_IPI)

struct irqs {
	struct scope sc;
	struct buckets irqs, cpus, names; /* names: pairs of interrupt and handler */
	struct cover handlers, all;
};

static void done(void *work)
{
	struct irqs *x = work;

	buckets_done(&x->irqs);
	buckets_done(&x->cpus);
	buckets_done(&x->names);
	cover_done(&x->handlers);
	cover_done(&x->all);
}

static int collect(void *work)
{
	struct irqs *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = KINDS };
	const union timeline_row *row;
	int err = cover_init(&x->handlers, x->sc.nr_cpus);

	if (!err)
		err = cover_init(&x->all, x->sc.nr_cpus);
	while (!err && (row = walk_next(&w))) {
		const struct pair_span *span = &row->span;
		uint64_t ns = span->end_ns - span->start_ns;

		cover_add(&x->all, span->cpu, span->start_ns, span->end_ns);
		if (span->kind != PAIR_IRQ)
			continue;
		cover_add(&x->handlers, span->cpu, span->start_ns, span->end_ns);
		buckets_add(&x->irqs, span->id, ns);
		buckets_sum(&x->cpus, span->cpu, ns);
		buckets_count(&x->names, bucket_pair((uint32_t)span->id, span->name_id));
	}
	if (!err)
		err = buckets_order(&x->irqs);
	return err || x->cpus.has_failed || x->names.has_failed || x->handlers.has_failed ||
	                       x->all.has_failed
	               ? -ENOMEM
	               : 0;
}

/* "virtio0, eth0": in the order in which they were seen. */
static const char *handlers_of(const struct irqs *x, uint32_t irq, struct report *r)
{
	const char *text = NULL;

	for (uint32_t i = 0, nr = 0; i < x->names.nr && nr < MAX_NAMES; i++) {
		uint32_t name_id = bucket_low(x->names.at[i].key);
		const char *name = tasks_string(x->sc.s->tasks, name_id);

		if (bucket_high(x->names.at[i].key) != irq || !name || !*name)
			continue;
		text = nr++ ? report_printf(r, "%s, %s", text, name) : name;
	}
	return text;
}

static int show_irqs(const struct irqs *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_irq_analysis, x->sc.args) };

	buckets_top(&x->irqs, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "top_irqs"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;
		uint64_t irq = x->irqs.at[at].key;

		report_id(r, "irq", irq);
		report_string(r, "handler", handlers_of(x, (uint32_t)irq, r));
		buckets_report(&x->irqs, at, r);
		figure_per_sec(r, "rate_per_sec", (double)x->irqs.at[at].count, x->sc.covered_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_cpus(const struct irqs *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_irq_analysis, x->sc.args) };

	buckets_top(&x->cpus, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_cpu"); i++) {
		const struct bucket *b = &x->cpus.at[top.entries[i].id];

		report_u64(r, "cpu", b->key);
		report_u64(r, "count", b->count);
		report_u64(r, "total_duration_ns", cover_ns(&x->handlers, (uint32_t)b->key));
		report_u64(r, "max_duration_ns", b->max_ns);
		report_percent(r, "time_percent", cover_ns(&x->handlers, (uint32_t)b->key),
		               x->sc.span_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	const struct irqs *x = work;
	uint64_t total = 0;
	int err;

	for (uint32_t i = 0; i < x->irqs.nr; i++)
		total += x->irqs.at[i].count;
	report_string(r, "description", "time in interrupt handlers, by interrupt and by CPU");
	report_u64(r, "irq_count", x->irqs.nr);
	report_u64(r, "total_interrupts", total);
	report_u64(r, "handler_time_ns", cover_sum_ns(&x->handlers));
	report_u64(r, "interrupt_time_ns", cover_sum_ns(&x->all));
	err = show_irqs(x, r);
	if (!err)
		err = show_cpus(x, r);
	report_string(r, "note",
	              "handler_time_ns counts a moment once where handlers lie inside each other; "
	              "interrupt_time_ns adds IPIs that lie in no handler");
	return err;
}

const struct pass pass_irq_analysis = {
	.id = "irq_analysis",
	.name = "IRQ Handler Analysis",
	.category = "interrupt",
	.what = "which interrupts took how much time, and where",
	.needs = EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_IRQ_EXIT),
	.uses = EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IPI_EXIT),
	.cost = 2,
	.work = { .size = sizeof(struct irqs), .collect = collect, .show = show, .done = done },
};
