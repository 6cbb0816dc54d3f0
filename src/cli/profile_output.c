#include "cli/profile_output.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/profile_read.h"
#include "base/log.h"
#include "cli/output.h"
#include "render/flame.h"
#include "render/profile_export.h"

/* One file of one kind; the writers tell errors of the stream through it, too. */
struct job {
	const struct profile_output *o;
	const struct profile *p;
	const struct profile *before;
};

static bool is_html(const char *path)
{
	size_t len = strlen(path);

	return (len > 5 && strcmp(path + len - 5, ".html") == 0) ||
	       (len > 4 && strcmp(path + len - 4, ".htm") == 0);
}

static void write_flame(const void *ctx, FILE *out)
{
	const struct job *j = ctx;
	struct flame_cfg cfg = { .before = j->before,
		                 .is_by_thread = j->o->is_by_thread,
		                 .is_icicle = j->o->is_icicle };

	(void)!(is_html(j->o->flamegraph) ? flame_html(j->p, &cfg, out)
	                                  : flame_svg(j->p, &cfg, out));
}

static void write_folded(const void *ctx, FILE *out)
{
	const struct job *j = ctx;

	(void)!(j->before ? profile_folded_diff(j->before, j->p, out) : profile_folded(j->p, out));
}

static void write_pprof(const void *ctx, FILE *out)
{
	const struct job *j = ctx;

	(void)!profile_pprof(j->p, out);
}

static void write_speedscope(const void *ctx, FILE *out)
{
	const struct job *j = ctx;

	(void)!profile_speedscope(j->p, NULL, out);
}

bool profile_output_has_files(const struct profile_output *o)
{
	return o->flamegraph || o->folded || o->pprof || o->speedscope;
}

/* A path that cannot be written is better known before ten minutes of measuring than after. */
static int check_path(const char *path, struct diag *d)
{
	char copy[PATH_MAX];

	if (!path || access(path, W_OK) == 0)
		return 0;
	if (errno != ENOENT)
		return diag_set(d, -errno, "choose another file", "cannot write %s: %s", path,
		                strerror(errno));
	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return diag_set(d, -ENAMETOOLONG, NULL, "the name of the file is too long");
	if (access(dirname(copy), W_OK | X_OK) == 0)
		return 0;
	return diag_set(d, -errno, "choose another file", "cannot write %s: %s", path,
	                strerror(errno));
}

int profile_output_check(const struct profile_output *o, struct diag *d, struct profile **before)
{
	const char *const paths[] = { o->flamegraph, o->folded, o->pprof, o->speedscope };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(paths) / sizeof(paths[0]); i++)
		err = check_path(paths[i], d);
	return err || !o->diff ? err : profile_read_file(o->diff, d, before);
}

int profile_output_write(const struct profile_output *o, const struct profile *p,
                         const struct profile *before, struct diag *d)
{
	const struct {
		const char *path;
		output_fn *fn;
	} files[] = {
		{ o->flamegraph, write_flame },
		{ o->folded, write_folded },
		{ o->pprof, write_pprof },
		{ o->speedscope, write_speedscope },
	};
	struct job job = { o, p, before };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(files) / sizeof(files[0]); i++) {
		if (!files[i].path)
			continue;
		err = output_write(files[i].path, files[i].fn, &job, d);
		if (!err)
			log_info("%s is written", files[i].path);
	}
	return err;
}
