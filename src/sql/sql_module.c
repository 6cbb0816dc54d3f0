/* The tables as virtual ones of SQLite: how rows are found, and what that costs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "sql/sql_order.h"
#include "sql/sql_priv.h"

#define DECLARE_BYTES 1024
#define START_COST    10.0 /* of a scan, in rows */
#define PART_OF_TIME  4    /* a bound of time is taken to leave that part of the rows */

/* What xBestIndex tells xFilter: which of the arguments there are, in this order. */
enum plan { PLAN_KEY = 1, PLAN_TASK = 2, PLAN_CPU = 4, PLAN_FROM = 8, PLAN_TO = 16, PLAN_AT = 32 };
#define PLAN_WORDS 6

struct table_vtab {
	sqlite3_vtab base; /* first */
	struct sql_db *x;
	const struct sql_table *t;
	int key, task, cpu, ts; /* columns; -1 = none */
};

struct table_cursor {
	sqlite3_vtab_cursor base; /* first */
	struct sql_scan scan;
	struct sql_cell cell;
	struct sql_order order;
	int64_t rowid;
	bool is_ordered;
	bool is_at_end;
};

/* Of which module: the table. */
struct table_of {
	struct sql_db *x;
	const struct sql_table *t;
};

static int declare(sqlite3 *db, const struct sql_table *t)
{
	char text[DECLARE_BYTES];
	size_t len = (size_t)snprintf(text, sizeof(text), "CREATE TABLE x(");

	for (uint32_t i = 0; i < t->nr_columns && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\"%s\" %s", i ? "," : "",
		                        t->columns[i].name,
		                        t->columns[i].type == SQL_TEXT ? "TEXT" : "INTEGER");
	if (len < sizeof(text))
		len += (size_t)snprintf(text + len, sizeof(text) - len, ")");
	return len < sizeof(text) ? sqlite3_declare_vtab(db, text) : SQLITE_ERROR;
}

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
	const struct table_of *of = aux;
	struct table_vtab *tab;
	int rc;

	(void)argc;
	(void)argv;
	(void)error;
	of->x->is_declaring = true; /* which SQLite takes for making a table, and asks about */
	rc = declare(db, of->t);
	of->x->is_declaring = false;
	if (rc)
		return rc;
	tab = sqlite3_malloc(sizeof(*tab));
	if (!tab)
		return SQLITE_NOMEM;
	*tab = (struct table_vtab){ .x = of->x,
		                    .t = of->t,
		                    .key = sql_table_role(of->t, SQL_KEY),
		                    .task = sql_table_role(of->t, SQL_TASK),
		                    .cpu = sql_table_role(of->t, SQL_CPU),
		                    .ts = sql_table_role(of->t, SQL_TIME) };
	for (size_t i = 0; i < nr_sql_tables; i++)
		if (sql_tables[i] == of->t)
			of->x->tables |= 1U << i;
	*out = &tab->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *tab)
{
	sqlite3_free(tab);
	return SQLITE_OK;
}

/* What a constraint on a column is for; 0 = nothing. */
static unsigned int plan_of(const struct table_vtab *tab, int column, unsigned char op)
{
	bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ;

	if (column < 0)
		return 0;
	if (is_equal && column == tab->key)
		return PLAN_KEY;
	if (is_equal && column == tab->task)
		return PLAN_TASK;
	if (is_equal && column == tab->cpu)
		return PLAN_CPU;
	if (column != tab->ts)
		return 0;
	if (is_equal)
		return PLAN_AT;
	if (op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT)
		return PLAN_FROM;
	return op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT ? PLAN_TO : 0;
}

static double part_of(double rows, uint64_t parts)
{
	rows /= parts ? (double)parts : 1;
	return rows < 1 ? 1 : rows;
}

static void estimate(const struct table_vtab *tab, unsigned int plan, sqlite3_index_info *info)
{
	const struct source *s = sql_view_source(tab->x->v);
	double rows = (double)sql_table_rows(tab->x->v, tab->t);

	if (plan & PLAN_KEY)
		rows = tab->t->rows_per_key ? tab->t->rows_per_key : 1;
	if (plan & PLAN_TASK)
		rows = part_of(rows, tasks_nr(s->tasks));
	if (plan & PLAN_CPU)
		rows = part_of(rows, s->facts->nr_cpus);
	if (plan & PLAN_AT)
		rows = 1;
	if (plan & PLAN_FROM)
		rows = part_of(rows, PART_OF_TIME);
	if (plan & PLAN_TO)
		rows = part_of(rows, PART_OF_TIME);
	info->estimatedRows = (sqlite3_int64)rows + 1;
	info->estimatedCost = START_COST + rows;
	if (plan & PLAN_KEY && !tab->t->rows_per_key)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}

/* Whether rows come by these columns anyway: lists and tables by their keys, as long as no index is used. */
static bool is_in_order(const struct table_vtab *tab, unsigned int plan,
                        const sqlite3_index_info *info)
{
	return info->nOrderBy == 1 && info->aOrderBy[0].iColumn == tab->key && tab->key >= 0 &&
	       !info->aOrderBy[0].desc && !(plan & (PLAN_TASK | PLAN_CPU));
}

/* Whether we can put them into that order, and should. */
static bool can_order(const struct table_vtab *tab, unsigned int plan,
                      const sqlite3_index_info *info)
{
	if (tab->t->rows == TIMELINE_TABLES || plan & (PLAN_KEY | PLAN_TASK | PLAN_AT) ||
	    info->nOrderBy < 1 || info->nOrderBy > SQL_ORDER_MAX)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;
		enum sql_role role;

		if (column < 0 || info->aOrderBy[i].desc)
			return false;
		role = tab->t->columns[column].role;
		if (role != SQL_PLAIN && role != SQL_TASK && role != SQL_CPU)
			return false;
	}
	return true;
}

/* The columns go to xFilter as letters. */
static int plan_order(const struct table_vtab *tab, unsigned int plan, sqlite3_index_info *info)
{
	char *letters;

	if (is_in_order(tab, plan, info)) {
		info->orderByConsumed = 1;
		return SQLITE_OK;
	}
	if (!can_order(tab, plan, info))
		return SQLITE_OK;
	letters = sqlite3_malloc(SQL_ORDER_MAX + 1);
	if (!letters)
		return SQLITE_NOMEM;
	for (int i = 0; i < info->nOrderBy; i++)
		letters[i] = (char)('A' + info->aOrderBy[i].iColumn);
	letters[info->nOrderBy] = 0;
	info->idxStr = letters;
	info->needToFreeIdxStr = 1;
	info->orderByConsumed = 1;
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table_vtab *tab = (const struct table_vtab *)base;
	int at[PLAN_WORDS], nr = 0;
	unsigned int plan = 0;

	if (sql_guard_is_over(tab->x))
		return SQLITE_INTERRUPT;
	for (int bit = 0; bit < PLAN_WORDS; bit++) {
		at[bit] = -1;
		for (int i = 0; i < info->nConstraint && at[bit] < 0; i++)
			if (info->aConstraint[i].usable &&
			    plan_of(tab, info->aConstraint[i].iColumn, info->aConstraint[i].op) ==
			            1U << bit)
				at[bit] = i;
		if (at[bit] < 0)
			continue;
		plan |= 1U << bit;
		info->aConstraintUsage[at[bit]].argvIndex = ++nr;
	}
	info->idxNum = (int)plan;
	estimate(tab, plan, info);
	return plan_order(tab, plan, info);
}

static int open_cursor(sqlite3_vtab *tab, sqlite3_vtab_cursor **out)
{
	struct table_cursor *c = sqlite3_malloc(sizeof(*c));

	(void)tab;
	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct table_cursor *c = (struct table_cursor *)base;

	sql_order_done(&c->order);
	sqlite3_free(c);
	return SQLITE_OK;
}

/* What a value says about a number: SQLite checks each row again, so too many rows do no harm. */
enum bound { BOUND_NONE, BOUND_NUMBER, BOUND_NO_ROWS };

/* The number, of a fraction the one below. */
static enum bound read_bound(sqlite3_value *v, int64_t *out)
{
	double f;

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER:
		*out = sqlite3_value_int64(v);
		return BOUND_NUMBER;
	case SQLITE_FLOAT:
		f = floor(sqlite3_value_double(v));
		*out = f < -9e18 ? INT64_MIN : f > 9e18 ? INT64_MAX : (int64_t)f;
		return BOUND_NUMBER;
	case SQLITE_NULL:
		return BOUND_NO_ROWS; /* nothing is equal to it, above or below */
	default:
		return BOUND_NONE;
	}
}

/* False if no row can fit. */
static bool use_bound(struct sql_filter *f, unsigned int plan, int64_t value)
{
	switch (plan) {
	case PLAN_KEY:
		f->has_key = true;
		f->key = (uint64_t)value;
		return value >= 0;
	case PLAN_TASK:
		f->task = (uint32_t)((uint64_t)value - 1);
		return value > 0 && value < TASKS_NONE;
	case PLAN_CPU:
		f->cpu = (uint32_t)value;
		return value >= 0 && value < PAIR_NO_CPU;
	case PLAN_AT:
		f->from_ns = (uint64_t)value;
		f->to_ns = (uint64_t)value + 1;
		return value >= 0;
	case PLAN_FROM:
		f->from_ns = value < 0 ? 0 : (uint64_t)value;
		return true;
	default:
		f->to_ns = (uint64_t)value + 1;
		return value >= 0;
	}
}

static bool make_filter(struct sql_filter *f, unsigned int plan, sqlite3_value **args)
{
	int64_t value;
	int nr = 0;

	for (int bit = 0; bit < PLAN_WORDS; bit++) {
		enum bound bound;

		if (!(plan & 1U << bit))
			continue;
		bound = read_bound(args[nr++], &value);
		if (bound == BOUND_NO_ROWS ||
		    (bound == BOUND_NUMBER && !use_bound(f, 1U << bit, value)))
			return false;
	}
	return f->from_ns < f->to_ns;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct table_cursor *c = (struct table_cursor *)base;

	c->rowid++;
	c->is_at_end = c->is_ordered ? !sql_order_next(&c->order, &c->scan)
	                             : !sql_scan_next(&c->scan);
	return c->scan.has_failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int put_in_order(struct table_cursor *c, const char *letters)
{
	uint32_t columns[SQL_ORDER_MAX], nr = 0;

	for (; nr < SQL_ORDER_MAX && letters[nr]; nr++)
		columns[nr] = (uint32_t)(letters[nr] - 'A');
	c->is_ordered = true;
	return sql_order_make(&c->scan, columns, nr, &c->order) ? SQLITE_NOMEM : SQLITE_OK;
}

static int filter_rows(sqlite3_vtab_cursor *base, int plan, const char *letters, int argc,
                       sqlite3_value **args)
{
	struct table_cursor *c = (struct table_cursor *)base;
	const struct table_vtab *tab = (const struct table_vtab *)base->pVtab;
	struct sql_filter f = SQL_FILTER_ALL;

	(void)argc;
	sql_order_done(&c->order);
	c->is_ordered = false;
	if (!make_filter(&f, (unsigned int)plan, args)) {
		c->is_at_end = true;
		return SQLITE_OK;
	}
	if (sql_scan_begin(tab->x->v, tab->t, &f, &c->scan))
		return SQLITE_NOMEM;
	if (letters && put_in_order(c, letters))
		return SQLITE_NOMEM;
	return next_row(base);
}

static int is_at_end(sqlite3_vtab_cursor *c)
{
	return ((struct table_cursor *)c)->is_at_end;
}

static int read_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
	struct table_cursor *c = (struct table_cursor *)base;
	const struct sql_table *t = c->scan.table;
	struct sql_cell *cell = &c->cell;

	if (column < 0 || (uint32_t)column >= t->nr_columns)
		return SQLITE_OK;
	sql_scan_read(&c->scan, (uint32_t)column, cell);
	if (cell->is_null)
		sqlite3_result_null(out);
	else if (t->columns[column].type == SQL_INTEGER)
		sqlite3_result_int64(out, cell->i);
	else
		sqlite3_result_text(out, cell->text, -1,
		                    cell->text == cell->buf ? SQLITE_TRANSIENT : SQLITE_STATIC);
	return SQLITE_OK;
}

static int read_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
	*out = ((struct table_cursor *)c)->rowid;
	return SQLITE_OK;
}

/* Without xCreate a table is there by its name alone, once, and none else can be made of it. */
static const sqlite3_module module = {
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter_rows,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = read_column,
	.xRowid = read_rowid,
};

int sql_module_add(struct sql_db *x)
{
	for (size_t i = 0; i < nr_sql_tables; i++) {
		struct table_of *of = sqlite3_malloc(sizeof(*of));

		if (!of)
			return -ENOMEM;
		*of = (struct table_of){ x, sql_tables[i] };
		/* It is freed also where this fails. */
		if (sqlite3_create_module_v2(x->db, sql_tables[i]->name, &module, of, sqlite3_free))
			return -ENOMEM;
	}
	return 0;
}
