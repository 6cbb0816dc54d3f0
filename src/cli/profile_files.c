#include "cli/profile_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "render/flame.h"
#include "render/profile_export.h"

struct writing {
	const struct profile *p;
	const char *title;
	int (*form)(const struct writing *w, FILE *out);
	int *err;
};

static int as_svg(const struct writing *w, FILE *out)
{
	return flame_svg(w->p, &(struct flame_cfg){ .title = w->title }, out);
}

static int as_html(const struct writing *w, FILE *out)
{
	return flame_html(w->p, &(struct flame_cfg){ .title = w->title }, out);
}

static int as_folded(const struct writing *w, FILE *out)
{
	return profile_folded(w->p, out);
}

static int as_pprof(const struct writing *w, FILE *out)
{
	return profile_pprof(w->p, out);
}

static int as_speedscope(const struct writing *w, FILE *out)
{
	return profile_speedscope(w->p, w->title, out);
}

static bool ends_with(const char *path, const char *suffix)
{
	size_t len = strlen(path), end = strlen(suffix);

	return len >= end && strcmp(path + len - end, suffix) == 0;
}

bool profile_files_any(const struct profile_files *f)
{
	return f->flamegraph || f->folded || f->pprof || f->speedscope;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

bool profile_files_take_stdout(const struct profile_files *f)
{
	return is_stdout(f->folded) || is_stdout(f->pprof) || is_stdout(f->speedscope);
}

int profile_files_check(const struct profile_files *f, struct diag *d)
{
	if (!f->flamegraph || ends_with(f->flamegraph, ".svg") || ends_with(f->flamegraph, ".html"))
		return 0;
	return diag_set(d, -EINVAL, "let its name end in .svg or .html",
	                "--flamegraph: '%.60s' does not say which kind it shall be", f->flamegraph);
}

static void put(const void *ctx, FILE *out)
{
	const struct writing *w = ctx;

	*w->err = w->form(w, out);
}

static int write_one(const char *path, struct writing w, struct diag *d)
{
	int failed = 0, err;

	if (!path)
		return 0;
	w.err = &failed;
	err = output_write(is_stdout(path) ? "/dev/stdout" : path, put, &w, d);
	if (!err && failed)
		err = diag_set(d, failed, NULL, "cannot write '%.100s': %s", path,
		               strerror(-failed));
	return err;
}

int profile_files_write(const struct profile_files *f, const struct profile *p, const char *title,
                        struct diag *d)
{
	struct writing w = { .p = p, .title = title };
	int err;

	w.form = f->flamegraph && ends_with(f->flamegraph, ".html") ? as_html : as_svg;
	err = write_one(f->flamegraph, w, d);
	w.form = as_folded;
	if (!err)
		err = write_one(f->folded, w, d);
	w.form = as_pprof;
	if (!err)
		err = write_one(f->pprof, w, d);
	w.form = as_speedscope;
	return err ? err : write_one(f->speedscope, w, d);
}
