#include "analyze/walk.h"

/* The time and owner of a row. */
struct row_owner {
	uint64_t start_ns, end_ns;
	uint32_t task;
	uint16_t cpu;
	bool has_task;
};

#define INTERVAL(r)                                               \
	{                                                         \
		(r).start_ns, (r).end_ns, (r).task, (r).cpu, true \
	}
#define MOMENT(r)                                             \
	{                                                     \
		(r).ts_ns, (r).ts_ns, (r).task, (r).cpu, true \
	}

static struct row_owner whose(enum timeline_table table, const union timeline_row *r)
{
	switch (table) {
	case TIMELINE_SLICE:
		return (struct row_owner)INTERVAL(r->slice);
	case TIMELINE_WAIT:
		return (struct row_owner){ r->wait.waking_ns ? r->wait.waking_ns
			                                     : r->wait.wakeup_ns,
			                   r->wait.end_ns, r->wait.task, r->wait.cpu, true };
	case TIMELINE_SLEEP:
		return (struct row_owner)INTERVAL(r->sleep);
	case TIMELINE_WAKEUP:
		return (struct row_owner)MOMENT(r->wakeup);
	case TIMELINE_MIGRATION:
		return (struct row_owner)MOMENT(r->migration);
	case TIMELINE_SPAN:
		return (struct row_owner)INTERVAL(r->span);
	case TIMELINE_COUNTER:
		return (struct row_owner){ r->counter.ts_ns, r->counter.ts_ns, TASKS_NONE,
			                   r->counter.cpu, false };
	case TIMELINE_MARK:
		return (struct row_owner)MOMENT(r->mark);
	case TIMELINE_IDLE:
		return (struct row_owner){ r->idle.start_ns, r->idle.end_ns, TASKS_NONE,
			                   r->idle.cpu, false };
	case TIMELINE_GAP:
		return (struct row_owner)INTERVAL(r->gap);
	case TIMELINE_DSQ:
		return (struct row_owner)INTERVAL(r->dsq);
	case TIMELINE_RUN:
		return (struct row_owner)MOMENT(r->run);
	default:
		return (struct row_owner)MOMENT(r->pmu);
	}
}

static bool is_wanted(const struct walk *w)
{
	struct row_owner o = whose(w->table, &w->row);

	return pass_takes_cpu(w->sc->args, o.cpu) &&
	       (!o.has_task || scope_takes(w->sc, o.task, o.start_ns)) &&
	       scope_overlaps(w->sc, o.start_ns, o.end_ns);
}

static size_t kind_offset(enum timeline_table table)
{
	if (table == TIMELINE_SPAN)
		return offsetof(struct pair_span, kind);
	return table == TIMELINE_COUNTER ? offsetof(struct pair_counter, kind)
	                                 : offsetof(struct pair_mark, kind);
}

/* To the next row of a kind that is asked for; false behind the last one. */
static bool find_kind(struct walk *w, uint64_t end)
{
	while (w->id < end) {
		if (!w->nr_kinds) {
			w->kind_col = timeline_column(w->sc->s->timeline, w->table,
			                              kind_offset(w->table), w->id, &w->nr_kinds);
			if (!w->kind_col)
				return false;
		}
		w->nr_kinds--;
		if (w->kinds & 1ULL << (*w->kind_col++ & 63))
			return true;
		w->id++;
	}
	return false;
}

static void begin(struct walk *w)
{
	const struct pass_args *args = w->sc->args;

	w->id = timeline_first(w->sc->s->timeline, w->table);
	w->is_begun = true;
	w->is_plain = w->is_all || (args->cpu == PASS_ANY_CPU && !w->sc->takes && !args->from_ns &&
	                            !args->to_ns);
}

const union timeline_row *walk_next(struct walk *w)
{
	const struct timeline *t = w->sc->s->timeline;
	uint64_t end = timeline_end(t, w->table);

	if (!w->is_begun)
		begin(w);
	while (w->id < end) {
		if (w->kinds && !find_kind(w, end))
			break;
		(void)timeline_row(t, w->table, w->id++, &w->row);
		if (w->is_plain || is_wanted(w))
			return &w->row;
	}
	return NULL;
}
