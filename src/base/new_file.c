#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define NAMES_TRIED 16

struct new_file {
	int fd; /* to write to */
	int dir_fd;
	char name[NAME_MAX + 1];
	char temporary[NEW_FILE_TEMPORARY]; /* "" once it has its name */
};

/* Closes; removes what has no name yet. */
static void scoped_new_file(struct new_file *f)
{
	if (f->temporary[0])
		(void)unlinkat(f->dir_fd, f->temporary, 0);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir_fd >= 0)
		close(f->dir_fd);
}

/* Whether a directory that was opened is the one of the path: a part of it may have become a link. */
static bool is_still(int dir_fd, const char *path, size_t len)
{
	char link[64], now[PATH_MAX];
	ssize_t got;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
	got = readlink(link, now, sizeof(now));
	return got == (ssize_t)len && memcmp(now, path, len) == 0;
}

/* The directory of a path, and the name in it. */
static int open_dir(struct new_file *f, const char *path, bool is_real)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = slash ? (size_t)(slash - path) : 0;
	char dir[PATH_MAX];

	if (slash == path)
		len = 1;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EISDIR;
	if (len >= sizeof(dir) || strlen(name) >= sizeof(f->name))
		return -ENAMETOOLONG;
	(void)snprintf(dir, sizeof(dir), "%.*s", len ? (int)len : 1, len ? path : ".");
	(void)snprintf(f->name, sizeof(f->name), "%s", name);
	f->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dir_fd < 0)
		return -errno;
	return is_real && !is_still(f->dir_fd, path, len) ? -ELOOP : 0;
}

int new_file_temporary(int dir_fd, mode_t mode, char name[NEW_FILE_TEMPORARY])
{
	uint64_t nr;
	int fd;

	for (int i = 0; i < NAMES_TRIED; i++) {
		if (getrandom(&nr, sizeof(nr), 0) != (ssize_t)sizeof(nr))
			break;
		(void)snprintf(name, NEW_FILE_TEMPORARY, ".schedscope-%016llx",
		               (unsigned long long)nr);
		fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		            mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			break;
	}
	name[0] = '\0';
	return -errno;
}

static int take_name(struct new_file *f)
{
	if (renameat(f->dir_fd, f->temporary, f->dir_fd, f->name) < 0)
		return -errno;
	f->temporary[0] = '\0';
	return 0;
}

/* A device or a pipe. One created by another user could pass everything to that user. */
static int open_special(const struct new_file *f)
{
	SCOPED(scoped_close)
	int fd = openat(f->dir_fd, f->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return -EEXIST; /* it was none a moment ago */
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return -EPERM;
	return TAKE_FD(fd);
}

/* -1 unless the path names a descriptor of ours. */
static int named_fd(const char *path)
{
	static const char fds[] = "/dev/fd/";
	uint64_t nr;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strncmp(path, fds, sizeof(fds) - 1) == 0 && text_to_u64(path + sizeof(fds) - 1, &nr) &&
	    nr <= INT_MAX)
		return (int)nr;
	return -1;
}

static int open_new(const char *path, bool is_real)
{
	SCOPED(scoped_new_file) struct new_file f = { .fd = -1, .dir_fd = -1 };
	struct stat st;
	int err = open_dir(&f, path, is_real);

	if (err)
		return err;
	if (fstatat(f.dir_fd, f.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		return is_real ? -EEXIST : open_special(&f);
	f.fd = new_file_temporary(f.dir_fd, 0600, f.temporary);
	err = f.fd < 0 ? f.fd : 0;
	if (!err)
		err = take_name(&f);
	return err ? err : TAKE_FD(f.fd);
}

int new_file_open(const char *path, bool is_real, struct diag *d)
{
	int named = is_real ? -1 : named_fd(path);
	int fd = named < 0 ? open_new(path, is_real) : fcntl(named, F_DUPFD_CLOEXEC, 0);

	if (fd == -1 && named >= 0)
		fd = -errno;
	if (fd == -ELOOP)
		return diag_set(d, fd, "name the file itself",
		                "'%s' is a link: nothing is written through it", path);
	if (fd == -EISDIR)
		return diag_set(d, fd, "name a file in it", "cannot create '%s': it is a directory",
		                path);
	if (fd < 0)
		return diag_set(d, fd, "check the path and its permissions", "cannot create '%s'",
		                path);
	return fd;
}
