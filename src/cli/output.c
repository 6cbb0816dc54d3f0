#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Runs fn and brings the text to the disk; closes the stream in any case. */
static int fill(FILE *out, output_fn *fn, const void *ctx)
{
	int err = 0;

	errno = 0;
	fn(ctx, out);
	if (ferror(out) || fflush(out) != 0)
		err = errno ? -errno : -EIO;
	/* Pipes and terminals cannot be synced, and need not be. */
	if (!err && fsync(fileno(out)) < 0 && errno != EINVAL && errno != EROFS)
		err = -errno;
	if (fclose(out) != 0 && !err)
		err = -errno;
	return err;
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* mode is what the file had before, or what a new one gets. */
static int replace(const char *path, mode_t mode, output_fn *fn, const void *ctx)
{
	char temporary[PATH_MAX];
	FILE *out;
	int fd, err;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	out = fchmod(fd, mode) < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		err = -errno;
		close(fd);
	} else {
		err = fill(out, fn, ctx);
	}
	if (!err && rename(temporary, path) < 0)
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}

static int write_directly(const char *path, output_fn *fn, const void *ctx)
{
	FILE *out = fopen(path, "we");

	return out ? fill(out, fn, ctx) : -errno;
}

int output_write(const char *path, output_fn *fn, const void *ctx, struct diag *d)
{
	SCOPED(scoped_free) char *real = realpath(path, NULL);
	const char *target = real ? real : path;
	struct stat st;
	int err;

	if (stat(target, &st) < 0)
		err = replace(target, default_mode(), fn, ctx);
	else if (S_ISREG(st.st_mode))
		err = replace(target, st.st_mode & 0777, fn, ctx);
	else
		err = write_directly(target, fn, ctx);
	if (err)
		return diag_set(d, err, "check the path and its permissions", "cannot write '%s'",
		                path);
	return 0;
}
