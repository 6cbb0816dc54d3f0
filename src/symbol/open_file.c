#include "symbol/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"

/* The file of an O_PATH descriptor, for reading: the same file, whatever its path leads to by now. */
static int read_again(int fd, struct stat *st)
{
	char again[64];
	struct stat own;
	int readable;

	if (fstat(fd, &own))
		return -errno;
	if (!S_ISREG(own.st_mode))
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
static int or_fetch(int fd, const char *path, struct stat *st)
{
	if (fd != -EACCES && fd != -EPERM && fd != -ENOENT)
		return fd;
	fd = broker_fetch(path);
	if (fd >= 0 && st && fstat(fd, st)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static int open_own(const char *path, int flags, struct stat *st)
{
	SCOPED(scoped_close) int fd = open(path, O_PATH | O_CLOEXEC | flags);

	return fd < 0 ? -errno : read_again(fd, st);
}

int open_file(const char *path, struct stat *st)
{
	return or_fetch(open_own(path, 0, st), path, st);
}

int open_file_no_link(const char *path, struct stat *st)
{
	return open_own(path, O_NOFOLLOW, st);
}

static int open_below(const char *root_path, const char *path, bool no_link, struct stat *st)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (no_link ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	SCOPED(scoped_close) int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	SCOPED(scoped_close) int fd = -1;

	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : read_again(fd, st);
}

int open_file_in_root(const char *proc, unsigned int tgid, const char *path, bool no_link,
                      struct stat *st)
{
	char root[PATH_MAX], whole[2 * PATH_MAX];

	snprintf(root, sizeof(root), "%s/%u/root", proc, tgid);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return or_fetch(open_below(root, path, no_link, st), whole, st);
}
