#include "symbol/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"

int open_file(const char *path, struct stat *st)
{
	SCOPED(scoped_close) int fd = open(path, O_PATH | O_CLOEXEC);
	char again[64];
	struct stat own;
	int readable;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &own))
		return -errno;
	if (!S_ISREG(own.st_mode))
		return -EINVAL;
	/* The same file, whatever its path leads to by now. */
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	readable = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (readable < 0)
		return -errno;
	if (st)
		*st = own;
	return readable;
}
