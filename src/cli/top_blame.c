#include "cli/top_blame.h"

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"

#define NAME_COLUMNS 32U

static void fill_row(struct top_blame *b, size_t i, const struct report_node *root,
                     const struct report_node *v)
{
	b->rows[i] = (struct machine_blame_row){
		.victim = blame_text_name(root, v, NAME_COLUMNS, b->names[i], TOP_BLAME_NAME),
		.blames = blame_text_culprits(root, v, BLAME_TEXT_BYTES, b->blames[i]),
		.waits = report_u64_at(v, "waits"),
		.wait_ns = report_u64_at(v, "wait_ns"),
		.max_ns = report_u64_at(v, "max_wait_ns"),
		.task_ns = report_u64_at(v, "task_ns"),
		.throttled_ns = report_u64_at(v, "throttled_ns"),
		.stolen_ns = report_u64_at(v, "stolen_ns"),
		.interrupt_ns = report_u64_at(v, "irq_ns") + report_u64_at(v, "softirq_ns"),
		.idle_ns = report_u64_at(v, "idle_ns"),
		.other_ns = report_u64_at(v, "queue_ns") + report_u64_at(v, "waking_ns"),
		.unknown_ns = report_u64_at(v, "unknown_ns"),
	};
}

void top_blame_fill(struct top_blame *b, const struct top_window *w, enum pass_by by,
                    struct diag *d)
{
	SCOPED(scoped_report) struct report *r = NULL;
	const struct pass_args args = { .cpu = PASS_ANY_CPU,
		                        .layer = EV_NO_LAYER,
		                        .from_ns = w->from_ns,
		                        .to_ns = w->to_ns,
		                        .by = by,
		                        .limit = TOP_BLAME_ROWS };
	const struct report_node *root, *victims;

	b->blame =
		(struct machine_blame){ .rows = b->rows, .lost = w->lost, .by = pass_by_name(by) };
	if (pass_run(&pass_blame, w->source, &args, d, &r))
		return;
	root = report_root(r);
	victims = report_at(root, "victims");
	b->blame.seconds = (double)(w->to_ns - w->from_ns) / 1e9;
	b->blame.wait_ns = report_u64_at(root, "wait_ns");
	b->blame.task_ns = report_u64_at(root, "task_ns");
	b->blame.nr_victims = report_u64_at(root, "total_victims");
	for (const struct report_node *v = victims ? victims->first : NULL;
	     v && b->blame.nr < TOP_BLAME_ROWS; v = v->next)
		fill_row(b, b->blame.nr++, root, v);
}
