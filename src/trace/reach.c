/* Until when each CPU is recorded. */
#include "trace/ftrace/events.h"
#include "trace/merge.h"

static void end_cpu(struct rec_out *out, uint32_t cpu, uint64_t ts_ns)
{
	struct ev_lost *rec;

	rec_run_begin(out, cpu * LANES_PER_CPU + LANE_LOST);
	rec = rec_add(out, EV_LOST, sizeof(*rec), cpu, ts_ns);
	rec->hdr.flags = EV_FLAG_LAST;
	rec->kind = EV_SWITCH;
	rec->pad_ = 0;
	rec->count = 0;
	rec_run_end(out);
}

void reach_end_cpus(struct reader *r, struct rec_out *out)
{
	struct read_counts *t = &r->tally;

	for (size_t i = 0; i < t->nr_cpus; i++) {
		struct trace_cpu_info *c = &t->cpus[i];

		if (!c->nr_events || c->until_ns >= t->max_ts_ns)
			c->until_ns = 0;
		if (c->until_ns)
			end_cpu(out, c->cpu, c->until_ns + 1);
	}
}
