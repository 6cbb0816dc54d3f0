/* What tables, columns and functions there are, as text and as a report. */
#include <errno.h>

#include "sql/sql_priv.h"

void sql_help(FILE *out)
{
	for (size_t i = 0; i < nr_sql_tables; i++) {
		const struct sql_table *t = sql_tables[i];

		fprintf(out, "%s%s: %s\n", i ? "\n" : "", t->name, t->doc);
		for (uint32_t k = 0; k < t->nr_columns; k++)
			fprintf(out, "  %-18s %s%s\n", t->columns[k].name, t->columns[k].doc,
			        t->columns[k].type == SQL_TEXT ? " (text)" : "");
	}
	fprintf(out, "\nFunctions:\n");
	for (size_t i = 0; i < nr_sql_functions; i++)
		fprintf(out, "  %-18s %s\n", sql_functions[i].call, sql_functions[i].doc);
	fprintf(out, "Of SQLite: %s.\n", sql_functions_of_sqlite());
	fprintf(out, "\nTimes (ts) and durations (dur) are nanoseconds; unknown is null.\n");
}

static void put_table(struct report *r, const struct sql_table *t)
{
	report_begin_object(r, t->name);
	report_string(r, "what", t->doc);
	report_begin_object(r, "columns");
	for (uint32_t i = 0; i < t->nr_columns; i++)
		report_string(r, t->columns[i].name, t->columns[i].doc);
	report_end_object(r);
	report_end_object(r);
}

/* All columns of all tables with what they mean would be a long answer. */
static void put_names(struct report *r, const struct sql_table *t)
{
	report_begin_object(r, t->name);
	report_string(r, "what", t->doc);
	report_begin_array(r, "columns");
	for (uint32_t i = 0; i < t->nr_columns; i++)
		report_string(r, NULL, t->columns[i].name);
	report_end_array(r);
	report_end_object(r);
}

int sql_help_report(struct report *r, const char *table, bool is_brief, struct diag *d)
{
	if (table) {
		const struct sql_table *t = sql_table_find(table);

		if (!t)
			return diag_set(d, -ENODATA, "schema://tables lists all",
			                "there is no table '%s'", table);
		put_table(r, t);
		return 0;
	}
	report_begin_object(r, "tables");
	for (size_t i = 0; i < nr_sql_tables; i++)
		(is_brief ? put_names : put_table)(r, sql_tables[i]);
	report_end_object(r);
	report_begin_object(r, "functions");
	for (size_t i = 0; i < nr_sql_functions; i++)
		report_string(r, sql_functions[i].call, sql_functions[i].doc);
	report_string(r, "of SQLite", sql_functions_of_sqlite());
	report_end_object(r);
	return 0;
}
