#include "serve/capture/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "analyze/losses.h"
#include "base/cleanup.h"
#include "serve/parquet/parquet.h"
#include "serve/parquet/parquet_file.h"
#include "sql/sql_table.h"

#define SCHEMA_VERSION \
	"1" /* moves when a column goes or changes its meaning; new ones do not move it */
#define COLUMNS_MAX    32U
#define NAME_SIZE      160U
#define NS_PER_S       1000000000ULL
#define PARTITION_SIZE 256
#define PROGRESS_ROWS  65536U
#define TABLES_MAX     32U
#define UNNAMED_HOST   "(none)" /* what the kernel says of a machine that was given no name */

/* A file that is being made. */
struct table_file {
	int dir_fd;
	struct parquet_file *file;
};

struct capture {
	const struct source *s;
	const struct capture_cfg *cfg;
	struct sql_view *view;
	const char *host; /* NULL = unknown */
	char name[NAME_SIZE];
	char date_part[PARTITION_SIZE], host_part[PARTITION_SIZE];
	struct table_file files[TABLES_MAX];
	size_t nr_files;
	uint64_t rows_done, rows_all;
	struct capture_result sum;
};

static void scoped_capture(struct capture *c)
{
	for (size_t i = 0; i < c->nr_files; i++) {
		parquet_file_close(c->files[i].file);
		if (c->files[i].dir_fd >= 0)
			close(c->files[i].dir_fd);
	}
	sql_view_free(c->view);
}

/* The next name of a list with commas; false at its end. */
static bool next_name(const char **list, size_t *len, const char **name)
{
	*name = *list;
	if (!**list)
		return false;
	*len = strcspn(*list, ",");
	*list += *len + ((*list)[*len] == ',');
	return true;
}

static bool is_named(const char *list, const char *table)
{
	const char *name;
	size_t len;

	while (next_name(&list, &len, &name))
		if (len == strlen(table) && strncasecmp(name, table, len) == 0)
			return true;
	return false;
}

int capture_check_tables(const char *tables, struct diag *d)
{
	const char *name;
	char word[64];
	size_t len;

	while (tables && next_name(&tables, &len, &name)) {
		(void)snprintf(word, sizeof(word), "%.*s", (int)(len < 63 ? len : 63), name);
		if (!sql_table_find(word))
			return diag_set(d, -EINVAL, "see 'schedscope query --tables'",
			                "there is no table '%s'", word);
	}
	return 0;
}

static bool is_wanted(const struct capture *c, const struct sql_table *t)
{
	return !c->cfg->tables || is_named(c->cfg->tables, t->name);
}

/* Times and numbers of rows are near the one before; names repeat. */
static enum parquet_coding coding_of(const struct sql_column *x)
{
	switch (x->role) {
	case SQL_KEY:
	case SQL_TIME:
		return PARQUET_DELTA;
	case SQL_MANY:
		return x->type == SQL_TEXT ? PARQUET_PLAIN : PARQUET_DELTA;
	default:
		return PARQUET_DICTIONARY;
	}
}

/* Its columns behind capture: how many. */
static uint32_t make_schema(const struct sql_table *t, struct parquet_column columns[COLUMNS_MAX])
{
	uint32_t nr = 0;

	columns[nr++] = (struct parquet_column){ .name = "capture",
		                                 .type = PARQUET_TEXT,
		                                 .coding = PARQUET_DICTIONARY,
		                                 .is_required = true };
	for (uint32_t i = 0; i < t->nr_columns && nr < COLUMNS_MAX; i++)
		columns[nr++] = (struct parquet_column){ .name = t->columns[i].name,
			                                 .type = t->columns[i].type == SQL_TEXT
			                                                 ? PARQUET_TEXT
			                                                 : PARQUET_I64,
			                                 .coding = coding_of(&t->columns[i]) };
	return nr;
}

static void read_row(const struct capture *c, const struct sql_scan *scan, struct sql_cell *cells,
                     struct parquet_value *row)
{
	row[0] = (struct parquet_value){ .text = c->name, .len = strlen(c->name) };
	for (uint32_t i = 0; i < scan->table->nr_columns; i++) {
		struct parquet_value *v = &row[i + 1];

		sql_scan_read(scan, i, &cells[i]);
		v->is_null = cells[i].is_null;
		if (v->is_null)
			continue;
		if (scan->table->columns[i].type == SQL_TEXT) {
			v->text = cells[i].text;
			v->len = strlen(v->text);
		} else {
			v->i64 = cells[i].i;
		}
	}
}

static int write_rows(struct capture *c, const struct sql_table *t, struct parquet *p,
                      struct diag *d)
{
	const struct sql_filter all = SQL_FILTER_ALL;
	struct parquet_value row[COLUMNS_MAX] = { 0 };
	struct sql_cell cells[COLUMNS_MAX];
	struct sql_scan scan;
	int err = sql_scan_begin(c->view, t, &all, &scan);

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	while (sql_scan_next(&scan)) {
		read_row(c, &scan, cells, row);
		err = parquet_append(p, row, d);
		if (err)
			return err;
		if (c->cfg->progress && parquet_rows(p) % PROGRESS_ROWS == 0)
			c->cfg->progress(c->cfg->ctx, c->rows_done + parquet_rows(p), c->rows_all);
	}
	if (scan.has_failed)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->rows_done += sql_table_rows(c->view, t);
	return 0;
}

static int note_u64(struct parquet *p, const char *key, uint64_t value, struct diag *d)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return parquet_note(p, key, text, d);
}

static int note_text(struct parquet *p, const char *key, const char *value, struct diag *d)
{
	return value && *value ? parquet_note(p, key, value, d) : 0;
}

/* What was lost, as the summary has it; what is 0 is left out. */
static int note_losses(const struct capture *c, struct parquet *p, struct diag *d)
{
	const struct source_facts *f = c->s->facts;
	struct losses nr;
	char key[128];
	int err = note_u64(p, "schedscope.lost_events", f->lost, d);

	for (size_t i = 0; i < f->nr_lost_by && !err; i++) {
		(void)snprintf(key, sizeof(key), "schedscope.lost_events.%.64s",
		               f->lost_by[i].name);
		err = note_u64(p, key, f->lost_by[i].count, d);
	}
	source_losses(c->s, &nr);
	for (enum loss i = 0; i < NR_LOSSES && !err; i++) {
		(void)snprintf(key, sizeof(key), "schedscope.loss.%s", loss_name(i));
		err = nr.nr[i] ? note_u64(p, key, nr.nr[i], d) : 0;
	}
	return err ? err : note_text(p, "schedscope.incomplete", f->incomplete, d);
}

static int write_notes(const struct capture *c, const struct sql_table *t, struct parquet *p,
                       struct diag *d)
{
	const struct source_facts *f = c->s->facts;
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "schedscope.schema_version", SCHEMA_VERSION },
		{ "schedscope.table", t->name },
		{ "schedscope.capture", c->name },
		{ "schedscope.host", c->host },
		{ "schedscope.boot_id", f->boot_id },
		{ "schedscope.kernel", f->release },
		{ "schedscope.machine", f->machine },
		{ "schedscope.producer", f->producer },
		{ "schedscope.clock", f->clock },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !err; i++)
		err = note_text(p, texts[i].key, texts[i].value, d);
	if (!err && f->unix_ns)
		err = note_u64(p, "schedscope.unix_start_ns", f->unix_ns, d);
	if (!err)
		err = note_u64(p, "schedscope.start_ts", c->s->start_ns, d);
	if (!err)
		err = note_u64(p, "schedscope.end_ts", c->s->end_ns, d);
	return err ? err : note_losses(c, p, d);
}

static int fill_file(struct capture *c, const struct sql_table *t, struct parquet_file *file,
                     struct diag *d)
{
	SCOPED(scoped_parquet) struct parquet *p = NULL;
	struct parquet_column columns[COLUMNS_MAX];
	struct parquet_cfg cfg = { .columns = columns,
		                   .nr_columns = make_schema(t, columns),
		                   .fd = parquet_file_fd(file),
		                   .name = t->name };
	int err = parquet_open(&cfg, d, &p);

	if (!err)
		err = write_notes(c, t, p, d);
	if (!err)
		err = write_rows(c, t, p, d);
	if (!err)
		err = parquet_close(p, d);
	if (!err)
		err = parquet_file_sync(file, d);
	if (err)
		return err;
	c->sum.nr_files++;
	c->sum.nr_rows += parquet_rows(p);
	c->sum.nr_bytes += parquet_bytes(p);
	return 0;
}

static int open_file(struct capture *c, const struct sql_table *t, struct diag *d)
{
	const char *below[] = { t->name, c->date_part, c->host_part };
	struct table_file *f = &c->files[c->nr_files];
	char name[NAME_SIZE + sizeof(".parquet")];

	f->dir_fd = parquet_folder_open(c->cfg->dir, below, sizeof(below) / sizeof(below[0]), d);
	if (f->dir_fd < 0)
		return f->dir_fd;
	c->nr_files++;
	(void)snprintf(name, sizeof(name), "%s.parquet", c->name);
	return parquet_file_open(f->dir_fd, name, c->cfg->is_replacing, d, &f->file);
}

static int keep_all(struct capture *c, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < c->nr_files && !err; i++)
		err = parquet_file_keep(c->files[i].file, d);
	for (size_t i = 0; i < c->nr_files && err; i++)
		parquet_file_take_back(c->files[i].file);
	return err;
}

/* Names of files keep to what every file system and shell takes. */
static void add_name(char *to, size_t size, const char *from)
{
	size_t at = 0;

	for (; *from && at + 1 < size; from++) {
		unsigned char x = (unsigned char)*from;
		bool is_plain = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') ||
		                (x >= '0' && x <= '9') || x == '_' || x == '-' || (x == '.' && at);

		to[at++] = is_plain ? (char)x : '_';
	}
	to[at] = '\0';
}

/* The recording's name and when it began: two of a host do not collide. */
static int name_capture(struct capture *c, struct diag *d)
{
	uint64_t unix_ns = c->s->facts->unix_ns;
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	char date[32] = "", begin[64] = "";
	struct tm tm;
	size_t len;

	if (unix_ns && gmtime_r(&seconds, &tm)) {
		(void)strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		len = strftime(begin, sizeof(begin), "-%Y%m%dT%H%M%S", &tm);
		(void)snprintf(begin + len, sizeof(begin) - len, ".%06uZ",
		               (unsigned int)(unix_ns % NS_PER_S / 1000));
	}
	add_name(c->name, sizeof(c->name) - sizeof(begin), c->cfg->name);
	len = strlen(c->name);
	(void)snprintf(c->name + len, sizeof(c->name) - len, "%s", begin);
	c->host = c->cfg->host ? c->cfg->host : c->s->facts->host;
	if (c->host && strcmp(c->host, UNNAMED_HOST) == 0)
		c->host = NULL;
	if (parquet_partition(c->date_part, sizeof(c->date_part), "date", date) ||
	    parquet_partition(c->host_part, sizeof(c->host_part), "host", c->host))
		return diag_set(d, -ENAMETOOLONG, "give a shorter one with --host",
		                "the name of the host is too long for a folder");
	return 0;
}

int capture_write(const struct source *s, const struct capture_cfg *cfg, struct diag *d,
                  struct capture_result *out)
{
	SCOPED(scoped_capture) struct capture c = { .s = s, .cfg = cfg };
	int err = name_capture(&c, d);

	if (err)
		return err;
	if (sql_view_new(s, &c.view))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	/* Names that are taken are reported before the work. */
	for (size_t i = 0; i < nr_sql_tables && !err; i++)
		if (is_wanted(&c, sql_tables[i])) {
			c.rows_all += sql_table_rows(c.view, sql_tables[i]);
			err = open_file(&c, sql_tables[i], d);
		}
	for (size_t i = 0, at = 0; i < nr_sql_tables && !err; i++)
		if (is_wanted(&c, sql_tables[i]))
			err = fill_file(&c, sql_tables[i], c.files[at++].file, d);
	if (!err)
		err = keep_all(&c, d);
	if (!err)
		*out = c.sum;
	return err;
}
