#include "trace/ftrace/cpus.h"

#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "trace/merge.h"

/* Of one CPU, besides its records. */
#define LANE_BYTES \
	(sizeof(struct ftrace_lane) + sizeof(struct name_cache) + sizeof(struct read_counts))

struct ftrace_lane {
	struct ftrace_cpu on;
	struct decoder dec;
	struct rec_out out;
};

void ftrace_cpus_done(struct ftrace_cpus *c)
{
	for (size_t i = 0; i < c->nr_lanes; i++)
		if (c->lanes[i]) {
			rec_out_done(&c->lanes[i]->out);
			decoder_done(&c->lanes[i]->dec);
			free(c->lanes[i]);
			budget_give(c->r->cfg.budget, LANE_BYTES);
		}
	free(c->lanes);
	c->lanes = NULL;
	c->nr_lanes = 0;
}

static struct ftrace_lane *new_lane(struct ftrace_cpus *c, uint32_t cpu)
{
	struct ftrace_lane *lane;

	if (!budget_take(c->r->cfg.budget, LANE_BYTES))
		return NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane || decoder_init(&lane->dec, c->r) < 0) {
		if (lane)
			decoder_done(&lane->dec);
		free(lane);
		budget_give(c->r->cfg.budget, LANE_BYTES);
		return NULL;
	}
	lane->out.budget = c->r->cfg.budget;
	lane->dec.out = &lane->out;
	lane->on = (struct ftrace_cpu){ .dec = &lane->dec,
		                        .fix = &c->r->fix,
		                        .cpu = cpu,
		                        .first_ts_ns = UINT64_MAX,
		                        .find_symbol = c->find_symbol,
		                        .find_ctx = c->find_ctx };
	decoder_run_begin(&lane->dec, cpu * LANES_PER_CPU + LANE_EVENTS);
	return lane;
}

struct ftrace_cpu *ftrace_cpus_get(struct ftrace_cpus *c, uint64_t cpu)
{
	if (cpu < c->nr_lanes && c->lanes[cpu])
		return c->lanes[cpu]->out.err ? NULL : &c->lanes[cpu]->on;
	if (cpu >= READER_CPUS_MAX) {
		c->r->tally.damage[DAMAGE_BAD_CPU]++;
		return NULL;
	}
	if (c->err)
		return NULL;
	if (GROW_ZEROED(c->lanes, c->nr_lanes, (size_t)cpu) ||
	    !(c->lanes[cpu] = new_lane(c, (uint32_t)cpu))) {
		c->err = -ENOMEM;
		return NULL;
	}
	return &c->lanes[cpu]->on;
}

void ftrace_cpus_take(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint32_t name)
{
	struct read_counts *t = on->dec->tally;

	if (e->ts_ns < on->first_ts_ns)
		on->first_ts_ns = e->ts_ns;
	if (e->ts_ns > on->last_ts_ns)
		on->last_ts_ns = e->ts_ns;
	on->nr_events++;
	if (e->member)
		t->ftrace[e->member]++;
	else
		tally_text(&t->generic, name, 1);
	if (ftrace_makes_record(e->member))
		ftrace_event_record(on, e);
}

void ftrace_cpus_lost(struct ftrace_cpu *on, uint64_t ts_ns, uint64_t count)
{
	ftrace_loss(on, ts_ns);
	on->nr_lost += count;
}

/* The records of all CPUs, and behind them, where the end of the file is missing, those that say so. */
static int gather(struct ftrace_cpus *c, struct rec_out *outs, size_t nr)
{
	int err = c->err;

	for (size_t i = 0; i < c->nr_lanes && !err; i++) {
		struct ftrace_lane *lane = c->lanes[i];

		if (!lane)
			continue;
		decoder_run_end(&lane->dec);
		ftrace_cpu_count(&lane->on);
		tally_add(&c->r->tally, lane->dec.tally);
		decoder_done(&lane->dec); /* with many CPUs their counts are much */
		err = lane->out.err;
		outs[i] = lane->out;
		lane->out = (struct rec_out){ 0 };
	}
	outs[nr - 1].budget = c->r->cfg.budget;
	for (size_t i = 0; i < c->r->tally.nr_cpus && c->r->info.incomplete; i++)
		c->r->tally.cpus[i].until_ns = c->r->tally.cpus[i].last_ts_ns;
	reach_end_cpus(c->r, &outs[nr - 1]);
	return err ? err : outs[nr - 1].err;
}

int ftrace_cpus_merge(struct ftrace_cpus *c, const struct ev_sink *sink)
{
	size_t nr = c->nr_lanes + 1;
	struct rec_out *outs = calloc(nr, sizeof(*outs));
	int err = outs ? gather(c, outs, nr) : -ENOMEM;

	names_link(&c->r->names, &c->r->clocks);
	if (!err)
		err = merge_all(c->r, outs, nr, sink);
	for (size_t i = 0; outs && i < nr; i++)
		rec_out_done(&outs[i]);
	free(outs);
	return err;
}
