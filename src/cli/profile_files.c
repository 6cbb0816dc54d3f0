#include "cli/profile_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "render/flame.h"
#include "render/profile_export.h"

struct writing {
	const struct profile_files *files;
	const struct profile *p;
	const struct profile *before;
	int (*form)(const struct writing *w, FILE *out);
	int *err;
};

static struct flame_cfg flame_of(const struct writing *w)
{
	return (struct flame_cfg){ .before = w->before,
		                   .is_by_thread = w->files->is_by_thread,
		                   .is_icicle = w->files->is_icicle };
}

static int as_svg(const struct writing *w, FILE *out)
{
	struct flame_cfg cfg = flame_of(w);

	return flame_svg(w->p, &cfg, out);
}

static int as_html(const struct writing *w, FILE *out)
{
	struct flame_cfg cfg = flame_of(w);

	return flame_html(w->p, &cfg, out);
}

static int as_folded(const struct writing *w, FILE *out)
{
	return w->before ? profile_folded_diff(w->before, w->p, out) : profile_folded(w->p, out);
}

static int as_pprof(const struct writing *w, FILE *out)
{
	return profile_pprof(w->p, out);
}

static int as_speedscope(const struct writing *w, FILE *out)
{
	return profile_speedscope(w->p, NULL, out);
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

static int nr_on_stdout(const struct profile_files *f)
{
	return is_stdout(f->folded) + is_stdout(f->pprof) + is_stdout(f->speedscope);
}

bool profile_files_take_stdout(const struct profile_files *f)
{
	return nr_on_stdout(f) != 0;
}

int profile_files_check(const struct profile_files *f, struct diag *d)
{
	if (f->flamegraph && !ends_with(f->flamegraph, ".svg") &&
	    !ends_with(f->flamegraph, ".html"))
		return diag_set(d, -EINVAL, "let its name end in .svg or .html",
		                "--flamegraph: '%.60s' does not say which kind of file it is",
		                f->flamegraph);
	if (nr_on_stdout(f) > 1)
		return diag_set(
			d, -EINVAL, "give files to the others",
			"only one of --folded, --pprof and --speedscope can go to standard output");
	return 0;
}

int profile_files_open(const struct profile_files *f, struct profile_outputs *out, struct diag *d)
{
	const char *const paths[] = { f->flamegraph, f->folded, f->pprof, f->speedscope };
	int err = profile_files_check(f, d);

	*out = (struct profile_outputs){ 0 };
	for (size_t i = 0; !err && i < PROFILE_FILES; i++)
		if (paths[i] && !is_stdout(paths[i]))
			err = output_open(paths[i], d, &out->all[i]);
	if (err)
		profile_outputs_done(out);
	return err;
}

void profile_outputs_done(struct profile_outputs *o)
{
	for (size_t i = 0; i < PROFILE_FILES; i++)
		output_close(o->all[i]);
	*o = (struct profile_outputs){ 0 };
}

static void put(const void *ctx, FILE *out)
{
	const struct writing *w = ctx;

	*w->err = w->form(w, out);
}

/* to is NULL for standard output, where the text comes behind what is there. */
static int write_one(const char *path, struct output *to, struct writing w, struct diag *d)
{
	int failed = 0, err;

	if (!path)
		return 0;
	if (!to)
		return cli_written(w.form(&w, stdout), d);
	w.err = &failed;
	err = output_fill(to, put, &w, d);
	if (!err && failed)
		err = diag_set(d, failed, NULL, "cannot write '%.100s': %s", path,
		               strerror(-failed));
	return err;
}

int profile_files_write(const struct profile_files *f, struct profile_outputs *to,
                        const struct profile *p, const struct profile *before, struct diag *d)
{
	struct writing w = { .files = f, .p = p, .before = before };
	int err;

	w.form = f->flamegraph && ends_with(f->flamegraph, ".html") ? as_html : as_svg;
	err = write_one(f->flamegraph, to->all[0], w, d);
	w.form = as_folded;
	if (!err)
		err = write_one(f->folded, to->all[1], w, d);
	w.form = as_pprof;
	if (!err)
		err = write_one(f->pprof, to->all[2], w, d);
	w.form = as_speedscope;
	return err ? err : write_one(f->speedscope, to->all[3], w, d);
}
