/*
 * The findings are the bottlenecks of the summary (docs/definitions.md), the worst first; one of each cause if there are more
 * than fit. Each has one sentence, what was
 * measured, how sure it is, and the call that shows more. After them comes what bounds them: the time, the CPUs, what was lost or not
 * recorded.
 */
#include "mcp/tools/core_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "mcp/outgoing.h"
#include "mcp/tools/trace_call.h"
#include "render/bottlenecks_text.h"
#include "render/report_json.h"

#define MOST_FINDINGS    8U
#define MOST_TIDS        5U
#define MOST_CPUS        64U
#define MOST_NOTES       3U
#define MOST_BUSY        3U
#define MOST_SLEEPERS    3U
#define MANY_SLEEPS      5U
#define MOSTLY_PERCENT   50
#define LONG_SLEEP_SHARE 10 /* of the time */
#define TIME_BYTES       24

static const char *text_at(const struct report_node *n, const char *path)
{
	const struct report_node *at = report_at(n, path);

	return at && at->type == REPORT_STRING ? at->text : NULL;
}

static uint64_t number_at(const struct report_node *n, const char *path)
{
	const struct report_node *at = report_at(n, path);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

static void add_ms(struct report *r, const char *key, const struct report_node *n, const char *path)
{
	if (report_at(n, path) && report_at(n, path)->type == REPORT_U64)
		report_double(r, key, (double)number_at(n, path) / 1e6, 1);
}

static void add_evidence(struct report *r, const struct report_node *n)
{
	const struct report_node *tids = report_at(n, "affected_pids");
	uint32_t nr = 0;

	report_begin_object(r, "evidence");
	add_ms(r, "lost_ms", n, "lost_ns");
	if (report_at(n, "bottleneck_type.LostTime")) {
		report_u64(r, "waits", number_at(n, "bottleneck_type.LostTime.waits"));
		add_ms(r, "longest_ms", n, "bottleneck_type.LostTime.max_wait_ns");
	}
	report_begin_array(r, "tids");
	for (const struct report_node *t = tids ? tids->first : NULL; t && nr < MOST_TIDS;
	     t = t->next, nr++)
		report_u64(r, NULL, t->u64);
	report_end_array(r);
	report_end_object(r);
}

/* The moment that explains it: the beginning of the longest wait, the middle of the longest sleep. */
static void add_explain(struct report *r, const struct report_node *n)
{
	static const char tid[] = "bottleneck_type.LostTime.max_wait_tid";
	static const char at[] = "bottleneck_type.LostTime.max_wait_timestamp";
	uint64_t from_ns = number_at(n, "time_range.0"), to_ns = number_at(n, "time_range.1");

	if (report_at(n, "affected_pids.0"))
		report_u64(r, "tid", number_at(n, report_at(n, tid) ? tid : "affected_pids.0"));
	report_u64(r, "at_time_ns",
	           report_at(n, at) ? number_at(n, at) : from_ns + (to_ns - from_ns) / 2);
}

/* Of live data, which has no trace to ask about. */
static void add_live_next(struct report *r, const struct report_node *n)
{
	bool has_task = report_at(n, "bottleneck_type.LostTime");

	report_begin_object(r, "next");
	report_string(r, "tool", has_task ? "live" : "record");
	report_begin_object(r, "arguments");
	if (has_task)
		report_u64(r, "tid", number_at(n, "bottleneck_type.LostTime.max_wait_tid"));
	report_end_object(r);
	report_end_object(r);
}

/* The next call, ready to be sent. */
static void add_next(struct report *r, const struct report_node *n, const char *trace_id)
{
	const char *kind = text_at(n, "kind");
	const char *type = strcmp(kind, "short_lived_tasks") == 0 ? "lifecycle"
	                   : strcmp(kind, "softirqs") == 0        ? "softirq_analysis"
	                                                          : NULL;
	bool is_stolen = strcmp(kind, "stolen") == 0;

	report_begin_object(r, "next");
	report_string(r, "tool", type ? "analyze" : is_stolen ? "blame" : "explain");
	report_begin_object(r, "arguments");
	report_string(r, "trace_id", trace_id);
	if (type)
		report_string(r, "type", type);
	else if (!is_stolen)
		add_explain(r, n);
	report_end_object(r);
	report_end_object(r);
}

static void add_finding(struct report *r, const struct report_node *n, const struct tool_call *c)
{
	report_begin_object(r, NULL);
	report_string(r, "cause", text_at(n, "cause"));
	report_string(r, "what", text_at(n, "description"));
	report_string(r, "confidence", text_at(n, "confidence"));
	add_evidence(r, n);
	report_string(r, "remedy", text_at(n, "remedy"));
	if (c->s->facts->is_live)
		add_live_next(r, n);
	else
		add_next(r, n, c->trace_id);
	report_end_object(r);
}

/* Rates are no loss by themselves. */
static void add_notes(struct report *r, const struct report_node *all)
{
	const struct report_node *rates = report_at(all, "high_rates");
	uint32_t nr = 0;

	if (!rates || !rates->nr)
		return;
	report_begin_array(r, "high_rates");
	for (const struct report_node *n = rates->first; n && nr < MOST_NOTES; n = n->next, nr++)
		report_string(r, NULL, text_at(n, "description"));
	report_end_array(r);
}

/* Tasks ended most of such sleeps, not timers: they had what the sleeper wanted, or had no work for it. */
static bool is_for_others(const struct report_node *n, uint64_t span_ns)
{
	static const char *const calls[] = { "futex", "flock",    "fcntl",
		                             "read",  "recvfrom", "recvmsg" };
	const char *call = text_at(n, "reasons.0.syscall");
	const struct report_node *ends = report_at(n, "ended_by");
	double by_tasks = 0, percent;
	bool is_one = false;

	for (size_t i = 0; call && i < sizeof(calls) / sizeof(calls[0]); i++)
		is_one = is_one || strcmp(call, calls[i]) == 0;
	if (!is_one || !text_at(n, "comm"))
		return false;
	for (const struct report_node *e = ends ? ends->first : NULL; e; e = e->next)
		if (text_at(e, "waker_comm") && report_number(report_at(e, "percent"), &percent))
			by_tasks += percent;
	return by_tasks >= MOSTLY_PERCENT && number_at(n, "sleeps") >= MANY_SLEEPS &&
	       number_at(n, "sleep_ns") >= span_ns / LONG_SLEEP_SHARE;
}

/* Who woke it most; another name says more than its own. */
static const char *main_waker(const struct report_node *n, const char *comm)
{
	const struct report_node *ends = report_at(n, "ended_by");

	for (const struct report_node *e = ends->first; e; e = e->next) {
		const char *waker = text_at(e, "waker_comm");

		if (waker && strcmp(waker, comm) != 0)
			return waker;
	}
	return comm;
}

static void add_sleeper(struct report *r, const struct report_node *n, const char *trace_id)
{
	const char *comm = text_at(n, "comm");
	char t[TIME_BYTES];

	report_begin_object(r, NULL);
	report_string(r, "what",
	              report_printf(r, "%s slept %s in %s (%s), most often until %s woke it", comm,
	                            text_duration(t, sizeof(t), number_at(n, "reasons.0.sleep_ns")),
	                            text_at(n, "reasons.0.syscall"), text_at(n, "reasons.0.for"),
	                            main_waker(n, comm)));
	report_begin_object(r, "next");
	report_string(r, "tool", "explain");
	report_begin_object(r, "arguments");
	report_string(r, "trace_id", trace_id);
	report_string(r, "comm", comm);
	report_string(r, "what", "sleep");
	report_end_object(r);
	report_end_object(r);
	report_end_object(r);
}

/* Whether that is lost time only who knows the program can say: workers without work sleep so, too. */
static void add_sleepers(struct report *r, const struct tool_call *c,
                         const struct report_node *sleeps)
{
	const struct report_node *list = sleeps ? report_at(sleeps, "sleepers") : NULL;
	uint32_t nr = 0;

	for (const struct report_node *n = list ? list->first : NULL; n && nr < MOST_SLEEPERS;
	     n = n->next) {
		if (!is_for_others(n, c->s->end_ns - c->s->start_ns))
			continue;
		if (!nr++)
			report_begin_array(r, "asleep_for_others");
		add_sleeper(r, n, c->trace_id);
	}
	if (nr)
		report_end_array(r);
}

/* In the order of the CPUs; of many only how far apart they are. */
static void add_cpus(struct report *r, const struct report_node *all)
{
	const struct report_node *cpus = report_at(all, "cpus");
	double sum = 0, most = 0, value;
	uint64_t most_cpu = 0;

	if (!cpus || !cpus->nr)
		return;
	if (cpus->nr <= MOST_CPUS) {
		report_begin_array(r, "cpu_busy_percent");
		for (const struct report_node *n = cpus->first; n; n = n->next)
			report_double(r, NULL,
			              report_number(report_at(n, "busy_percent"), &value) ? value
			                                                                  : 0,
			              0);
		report_end_array(r);
		return;
	}
	for (const struct report_node *n = cpus->first; n; n = n->next) {
		if (!report_number(report_at(n, "busy_percent"), &value))
			continue;
		sum += value;
		most_cpu = value > most ? number_at(n, "cpu_id") : most_cpu;
		most = value > most ? value : most;
	}
	report_begin_object(r, "cpu_busy_percent");
	report_double(r, "mean", sum / cpus->nr, 1);
	report_double(r, "most", most, 1);
	report_u64(r, "most_cpu", most_cpu);
	report_end_object(r);
}

static void add_busiest(struct report *r, const struct report_node *all)
{
	const struct report_node *list = report_at(all, "busiest_tasks");
	uint32_t nr = 0;

	report_begin_array(r, "busiest");
	for (const struct report_node *n = list ? list->first : NULL; n && nr < MOST_BUSY;
	     n = n->next, nr++) {
		double percent = 0;

		(void)report_number(report_at(n, "of_one_cpu_percent"), &percent);
		report_string(r, NULL,
		              report_printf(r, "%s (%" PRIu64 ") %.0f %%", text_at(n, "comm"),
		                            number_at(n, "tid"), percent));
	}
	report_end_array(r);
}

/* What bounds the findings; members that say that all is well are left out. */
static void add_bounds(struct report *r, const struct source *s, const struct report_node *all)
{
	static const char *const if_any[] = { "incomplete", "not_in_file", "scheduler" };
	const struct source_facts *f = s->facts;

	report_double(r, "duration_ms", (double)(s->end_ns - s->start_ns) / 1e6, 1);
	add_cpus(r, all);
	add_busiest(r, all);
	if (f->lost || f->kinds[EV_LOST])
		report_copy(r, "lost_events", report_at(all, "lost_events"));
	if (f->filter)
		report_string(r, "recorded_tasks", f->filter);
	for (size_t i = 0; i < sizeof(if_any) / sizeof(if_any[0]); i++)
		if (text_at(all, if_any[i]))
			report_string(r, if_any[i], text_at(all, if_any[i]));
	if (!f->kinds[EV_SLEEP])
		report_string(
			r, "not_recorded",
			"calls in which tasks sleep: locks and disk waits have no names (events default, sleep)");
}

static uint64_t add_findings(const struct tool_call *c, const struct report_node *list,
                             uint64_t most, struct report *r)
{
	bool is_chosen[BOTTLENECKS_RANKED] = { false };
	uint64_t nr = 0;
	uint32_t at = 0;

	bottlenecks_choose(list, most, is_chosen);
	for (const struct report_node *n = list->first; n && at < BOTTLENECKS_RANKED;
	     n = n->next, at++) {
		if (!is_chosen[at])
			continue;
		add_finding(r, n, c);
		nr++;
	}
	return nr;
}

/* What it is made of. */
struct parts {
	const struct report_node *summary;
	const struct report_node *sleeps; /* NULL = they were not recorded */
};

/* What tasks wanted to do is not known: the one asked about may still have slept for what others should have done. */
static void add_nothing(struct report *r, const struct tool_call *c)
{
	const char *comm = call_string(c, "comm");

	report_string(
		r, "verdict",
		"no task lost 1 % of the time waiting for a CPU, a disk or a lock that several want, or waited 10 ms at once");
	if (!comm && !call_has(c, "tid"))
		return;
	report_begin_object(r, "next");
	report_string(r, "tool", "explain");
	report_begin_object(r, "arguments");
	report_string(r, "trace_id", c->trace_id);
	report_string(r, "what", "task");
	if (comm)
		report_string(r, "comm", comm);
	else
		report_u64(r, "tid", call_u64(c, "tid"));
	report_end_object(r);
	report_end_object(r);
}

/* All of it with so many findings; false without memory. */
static bool build(const struct tool_call *c, const struct parts *p, uint64_t most, struct report *r)
{
	const struct report_node *all = p->summary, *list = report_at(all, "bottlenecks");
	uint64_t total = number_at(all, "total_bottlenecks"), nr = 0;

	report_begin_object(r, NULL);
	if (!total)
		add_nothing(r, c);
	report_begin_array(r, "findings");
	if (list && list->type == REPORT_ARRAY)
		nr = add_findings(c, list, most, r);
	report_end_array(r);
	if (total > nr)
		report_u64(r, "more_findings", total - nr);
	add_sleepers(r, c, p->sleeps);
	add_notes(r, all);
	add_bounds(r, c->s, all);
	report_end_object(r);
	return !report_error(r);
}

static size_t bytes_of(const struct report *r)
{
	struct outgoing o;
	size_t len = SIZE_MAX;

	if (outgoing_begin(&o))
		return len;
	report_json(&o.w, NULL, report_root(r));
	if (outgoing_end(&o) == 0)
		len = o.len;
	outgoing_done(&o);
	return len;
}

static void put_members(struct json_writer *w, const struct report_node *object)
{
	for (const struct report_node *n = object->first; n; n = n->next)
		report_json(w, n->key, n);
}

static uint32_t most_findings(const struct tool_call *c)
{
	return call_was_given(c, "limit") ? (uint32_t)call_u64(c, "limit") : MOST_FINDINGS;
}

/* As many as the budget allows, or as were asked for. */
static int put_fitting(struct tool_call *c, const struct parts *p)
{
	uint64_t most = most_findings(c);
	size_t budget = c->s->facts->is_live ? LIVE_FINDINGS_BUDGET : FINDINGS_BUDGET;

	for (;; most--) {
		SCOPED(scoped_report) struct report *r = report_new(0);

		if (!r || !build(c, p, most, r))
			return diag_set(c->d, -ENOMEM, NULL, "out of memory");
		if (call_was_given(c, "limit") || most <= 1 || bytes_of(r) <= budget) {
			put_members(c->out, report_root(r));
			return 0;
		}
	}
}

int trace_put_findings(struct tool_call *c)
{
	SCOPED(scoped_report) struct report *all = NULL;
	SCOPED(scoped_report) struct report *sleeps = NULL;
	struct pass_args args;
	int err = trace_pass_args(c, c->s, &args);

	args.limit = BOTTLENECKS_RANKED;
	if (!err)
		err = trace_pass_run(c, &pass_summary, c->s, &args, &all);
	args.by = PASS_BY_COMM;
	if (!err && c->s->facts->kinds[EV_SLEEP])
		err = trace_pass_run(c, pass_find("sleeps"), c->s, &args, &sleeps);
	if (!err)
		err = put_fitting(c, &(struct parts){ report_root(all),
		                                      sleeps ? report_root(sleeps) : NULL });
	if (err || !call_bool(c, "detail"))
		return err;
	jw_begin_object(c->out, "detail");
	err = trace_put_summary(c, c->s, NULL);
	jw_end_object(c->out);
	return err;
}
