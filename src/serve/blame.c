#include "serve/blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/blame_sums.h"
#include "analyses/explain/explain.h"
#include "analyze/scope.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/worker.h"
#include "ledger/ledger.h"
#include "live/live_analyzers.h"
#include "live/live_run.h"
#include "model/allowed.h"
#include "serve/waste.h"
#include "sys/proc/pid_namespace.h"

#define SECOND_NS    1000000000ULL
#define INTERVAL_NS  (5 * SECOND_NS)
#define SLACK_NS     SECOND_NS /* that the window is longer */
#define CULPRITS_MAX 256U      /* of one victim; the remainder is "other" */

/* One sum of an interval. Paths are copies: the recording of them goes. */
struct blame_row {
	char *victim;     /* NULL = unknown */
	char *culprit;    /* NULL: special, or unknown */
	uint32_t special; /* BLAME_SPECIAL and more; 0 = a cgroup */
	uint64_t ns;
};

/* An interval that is being analyzed, on another thread. */
struct analysis {
	struct live_shot *shot;
	struct pass_args args;
	struct allowed *reports; /* which CPUs tasks may use; NULL = unknown */
	uint64_t wasted_ns;
	struct blame_row *rows;
	size_t nr, cap;
	struct diag why;
	int err;
};

struct serve_blame {
	struct live_run *run;
	struct worker *worker;     /* NULL = none is under way */
	struct analysis *analysis; /* the worker's */
	struct allowed *reports;   /* of the interval; NULL: tasks cannot be looked up here */
	uint64_t from_ns;          /* where the next interval begins */
	uint64_t next_ns;          /* when */
	bool has_failed;           /* and was logged */
};

static void analysis_free(void *state)
{
	struct analysis *a = state;

	for (size_t i = 0; i < a->nr; i++) {
		free(a->rows[i].victim);
		free(a->rows[i].culprit);
	}
	free(a->rows);
	allowed_free(a->reports);
	live_shot_put(a->shot);
	free(a);
}

static char *path_of(const struct source *s, uint32_t cgroup)
{
	const char *path = cgroup ? tasks_cgroup_path(s->tasks, cgroup) : NULL;

	return path ? strdup(path) : NULL;
}

static int add_row(struct analysis *a, const struct source *s, uint32_t victim,
                   const struct blame_row *row)
{
	if (!row->ns)
		return 0;
	if (GROW(a->rows, a->cap, a->nr))
		return -ENOMEM;
	a->rows[a->nr] = *row;
	a->rows[a->nr++].victim = path_of(s, victim);
	return 0;
}

static int add_special(struct analysis *a, const struct source *s, uint32_t unit,
                       const struct blame_victim *v)
{
	static const int8_t specials[LEDGER_KINDS] = {
		[LEDGER_UNKNOWN] = BLAME_UNKNOWN,    [LEDGER_WAKING] = BLAME_WAKING,
		[LEDGER_QUEUE] = BLAME_QUEUE,        [LEDGER_THROTTLED] = BLAME_THROTTLED,
		[LEDGER_STOLEN] = BLAME_STOLEN,      [LEDGER_INTERRUPT] = BLAME_INTERRUPTS,
		[LEDGER_SOFTIRQ] = BLAME_INTERRUPTS, [LEDGER_TASK] = -1,
		[LEDGER_IDLE] = BLAME_IDLE,
	};
	int err = 0;

	for (int kind = 0; kind < LEDGER_KINDS && !err; kind++)
		if (specials[kind] >= 0)
			err = add_row(a, s, unit,
			              &(struct blame_row){ .special = BLAME_SPECIAL |
			                                              (uint32_t)specials[kind],
			                                   .ns = v->ns[kind] });
	return err;
}

static int add_culprits(struct analysis *a, const struct source *s, uint32_t unit,
                        const struct blame_sums *sums)
{
	struct blame_culprit most[CULPRITS_MAX];
	uint32_t nr = blame_pairs_most(&sums->pairs, unit, CULPRITS_MAX, most);
	uint64_t left = sums->victims[unit].ns[LEDGER_TASK];
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++) {
		const struct blame_row row = { .culprit = path_of(s, most[i].unit),
			                       .ns = most[i].ns };

		left -= most[i].ns < left ? most[i].ns : left;
		err = add_row(a, s, unit, &row);
		if (err || !row.ns)
			free(row.culprit);
	}
	return err ? err : add_row(a, s, unit, &(struct blame_row){ .ns = left });
}

static int add_victims(struct analysis *a, const struct source *s, const struct units *units,
                       const struct blame_sums *sums)
{
	int err = 0;

	for (uint32_t i = 0; i < units->nr && !err; i++) {
		if (!sums->victims[i].wait_ns)
			continue;
		err = add_special(a, s, i, &sums->victims[i]);
		if (!err)
			err = add_culprits(a, s, i, sums);
	}
	return err;
}

static int analyze_scope(struct analysis *a, const struct source *s, const struct scope *sc)
{
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	struct blame_sums sums = { 0 };
	struct units units = { 0 };
	int err = units_init(&units, sc, &a->why);

	if (err)
		return err;
	err = explain_ledger(s, s->start_ns, s->end_ns, &l);
	if (!err)
		err = blame_sums_collect(&sums, sc, &units, l);
	if (!err)
		err = add_victims(a, s, &units, &sums);
	if (!err && a->reports)
		err = waste_look_up(sc, a->reports);
	if (!err && a->reports)
		err = waste_of_interval(sc, l, &a->wasted_ns);
	blame_sums_done(&sums);
	units_done(&units);
	return err;
}

static void analyze(struct worker *w, void *state)
{
	struct analysis *a = state;
	struct source s = *live_shot_source(a->shot);
	struct scope sc;

	(void)w;
	if (a->args.from_ns >= a->args.to_ns)
		return;
	s.affinity = a->reports;
	a->err = scope_init(&sc, &s, &a->args, &a->why);
	if (a->err)
		return;
	a->err = analyze_scope(a, &s, &sc);
	scope_done(&sc);
}

static int take_report(void *ctx, const struct ev_hdr *rec)
{
	struct serve_blame *b = ctx;
	struct ev_sink sink;

	if (!b->reports)
		return 0;
	sink = allowed_sink(b->reports);
	return sink.push(sink.ctx, rec);
}

int serve_blame_open(struct diag *d, struct serve_blame **out)
{
	struct serve_blame *b = calloc(1, sizeof(*b));
	const struct live_run_cfg cfg = { .analyzers = 1U << ANALYZER_BLAME,
		                          .window_ns = INTERVAL_NS + SLACK_NS,
		                          .affinity = { .push = take_report, .ctx = b } };
	int err;

	if (!b || (pid_namespace_is_initial() && allowed_new(0, &b->reports))) {
		free(b);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	err = live_run_open(&cfg, d, &b->run);
	if (!err)
		err = live_run_attach(b->run, d);
	if (err) {
		serve_blame_close(b);
		return err;
	}
	b->from_ns = live_run_start_ns(b->run);
	b->next_ns = clock_boot_ns() + INTERVAL_NS;
	*out = b;
	return 0;
}

void serve_blame_close(struct serve_blame *b)
{
	if (!b)
		return;
	worker_end(b->worker);
	live_run_close(b->run);
	allowed_free(b->reports);
	free(b);
}

int serve_blame_fd(const struct serve_blame *b)
{
	return live_run_fd(b->run);
}

static int start_interval(struct serve_blame *b)
{
	static const struct worker_job job = { .run = analyze,
		                               .free = analysis_free,
		                               .runs_anyway = true };
	struct analysis *a = calloc(1, sizeof(*a));
	struct allowed *next = NULL;
	int err = a ? live_run_shot(b->run, &a->shot) : -ENOMEM;

	if (!err && b->reports)
		err = allowed_new(0, &next);
	if (!err) {
		a->reports = b->reports;
		b->reports = next;
		a->args = (struct pass_args){
			.cpu = PASS_ANY_CPU,
			.layer = EV_NO_LAYER,
			.by = PASS_BY_CGROUP,
			.from_ns = live_shot_from_ns(a->shot, b->from_ns),
			.to_ns = live_shot_source(a->shot)->end_ns,
		};
		b->from_ns = a->args.to_ns;
		err = worker_start(&job, a, &b->worker);
	}
	if (err && a)
		analysis_free(a);
	else
		b->analysis = a;
	return err;
}

static void take_interval(struct serve_blame *b, struct sums *s)
{
	const struct analysis *a = b->analysis;

	if (a->err && !b->has_failed) {
		log_warn("an interval of --blame is not counted: %s",
		         a->why.what[0] ? a->why.what : strerror(-a->err));
		b->has_failed = true;
	}
	if (!a->err && a->args.to_ns > a->args.from_ns) {
		s->blame.covered_ns += a->args.to_ns - a->args.from_ns;
		s->has_wasted |= a->reports != NULL;
		s->wasted_ns += a->wasted_ns;
	}
	for (size_t i = 0; i < a->nr && !a->err; i++) {
		const struct blame_row *row = &a->rows[i];
		uint32_t culprit = row->special ? row->special
		                                : seats_known(s->cgroups, row->culprit);

		sums_blame_add(s, seats_known(s->cgroups, row->victim), culprit, row->ns);
	}
	worker_end(b->worker);
	b->worker = NULL;
}

int serve_blame_poll(struct serve_blame *b, struct sums *s, struct diag *d)
{
	int err = live_run_poll(b->run, d);
	uint64_t now_ns = clock_boot_ns();
	struct live_run_stats stats;

	if (err)
		return err;
	s->blame.is_on = true;
	if (b->worker && worker_poll(b->worker, 0))
		take_interval(b, s);
	if (b->worker || now_ns < b->next_ns)
		return 0;
	live_run_stats(b->run, &stats);
	counts_set(&s->lost, "event_stream", stats.lost);
	b->next_ns = now_ns + INTERVAL_NS;
	return start_interval(b) ? diag_set(d, -ENOMEM, NULL, "out of memory") : 0;
}
