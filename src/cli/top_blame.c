#include "cli/top_blame.h"

#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "live/live_analyzers.h"
#include "live/live_run.h"
#include "machine/machine_blame.h"
#include "machine/machine_play.h"
#include "render/blame_text.h"

#define WINDOW_NS    5000000000ULL
#define ROWS         64U
#define NAME_BYTES   128U
#define NAME_COLUMNS 32U

struct top_blame {
	const struct source *recording; /* NULL = live */
	struct live_run *run;
	struct machine shown;
	struct machine_blame blame;
	struct machine_blame_row rows[ROWS];
	char names[ROWS][NAME_BYTES];
	char blames[ROWS][BLAME_TEXT_BYTES];
	struct diag diag;
};

struct top_blame *top_blame_new(const struct source *recording)
{
	struct top_blame *b = calloc(1, sizeof(*b));

	if (b)
		b->recording = recording;
	return b;
}

void top_blame_free(struct top_blame *b)
{
	if (!b)
		return;
	live_run_close(b->run);
	free(b);
}

static uint64_t number(const struct report_node *node, const char *key)
{
	const struct report_node *at = report_at(node, key);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

static void fill_row(struct top_blame *b, size_t i, const struct report_node *root,
                     const struct report_node *v)
{
	b->rows[i] = (struct machine_blame_row){
		.victim = blame_text_name(root, v, NAME_COLUMNS, b->names[i], NAME_BYTES),
		.blames = blame_text_culprits(root, v, BLAME_TEXT_BYTES, b->blames[i]),
		.waits = number(v, "waits"),
		.wait_ns = number(v, "wait_ns"),
		.max_ns = number(v, "max_wait_ns"),
		.task_ns = number(v, "task_ns"),
		.throttled_ns = number(v, "throttled_ns"),
		.stolen_ns = number(v, "stolen_ns"),
		.interrupt_ns = number(v, "irq_ns") + number(v, "softirq_ns"),
		.idle_ns = number(v, "idle_ns"),
		.other_ns = number(v, "queue_ns") + number(v, "waking_ns"),
		.unknown_ns = number(v, "unknown_ns"),
	};
}

/* The analysis from one time to another, or why there is none. */
static void analyze(struct top_blame *b, const struct source *s, uint64_t from_ns, uint64_t to_ns)
{
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args = { .cpu = PASS_ANY_CPU,
		                  .layer = EV_NO_LAYER,
		                  .from_ns = from_ns,
		                  .to_ns = to_ns,
		                  .limit = ROWS };
	const struct report_node *root, *victims;

	if (from_ns >= to_ns || pass_run(&pass_blame, s, &args, &b->diag, &r))
		return;
	root = report_root(r);
	victims = report_at(root, "victims");
	b->blame.seconds = (double)(to_ns - from_ns) / 1e9;
	b->blame.wait_ns = number(root, "wait_ns");
	b->blame.task_ns = number(root, "task_ns");
	b->blame.nr_victims = number(root, "total_victims");
	for (const struct report_node *v = victims ? victims->first : NULL; v && b->blame.nr < ROWS;
	     v = v->next)
		fill_row(b, b->blame.nr++, root, v);
}

static int open_run(struct top_blame *b)
{
	struct live_run_cfg cfg = { .analyzers = 1U << ANALYZER_BLAME, .window_ns = WINDOW_NS };
	int err = live_run_open(&cfg, &b->diag, &b->run);

	if (!err)
		err = live_run_attach(b->run, &b->diag);
	if (err) {
		live_run_close(b->run);
		b->run = NULL;
	}
	return err;
}

static void analyze_live(struct top_blame *b)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = NULL;
	struct live_run_stats stats;
	const struct source *s;

	if (!b->run && open_run(b))
		return;
	if (live_run_poll(b->run, &b->diag) || live_run_shot(b->run, &shot))
		return;
	s = live_shot_source(shot);
	analyze(b, s, live_shot_from_ns(shot, live_run_start_ns(b->run)), s->end_ns);
	live_run_stats(b->run, &stats);
	b->blame.lost = stats.lost;
}

static void analyze_recording(struct top_blame *b, const struct machine *m)
{
	uint64_t length_ns = (uint64_t)(m->interval_s * 1e9), to_ns = m->play->position_ns;

	analyze(b, b->recording, to_ns > length_ns ? to_ns - length_ns : 0, to_ns);
}

void top_blame_show(struct top_blame *b, const struct machine_request *request,
                    const struct machine **m)
{
	if (!b)
		return;
	if (!(request->needs & MACHINE_BLAME)) {
		live_run_close(b->run);
		b->run = NULL;
		return;
	}
	b->blame = (struct machine_blame){ .rows = b->rows };
	b->diag = (struct diag){ 0 };
	if (!b->recording)
		analyze_live(b);
	else if ((*m)->play)
		analyze_recording(b, *m);
	if (b->diag.code)
		b->blame.note = b->diag.what;
	b->shown = **m;
	b->shown.blame = &b->blame;
	*m = &b->shown;
}
