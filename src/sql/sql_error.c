/* Why a query failed, in a sentence, and what to do about it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "sql/sql_priv.h"

#define HINT_BYTES 256 /* of a struct diag */
#define WHAT_BYTES 200

struct hint {
	char text[HINT_BYTES];
	size_t len;
};

/* A list is not cut within a word. */
static bool add(struct hint *h, const char *before, const char *word)
{
	size_t room = sizeof(h->text) - h->len;
	int len = snprintf(h->text + h->len, room, "%s%s", before, word);

	if (len < 0 || (size_t)len + sizeof(", ...") > room) {
		(void)snprintf(h->text + h->len, room, "%s", room > 5 ? ", ..." : "");
		return false;
	}
	h->len += (size_t)len;
	return true;
}

static void list_tables(struct hint *h)
{
	(void)add(h, "", "tables are ");
	for (size_t i = 0; i < nr_sql_tables; i++)
		if (!add(h, i ? ", " : "", sql_tables[i]->name))
			return;
}

/* Those of the tables that the query mentions. */
static void list_columns(const struct sql_db *x, struct hint *h)
{
	for (size_t i = 0; i < nr_sql_tables; i++) {
		const struct sql_table *t = sql_tables[i];

		if (!(x->tables & 1U << i))
			continue;
		if (!add(h, h->len ? "; " : "", t->name) || !add(h, " has ", t->columns[0].name))
			return;
		for (uint32_t k = 1; k < t->nr_columns; k++)
			if (!add(h, ", ", t->columns[k].name))
				return;
	}
}

static void list_functions(struct hint *h)
{
	if (!add(h, "", "functions are "))
		return;
	for (size_t i = 0; i < nr_sql_functions; i++)
		if (!add(h, i ? ", " : "", sql_functions[i].call))
			return;
	(void)add(h, "", " and the usual ones of SQLite; 'schedscope query --tables' lists them");
}

static int say_refused(const struct sql_db *x, struct diag *d)
{
	struct hint h = { .len = 0 };
	char name[sizeof(x->refused_name)];

	(void)text_printable(name, sizeof(name), x->refused_name, strlen(x->refused_name));
	if (strcmp(x->refused_kind, "statement") == 0)
		return diag_set(d, -EINVAL, NULL, "only SELECT is allowed");
	if (strcmp(x->refused_kind, "table") == 0)
		list_tables(&h);
	else
		list_functions(&h);
	return diag_set(d, -EINVAL, h.text, "the %s '%s' is not allowed", x->refused_kind, name);
}

static int say_wrong(const struct sql_db *x, struct diag *d)
{
	const char *message = sqlite3_errmsg(x->db);
	char what[WHAT_BYTES];
	struct hint h = { .len = 0 };

	if (strstr(message, "no such column") || strstr(message, "ambiguous column"))
		list_columns(x, &h);
	else if (strstr(message, "no such table"))
		list_tables(&h);
	else if (strstr(message, "no such function") || strstr(message, "number of arguments"))
		list_functions(&h);
	return diag_set(d, -EINVAL, h.len ? h.text : NULL, "%s",
	                text_printable(what, sizeof(what), message, strlen(message)));
}

int sql_error(const struct sql_db *x, struct diag *d)
{
	if (x->is_cancelled)
		return diag_set(d, -ECANCELED, NULL, "cancelled");
	if (x->is_late)
		return diag_set(d, -E2BIG, "read fewer rows: bound ts, utid or cpu in WHERE",
		                "the query took more than %" PRIu64 " ms", x->q->max_ns / 1000000);
	if (x->refused_kind)
		return say_refused(x, d);
	switch (sqlite3_errcode(x->db)) {
	case SQLITE_NOMEM:
		return diag_set(d, -E2BIG, "read fewer rows, or sort and group fewer columns",
		                "the query needs too much memory");
	case SQLITE_TOOBIG:
		return diag_set(d, -E2BIG, "make shorter texts", "a text is too long");
	default:
		return say_wrong(x, d);
	}
}
