#include "report/content.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "analyses/blame_sums.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyze/scope.h"
#include "analyze/wait_times.h"
#include "base/parallel.h"
#include "model/tasks.h"

#define RANKED_WAITS 12U /* of the longest; the others are those of findings */
#define OF_ONE_TASK  2U

static const struct part {
	const char *key; /* in the document */
	const struct pass *pass;
	enum pass_by by;
	uint32_t limit; /* unless the user gave one */
} parts[CONTENT_PARTS] = {
	[CONTENT_BOTTLENECKS] = { "scheduling_bottlenecks", &pass_scheduling_bottlenecks,
	                          PASS_BY_DEFAULT, 10 },
	[CONTENT_SUMMARY] = { "summary", &pass_summary, PASS_BY_DEFAULT, 10 },
	[CONTENT_RUNTIME] = { "process_runtime", &pass_process_runtime, PASS_BY_THREAD, 100 },
	[CONTENT_BLAME_COMM] = { "blame", &pass_blame, PASS_BY_COMM, 20 },
	[CONTENT_BLAME_PROCESS] = { "blame_by_process", &pass_blame, PASS_BY_PROCESS, 20 },
	[CONTENT_BLAME_CGROUP] = { "blame_by_cgroup", &pass_blame, PASS_BY_CGROUP, 20 },
	[CONTENT_LATENCY] = { "wakeup_latency", &pass_wakeup_latency, PASS_BY_DEFAULT, 50 },
	[CONTENT_CPUS] = { "cpu_utilization", &pass_cpu_utilization, PASS_BY_DEFAULT, 0 },
	[CONTENT_IRQS] = { "irq_analysis", &pass_irq_analysis, PASS_BY_DEFAULT, 20 },
	[CONTENT_SOFTIRQS] = { "softirq_analysis", &pass_softirq_analysis, PASS_BY_DEFAULT, 20 },
	[CONTENT_IPIS] = { "ipi_analysis", &pass_ipi_analysis, PASS_BY_DEFAULT, 20 },
	[CONTENT_IDLE] = { "cpu_idle", &pass_cpu_idle, PASS_BY_DEFAULT, 64 },
	[CONTENT_FREQUENCIES] = { "cpu_frequency", &pass_cpu_frequency, PASS_BY_DEFAULT, 64 },
	[CONTENT_QUEUES] = { "dsq_latency", &pass_dsq_latency, PASS_BY_DEFAULT, 20 },
};

const char *content_key(enum content_part part)
{
	return parts[part].key;
}

void content_command(const struct content *c, enum content_part part, char *buf, size_t size)
{
	const struct pass_args *a = &c->items[part].args;
	size_t len = (size_t)snprintf(buf, size, "analyze FILE %s", parts[part].pass->id);

	if (a->by && len < size)
		len += (size_t)snprintf(buf + len, size - len, " --by %s", pass_by_name(a->by));
	if (a->limit && len < size)
		snprintf(buf + len, size - len, " -n %" PRIu32, a->limit);
}

uint64_t content_after(const struct content *c, uint64_t ts_ns)
{
	return ts_ns > c->source.start_ns ? ts_ns - c->source.start_ns : 0;
}

static bool has_cgroups(const struct source *s)
{
	return s->facts->kinds[EV_CGROUP] > 0;
}

static void choose_findings(struct content *c, const struct report_node *root)
{
	const struct report_node *list = report_at(root, "bottlenecks");
	bool is_chosen[BOTTLENECKS_RANKED] = { false };
	uint32_t at = 0;

	if (!list || list->type != REPORT_ARRAY)
		return;
	bottlenecks_choose(list, CONTENT_FINDINGS, is_chosen);
	for (const struct report_node *n = list->first; n && at < BOTTLENECKS_RANKED;
	     n = n->next, at++)
		if (is_chosen[at])
			c->findings[c->nr_findings++] = n;
}

static uint64_t length(const struct pair_wait *w)
{
	return w->end_ns - pair_wait_woken_ns(w);
}

/* Where a wait may go: behind longer ones; the shortest goes, or the shortest of a task that has enough of them. */
static void rank(struct pair_wait *list, uint32_t *nr, const struct pair_wait *w)
{
	uint32_t of_task = 0, at = *nr, last = *nr;

	for (uint32_t i = 0; i < *nr; i++)
		if (list[i].task == w->task) {
			of_task++;
			last = i;
		}
	if (of_task >= OF_ONE_TASK || *nr == RANKED_WAITS) {
		at = of_task >= OF_ONE_TASK ? last : *nr - 1;
		if (length(&list[at]) >= length(w))
			return;
	} else {
		(*nr)++;
	}
	for (; at > 0 && length(&list[at - 1]) < length(w); at--)
		list[at] = list[at - 1];
	list[at] = *w;
}

static bool is_same(const struct pair_wait *a, const struct pair_wait *b)
{
	return a->task == b->task && a->end_ns == b->end_ns;
}

/* The longest wait of each finding, by which it is known. */
struct longest {
	uint64_t woken_ns[CONTENT_FINDINGS]; /* 0 = it is about no wait */
	uint64_t tid[CONTENT_FINDINGS];
};

static struct longest longest_of(const struct content *c)
{
	struct longest l = { 0 };

	for (uint32_t i = 0; i < c->nr_findings; i++) {
		l.woken_ns[i] = report_u64_at(c->findings[i],
		                              "bottleneck_type.LostTime.max_wait_timestamp");
		l.tid[i] = report_u64_at(c->findings[i], "bottleneck_type.LostTime.max_wait_tid");
	}
	return l;
}

static bool is_longest(const struct content *c, const struct longest *l, uint32_t finding,
                       const struct pair_wait *w)
{
	return l->woken_ns[finding] && l->woken_ns[finding] == pair_wait_woken_ns(w) &&
	       l->tid[finding] == source_tid(&c->source, w->task);
}

/* Whether the longest wait of any began then. */
static bool is_of_finding(const struct content *c, const struct longest *l, uint64_t start_ns)
{
	for (uint32_t i = 0; i < c->nr_findings; i++)
		if (l->woken_ns[i] == start_ns)
			return true;
	return false;
}

static void add_wait(struct content *c, const struct pair_wait *w)
{
	uint32_t at;

	for (uint32_t i = 0; i < c->nr_waits; i++)
		if (is_same(&c->waits[i], w))
			return;
	if (c->nr_waits == CONTENT_WAITS)
		return;
	for (at = c->nr_waits++; at > 0 && length(&c->waits[at - 1]) < length(w); at--)
		c->waits[at] = c->waits[at - 1];
	c->waits[at] = *w;
}

/* The longest of each finding, then the longest of all. */
static int choose_waits(struct content *c, struct diag *d)
{
	struct pair_wait ranked[RANKED_WAITS], w;
	struct longest longest = longest_of(c);
	struct scope sc;
	struct wait_times it = { .sc = &sc };
	uint64_t start_ns, end_ns;
	uint32_t nr = 0;
	int err = scope_init(&sc, &c->source, c->args, d);

	if (err)
		return err;
	while (wait_times_next(&it, &start_ns, &end_ns)) {
		bool is_ranked = nr < RANKED_WAITS || end_ns - start_ns > length(&ranked[nr - 1]);

		if ((!is_ranked && !is_of_finding(c, &longest, start_ns)) ||
		    !wait_times_row(&it, &w))
			continue;
		if (is_ranked)
			rank(ranked, &nr, &w);
		for (uint32_t i = 0; i < c->nr_findings; i++)
			if (is_longest(c, &longest, i, &w))
				add_wait(c, &w);
	}
	for (uint32_t i = 0; i < nr; i++)
		add_wait(c, &ranked[i]);
	for (uint32_t i = 0; i < c->nr_findings; i++)
		for (uint32_t k = 0; k < c->nr_waits; k++)
			if (is_longest(c, &longest, i, &c->waits[k]))
				c->finding_wait[i] = k + 1;
	scope_done(&sc);
	return 0;
}

static int explain_waits(struct content *c, struct diag *d)
{
	int err;

	c->explained = report_new(0);
	if (!c->explained)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_begin_object(c->explained, NULL);
	report_begin_array(c->explained, "waits");
	err = explain_show_waits(&c->source, c->waits, c->nr_waits, PASS_BY_DEFAULT, c->explained);
	report_end_array(c->explained);
	report_end_object(c->explained);
	if (!err)
		err = report_error(c->explained);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

/* What only needs the worst waits: they are explained, and what is made beside the analyses is. */
static void with_waits(void *ctx, unsigned int worker, size_t item)
{
	struct content *c = ctx;

	(void)worker;
	if (item && pass_applies(&pass_explain, &c->source))
		(void)explain_waits(c, &c->why); /* which says what went wrong */
	else if (!item && c->beside)
		c->beside->fn(c->beside->ctx);
}

/* Here, while other analyses go on, the worst waits are chosen. */
static void after_bottlenecks(void *ctx, const struct batch_result *found)
{
	struct content *c = ctx;
	struct parallel p = { .fn = with_waits, .ctx = c };
	int err = 0;

	if (!found->report)
		return;
	choose_findings(c, report_root(found->report));
	if (pass_applies(&pass_explain, &c->source))
		err = choose_waits(c, &c->why);
	if (!err)
		parallel_for(&p, 2);
}

/* Analyses of one source, in the order of the parts; one without cgroups has no table of them. */
static int run_parts(struct content *c, struct diag *d)
{
	const struct batch_then then = { after_bottlenecks, c };
	bool has_found = pass_applies(&pass_scheduling_bottlenecks, &c->source);
	struct batch_item chosen[CONTENT_PARTS];
	enum content_part which[CONTENT_PARTS];
	size_t nr = 0;
	int err;

	for (int i = 0; i < CONTENT_PARTS; i++) {
		struct pass_args *args = &c->items[i].args;

		c->items[i] = (struct batch_item){ .pass = parts[i].pass, .args = *c->args };
		args->by = parts[i].by;
		args->limit = c->args->limit ? c->args->limit : parts[i].limit;
		args->category = NULL;
		if (i == CONTENT_BLAME_CGROUP && !has_cgroups(&c->source))
			continue;
		which[nr] = (enum content_part)i;
		chosen[nr] = c->items[i];
		chosen[nr++].then = i == (has_found ? CONTENT_BOTTLENECKS : CONTENT_SUMMARY) ? &then
		                                                                             : NULL;
	}
	err = batch_run_items(&c->source, chosen, nr, d, &c->batch);
	for (size_t i = 0; !err && i < c->batch.nr; i++) {
		struct batch_result *r = &c->batch.results[i];

		r->then = NULL;
		r->args = &c->items[which[r->place]].args;
		if (!r->report)
			err = diag_set(d, r->d.code, r->d.hint, "%s", r->d.what);
		else
			c->parts[which[r->place]] = report_root(r->report);
	}
	if (!err && c->why.code)
		err = diag_set(d, c->why.code, c->why.hint, "%s", c->why.what);
	return err;
}

/* What a finding about sleeps says of the longest: the moment that its command asks about. */
static bool sleep_of(const struct report_node *finding, struct pass_args *args)
{
	const char *next = report_text_at(finding, "next");
	uint32_t tid;
	uint64_t at_ns;

	if (report_at(finding, "bottleneck_type.LostTime") || !next ||
	    sscanf(next, "explain FILE --tid %" SCNu32 " --at @%" SCNu64, &tid, &at_ns) != 2)
		return false;
	args->tid = tid;
	args->at_ns = at_ns;
	args->category = "sleeps";
	args->limit = 1;
	return true;
}

static int explain_sleeps_of(struct content *c, struct diag *d)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < c->nr_findings && c->nr_sleeps < CONTENT_SLEEPS; i++) {
		struct pass_args args = *c->args;

		if (!sleep_of(c->findings[i], &args))
			continue;
		err = pass_run(&pass_explain, &c->source, &args, d, &c->sleeps[c->nr_sleeps]);
		if (!err && report_at(report_root(c->sleeps[c->nr_sleeps]), "sleeps.0"))
			c->finding_sleep[i] = ++c->nr_sleeps;
		else if (!err)
			report_free(TAKE_PTR(c->sleeps[c->nr_sleeps]));
	}
	return err;
}

struct indexing {
	struct timeline *timeline;
	atomic_int err;
};

static void index_one(void *ctx, unsigned int worker, size_t item)
{
	struct indexing *x = ctx;
	uint32_t finds = item % 2 ? pass_explain.finds_by_task : pass_explain.finds_by_cpu;
	int err = 0;

	(void)worker;
	if (finds & (1U << item / 2))
		err = timeline_index(x->timeline, (enum timeline_table)(item / 2), item % 2);
	if (err)
		atomic_store(&x->err, err);
}

/* The indexes that a ledger and explaining ask for, before others look for them at the same time. */
static int index_rows(const struct source *s)
{
	struct indexing x = { .timeline = s->timeline };
	struct parallel p = { .fn = index_one, .ctx = &x };

	parallel_for(&p, 2 * (size_t)TIMELINE_TABLES);
	return atomic_load(&x.err);
}

static int fill(struct content *c, struct diag *d)
{
	int err = index_rows(&c->source);

	if (!err)
		err = explain_ledger(&c->source, c->source.start_ns, c->source.end_ns,
		                     &c->source.ledger);
	if (!err) {
		c->source.blame = blame_share_new(true);
		err = c->source.blame ? 0 : -ENOMEM;
	}
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = run_parts(c, d);
	if (err)
		return err;
	return pass_applies(&pass_explain, &c->source) ? explain_sleeps_of(c, d) : 0;
}

int content_init(struct content *c, const struct source *s, const struct pass_args *args,
                 const struct content_beside *beside, struct diag *d)
{
	int err;

	*c = (struct content){ .source = *s, .args = args, .beside = beside };
	if (!pass_applies(&pass_process_runtime, s))
		return diag_set(d, -ENODATA, "record with schedscope record",
		                "'%.160s' has no context switches, so there is nothing to report",
		                s->facts->name);
	c->source.ledger = NULL;
	c->source.blame = NULL;
	err = fill(c, d);
	if (err)
		content_done(c);
	return err;
}

void content_done(struct content *c)
{
	batch_done(&c->batch);
	report_free(c->explained);
	for (uint32_t i = 0; i < CONTENT_SLEEPS; i++)
		report_free(c->sleeps[i]);
	blame_share_free(c->source.blame);
	ledger_free(c->source.ledger);
	*c = (struct content){ 0 };
}

const struct report_node *content_wait(const struct content *c, uint32_t nr)
{
	const struct report_node *list = c->explained
	                                         ? report_at(report_root(c->explained), "waits")
	                                         : NULL;
	const struct report_node *at = list ? list->first : NULL;

	for (; at && nr; nr--)
		at = at->next;
	return at;
}

const struct report_node *content_sleep(const struct content *c, uint32_t nr)
{
	return nr < c->nr_sleeps ? report_at(report_root(c->sleeps[nr]), "sleeps.0") : NULL;
}
