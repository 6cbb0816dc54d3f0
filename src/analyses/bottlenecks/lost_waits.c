#include "analyses/bottlenecks/lost_waits.h"

#include <inttypes.h>

#include "analyses/bottlenecks/idle_beside.h"
#include "analyses/explain/explain.h"
#include "base/text.h"

#define LONG_NS     10000000ULL
#define LOST_SHARE  100 /* a 100th of the time */
#define SMALL_CAUSE 20  /* less than a 20th is not worth words */
#define MANY_TASKS  20
#define TIME_BYTES  24

/* The longest throttling; the cgroup is 0 where it is not known. */
static struct pair_throttle throttle_of(const struct blame_sums *b, uint32_t victim)
{
	const struct blame_victim *v = &b->victims[victim];
	union timeline_row row = { .throttle = { 0 } };

	if (!timeline_row(b->sc->s->timeline, TIMELINE_THROTTLE, v->throttle, &row))
		return (struct pair_throttle){ 0 };
	return row.throttle;
}

/* A deadline task that gives up the rest of its runtime waits for its next period because it wants to. */
static bool is_yielding(const struct blame_sums *b, uint32_t victim)
{
	const struct blame_victim *v = &b->victims[victim];

	return v->ns[LEDGER_THROTTLED] > v->wait_ns / 2 &&
	       throttle_of(b, victim).limit == EV_LIMIT_YIELD;
}

bool bottleneck_counts(const struct blame_sums *b, uint32_t victim)
{
	const struct blame_victim *v = &b->victims[victim];

	return v->wait_ns && (v->wait_ns >= b->sc->span_ns / LOST_SHARE || v->max_ns >= LONG_NS) &&
	       !is_yielding(b, victim);
}

static void add_cause(struct bottleneck *x, const struct bottleneck_cause *c)
{
	uint32_t at = x->nr_causes < BOTTLENECK_CAUSES ? x->nr_causes++ : BOTTLENECK_CAUSES;

	for (; at > 0 && x->causes[at - 1].ns < c->ns; at--)
		if (at < BOTTLENECK_CAUSES)
			x->causes[at] = x->causes[at - 1];
	if (at < BOTTLENECK_CAUSES)
		x->causes[at] = *c;
}

static void find_causes(const struct blame_sums *b, struct bottleneck *x)
{
	const struct blame_victim *v = &b->victims[x->victim];
	struct blame_culprit most[BOTTLENECK_CAUSES];
	uint32_t nr = blame_pairs_most(&b->pairs, x->victim, BOTTLENECK_CAUSES, most);

	for (uint32_t i = 0; i < nr; i++)
		add_cause(x, &(struct bottleneck_cause){ most[i].ns, most[i].unit, LEDGER_TASK });
	for (int kind = 0; kind < LEDGER_KINDS; kind++)
		if (kind != LEDGER_TASK && v->ns[kind])
			add_cause(x, &(struct bottleneck_cause){ .ns = v->ns[kind],
			                                         .kind = (uint8_t)kind });
}

struct bottleneck_cause bottleneck_main_cause(const struct blame_sums *b, uint32_t victim)
{
	struct bottleneck x = { .victim = victim };

	find_causes(b, &x);
	return x.causes[0];
}

int bottleneck_find(const struct blame_sums *b, const struct ledger *l, struct bottleneck *list,
                    uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		list[i] = (struct bottleneck){ .victim = list[i].victim };
		find_causes(b, &list[i]);
	}
	return idle_beside_find(b, l, list, nr);
}

static const char *name_of(const struct blame_sums *b, uint32_t unit)
{
	return source_comm(b->sc->s, b->units->names[unit]);
}

bool bottleneck_is_urgent(const struct blame_sums *b, uint32_t culprit)
{
	return b->urgent_ns[culprit] * 2 > b->caused_ns[culprit];
}

const char *bottleneck_class(const struct blame_sums *b, uint32_t culprit, struct report *r)
{
	if (!bottleneck_is_urgent(b, culprit))
		return NULL;
	return explain_class(b->urgent[culprit], b->policy[culprit], r);
}

static bool is_kthread(const struct blame_sums *b, uint32_t task)
{
	const struct task *t = tasks_at(b->sc->s->tasks, task);

	return t && t->is_kthread;
}

/* Of a victim that waits behind tasks. */
static enum bottleneck_why why_behind_tasks(const struct blame_sums *b, const struct bottleneck *x)
{
	const struct blame_victim *v = &b->victims[x->victim];
	uint32_t culprit = x->causes[0].culprit;
	/* While it is throttled no CPU may run it: more than half of the wait was beside an idle CPU even if all of that was, too. */
	uint64_t most_ns = v->wait_ns / 2 + v->ns[LEDGER_THROTTLED];

	if (x->may_use.ns > most_ns)
		return BOTTLENECK_WASTED_CORES;
	/* Threads of the kernel that have one CPU are its own. */
	if (!is_kthread(b, v->longest.task) && x->forbidden.ns > most_ns)
		return BOTTLENECK_AFFINITY;
	if (bottleneck_is_urgent(b, culprit) && culprit != x->victim)
		return BOTTLENECK_REAL_TIME;
	if (v->nr_new >= MANY_TASKS && v->nr_new * 2 >= v->nr_waits)
		return BOTTLENECK_NEW_TASKS;
	return culprit == x->victim ? BOTTLENECK_OVERLOAD : BOTTLENECK_NEIGHBOUR;
}

enum bottleneck_why bottleneck_why(const struct blame_sums *b, const struct bottleneck *x)
{
	static const enum bottleneck_why by_kind[] = {
		[LEDGER_UNKNOWN] = BOTTLENECK_UNKNOWN,
		[LEDGER_WAKING] = BOTTLENECK_WAKING,
		[LEDGER_QUEUE] = BOTTLENECK_DISPATCH_QUEUE,
		[LEDGER_THROTTLED] = BOTTLENECK_LIMIT,
		[LEDGER_STOLEN] = BOTTLENECK_STEAL,
		[LEDGER_INTERRUPT] = BOTTLENECK_INTERRUPTS,
		[LEDGER_SOFTIRQ] = BOTTLENECK_SOFTIRQS,
		[LEDGER_TASK] = BOTTLENECK_NEIGHBOUR,
		[LEDGER_IDLE] = BOTTLENECK_IDLE,
	};

	_Static_assert(sizeof(by_kind) / sizeof(by_kind[0]) == LEDGER_KINDS, "a kind has no cause");
	if (!x->nr_causes)
		return BOTTLENECK_UNKNOWN;
	return x->causes[0].kind == LEDGER_TASK ? why_behind_tasks(b, x)
	                                        : by_kind[x->causes[0].kind];
}

static const char *cause_text(const struct blame_sums *b, const struct bottleneck *x,
                              const struct bottleneck_cause *c, struct report *r)
{
	static const char *const texts[] = {
		[LEDGER_UNKNOWN] = "for what is unknown",
		[LEDGER_WAKING] = "on the way to a queue",
		[LEDGER_QUEUE] = "in dispatch queues",
		[LEDGER_THROTTLED] = NULL,
		[LEDGER_STOLEN] = "while the hypervisor had its CPU",
		[LEDGER_INTERRUPT] = "for interrupts",
		[LEDGER_SOFTIRQ] = "for softirqs",
		[LEDGER_TASK] = "behind each other",
		[LEDGER_IDLE] = "while its CPU was idle",
	};
	struct pair_throttle throttle;
	const char *class;

	_Static_assert(sizeof(texts) / sizeof(texts[0]) == LEDGER_KINDS, "a kind has no text");
	if (c->kind == LEDGER_THROTTLED) {
		throttle = throttle_of(b, x->victim);
		return explain_throttle(b->sc->s, &throttle, r);
	}
	if (c->kind != LEDGER_TASK || c->culprit == x->victim)
		return texts[c->kind];
	class = bottleneck_class(b, c->culprit, r);
	return report_printf(r, "behind %s%s%s%s", name_of(b, c->culprit), class ? " (" : "",
	                     class ? class : "", class ? ")" : "");
}

/* That it need not have waited. */
static const char *avoidable_text(const struct blame_sums *b, const struct bottleneck *x,
                                  struct report *r)
{
	enum bottleneck_why why = bottleneck_why(b, x);
	bool is_forbidden = why == BOTTLENECK_AFFINITY;
	const struct idle_beside *at = is_forbidden ? &x->forbidden : &x->may_use;

	if (!is_forbidden && why != BOTTLENECK_WASTED_CORES)
		return "";
	return report_printf(r, ", %.0f %% of it while CPU %" PRIu32 " was idle, %s",
	                     100.0 * (double)at->ns / (double)b->victims[x->victim].wait_ns,
	                     at->cpu,
	                     is_forbidden ? "but its affinity forbids it" : "and it may use it");
}

const char *bottleneck_text(const struct blame_sums *b, const struct bottleneck *x,
                            struct report *r)
{
	const struct blame_victim *v = &b->victims[x->victim];
	char t[TIME_BYTES];
	const char *text;

	if (v->nr_tasks > 1)
		text = report_printf(r, "%s (%u tasks)", name_of(b, x->victim), v->nr_tasks);
	else
		text = report_printf(r, "%s (%" PRIu32 ")", name_of(b, x->victim),
		                     source_tid(b->sc->s, v->longest.task));
	text = report_printf(r, "%s waited %s for a CPU%s", text,
	                     text_duration(t, sizeof(t), v->wait_ns), avoidable_text(b, x, r));
	for (uint32_t i = 0; i < x->nr_causes; i++) {
		if (i && x->causes[i].ns < v->wait_ns / SMALL_CAUSE)
			break;
		text = report_printf(r, "%s%s %s %s", text, i ? "," : ":",
		                     text_duration(t, sizeof(t), x->causes[i].ns),
		                     cause_text(b, x, &x->causes[i], r));
	}
	if (v->nr_waits > 1)
		text = report_printf(r, "%s; longest wait %s", text,
		                     text_duration(t, sizeof(t), v->max_ns));
	if (v->longest.is_open)
		text = report_printf(r, "%s, not over at the end", text);
	return text;
}

const char *bottleneck_why_name(enum bottleneck_why why)
{
	static const char *const names[] = {
		[BOTTLENECK_UNKNOWN] = "unknown",
		[BOTTLENECK_AFFINITY] = "affinity",
		[BOTTLENECK_WASTED_CORES] = "wasted_cores",
		[BOTTLENECK_REAL_TIME] = "real_time",
		[BOTTLENECK_NEW_TASKS] = "new_tasks",
		[BOTTLENECK_OVERLOAD] = "overload",
		[BOTTLENECK_NEIGHBOUR] = "neighbour",
		[BOTTLENECK_LIMIT] = "throttled",
		[BOTTLENECK_STEAL] = "steal",
		[BOTTLENECK_INTERRUPTS] = "interrupts",
		[BOTTLENECK_SOFTIRQS] = "softirqs",
		[BOTTLENECK_DISPATCH_QUEUE] = "dispatch_queue",
		[BOTTLENECK_WAKING] = "slow_wakeup",
		[BOTTLENECK_IDLE] = "idle_cpu",
	};

	return names[why];
}

static const char *remedy_for_limit(const struct blame_sums *b, const struct bottleneck *x,
                                    struct report *r)
{
	struct pair_throttle throttle = throttle_of(b, x->victim);
	const char *path = explain_cgroup(b->sc->s, throttle.cgroup);

	if (throttle.limit == EV_LIMIT_RT)
		return "let it sleep at times, or raise the share (sched_rt_runtime_us; fair_server in debugfs)";
	if (throttle.limit == EV_LIMIT_DEADLINE)
		return "raise its runtime (sched_setattr), or let it do less in a period";
	return report_printf(r, "raise the quota (cpu.max) of %s%s",
	                     path ? "cgroup " : "its cgroup", path ? path : "");
}

const char *bottleneck_remedy(const struct blame_sums *b, const struct bottleneck *x,
                              struct report *r)
{
	uint32_t culprit = x->causes[0].culprit;
	const char *name;

	switch (bottleneck_why(b, x)) {
	case BOTTLENECK_AFFINITY:
		return report_printf(r, "let it use CPU %" PRIu32 ", too (taskset, cpuset)",
		                     x->forbidden.cpu);
	case BOTTLENECK_WASTED_CORES:
		return "the scheduler left it waiting beside an idle CPU: look at wasted_cores";
	case BOTTLENECK_REAL_TIME:
		name = name_of(b, culprit);
		return report_printf(r, "%s has %s: lower it, or give %s CPUs of its own", name,
		                     bottleneck_class(b, culprit, r), name);
	case BOTTLENECK_NEW_TASKS:
		return report_printf(r, "%" PRIu64 " of them were started meanwhile: start fewer",
		                     b->victims[x->victim].nr_new);
	case BOTTLENECK_OVERLOAD:
		return "more of them are runnable than there are CPUs: fewer tasks, or more CPUs";
	case BOTTLENECK_NEIGHBOUR:
		return report_printf(
			r,
			"give %s less of the CPU (nice, cpu.weight, cpu.max), or other CPUs (cpuset)",
			name_of(b, culprit));
	case BOTTLENECK_LIMIT:
		return remedy_for_limit(b, x, r);
	case BOTTLENECK_STEAL:
		return "the host runs more virtual CPUs than it has CPUs: give this machine more of them";
	case BOTTLENECK_INTERRUPTS:
		return "move interrupts to other CPUs: look at irq_analysis";
	case BOTTLENECK_SOFTIRQS:
		return "move softirqs to other CPUs: look at softirq_analysis";
	case BOTTLENECK_DISPATCH_QUEUE:
		return "the sched_ext scheduler dispatches late: look at dsq_latency";
	case BOTTLENECK_WAKING:
		return "wakeups are slow: look at idle states, or at the virtual machine";
	case BOTTLENECK_IDLE:
		return report_printf(r, "why an idle CPU did not run it is not recorded%s",
		                     explain_idle(b->sc->s));
	case BOTTLENECK_UNKNOWN:
		break;
	}
	return "record all tasks, without losses";
}
