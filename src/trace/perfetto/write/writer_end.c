/* The end of a file: until when each CPU is known, what was lost, and the mark that it is whole. */
#include <stdio.h>

#include "abi/event_check.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

uint64_t writer_sum_lost(const struct trace_writer *w)
{
	uint64_t sum = w->losses.skipped + w->losses.damaged + w->losses.other;

	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		sum += w->nr_lost[kind] + w->losses.kinds[kind];
	return sum;
}

/* CPUs that lost events and had none afterwards, or whose recorder was killed: unknown since their last event. */
int writer_put_ends(struct trace_writer *w)
{
	int err = 0;

	for (uint32_t i = 0; i < w->ftrace.nr_cpus && !err; i++) {
		const struct ftrace_cpu *c = w->ftrace.cpus[i];
		struct trace_attr attr = { 0 };
		char key[32];

		if (!c || (!c->has_lost && !c->has_end))
			continue;
		(void)snprintf(key, sizeof(key), "end_ns.cpu%u", c->cpu);
		attr.key = key;
		attr.number = (int64_t)(c->has_end ? c->end_ns : c->last_ts_ns);
		packet_attributes(&w->chunk.packets, &attr, 1);
		err = chunk_packet_done(&w->chunk);
	}
	return err;
}

/* What the run lost apart from events. */
static size_t add_run_losses(const struct losses *run, char (*keys)[40], struct trace_attr *attrs)
{
	size_t nr = 0;

	for (int i = 0; i < NR_LOSSES; i++) {
		if (!run->nr[i])
			continue;
		(void)snprintf(keys[nr], sizeof(keys[nr]), "loss.%s", loss_name((enum loss)i));
		attrs[nr] = (struct trace_attr){ .key = keys[nr], .number = (int64_t)run->nr[i] };
		nr++;
	}
	return nr;
}

/* The end marker, written last. A loss of 0 is written too; kinds only where some were lost. */
int writer_put_totals(struct trace_writer *w)
{
	struct trace_attr attrs[EV_KIND_MAX + 7 + NR_LOSSES];
	char keys[EV_KIND_MAX][40], run_keys[NR_LOSSES][40];
	size_t nr = 0;

	attrs[nr++] = (struct trace_attr){ .key = "records", .number = (int64_t)w->nr_records };
	attrs[nr++] = (struct trace_attr){ .key = "end_ns", .number = (int64_t)w->reached_ns };
	attrs[nr++] = (struct trace_attr){ .key = "lost", .number = (int64_t)writer_sum_lost(w) };
	attrs[nr++] = (struct trace_attr){ .key = "late_timestamps",
		                           .number = (int64_t)w->ftrace.nr_clamped };
	attrs[nr++] = (struct trace_attr){ .key = "broken_switches",
		                           .number = (int64_t)w->ftrace.nr_breaks };
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++) {
		const char *name = ev_kind_name(kind);
		uint64_t nr_lost = w->nr_lost[kind] + w->losses.kinds[kind];

		if (!nr_lost)
			continue;
		(void)snprintf(keys[kind], sizeof(keys[kind]), "lost.%s", name ? name : "other");
		attrs[nr++] = (struct trace_attr){ .key = keys[kind], .number = (int64_t)nr_lost };
	}
	if (w->losses.skipped)
		attrs[nr++] = (struct trace_attr){ .key = "lost.skipped_by_the_kernel",
			                           .number = (int64_t)w->losses.skipped };
	if (w->losses.damaged)
		attrs[nr++] = (struct trace_attr){ .key = "lost.damaged",
			                           .number = (int64_t)w->losses.damaged };
	nr += add_run_losses(&w->losses.run, run_keys, attrs + nr);
	packet_attributes(&w->chunk.packets, attrs, nr);
	return chunk_packet_done(&w->chunk);
}
