#include "serve/columns.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/log.h"
#include "serve/columns_rows.h"
#include "serve/parquet/parquet.h"
#include "serve/parquet/parquet_file.h"
#include "sys/rights/broker_dirs.h"

#define SCHEMA_VERSION \
	"1" /* moves when a column goes or changes its meaning; new ones do not move it */
#define SECOND_NS      1000000000ULL
#define PARTITION_SIZE 256
#define STAMP_SIZE     32
#define PAGE_ROWS      4096U /* an interval has some thousand rows */
#define FRESH_MAX      4096U
#define UNNAMED_HOST   "(none)" /* what the kernel says of a machine that was given no name */

/* A table as far as it is written. */
struct progress {
	struct columns_now from;
	bool is_failing;           /* and was logged */
	char date[PARTITION_SIZE]; /* of the last file; "" = none */
	uint64_t lost;             /* events that were lost up to then */
	uint64_t nr_files, nr_failures;
};

struct columns {
	struct columns_cfg cfg;
	struct broker_dirs dirs;
	const struct serve_source *src;
	struct sums *s;
	struct dumps *dumps; /* NULL = none */
	char host_part[PARTITION_SIZE];
	uint64_t due_ns;
	struct progress tables[COLUMN_TABLES];
	struct columns_written written;
	struct columns_dumps fresh;
};

/* A file that is being made. */
struct new_file {
	char path[PATH_MAX];
	int fd;
};

int columns_open(const struct columns_cfg *cfg, struct diag *d, struct columns **out)
{
	struct columns *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->cfg = *cfg;
	err = mkdir(cfg->dir, 0777) < 0 && errno != EEXIST ? -errno
	                                                   : broker_dirs_add(&c->dirs, cfg->dir);
	if (!err && faccessat(c->dirs.at[0].fd, ".", W_OK | X_OK, AT_EACCESS))
		err = -errno;
	if (err) {
		columns_close(c);
		return diag_set(d, err, "check the path and its permissions",
		                "cannot write into the folder '%.120s'", cfg->dir);
	}
	*out = c;
	return 0;
}

void columns_close(struct columns *c)
{
	if (!c)
		return;
	if (c->dumps)
		dumps_watch(c->dumps, NULL, NULL);
	broker_dirs_done(&c->dirs);
	free(c->fresh.names);
	free(c);
}

/* Beyond the bound, the oldest is forgotten. */
static void note_dump(void *ctx, const char *name)
{
	struct columns_dumps *f = &((struct columns *)ctx)->fresh;

	if (f->nr == FRESH_MAX)
		memmove(f->names, f->names + 1, (size_t)--f->nr * sizeof(*f->names));
	if (GROW(f->names, f->cap, f->nr))
		return;
	(void)snprintf(f->names[f->nr++], sizeof(*f->names), "%s", name);
}

static uint64_t lost_events(const struct sums *s)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < s->lost.nr; i++)
		nr += s->lost.items[i].before + s->lost.items[i].now;
	return nr;
}

/* Where the wall clock is a multiple of the interval. */
static void set_due(struct columns *c, const struct columns_now *now)
{
	c->due_ns = now->boot_ns + c->cfg.every_ns - now->unix_ns % c->cfg.every_ns;
}

/* Tables that are on are counted, with 0 from the beginning. */
static void count(const struct columns *c, int table)
{
	struct sums_columns *told = &c->s->columns;

	counts_set(&told->files, columns_tables[table].name, c->tables[table].nr_files);
	counts_set(&told->failures, columns_tables[table].name, c->tables[table].nr_failures);
}

void columns_begin(struct columns *c, const struct serve_source *src, struct sums *s,
                   struct dumps *dumps, const struct columns_now *now)
{
	const char *host = c->cfg.host ? c->cfg.host : src->host;

	c->src = src;
	c->s = s;
	c->dumps = dumps;
	if (dumps)
		dumps_watch(dumps, note_dump, c);
	if (parquet_partition(c->host_part, sizeof(c->host_part), "host",
	                      strcmp(host, UNNAMED_HOST) == 0 ? "" : host)) {
		log_warn("the name of the host is too long for a folder: it is left out");
		(void)!parquet_partition(c->host_part, sizeof(c->host_part), "host", "");
	}
	s->columns.is_on = true;
	for (int i = 0; i < COLUMN_TABLES; i++) {
		c->tables[i].from = *now;
		if (columns_tables[i].is_on(s))
			count(c, i);
	}
	set_due(c, now);
}

uint64_t columns_due_ns(const struct columns *c)
{
	return c->due_ns;
}

/* A clock that was set meanwhile does not change how long an interval is; but none begins before 1970. */
static uint64_t begin_of(const struct progress *t, const struct columns_now *now)
{
	uint64_t ns = now->boot_ns - t->from.boot_ns;
	uint64_t from_ns = ns < now->unix_ns ? now->unix_ns - ns : 0;
	uint64_t apart = from_ns > t->from.unix_ns ? from_ns - t->from.unix_ns
	                                           : t->from.unix_ns - from_ns;

	return apart < SECOND_NS && t->from.unix_ns < now->unix_ns ? t->from.unix_ns : from_ns;
}

static int date_of(uint64_t unix_ns, char part[PARTITION_SIZE])
{
	time_t seconds = (time_t)(unix_ns / SECOND_NS);
	char date[STAMP_SIZE];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%d", &tm))
		return -EINVAL;
	return parquet_partition(part, PARTITION_SIZE, "date", date);
}

static void stamp(uint64_t unix_ns, char out[STAMP_SIZE])
{
	time_t seconds = (time_t)(unix_ns / SECOND_NS);
	struct tm tm = { 0 };
	size_t len;

	(void)gmtime_r(&seconds, &tm);
	len = strftime(out, STAMP_SIZE, "%Y%m%dT%H%M%S", &tm);
	(void)snprintf(out + len, STAMP_SIZE - len, ".%06uZ",
	               (unsigned int)(unix_ns % SECOND_NS / 1000));
}

static int note_u64(struct parquet *p, const char *key, uint64_t value, struct diag *d)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	return parquet_note(p, key, text, d);
}

static int put_notes(const struct columns *c, int table, const struct columns_rows *r)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "schedscope.schema_version", SCHEMA_VERSION },
		{ "schedscope.table", columns_tables[table].name },
		{ "schedscope.host", c->cfg.host ? c->cfg.host : c->src->host },
		{ "schedscope.boot_id", r->boot_id },
		{ "schedscope.kernel", r->kernel },
		{ "schedscope.machine", r->machine },
		{ "schedscope.labels", r->labels },
		{ "schedscope.producer", c->cfg.version },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !err; i++)
		if (texts[i].value && *texts[i].value)
			err = parquet_note(r->out, texts[i].key, texts[i].value, r->d);
	if (!err)
		err = note_u64(r->out, "schedscope.from_ns", r->from_ns, r->d);
	if (!err)
		err = note_u64(r->out, "schedscope.to_ns", r->to_ns, r->d);
	return err ? err
	           : note_u64(r->out, "schedscope.lost_events",
	                      lost_events(c->s) - c->tables[table].lost, r->d);
}

/* The folder of a file, each in the one before, and its path. */
static int make_folders(struct columns *c, int table, const char *date,
                        const struct columns_rows *r, struct new_file *f)
{
	const char *parts[] = { columns_tables[table].name, date, c->host_part };
	size_t at = (size_t)snprintf(f->path, sizeof(f->path), "%s", c->dirs.at[0].path);
	char from[STAMP_SIZE], to[STAMP_SIZE];
	int err = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++) {
		at += (size_t)snprintf(f->path + at, sizeof(f->path) - at, "/%s", parts[i]);
		err = at < sizeof(f->path) ? broker_dirs_make(&c->dirs, f->path) : -ENAMETOOLONG;
	}
	if (err)
		return diag_set(r->d, err, "check the folder and its permissions",
		                "cannot make the folder '%.120s'", f->path);
	stamp(r->from_ns, from);
	stamp(r->to_ns, to);
	at += (size_t)snprintf(f->path + at, sizeof(f->path) - at, "/%s-%s.parquet", from, to);
	return at < sizeof(f->path) ? 0
	                            : diag_set(r->d, -ENAMETOOLONG, NULL,
	                                       "the path of '%.120s' is too long", c->cfg.dir);
}

static int fill(const struct columns *c, int table, struct columns_rows *r,
                const struct new_file *f)
{
	const struct columns_table *t = &columns_tables[table];
	const struct parquet_cfg cfg = { .columns = t->columns,
		                         .nr_columns = t->nr_columns,
		                         .fd = f->fd,
		                         .name = f->path,
		                         .page_rows = PAGE_ROWS };
	SCOPED(scoped_parquet) struct parquet *p = NULL;
	int err = parquet_open(&cfg, r->d, &p);

	if (err)
		return err;
	r->out = p;
	err = put_notes(c, table, r);
	if (!err)
		err = t->put(r);
	if (!err)
		err = parquet_close(p, r->d);
	if (!err && fsync(f->fd) < 0 && errno != EINVAL && errno != EROFS)
		err = diag_set(r->d, -errno, NULL, "cannot write '%.160s'", f->path);
	return err;
}

static int write_file(struct columns *c, int table, const char *date, struct columns_rows *r)
{
	struct new_file f = { .fd = -1 };
	int err = make_folders(c, table, date, r, &f);

	if (err)
		return err;
	f.fd = broker_dirs_create_shared(&c->dirs, f.path);
	if (f.fd < 0)
		return diag_set(r->d, f.fd, "check the folder and its permissions",
		                "cannot write '%.160s'", f.path);
	err = fill(c, table, r, &f);
	if (!err && (err = broker_dirs_keep(&c->dirs, f.fd, f.path)))
		err = diag_set(r->d, err, NULL, "cannot write '%.160s'", f.path);
	if (err)
		(void)!broker_dirs_remove(&c->dirs, f.fd);
	close(f.fd);
	return err;
}

static void tell(struct columns *c, int table, int err, const struct diag *d)
{
	struct progress *t = &c->tables[table];
	char line[512];

	if (err && !t->is_failing) {
		diag_format(d, line, sizeof(line));
		log_warn("%s; it is tried again, and nothing is lost meanwhile", line);
	}
	if (!err && t->is_failing)
		log_warn("files of %s are written again", columns_tables[table].name);
	t->is_failing = err;
	if (err)
		t->nr_failures++;
	else
		t->nr_files++;
	count(c, table);
}

/* Also without rows where a day has no file yet: a query finds the columns of the table then. */
static void write_table(struct columns *c, int table, const struct columns_now *now)
{
	const struct columns_table *t = &columns_tables[table];
	struct progress *done = &c->tables[table];
	char date[PARTITION_SIZE] = "";
	struct diag d = { 0 };
	struct columns_rows r = { .s = c->s,
		                  .dumps = c->dumps,
		                  .written = &c->written,
		                  .fresh = &c->fresh,
		                  .from_ns = begin_of(done, now),
		                  .to_ns = now->unix_ns,
		                  .boot_id = c->src->boot_id,
		                  .kernel = c->src->kernel,
		                  .machine = c->src->machine,
		                  .labels = c->cfg.labels,
		                  .clock_to_unix_s = c->src->clock_to_unix_s,
		                  .d = &d };
	int err = date_of(r.from_ns, date);

	if (t->has_rows(&r) || strcmp(date, done->date) != 0) {
		err = err ? diag_set(&d, err, "set the clock", "it is no known day")
		          : write_file(c, table, date, &r);
		tell(c, table, err, &d);
		if (err)
			return;
	}
	t->mark(&r);
	done->from = *now;
	done->lost = lost_events(c->s);
	memcpy(done->date, date, sizeof(date));
	if (table == TABLE_HIST)
		c->s->columns.written_unix_ns = now->unix_ns;
}

void columns_write(struct columns *c, const struct columns_now *now)
{
	for (int i = 0; i < COLUMN_TABLES; i++)
		if (columns_tables[i].is_on(c->s))
			write_table(c, i, now);
	set_due(c, now);
}
