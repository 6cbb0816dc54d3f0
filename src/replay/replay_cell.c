#include "replay/replay_cell.h"

uint64_t replay_grid_nr(const struct replay_grid *g)
{
	uint64_t span_ns = g->end_ns - g->start_ns;

	return span_ns ? (span_ns - 1) / g->interval_ns + 1 : 1;
}

struct replay_cell replay_grid_cell(const struct replay_grid *g, uint64_t number)
{
	struct replay_cell c = { .from_ns = g->start_ns + number * g->interval_ns,
		                 .is_last = number + 1 == replay_grid_nr(g) };

	c.to_ns = c.is_last ? g->end_ns : c.from_ns + g->interval_ns;
	return c;
}

uint64_t replay_grid_find(const struct replay_grid *g, uint64_t position_ns)
{
	uint64_t nr = replay_grid_nr(g), number;

	if (position_ns <= g->start_ns)
		return 0;
	number = (position_ns - g->start_ns - 1) / g->interval_ns;
	return number < nr ? number : nr - 1;
}

/* The first moment that is not in it any more. */
static uint64_t end_of(const struct replay_cell *c)
{
	return c->to_ns + c->is_last;
}

bool replay_cell_has(const struct replay_cell *c, uint64_t ts_ns)
{
	return ts_ns >= c->from_ns && ts_ns < end_of(c);
}

uint64_t replay_cell_cut(const struct replay_cell *c, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < c->from_ns)
		start_ns = c->from_ns;
	if (end_ns > c->to_ns)
		end_ns = c->to_ns;
	return start_ns < end_ns ? end_ns - start_ns : 0;
}

double replay_cell_seconds(const struct replay_cell *c)
{
	return (double)(c->to_ns - c->from_ns) / 1e9;
}

uint64_t replay_cell_moment(const struct replay_cell *c)
{
	return c->to_ns > c->from_ns ? c->to_ns - 1 : c->to_ns;
}

struct timeline_query replay_cell_query(const struct replay_cell *c, enum timeline_table table,
                                        uint32_t task)
{
	/* What ends where the cell begins overlaps only what was before. */
	return (struct timeline_query){ .table = table,
		                        .task = task,
		                        .cpu = TIMELINE_ANY_CPU,
		                        .from_ns = c->from_ns ? c->from_ns - 1 : 0,
		                        .to_ns = end_of(c) };
}

struct timeline_ended replay_cell_ended(const struct replay_cell *c, const struct timeline *t,
                                        enum timeline_table table)
{
	return (struct timeline_ended){
		.t = t, .table = table, .from_ns = c->from_ns, .to_ns = end_of(c)
	};
}
