/* What an event shares with the others of its CPU: states, losses, counts. */
#include <stdio.h>
#include <string.h>

#include "trace/ftrace/events.h"

/* The numbers of states changed with Linux 4.8 and 4.14. Unknown kernels are taken for current ones. */
static uint32_t dialect_of(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%3u.%3u", &major, &minor) != 2 || major > 4 ||
	    (major == 4 && minor >= 14))
		return 0;
	return major == 4 && minor >= 8 ? 1 : 2;
}

bool trace_states_are_new(const char *release)
{
	return dialect_of(release) == 0;
}

uint32_t ftrace_state_dialect(const struct trace_info *info)
{
	return strcmp(info->sysname, "Linux") == 0 ? dialect_of(info->release) : 0;
}

/* Old kernels number some states differently. */
static uint32_t old_state(uint32_t raw, uint32_t dialect)
{
	uint32_t state = raw & 0x3f;
	uint32_t preempted = dialect == 1 ? 0x1000 : 0x800;

	if (raw & preempted)
		return EV_STATE_PREEMPTED;
	if ((raw & 0x402) == 0x402)
		return EV_STATE_IDLE;
	if (raw & 0x40)
		state |= EV_STATE_DEAD;
	if (raw & 0x200)
		state |= EV_STATE_PARKED;
	return state;
}

/* task->__state: what is dead for the scheduler, frozen or waits for a lock has bits that user space never sees. */
static uint32_t raw_state(uint32_t raw)
{
	if ((raw & 0x402) == 0x402)
		return EV_STATE_IDLE;
	if (raw & 0x80)
		return EV_STATE_DEAD;
	return (raw & 0x7f) | (raw & 0x9000 ? EV_STATE_D : 0);
}

uint32_t ftrace_state(struct ftrace_cpu *on, uint64_t raw)
{
	uint32_t state = (uint32_t)raw;

	if (on->fix->has_raw_states)
		return raw_state(state);
	if (on->fix->state_dialect)
		return old_state(state, on->fix->state_dialect);
	if (state & ~0x1ffU) {
		on->dec->tally->damage[DAMAGE_STATE_INVALID]++;
		state &= 0x1ff;
	}
	return state;
}

void ftrace_loss(struct ftrace_cpu *on, uint64_t ts_ns)
{
	static const uint8_t kinds[] = { EV_SWITCH, EV_WAKING, EV_IRQ_ENTRY, EV_SOFTIRQ_ENTRY,
		                         EV_IPI_ENTRY };
	struct ev_lost *rec;

	for (size_t i = 0; i < sizeof(kinds); i++) {
		rec = rec_add(on->dec->out, EV_LOST, sizeof(*rec), on->cpu, ts_ns);
		rec->kind = kinds[i];
		rec->pad_ = 0;
		rec->count = 0;
	}
	on->nr_losses++;
	on->dec->tally->damage[DAMAGE_CPU_DATA_LOSS]++;
}

void ftrace_cpu_count(const struct ftrace_cpu *on)
{
	struct read_counts *t = on->dec->tally;

	if (!on->nr_events)
		return;
	tally_time(t, on->first_ts_ns);
	tally_time(t, on->last_ts_ns);
	tally_cpu(t, &(struct trace_cpu_info){ .cpu = on->cpu,
	                                       .nr_events = on->nr_events,
	                                       .nr_losses = on->nr_losses,
	                                       .nr_lost = on->nr_lost,
	                                       .first_ts_ns = on->first_ts_ns,
	                                       .last_ts_ns = on->last_ts_ns });
}
