/*
 * Context switch records (perf record --switch-events), for files without sched_switch.
 *
 * Those of a whole CPU name both tasks, and come twice: when one leaves, and when the other one comes; the first is read. A task
 * that leaves was preempted, or it sleeps, of which the record does not say how: it is taken for an interruptible sleep.
 * Those of single tasks name one; the other one is idle or was not asked for.
 */
#include "trace/perfdata/perfdata.h"

#include "base/grow.h"

enum { MISC_OUT = 1 << 13, MISC_PREEMPT = 1 << 14 };
#define PRIO_UNKNOWN 120 /* what ordinary tasks have */

void pd_switch_exits(struct perfdata *d, uint32_t cpu, uint32_t tid)
{
	if (cpu < READER_CPUS_MAX && !GROW_ZEROED(d->exiting, d->cap_exiting, cpu))
		d->exiting[cpu] = tid;
}

static uint32_t state_of(struct perfdata *d, uint32_t cpu, uint32_t tid, uint16_t misc)
{
	if (!tid)
		return EV_STATE_RUNNABLE;
	if (misc & MISC_PREEMPT)
		return EV_STATE_PREEMPTED;
	return cpu < d->cap_exiting && d->exiting[cpu] == tid ? EV_STATE_DEAD : EV_STATE_S;
}

static void add_switch(struct perfdata *d, const struct pd_when *when, uint32_t prev, uint32_t next,
                       uint16_t misc)
{
	struct ftrace_cpu *on = ftrace_cpus_get(&d->cpus, when->cpu);
	/* It is one of the events that a CPU has, though not of ftrace. */
	const struct ftrace_event_in e = { .ts_ns = when->ts_ns };
	struct ev_switch *rec;
	uint32_t name;

	if (!on)
		return;
	name = decoder_text(on->dec, "context-switch", sizeof("context-switch") - 1);
	ftrace_cpus_take(on, &e, name);
	decoder_see_tid(on->dec, when->ts_ns, prev);
	decoder_see_tid(on->dec, when->ts_ns, next);
	rec = rec_add(on->dec->out, EV_SWITCH, sizeof(*rec), on->cpu, when->ts_ns);
	rec->prev_tid = prev;
	rec->next_tid = next;
	rec->prev_state = state_of(d, when->cpu, prev, misc);
	rec->prev_prio = rec->next_prio = PRIO_UNKNOWN;
}

void pd_switch(struct perfdata *d, const struct pd_record *rec)
{
	bool is_out = rec->misc & MISC_OUT;
	uint32_t end, other = 0;
	struct pd_when when = pd_when_of(d, rec, &end);

	if (pd_has_member(d, FTRACE_SCHED_SWITCH))
		return;
	if (when.tid > INT32_MAX &&
	    when.cpu < d->cap_exiting) /* the last switch of a task that has ended */
		when.tid = d->exiting[when.cpu];
	if (!when.ts_ns || when.cpu == PD_NONE || when.tid > INT32_MAX) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	if (rec->type == PD_SWITCH_CPU_WIDE) {
		if (!is_out)
			return;
		if (end < PD_HEADER_BYTES + 8) {
			pd_damage(d, DAMAGE_PERF_BAD);
			return;
		}
		other = pd_u32(d, rec->bytes + PD_HEADER_BYTES + 4);
		if (other > INT32_MAX)
			other = 0;
		pd_task_seen(d, when.ts_ns, pd_u32(d, rec->bytes + PD_HEADER_BYTES), other);
	}
	if (when.ts_ns > d->last_ns)
		d->last_ns = when.ts_ns;
	pd_task_seen(d, when.ts_ns, when.pid, when.tid);
	add_switch(d, &when, is_out ? when.tid : other, is_out ? other : when.tid, rec->misc);
}
