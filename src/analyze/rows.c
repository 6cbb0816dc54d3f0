/* The walks of analyze/scope. Columns of a chunk are looked up once, then a row is a few loads. */
#include "analyze/scope.h"

#define OFF(type, field) offsetof(struct type, field)

/* The columns of the next rows. */
bool rows_load(struct rows *it, const struct row_columns *c)
{
	const struct timeline *t = it->sc->s->timeline;

	if (!it->id)
		it->id = timeline_first(t, c->table);
	it->at = 0;
	it->nr = 0;
	for (uint32_t i = 0; i < c->nr_times; i++) {
		it->nr = timeline_times(t, c->table, c->offsets[i], it->id, it->times[i],
		                        ROWS_BATCH);
		it->cols[i] = it->times[i];
	}
	for (uint32_t i = c->nr_times; i < c->nr && it->nr; i++) {
		uint32_t nr;

		it->cols[i] = timeline_column(t, c->table, c->offsets[i], it->id, &nr);
		if (!it->cols[i])
			return false;
		it->nr = nr < it->nr ? nr : it->nr; /* a chunk may end within a batch */
	}
	if (!it->nr)
		return false;
	it->id += it->nr;
	return true;
}

/* To the next row; false behind the last one. */
static inline bool step(struct rows *it, const struct row_columns *c)
{
	return ++it->at < it->nr || rows_load(it, c);
}

static bool is_wanted(const struct rows *it, uint32_t task, uint32_t cpu, uint64_t ts_ns)
{
	return pass_takes_cpu(it->sc->args, cpu) && scope_takes(it->sc, task, ts_ns);
}

const struct row_columns rows_of_slices = { TIMELINE_SLICE,
	                                    2,
	                                    7,
	                                    { OFF(pair_slice, start_ns), OFF(pair_slice, end_ns),
	                                      OFF(pair_slice, task), OFF(pair_slice, cpu),
	                                      OFF(pair_slice, prio), OFF(pair_slice, end),
	                                      OFF(pair_slice, policy) } };

const struct row_columns rows_of_waits = {
	TIMELINE_WAIT,
	3,
	12,
	{ OFF(pair_wait, waking_ns), OFF(pair_wait, wakeup_ns), OFF(pair_wait, end_ns),
	  OFF(pair_wait, task), OFF(pair_wait, waker), OFF(pair_wait, waker_cpu),
	  OFF(pair_wait, from_cpu), OFF(pair_wait, cpu), OFF(pair_wait, cause),
	  OFF(pair_wait, flags), OFF(pair_wait, is_open), OFF(pair_wait, by) }
};

bool rows_takes(const struct rows *it, uint32_t task, uint32_t cpu, uint64_t start_ns,
                uint64_t end_ns)
{
	return is_wanted(it, task, cpu, start_ns) && scope_overlaps(it->sc, start_ns, end_ns);
}

bool rows_sleep(struct rows *it, struct pair_sleep *out)
{
	static const struct row_columns columns = {
		TIMELINE_SLEEP,
		2,
		13,
		{ OFF(pair_sleep, start_ns), OFF(pair_sleep, end_ns), OFF(pair_sleep, task),
		  OFF(pair_sleep, cpu), OFF(pair_sleep, state_bits), OFF(pair_sleep, state),
		  OFF(pair_sleep, is_open), OFF(pair_sleep, arg), OFF(pair_sleep, waker),
		  OFF(pair_sleep, by), OFF(pair_sleep, call), OFF(pair_sleep, flags),
		  OFF(pair_sleep, dev) }
	};

	while (step(it, &columns)) {
		*out = (struct pair_sleep){
			.start_ns = ROWS_U64(it, 0),
			.end_ns = ROWS_U64(it, 1),
			.task = ROWS_U32(it, 2),
			.cpu = ROWS_U16(it, 3),
			.state_bits = ROWS_U16(it, 4),
			.state = ROWS_U8(it, 5),
			.is_open = ROWS_U8(it, 6),
			.arg = ROWS_U64(it, 7),
			.waker = ROWS_U32(it, 8),
			.by = ROWS_U16(it, 9),
			.call = ROWS_U16(it, 10),
			.flags = ROWS_U8(it, 11),
			.dev = ROWS_U32(it, 12),
		};
		if (it->sc->is_all || (is_wanted(it, out->task, out->cpu, out->start_ns) &&
		                       scope_overlaps(it->sc, out->start_ns, out->end_ns)))
			return true;
	}
	return false;
}

bool rows_wakeup(struct rows *it, struct pair_wakeup *out)
{
	static const struct row_columns columns = {
		TIMELINE_WAKEUP,
		1,
		9,
		{ OFF(pair_wakeup, ts_ns), OFF(pair_wakeup, task), OFF(pair_wakeup, waker),
		  OFF(pair_wakeup, cpu), OFF(pair_wakeup, target_cpu), OFF(pair_wakeup, is_new),
		  OFF(pair_wakeup, is_running), OFF(pair_wakeup, flags), OFF(pair_wakeup, by) }
	};

	while (step(it, &columns)) {
		*out = (struct pair_wakeup){
			.ts_ns = ROWS_U64(it, 0),
			.task = ROWS_U32(it, 1),
			.waker = ROWS_U32(it, 2),
			.cpu = ROWS_U16(it, 3),
			.target_cpu = ROWS_U16(it, 4),
			.is_new = ROWS_U8(it, 5),
			.is_running = ROWS_U8(it, 6),
			.flags = ROWS_U8(it, 7),
			.by = ROWS_U16(it, 8),
		};
		if (it->sc->is_all || (is_wanted(it, out->task, out->target_cpu, out->ts_ns) &&
		                       scope_has(it->sc, out->ts_ns)))
			return true;
	}
	return false;
}

bool rows_migration(struct rows *it, struct pair_migration *out)
{
	static const struct row_columns columns = {
		TIMELINE_MIGRATION,
		1,
		5,
		{ OFF(pair_migration, ts_ns), OFF(pair_migration, task), OFF(pair_migration, cpu),
		  OFF(pair_migration, from_cpu), OFF(pair_migration, to_cpu) }
	};

	while (step(it, &columns)) {
		*out = (struct pair_migration){
			.ts_ns = ROWS_U64(it, 0),
			.task = ROWS_U32(it, 1),
			.cpu = ROWS_U16(it, 2),
			.from_cpu = ROWS_U16(it, 3),
			.to_cpu = ROWS_U16(it, 4),
		};
		if ((pass_takes_cpu(it->sc->args, out->from_cpu) ||
		     pass_takes_cpu(it->sc->args, out->to_cpu)) &&
		    scope_takes(it->sc, out->task, out->ts_ns) && scope_has(it->sc, out->ts_ns))
			return true;
	}
	return false;
}

bool rows_idle(struct rows *it, struct pair_idle *out)
{
	static const struct row_columns columns = { TIMELINE_IDLE,
		                                    2,
		                                    4,
		                                    { OFF(pair_idle, start_ns),
		                                      OFF(pair_idle, end_ns), OFF(pair_idle, cpu),
		                                      OFF(pair_idle, is_open) } };

	while (step(it, &columns)) {
		*out = (struct pair_idle){
			.start_ns = ROWS_U64(it, 0),
			.end_ns = ROWS_U64(it, 1),
			.cpu = ROWS_U16(it, 2),
			.is_open = ROWS_U8(it, 3),
		};
		if (it->sc->is_all || (pass_takes_cpu(it->sc->args, out->cpu) &&
		                       scope_overlaps(it->sc, out->start_ns, out->end_ns)))
			return true;
	}
	return false;
}

static bool next_gap(struct rows *it, struct pair_gap *out)
{
	static const struct row_columns columns = { TIMELINE_GAP,
		                                    2,
		                                    5,
		                                    { OFF(pair_gap, start_ns),
		                                      OFF(pair_gap, end_ns), OFF(pair_gap, task),
		                                      OFF(pair_gap, cpu), OFF(pair_gap, reason) } };

	if (!step(it, &columns))
		return false;
	*out = (struct pair_gap){
		.start_ns = ROWS_U64(it, 0),
		.end_ns = ROWS_U64(it, 1),
		.task = ROWS_U32(it, 2),
		.cpu = ROWS_U16(it, 3),
		.reason = ROWS_U8(it, 4),
	};
	return true;
}

bool rows_task_gap(struct rows *it, struct pair_gap *out)
{
	while (next_gap(it, out))
		if (out->task != TASKS_NONE && scope_takes(it->sc, out->task, out->start_ns) &&
		    scope_overlaps(it->sc, out->start_ns, out->end_ns))
			return true;
	return false;
}

bool rows_cpu_gap(struct rows *it, struct pair_gap *out)
{
	while (next_gap(it, out))
		if (out->task == TASKS_NONE && pass_takes_cpu(it->sc->args, out->cpu) &&
		    scope_overlaps(it->sc, out->start_ns, out->end_ns))
			return true;
	return false;
}

uint64_t rows_id(const struct rows *it)
{
	return it->id - it->nr + it->at;
}
