/*
 * Inter-processor interrupts: handled, by reason and CPU, and sent, by sender and target. On arm64 the handling of an IPI
 * lies inside the interrupt handler "IPI"; how much does is reported, so that it is not added to the time of interrupts
 * again.
 */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/cover.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

#define SEVERAL_CPUS UINT32_MAX

struct ipis {
	struct scope sc;
	struct buckets reasons, cpus, targets, senders;
	struct cover ipi, irq, both;
	uint64_t handled, handled_ns, sent;
};

static void done(void *work)
{
	struct ipis *x = work;

	buckets_done(&x->reasons);
	buckets_done(&x->cpus);
	buckets_done(&x->targets);
	buckets_done(&x->senders);
	cover_done(&x->ipi);
	cover_done(&x->irq);
	cover_done(&x->both);
}

static void add_span(struct ipis *x, const struct pair_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;

	cover_add(&x->both, span->cpu, span->start_ns, span->end_ns);
	if (span->kind == PAIR_IRQ) {
		cover_add(&x->irq, span->cpu, span->start_ns, span->end_ns);
		return;
	}
	cover_add(&x->ipi, span->cpu, span->start_ns, span->end_ns);
	x->handled++;
	x->handled_ns += ns;
	buckets_add(&x->reasons, span->name_id, ns);
	buckets_sum(&x->cpus, span->cpu, ns);
}

static void collect_sent(struct ipis *x)
{
	struct walk w = { .sc = &x->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_IPI_SEND) };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		x->sent++;
		buckets_count(&x->targets, row->mark.value);
		buckets_count(&x->senders, row->mark.cpu);
	}
}

static int collect(void *work)
{
	struct ipis *x = work;
	struct walk w = { .sc = &x->sc,
		          .table = TIMELINE_SPAN,
		          .kinds = 1ULL << PAIR_IRQ | 1ULL << PAIR_IPI };
	const union timeline_row *row;
	int err = cover_init(&x->ipi, x->sc.nr_cpus);

	if (!err)
		err = cover_init(&x->irq, x->sc.nr_cpus);
	if (!err)
		err = cover_init(&x->both, x->sc.nr_cpus);
	while (!err && (row = walk_next(&w)))
		add_span(x, &row->span);
	collect_sent(x);
	if (x->cpus.has_failed || x->targets.has_failed || x->senders.has_failed ||
	    x->ipi.has_failed || x->irq.has_failed || x->both.has_failed)
		return -ENOMEM;
	return err ? err : buckets_order(&x->reasons);
}

static int show_reasons(const struct ipis *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_ipi_analysis, x->sc.args) };

	buckets_top(&x->reasons, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "top_reasons"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;

		figure_text(r, "reason", x->sc.s, (uint32_t)x->reasons.at[at].key);
		buckets_report(&x->reasons, at, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_cpus(const struct ipis *x, const struct buckets *b, const char *key,
                     const char *member, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_ipi_analysis, x->sc.args) };

	buckets_top(b, true, &top);
	for (uint32_t i = 0; top_row(&top, i, r, key); i++) {
		const struct bucket *cpu = &b->at[top.entries[i].id];

		report_u64_if(r, member, cpu->key != SEVERAL_CPUS, cpu->key); /* several at once */
		report_u64(r, "count", cpu->count);
		if (b == &x->cpus)
			report_u64(r, "total_duration_ns", cpu->sum_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	const struct ipis *x = work;

	/* What both have in common is what their sum counts twice. */
	uint64_t inside = cover_sum_ns(&x->ipi) + cover_sum_ns(&x->irq) - cover_sum_ns(&x->both);
	int err;

	report_string(r, "description", "inter-processor interrupts, handled and sent");
	report_u64(r, "total_ipis", x->handled);
	report_u64(r, "total_duration_ns", x->handled_ns);
	report_u64(r, "inside_irq_handlers_ns", inside);
	report_u64(r, "reason_count", x->reasons.nr);
	err = show_reasons(x, r);
	if (!err)
		err = show_cpus(x, &x->cpus, "by_cpu", "cpu", r);
	report_u64(r, "sent", x->sent);
	if (!err)
		err = show_cpus(x, &x->targets, "sent_by_target", "target_cpu", r);
	if (!err)
		err = show_cpus(x, &x->senders, "sent_by_cpu", "cpu", r);
	report_string(r, "note",
	              "inside_irq_handlers_ns is part of the time of irq_analysis too; a target of "
	              "null is several CPUs at once");
	return err;
}

const struct pass pass_ipi_analysis = {
	.id = "ipi_analysis",
	.name = "IPI Analysis",
	.category = "interrupt",
	.what = "why CPUs interrupt each other, how often and for how long",
	.needs_any = EV_BIT(EV_IPI_EXIT) | EV_BIT(EV_IPI_SEND),
	.uses = EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_IRQ_EXIT),
	.cost = 2,
	.work = { .size = sizeof(struct ipis), .collect = collect, .show = show, .done = done },
};
