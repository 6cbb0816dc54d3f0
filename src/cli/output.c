#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"

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

struct output {
	char *path;   /* as the user wrote it */
	FILE *direct; /* if it is not a regular file; NULL = it is replaced */
	int dir_fd;   /* -1 = none */
	mode_t mode;  /* what the file had before, or what a new one gets */
	struct broker_slot slot;
};

DEFINE_SCOPED(output, output_close)

void output_close(struct output *o)
{
	if (!o)
		return;
	if (o->direct)
		fclose(o->direct);
	if (o->dir_fd >= 0)
		close(o->dir_fd);
	free(o->path);
	free(o);
}

/* The directory of the file, where another is to take its name. */
static int open_place(struct output *o, char *target)
{
	char *slash = strrchr(target, '/');
	const char *name = slash ? slash + 1 : target;

	if (slash)
		*slash = '\0';
	o->dir_fd = open(!slash ? "." : *target ? target : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->dir_fd < 0 || faccessat(o->dir_fd, ".", W_OK | X_OK, AT_EACCESS))
		return -errno;
	return *name ? broker_slot_init(&o->slot, o->dir_fd, name) : -EISDIR;
}

static int open_target(struct output *o)
{
	SCOPED(scoped_free) char *real = realpath(o->path, NULL);
	SCOPED(scoped_free) char *target = strdup(real ? real : o->path);
	struct stat st;

	if (!target)
		return -ENOMEM;
	o->mode = default_mode();
	if (stat(target, &st) < 0)
		return open_place(o, target);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode)) {
		o->mode = st.st_mode & 0777;
		return access(target, W_OK) ? -errno : open_place(o, target);
	}
	o->direct = fopen(target, "we");
	return o->direct ? 0 : -errno;
}

static int failed(const struct output *o, int err, struct diag *d)
{
	if (err == -EISDIR)
		return diag_set(d, err, "name a file in it", "'%.120s' is a directory", o->path);
	return diag_set(d, err, "check the path and its permissions", "cannot write '%.120s'",
	                o->path);
}

/* Takes the path. */
static int open_as(char *path, int (*open_it)(struct output *o), struct diag *d,
                   struct output **out)
{
	SCOPED(scoped_output) struct output *o = calloc(1, sizeof(*o));
	int err;

	if (!o || !path) {
		free(path);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	o->dir_fd = -1;
	o->path = path;
	err = open_it(o);
	if (err)
		return failed(o, err, d);
	*out = TAKE_PTR(o);
	return 0;
}

int output_open(const char *path, struct diag *d, struct output **out)
{
	return open_as(strdup(path), open_target, d, out);
}

/* What has the name now does not matter, unless it is a directory, which no file replaces. */
static int open_name(struct output *o)
{
	SCOPED(scoped_free) char *path = strdup(o->path);
	struct stat st;

	o->mode = default_mode();
	if (!path)
		return -ENOMEM;
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	return open_place(o, path);
}

int output_open_in(const char *dir, const char *name, struct diag *d, struct output **out)
{
	char *path = NULL;

	return open_as(asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path, open_name, d, out);
}

/* A name beside the target that no other file has: a descriptor or -errno. */
static int make_temporary(struct output *o)
{
	char name[NAME_MAX + 1];
	unsigned int nr;
	int fd = -EEXIST;

	for (int i = 0; i < 100 && fd == -EEXIST; i++) {
		if (getrandom(&nr, sizeof(nr), 0) != (ssize_t)sizeof(nr))
			return -errno;
		if (snprintf(name, sizeof(name), "%s.%06x", o->slot.name, nr & 0xffffff) >=
		    (int)sizeof(name))
			return -ENAMETOOLONG;
		fd = broker_create(&o->slot, name, o->mode);
	}
	return fd;
}

static int replace(struct output *o, output_fn *fn, const void *ctx)
{
	int fd = make_temporary(o), err;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd < 0)
		return fd;
	if (out) {
		err = fill(out, fn, ctx);
	} else {
		err = -errno;
		close(fd);
	}
	if (!err)
		err = broker_rename(&o->slot);
	if (err)
		(void)!broker_remove(&o->slot);
	return err;
}

int output_fill(struct output *o, output_fn *fn, const void *ctx, struct diag *d)
{
	int err = o->direct ? fill(TAKE_PTR(o->direct), fn, ctx) : replace(o, fn, ctx);

	return err ? failed(o, err, d) : 0;
}

int output_write(const char *path, output_fn *fn, const void *ctx, struct diag *d)
{
	SCOPED(scoped_output) struct output *o = NULL;
	int err = output_open(path, d, &o);

	return o ? output_fill(o, fn, ctx, d) : err;
}
