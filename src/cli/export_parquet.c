#include "cli/export_parquet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/trace_args.h"
#include "serve/capture/capture.h"

void export_name(const char *path, char *buf, size_t size)
{
	const char *base = strrchr(path, '/');
	char *dot;

	(void)snprintf(buf, size, "%s", strcmp(path, "-") ? base ? base + 1 : path : "stdin");
	dot = strrchr(buf, '.');
	if (dot && dot != buf)
		*dot = '\0';
}

int export_parquet_check(const struct export_parquet *args, struct diag *d)
{
	if (args->dir && !*args->dir)
		return diag_set(d, -EINVAL, NULL, "--parquet: which folder?");
	if (!args->dir && (args->host || args->tables || args->is_replacing))
		return diag_set(d, -EINVAL, NULL,
		                "--host, --tables and --force belong to --parquet");
	if (args->host && !*args->host)
		return diag_set(d, -EINVAL, NULL, "--host: which host?");
	if (args->tables && !*args->tables)
		return diag_set(d, -EINVAL, "see 'schedscope query --tables'",
		                "--tables: which tables?");
	return capture_check_tables(args->tables, d);
}

/* t.pftrace.gz is called t: neither extension says anything. */
static void name_recording(const char *path, char *buf, size_t size)
{
	static const char *const packed[] = { ".gz", ".zst", ".xz" };
	char inner[256];
	size_t len;

	(void)snprintf(inner, sizeof(inner), "%s",
	               strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	len = strlen(inner);
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		size_t nr = strlen(packed[i]);

		if (len > nr && strcmp(inner + len - nr, packed[i]) == 0)
			inner[len - nr] = '\0';
	}
	export_name(inner, buf, size);
}

static int export_one(const struct export_parquet *args, const char *path, struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct capture_result sum;
	struct trace_progress progress;
	char name[256];
	struct capture_cfg cfg = { .dir = args->dir,
		                   .name = name,
		                   .host = args->host,
		                   .tables = args->tables,
		                   .is_replacing = args->is_replacing };
	int err = trace_args_open(path, d, &rec);

	if (err)
		return err;
	name_recording(path, name, sizeof(name));
	if (trace_progress_begin(&progress, "writing")) {
		cfg.progress = trace_progress_show;
		cfg.ctx = &progress;
	}
	err = capture_write(recording_source(rec), &cfg, d, &sum);
	trace_progress_end(&progress);
	if (!err)
		printf("%s: %" PRIu64 " rows in %" PRIu64 " files, %" PRIu64 " bytes\n", path,
		       sum.nr_rows, sum.nr_files, sum.nr_bytes);
	return err;
}

int export_parquet(const struct export_parquet *args, const struct opt_list *files, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < files->nr && !err; i++)
		err = export_one(args, files->items[i], d);
	return err;
}
