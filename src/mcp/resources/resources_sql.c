/* What the tool query can be asked for. */
#include <errno.h>

#include "analyze/report.h"
#include "base/cleanup.h"
#include "mcp/resources/resources.h"
#include "render/report_json.h"
#include "sql/sql.h"

#define NAME_BYTES 32

static int read_tables(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	char name[NAME_BYTES];
	bool has_name = resource_query(query, "table", name, sizeof(name));
	int err;

	(void)w;
	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	err = sql_help_report(r, has_name ? name : NULL, true, d);
	report_end_object(r);
	if (err)
		return err;
	for (const struct report_node *n = report_root(r)->first; n; n = n->next)
		report_json(out, n->key, n);
	return 0;
}

static uint64_t never_changes(struct mcp_world *w, const char *query)
{
	(void)w;
	(void)query;
	return 0;
}

const struct resource resource_tables = {
	.uri = "schema://tables",
	.name = "tables",
	.title = "Tables of SQL",
	.description =
		"tables and columns for the tool query, and its functions; ?table: what its columns mean; changes only with the program",
	.set = TOOLSET_CORE | TOOLSET_TRACE,
	.read = read_tables,
	.revision = never_changes,
};
