#include "analyze/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"

int moves_init(struct moves *m, const struct scope *sc)
{
	size_t room = sc->nr_tasks ? sc->nr_tasks : 1;

	*m = (struct moves){
		.sc = sc,
		.is_from_slices = sc->s->facts->kinds[EV_MIGRATE] == 0,
		.it = { .sc = sc },
	};
	if (!m->is_from_slices)
		return 0;
	m->all = scope_whole(sc, &m->all_args); /* filters come with the move */
	m->last_cpu = calloc(room, sizeof(*m->last_cpu));
	if (!m->last_cpu)
		return -ENOMEM;
	memset(m->last_cpu, 0xff, room * sizeof(*m->last_cpu)); /* PAIR_NO_CPU */
	return 0;
}

static bool is_wanted(const struct moves *m, const struct pair_migration *row)
{
	return scope_takes(m->sc, row->task, row->ts_ns) && scope_has(m->sc, row->ts_ns) &&
	       (pass_takes_cpu(m->sc->args, row->from_cpu) ||
	        pass_takes_cpu(m->sc->args, row->to_cpu));
}

static bool next_by_slice(struct moves *m, struct pair_migration *out)
{
	struct pair_slice row;

	m->it.sc = &m->all;
	while (rows_slice(&m->it, &row)) {
		if (row.task == TASKS_NONE)
			continue;
		*out = (struct pair_migration){
			.ts_ns = row.start_ns,
			.task = row.task,
			.cpu = row.cpu,
			.from_cpu = m->last_cpu[row.task],
			.to_cpu = row.cpu,
		};
		m->last_cpu[row.task] = row.cpu;
		if (out->from_cpu != PAIR_NO_CPU && out->from_cpu != out->to_cpu &&
		    is_wanted(m, out))
			return true;
	}
	return false;
}

bool moves_next(struct moves *m, struct pair_migration *out)
{
	return m->is_from_slices ? next_by_slice(m, out) : rows_migration(&m->it, out);
}

void moves_done(struct moves *m)
{
	free(m->last_cpu);
	m->last_cpu = NULL;
}

void moves_report_basis(const struct moves *m, struct report *r)
{
	report_string(r, "basis", m->is_from_slices ? "slices" : "sched_migrate_task");
}

enum move_hop move_hop(const struct source *s, uint32_t from_cpu, uint32_t to_cpu)
{
	int32_t from_llc = source_llc(s, from_cpu), to_llc = source_llc(s, to_cpu);
	int32_t from_node = source_node(s, from_cpu), to_node = source_node(s, to_cpu);

	if (from_node >= 0 && to_node >= 0 && from_node != to_node)
		return MOVE_CROSS_NODE;
	if (from_llc < 0 || to_llc < 0)
		return MOVE_UNKNOWN;
	return from_llc == to_llc ? MOVE_SAME_LLC : MOVE_CROSS_LLC;
}

bool move_knows_places(const struct source *s)
{
	for (uint32_t i = 0; s->facts->places && i < s->facts->nr_places; i++)
		if (source_llc(s, i) >= 0 || source_node(s, i) >= 0)
			return true;
	return false;
}
