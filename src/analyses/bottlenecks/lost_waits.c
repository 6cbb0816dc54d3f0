#include "analyses/bottlenecks/lost_waits.h"

#include <inttypes.h>

#include "analyses/explain/explain.h"
#include "base/text.h"
#include "ledger/occupancy.h"

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
	const struct edge *at;
	uint32_t nr = blame_sums_culprits(b, x->victim, &at);

	for (uint32_t i = 0; i < nr; i++)
		add_cause(x, &(struct bottleneck_cause){ at[i].sum_ns, at[i].to, LEDGER_TASK });
	for (int kind = 0; kind < LEDGER_KINDS; kind++)
		if (kind != LEDGER_TASK && v->ns[kind])
			add_cause(x, &(struct bottleneck_cause){ .ns = v->ns[kind],
			                                         .kind = (uint8_t)kind });
}

static uint64_t idle_ns(const struct occupancy *o, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	for (uint32_t i = occupancy_find(o, from_ns); i < o->nr && o->at[i].start_ns < to_ns; i++) {
		uint64_t end_ns = i + 1 < o->nr ? o->at[i + 1].start_ns : o->end_ns;
		uint64_t from = o->at[i].start_ns > from_ns ? o->at[i].start_ns : from_ns;

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (o->at[i].kind == OCCUPANCY_IDLE && end_ns > from)
			sum += end_ns - from;
	}
	return sum;
}

/* What a CPU was idle during some of the longest waits of a victim; of each, if its task might use the CPU then, or if not. */
static uint64_t idle_meanwhile(const struct blame_sums *b, const struct bottleneck *x,
                               const struct ledger *l, uint32_t cpu, bool may_use)
{
	const struct blame_victim *v = &b->victims[x->victim];
	uint32_t nr = v->nr_long < BLAME_LONG ? v->nr_long : BLAME_LONG;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		union timeline_row row;
		uint64_t from_ns;

		if (!timeline_row(b->sc->s->timeline, TIMELINE_WAIT, v->long_ids[i], &row))
			continue;
		from_ns = pair_wait_woken_ns(&row.wait);
		if (source_may_use(b->sc->s, row.wait.task, cpu, from_ns) == may_use)
			sum += idle_ns(ledger_cpu(l, cpu), from_ns, row.wait.end_ns);
	}
	return sum;
}

static uint64_t long_waits_ns(const struct blame_sums *b, uint32_t victim)
{
	const struct blame_victim *v = &b->victims[victim];
	uint32_t nr = v->nr_long < BLAME_LONG ? v->nr_long : BLAME_LONG;
	union timeline_row row;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (timeline_row(b->sc->s->timeline, TIMELINE_WAIT, v->long_ids[i], &row))
			sum += row.wait.end_ns - pair_wait_woken_ns(&row.wait);
	return sum;
}

static void find_idle(const struct blame_sums *b, const struct ledger *l, struct bottleneck *x)
{
	x->judged_ns = long_waits_ns(b, x->victim);
	for (uint32_t cpu = 0; cpu < b->sc->nr_cpus; cpu++) {
		uint64_t ns;

		if (source_is_isolated(b->sc->s, cpu))
			continue;
		ns = idle_meanwhile(b, x, l, cpu, true);
		x->idle_cpu = ns > x->idle_ns ? cpu : x->idle_cpu;
		x->idle_ns = ns > x->idle_ns ? ns : x->idle_ns;
		ns = idle_meanwhile(b, x, l, cpu, false);
		if (ns > x->idle_forbidden_ns) {
			x->idle_forbidden_cpu = cpu;
			x->idle_forbidden_ns = ns;
		}
	}
}

void bottleneck_find(const struct blame_sums *b, uint32_t victim, const struct ledger *l,
                     struct bottleneck *out)
{
	*out = (struct bottleneck){ .victim = victim };
	find_causes(b, out);
	find_idle(b, l, out);
}

static const char *name_of(const struct blame_sums *b, uint32_t unit)
{
	return source_comm(b->sc->s, b->units->names[unit]);
}

const char *bottleneck_class(const struct blame_sums *b, uint32_t culprit, struct report *r)
{
	if (b->urgent_ns[culprit] * 2 <= b->caused_ns[culprit])
		return NULL;
	return explain_class(b->urgent[culprit], b->policy[culprit], r);
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
	text = report_printf(r, "%s waited %s for a CPU", text,
	                     text_duration(t, sizeof(t), v->wait_ns));
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
	bool is_urgent = b->urgent_ns[culprit] * 2 > b->caused_ns[culprit];

	/* Threads of the kernel that have one CPU are its own. */
	if (!is_kthread(b, v->longest.task) && x->idle_forbidden_ns > x->judged_ns / 2 &&
	    x->idle_ns <= x->judged_ns / 2)
		return BOTTLENECK_AFFINITY;
	if (x->idle_ns > x->judged_ns / 2)
		return BOTTLENECK_WASTED_CORES;
	if (is_urgent && culprit != x->victim)
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
		return report_printf(
			r, "CPU %u was idle, but its affinity forbids it: let it use more CPUs",
			x->idle_forbidden_cpu);
	case BOTTLENECK_WASTED_CORES:
		return report_printf(r,
		                     "CPU %u was idle, and it may use it: the scheduler left it "
		                     "waiting, see wasted_cores",
		                     x->idle_cpu);
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
