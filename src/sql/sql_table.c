#include "sql/sql_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "analyses/explain/explain.h"
#include "model/interrupt.h"
#include "sql/sql_table_priv.h"

const struct sql_table *const sql_tables[] = {
	&sql_table_trace,  &sql_table_thread,    &sql_table_process,   &sql_table_cgroup,
	&sql_table_slice,  &sql_table_wait,      &sql_table_wait_part, &sql_table_sleep,
	&sql_table_wakeup, &sql_table_migration, &sql_table_throttle,  &sql_table_counter,
	&sql_table_pmu,    &sql_table_span,      &sql_table_idle,      &sql_table_gap,
	&sql_table_sample, &sql_table_stack,
};
const size_t nr_sql_tables = sizeof(sql_tables) / sizeof(sql_tables[0]);

const struct sql_table *sql_table_find(const char *name)
{
	for (size_t i = 0; i < nr_sql_tables; i++)
		if (strcasecmp(sql_tables[i]->name, name) == 0)
			return sql_tables[i];
	return NULL;
}

int sql_table_role(const struct sql_table *t, enum sql_role role)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].role == role)
			return (int)i;
	return -1;
}

/* Recorders that know no priorities say 0 of all slices. */
static bool has_priorities(const struct timeline *t)
{
	uint64_t id = timeline_first(t, TIMELINE_SLICE);
	const int16_t *prios;
	uint32_t nr;

	while ((prios = timeline_column(t, TIMELINE_SLICE, offsetof(struct pair_slice, prio), id,
	                                &nr))) {
		for (uint32_t i = 0; i < nr; i++)
			if (prios[i])
				return true;
		id += nr;
	}
	return false;
}

static int index_cgroups(struct sql_view *v)
{
	uint32_t nr = tasks_nr_cgroups(v->s->tasks);
	int err = map_new(sizeof(uint64_t), MAP_MAX_CAP, &v->cgroups);

	for (uint32_t i = 1; !err && i <= nr; i++) {
		uint64_t id = tasks_cgroup_id(v->s->tasks, i);

		err = id ? map_insert(v->cgroups, &id, i) : 0;
	}
	return err;
}

int sql_view_new(const struct source *s, struct sql_view **out)
{
	SCOPED(scoped_sql_view) struct sql_view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->s = s;
	v->args = (struct pass_args){ .cpu = PASS_ANY_CPU,
		                      .layer = EV_NO_LAYER,
		                      .by = PASS_BY_PROCESS };
	v->has_priorities = has_priorities(s->timeline);
	err = scope_init(&v->scope, s, &v->args, NULL);
	if (!err)
		err = units_init(&v->processes, &v->scope, NULL);
	if (!err)
		err = index_cgroups(v);
	if (err)
		return err;
	*out = TAKE_PTR(v);
	return 0;
}

void sql_view_free(struct sql_view *v)
{
	if (!v)
		return;
	units_done(&v->processes);
	scope_done(&v->scope);
	map_free(v->cgroups);
	ledger_free(v->ledger);
	free(v);
}

const struct source *sql_view_source(const struct sql_view *v)
{
	return v->s;
}

int sql_view_ledger(struct sql_view *v)
{
	return v->ledger ? 0 : explain_ledger(v->s, v->s->start_ns, v->s->end_ns, &v->ledger);
}

uint64_t sql_table_rows(struct sql_view *v, const struct sql_table *t)
{
	if (t->rows == TIMELINE_TABLES)
		return t->ops->nr(v);
	return timeline_end(v->s->timeline, t->rows) - timeline_first(v->s->timeline, t->rows);
}

/* One row of the timeline, by its id. */
static void begin_one(struct sql_scan *scan)
{
	scan->at = scan->filter.key;
	scan->end = scan->at + 1;
}

static int begin_rows(struct sql_scan *scan)
{
	struct timeline_query q = { .table = scan->table->rows,
		                    .task = scan->filter.task,
		                    .cpu = scan->filter.cpu,
		                    .from_ns = scan->filter.from_ns,
		                    .to_ns = scan->filter.to_ns };

	if (scan->filter.has_key) {
		begin_one(scan);
		return 0;
	}
	return timeline_find(scan->row.v->s->timeline, &q, &scan->it);
}

static bool next_row(struct sql_scan *scan)
{
	if (!scan->filter.has_key)
		return timeline_next(&scan->it, &scan->row.id, &scan->row.row);
	if (scan->at == scan->end)
		return false;
	scan->row.id = scan->at++;
	return timeline_row(scan->row.v->s->timeline, scan->table->rows, scan->row.id,
	                    &scan->row.row);
}

int sql_scan_begin(struct sql_view *v, const struct sql_table *t, const struct sql_filter *filter,
                   struct sql_scan *out)
{
	*out = (struct sql_scan){ .table = t, .filter = *filter, .row = { .v = v } };
	return t->rows == TIMELINE_TABLES ? t->ops->begin(out) : begin_rows(out);
}

bool sql_scan_next(struct sql_scan *scan)
{
	return scan->table->rows == TIMELINE_TABLES ? scan->table->ops->next(scan) : next_row(scan);
}

void sql_scan_read(const struct sql_scan *scan, uint32_t column, struct sql_cell *out)
{
	out->is_null = true;
	out->text = NULL;
	scan->table->columns[column].read(&scan->row, out);
}

void cell_hex(struct sql_cell *c, uint64_t value)
{
	(void)snprintf(c->buf, sizeof(c->buf), "0x%" PRIx64, value);
	cell_own(c);
}

void cell_cgroup_of(const struct sql_row *r, struct sql_cell *c, uint64_t kernel_id)
{
	uint32_t cgroup;

	if (kernel_id && map_find(r->v->cgroups, &kernel_id, &cgroup))
		cell_u64(c, cgroup);
}

void cell_waker(const struct sql_row *r, struct sql_cell *c, uint32_t key, uint64_t ts_ns)
{
	struct interrupt i;

	if (key == TASKS_NONE)
		return;
	if (!interrupt_of_key(key, &i)) {
		cell_comm(r, c, key, ts_ns);
		return;
	}
	source_name_device(r->v->s, &i);
	cell_text(c, interrupt_title(&i, c->buf));
}

void cell_waker_utid(struct sql_cell *c, uint32_t key)
{
	struct interrupt i;

	if (key != TASKS_NONE && !interrupt_of_key(key, &i))
		cell_utid(c, key);
}

void cell_state(struct sql_cell *c, uint32_t bits)
{
	static const struct {
		uint32_t bit;
		const char *letter;
	} letters[] = {
		{ EV_STATE_PREEMPTED, "R+" }, { EV_STATE_DEAD, "X" },   { EV_STATE_ZOMBIE, "Z" },
		{ EV_STATE_STOPPED, "T" },    { EV_STATE_TRACED, "t" }, { EV_STATE_PARKED, "P" },
		{ EV_STATE_IDLE, "I" },       { EV_STATE_D, "D" },      { EV_STATE_S, "S" },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (bits & letters[i].bit) {
			cell_text(c, letters[i].letter);
			return;
		}
	cell_text(c, "R");
}

void cell_priority(const struct sql_row *r, struct sql_cell *c, int16_t prio)
{
	if (r->v->has_priorities)
		cell_i64(c, prio);
}
