/* analyses/explain/explain — a wait in plain sentences. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/event_check.h"
#include "analyses/explain/explain.h"
#include "analyses/explain/quota_periods.h"
#include "analyze/cgroups.h"
#include "analyze/dsq_name.h"
#include "analyze/latency.h"
#include "base/text.h"
#include "model/interrupt.h"

#define NAME_BYTES   48
#define TIME_BYTES   24
#define LIST_BYTES   64
#define SMALL_PART   20 /* less than a 20th of the wait is not worth words of its own */
#define SMALL_LINK   10 /* nor is less than a tenth of the waits of a chain */
#define LONG_IDLE_NS 1000000

static const char *time_text(char buf[TIME_BYTES], uint64_t ns)
{
	return text_duration(buf, TIME_BYTES, ns);
}

/* "nginx (1234)", by the name that it had then. */
static const char *name_text(const struct source *s, uint32_t task, uint64_t ts_ns,
                             char buf[NAME_BYTES])
{
	snprintf(buf, NAME_BYTES, "%s (%" PRIu32 ")", source_comm_at(s, task, ts_ns),
	         source_tid(s, task));
	return buf;
}

static unsigned int percent(uint64_t part, uint64_t whole)
{
	return whole ? (unsigned int)(100.0 * (double)part / (double)whole + 0.5) : 0;
}

const char *explain_interrupt(const struct source *s, const struct pair_wait *w, struct report *r)
{
	struct interrupt i = { .in = interrupt_context(w->flags, w->by), .by = w->by };
	char text[INTERRUPT_TEXT];

	if (w->cause == PAIR_PREEMPTED || !interrupt_is(i.in))
		return NULL;
	source_name_device(s, &i);
	return report_printf(r, "%s", interrupt_words(&i, text));
}

/* "the timer interrupt", "nginx (1234)". */
static const char *waker_text(const struct source *s, const struct pair_wait *w, struct report *r)
{
	enum abi_context in = interrupt_context(w->flags, w->by);
	char name[NAME_BYTES];

	if (interrupt_is(in))
		return explain_interrupt(s, w, r);
	if (w->waker == TASKS_NONE)
		return "an unknown task or interrupt";
	if (in == ABI_IN_UNKNOWN)
		return report_printf(r,
		                     "%s or an interrupt during it (interrupts were not recorded)",
		                     name_text(s, w->waker, pair_wait_woken_ns(w), name));
	return report_printf(r, "%s", name_text(s, w->waker, pair_wait_woken_ns(w), name));
}

/* " for CPU 0", or where it was in turn; "" where that is unknown. */
static const char *places_text(const struct explain_wait *e, struct report *r)
{
	const char *text = " for";

	for (uint32_t i = 0; i < e->nr_stays; i++)
		if (i == EXPLAIN_MAX_STAYS || e->stays[i].cpu == PAIR_NO_CPU)
			return "";
	if (e->nr_stays > EXPLAIN_MAX_NAMED)
		return report_printf(r, "; it was moved %u times", e->nr_stays - 1);
	for (uint32_t i = 0; i < e->nr_stays; i++)
		text = report_printf(r, "%s%s CPU %u", text, i ? ", then for" : "",
		                     e->stays[i].cpu);
	return e->nr_stays ? text : "";
}

static void say_what(const struct source *s, const struct explain_wait *e, struct report *r)
{
	const struct pair_wait *w = &e->wait;
	char name[NAME_BYTES], other[NAME_BYTES], t[TIME_BYTES], at[TIME_BYTES];
	const char *how, *places = places_text(e, r);
	unsigned int from_cpu = w->from_cpu != PAIR_NO_CPU ? w->from_cpu : w->cpu;

	name_text(s, w->task, e->start_ns, name);
	time_text(t, explain_wait_ns(e));
	time_text(at, e->start_ns - s->start_ns);
	if (e->is_throttled_first)
		how = report_printf(r, "was throttled on CPU %u", from_cpu);
	else if (w->cause == PAIR_PREEMPTED)
		how = report_printf(
			r, "lost CPU %u%s%s", from_cpu, w->waker != TASKS_NONE ? " to " : "",
			w->waker != TASKS_NONE ? name_text(s, w->waker, e->start_ns, other) : "");
	else
		how = report_printf(r, "was %s by %s", w->cause == PAIR_NEW ? "started" : "woken",
		                    waker_text(s, w, r));
	report_string(r, NULL,
	              report_printf(r, "%s %s %s after the start and waited %s%s%s.", name, how, at,
	                            t, places, w->is_open ? ", and still did at the end" : ""));
}

/* Why nothing is known of a CPU for a time. */
static const char *why_unknown(const struct source *s, struct report *r)
{
	if (s->facts->filter)
		return report_printf(r, "the recording covers only %s", s->facts->filter);
	return s->facts->incomplete ? "the recording is incomplete" : "events are missing";
}

/* Of deadline or real time. */
static const char *urgent_text(int16_t prio, uint8_t policy, struct report *r)
{
	bool is_own = policy == ABI_POLICY_FIFO || policy == ABI_POLICY_RR;

	if (prio < 0)
		return policy && policy != ABI_POLICY_DEADLINE ? "inherited deadline" : "deadline";
	if (!policy)
		return prio ? report_printf(r, "real-time priority %d", 99 - prio) : NULL;
	return report_printf(r, "%s %d",
	                     is_own ? ev_policy_name(policy) : "inherited real-time priority",
	                     99 - prio);
}

const char *explain_class(int16_t prio, uint8_t policy, struct report *r)
{
	bool is_nice = prio >= 100 && prio < 140 && prio != 120;

	if (prio < 100)
		return urgent_text(prio, policy, r);
	if (policy == ABI_POLICY_IDLE)
		return "SCHED_IDLE";
	if (policy == ABI_POLICY_BATCH)
		return is_nice ? report_printf(r, "BATCH, nice %d", prio - 120) : "BATCH";
	return is_nice ? report_printf(r, "nice %d", prio - 120) : NULL;
}

/* The path of the cgroup of a part, if it is another one than that of the task that waits; else NULL. */
static const char *other_cgroup(const struct source *s, const struct explain_parts *all,
                                const struct explain_part *p, struct report *r)
{
	if (!p->cgroup || !all->cgroup || p->cgroup == all->cgroup)
		return NULL;
	return cgroup_name(s, p->cgroup, r);
}

/* "real-time priority 50, of another cgroup /build"; NULL = nothing is worth it. */
static const char *marks_text(const struct source *s, const struct explain_parts *all,
                              const struct explain_part *p, struct report *r)
{
	const char *class = explain_class(p->prio, p->policy, r),
		   *cgroup = other_cgroup(s, all, p, r);

	if (!cgroup)
		return class;
	return report_printf(r, "%s%sof another cgroup, %s", class ? class : "", class ? ", " : "",
	                     cgroup);
}

static const char *task_text(const struct source *s, const struct explain_parts *all,
                             const struct explain_part *p, struct report *r)
{
	uint32_t task = (uint32_t)p->what;
	const char *comm = source_comm_at(s, task, all->names_ns), *marks, *class;

	if (p->shared == PASS_BY_CGROUP) {
		class = explain_class(p->prio, p->policy, r);
		return report_printf(r, "%u tasks of %s cgroup, %s (%s%s%s most of it)",
		                     p->nr_tasks, p->cgroup == all->cgroup ? "its" : "another",
		                     cgroup_name(s, p->cgroup, r), class ? class : "",
		                     class ? ", " : "", comm);
	}
	marks = marks_text(s, all, p, r);
	if (p->shared == PASS_BY_PROCESS)
		return report_printf(r, "%u tasks of process %" PRIu32 " (%s most of it%s%s)",
		                     p->nr_tasks, source_tgid(s, task), comm, marks ? ", " : "",
		                     marks ? marks : "");
	if (p->nr_tasks > 1)
		return report_printf(r, "%u tasks called %s%s%s%s", p->nr_tasks, comm,
		                     marks ? " (" : "", marks ? marks : "", marks ? ")" : "");
	return report_printf(r, "%s (%" PRIu32 "%s%s)", comm, source_tid(s, task),
	                     marks ? ", " : "", marks ? marks : "");
}

static const char *handler_text(const struct source *s, const struct explain_part *p,
                                struct report *r)
{
	struct interrupt i = { .in = p->kind == LEDGER_SOFTIRQ ? ABI_IN_SOFTIRQ : ABI_IN_HARDIRQ,
		               .by = (uint16_t)p->what };
	char text[INTERRUPT_TEXT];

	source_name_device(s, &i);
	return report_printf(r, "%s", interrupt_words(&i, text));
}

const char *explain_cgroup(const struct source *s, uint64_t id)
{
	for (uint32_t i = 1; id && i <= tasks_nr_cgroups(s->tasks); i++)
		if (tasks_cgroup_id(s->tasks, i) == id)
			return tasks_cgroup_path(s->tasks, i);
	return NULL;
}

static const char *quota_text(const struct source *s, const struct pair_throttle *t,
                              struct report *r)
{
	const char *path = explain_cgroup(s, t->cgroup), *text;
	char quota[TIME_BYTES], period[TIME_BYTES];
	struct quota_periods periods;

	text = path ? report_printf(r, "quota of cgroup %s", path) : "cgroup quota";
	if (t->quota_ns && t->period_ns)
		text = report_printf(r, "%s, %s per %s", text, time_text(quota, t->quota_ns),
		                     time_text(period, t->period_ns));
	if (quota_periods(s, t->cgroup, &periods))
		text = report_printf(r, "%s, in %" PRIu64 " of about %" PRIu64 " periods", text,
		                     periods.throttled, periods.passed);
	return report_printf(r, "throttled (%s)", text);
}

const char *explain_throttle(const struct source *s, const struct pair_throttle *t,
                             struct report *r)
{
	char runtime[TIME_BYTES], period[TIME_BYTES];

	switch (t->limit) {
	case EV_LIMIT_RT:
		return "throttled (real-time tasks had used up their share of the CPU)";
	case EV_LIMIT_DEADLINE:
		return report_printf(r, "throttled (its deadline runtime, %s per %s, was used up)",
		                     time_text(runtime, t->quota_ns),
		                     time_text(period, t->period_ns));
	case EV_LIMIT_YIELD:
		return "throttled (it had yielded until its next deadline period)";
	default:
		return quota_text(s, t, r);
	}
}

const char *explain_part_text(const struct source *s, const struct explain_parts *all,
                              const struct explain_part *p, struct report *r)
{
	char name[DSQ_NAME];

	switch ((enum ledger_kind)p->kind) {
	case LEDGER_TASK:
		return report_printf(r, "behind %s on CPU %u", task_text(s, all, p, r), p->cpu);
	case LEDGER_INTERRUPT:
	case LEDGER_SOFTIRQ:
		return report_printf(r, "for %s on CPU %u", handler_text(s, p, r), p->cpu);
	case LEDGER_THROTTLED:
		return explain_throttle(s,
		                        &(struct pair_throttle){ .cgroup = p->what,
		                                                 .quota_ns = p->quota_ns,
		                                                 .period_ns = p->period_ns,
		                                                 .limit = p->limit },
		                        r);
	case LEDGER_STOLEN:
		return report_printf(r, "while the hypervisor had CPU %u%s", p->cpu,
		                     all->is_steal_estimated ? " (estimated)" : "");
	case LEDGER_QUEUE:
		return report_printf(r, "in dispatch queue %s", dsq_name(p->what, name));
	case LEDGER_IDLE:
		return p->what ? report_printf(
					 r,
					 "while core scheduling kept CPU %u idle because of %s (%" PRIu32
					 ") on its core",
					 p->cpu,
					 source_comm_at(s, (uint32_t)p->what - 1, all->names_ns),
					 source_tid(s, (uint32_t)p->what - 1))
		               : report_printf(r, "while CPU %u was idle", p->cpu);
	case LEDGER_WAKING:
		return "on the way to a queue";
	case LEDGER_UNKNOWN:
		return report_printf(r, "unknown (%s)", why_unknown(s, r));
	case LEDGER_KINDS:
		return "in smaller parts";
	}
	return "?";
}

const char *explain_part_name(const struct source *s, const struct explain_parts *all,
                              const struct explain_part *p, struct report *r)
{
	static const char *const names[] = {
		[LEDGER_UNKNOWN] = "unknown",
		[LEDGER_WAKING] = "on the way to a queue",
		[LEDGER_STOLEN] = "stolen by the hypervisor",
	};
	static const char *const limits[EV_LIMITS] = {
		[EV_LIMIT_QUOTA] = "throttled",
		[EV_LIMIT_RT] = "throttled, real-time share",
		[EV_LIMIT_DEADLINE] = "throttled, deadline runtime",
		[EV_LIMIT_YIELD] = "yielded until its next period",
	};
	const char *class, *cgroup;
	char name[DSQ_NAME];

	switch ((enum ledger_kind)p->kind) {
	case LEDGER_TASK:
		class = explain_class(p->prio, p->policy, r);
		return report_printf(r, "%s%s%s%s",
		                     source_comm_at(s, (uint32_t)p->what, all->names_ns),
		                     class ? " (" : "", class ? class : "", class ? ")" : "");
	case LEDGER_INTERRUPT:
	case LEDGER_SOFTIRQ:
		return handler_text(s, p, r);
	case LEDGER_THROTTLED:
		if (p->limit != EV_LIMIT_QUOTA)
			return limits[p->limit < EV_LIMITS ? p->limit : EV_LIMIT_QUOTA];
		cgroup = explain_cgroup(s, p->what);
		return report_printf(r, "throttled%s%s", cgroup ? ", cgroup " : "",
		                     cgroup ? cgroup : "");
	case LEDGER_QUEUE:
		return report_printf(r, "dispatch queue %s", dsq_name(p->what, name));
	case LEDGER_IDLE:
		return p->what ? "idle CPU, by core scheduling" : "idle CPU";
	case LEDGER_KINDS:
		return report_printf(r, "others (%u)", all->nr_others);
	default:
		return names[p->kind];
	}
}

static void say_unknown(const struct source *s, uint64_t ns, uint64_t wait, struct report *r)
{
	char t[TIME_BYTES];

	report_string(r, NULL,
	              report_printf(r, "What it waited for during %s of it (%u %%) is unknown: %s.",
	                            time_text(t, ns), percent(ns, wait), why_unknown(s, r)));
}

/* Where all of it went: the long parts by name, the others as a sum. */
static void say_parts(const struct source *s, const struct explain_wait *e, struct report *r)
{
	uint64_t wait = explain_wait_ns(e), rest = wait;
	char t[TIME_BYTES];

	if (e->parts.nr == 1 && e->parts.at[0].kind != LEDGER_KINDS &&
	    e->parts.at[0].kind != LEDGER_UNKNOWN) {
		report_string(r, NULL,
		              report_printf(r, "It waited all of it %s.",
		                            explain_part_text(s, &e->parts, &e->parts.at[0], r)));
		return;
	}
	for (uint32_t i = 0; i < e->parts.nr && i < EXPLAIN_MAX_NAMED; i++) {
		const struct explain_part *p = &e->parts.at[i];

		if (p->kind == LEDGER_KINDS || (i && p->ns < wait / SMALL_PART))
			break;
		rest -= p->ns;
		if (p->kind == LEDGER_UNKNOWN)
			say_unknown(s, p->ns, wait, r);
		else
			report_string(r, NULL,
			              report_printf(r, "It waited %s of it (%u %%) %s.",
			                            time_text(t, p->ns), percent(p->ns, wait),
			                            explain_part_text(s, &e->parts, p, r)));
	}
	if (rest >= wait / SMALL_PART)
		report_string(r, NULL,
		              report_printf(r, "The other %s (%u %%) are many smaller parts.",
		                            time_text(t, rest), percent(rest, wait)));
}

const char *explain_idle(const struct source *s)
{
	uint32_t measures = pair_measures(s->pair);
	bool has_steal = measures & EV_MEASURES_STEAL;

	if (s->facts->kinds[EV_SCX_RUN])
		return "; a sched_ext scheduler was loaded and can be the reason";
	if (pair_has_cookies(s->pair))
		return "; core scheduling is in use and can be the reason";
	if (measures & (EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU))
		return has_steal ? "" : "; a virtual CPU that did not run can be the reason";
	return has_steal
	               ? "; a CPU quota of its cgroup can be the reason"
	               : "; a CPU quota of its cgroup or a virtual CPU that did not run can be the reason";
}

/* To leave idle takes microseconds; what keeps a CPU from it for longer is often not in a recording. */
static void say_idle_here(const struct source *s, const struct explain_wait *e, struct report *r)
{
	uint64_t ns = e->ns[LEDGER_IDLE] - e->forced_idle_ns;

	if (ns > LONG_IDLE_NS && ns > explain_wait_ns(e) / SMALL_PART)
		report_string(r, NULL,
		              report_printf(r, "Why an idle CPU did not run it is not recorded%s.",
		                            explain_idle(s)));
}

/* A sched_ext scheduler that was thrown out during the wait had not run it. */
static void say_ejected(const struct source *s, const struct explain_wait *e, struct report *r)
{
	uint64_t id = timeline_first(s->timeline, TIMELINE_MARK);
	char t[TIME_BYTES];
	union timeline_row row;

	if (!s->facts->kinds[EV_SCX_STATE])
		return;
	for (; timeline_row(s->timeline, TIMELINE_MARK, id, &row); id++) {
		const char *name;

		if (row.mark.kind != EV_SCX_STATE || row.mark.value != EV_SCX_EJECTED ||
		    row.mark.ts_ns <= e->start_ns || row.mark.ts_ns > e->wait.end_ns)
			continue;
		name = tasks_string(s->tasks, row.mark.name_id);
		report_string(r, NULL,
		              report_printf(r,
		                            "The sched_ext scheduler %s had not run it when the "
		                            "kernel threw it out, %s after the start.",
		                            name && *name ? name : "(of unknown name)",
		                            time_text(t, row.mark.ts_ns - s->start_ns)));
	}
}

static void say_moves(const struct source *s, const struct explain_wait *e, struct report *r)
{
	char t[TIME_BYTES];

	if (e->nr_stays == 2 && e->stays[0].cpu != PAIR_NO_CPU && e->stays[1].cpu != PAIR_NO_CPU)
		report_string(r, NULL,
		              report_printf(r, "It was moved from CPU %u to CPU %u after %s.",
		                            e->stays[0].cpu, e->stays[1].cpu,
		                            time_text(t, e->stays[0].end_ns - e->start_ns)));
	else if (e->nr_stays == 1 && !s->facts->kinds[EV_MIGRATE] &&
	         e->wait.cause != PAIR_PREEMPTED)
		report_string(r, NULL,
		              "Migrations were not recorded: it may have waited elsewhere first.");
}

/* The CPUs of the recording that it may use, "0-3,8"; false if that is all of them, or too many words. */
static bool list_bound(const struct source *s, const struct explain_wait *e, char *buf, size_t size)
{
	uint32_t nr = pair_nr_cpus(s->pair), end;
	bool is_bound = false;
	size_t len = 0;

	for (uint32_t cpu = 0; cpu < nr && len < size; cpu = end + 1) {
		for (end = cpu; end < nr && source_may_use(s, e->wait.task, end, e->wait.end_ns);
		     end++)
			;
		is_bound |= end < nr;
		if (end == cpu)
			continue;
		len += (size_t)snprintf(buf + len, size - len, end - cpu > 1 ? "%s%u-%u" : "%s%u",
		                        len ? "," : "", cpu, end - 1);
	}
	return is_bound && len && len < size;
}

static void say_bound(const struct source *s, const struct explain_wait *e, struct report *r)
{
	char cpus[LIST_BYTES];

	if (source_bound_to(s, e->wait.task, e->wait.end_ns) &&
	    list_bound(s, e, cpus, sizeof(cpus)))
		report_string(r, NULL,
		              report_printf(r, "It is bound to CPU%s %s and cannot run elsewhere.",
		                            strpbrk(cpus, "-,") ? "s" : "", cpus));
}

static bool may_use_isolated(const struct source *s, const struct explain_wait *e)
{
	for (uint32_t cpu = 0; cpu < pair_nr_cpus(s->pair); cpu++)
		if (cpu != e->stays[0].cpu && source_is_isolated(s, cpu) &&
		    source_may_use(s, e->wait.task, cpu, e->start_ns))
			return true;
	return false;
}

static void say_idle(const struct source *s, const struct explain_wait *e, struct report *r)
{
	uint64_t wait = explain_wait_ns(e);
	char t[TIME_BYTES], t2[TIME_BYTES];
	int32_t llc = source_llc(s, e->stays[0].cpu);

	if (e->any_idle_ns <= wait / SMALL_PART && e->unknown_elsewhere_ns > wait / SMALL_PART) {
		report_string(
			r, NULL,
			report_printf(
				r, "Whether another CPU that it may use was idle is unknown: %s.",
				why_unknown(s, r)));
		return;
	}
	if (e->any_idle_ns <= wait / SMALL_PART) {
		report_string(
			r, NULL,
			may_use_isolated(s, e)
				? "No other CPU that it may use was idle meanwhile, but for isolated ones, "
				  "to which the scheduler moves nothing."
				: "No other CPU that it may use was idle meanwhile.");
		return;
	}
	report_string(
		r, NULL,
		report_printf(
			r,
			"For %s of it (%u %%) another CPU that it may use was idle, CPU %u for %s%s: "
			"the scheduler could have run it there.",
			time_text(t, e->any_idle_ns), percent(e->any_idle_ns, wait), e->idle[0].cpu,
			time_text(t2, e->idle[0].ns),
			llc >= 0 && llc == source_llc(s, e->idle[0].cpu) ? " (same cache)" : ""));
}

static void say_links(const struct source *s, const struct explain_link *links, uint32_t nr,
                      struct report *r)
{
	char name[NAME_BYTES], t[TIME_BYTES], t2[TIME_BYTES];
	uint64_t sum = 0;

	for (uint32_t i = 1; i < nr; i++)
		sum += links[i].wait_ns;
	for (uint32_t i = 1; i < nr; i++) {
		if (links[i].wait_ns < sum / SMALL_LINK)
			continue;
		report_string(r, NULL,
		              report_printf(r, "Before that, %s had itself waited %s and run %s.",
		                            name_text(s, links[i].wait.task, links[i].wait.end_ns,
		                                      name),
		                            time_text(t, links[i].wait_ns),
		                            time_text(t2, links[i].run_ns)));
	}
	if (nr > 2)
		report_string(
			r, NULL,
			report_printf(
				r,
				"The %u waits before it, along the chain of wakings, add up to %s.",
				nr - 1, time_text(t, sum)));
}

void explain_sentences(const struct source *s, const struct explain_wait *e,
                       const struct explain_link *links, uint32_t nr_links, struct report *r)
{
	say_what(s, e, r);
	say_parts(s, e, r);
	say_ejected(s, e, r);
	say_idle_here(s, e, r);
	say_moves(s, e, r);
	say_bound(s, e, r);
	say_idle(s, e, r);
	say_links(s, links, nr_links, r);
}
