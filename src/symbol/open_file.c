#include "symbol/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"

static bool is_of_kernel(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC;
}

/* The file of an O_PATH descriptor, for reading: the same file, whatever its path leads to by now. */
static int read_again(int fd, struct stat *st)
{
	char again[64];
	struct stat own;
	int readable;

	if (fstat(fd, &own))
		return -errno;
	if (!S_ISREG(own.st_mode) || is_of_kernel(fd))
		return -EINVAL;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	readable = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (readable < 0)
		return -errno;
	if (st)
		*st = own;
	return readable;
}

/* What our own rights do not suffice for: other users' processes, which /proc may hide at all. */
static int or_fetch(int fd, const char *path, unsigned int how, struct stat *st)
{
	if (how & OPEN_OWN_RIGHTS || (fd != -EACCES && fd != -EPERM && fd != -ENOENT))
		return fd;
	fd = broker_fetch(path);
	if (fd >= 0 && st && fstat(fd, st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static int flags_of(unsigned int how)
{
	return O_PATH | O_CLOEXEC | (how & OPEN_NO_LINK ? O_NOFOLLOW : 0);
}

static int open_own(const char *path, unsigned int how, struct stat *st)
{
	SCOPED(scoped_close) int fd = open(path, flags_of(how));

	return fd < 0 ? -errno : read_again(fd, st);
}

int open_file(const char *path, unsigned int how, struct stat *st)
{
	return or_fetch(open_own(path, how, st), path, how, st);
}

static int open_below(const char *root_path, const char *path, unsigned int how, struct stat *st)
{
	struct open_how below = {
		.flags = (unsigned int)flags_of(how),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	SCOPED(scoped_close) int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	SCOPED(scoped_close) int fd = -1;

	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &below, sizeof(below));
	return fd < 0 ? -errno : read_again(fd, st);
}

int open_file_in_root(const char *proc, unsigned int tgid, const char *path, unsigned int how,
                      struct stat *st)
{
	char root[PATH_MAX], whole[2 * PATH_MAX];

	snprintf(root, sizeof(root), "%s/%u/root", proc, tgid);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return or_fetch(open_below(root, path, how, st), whole, how, st);
}
