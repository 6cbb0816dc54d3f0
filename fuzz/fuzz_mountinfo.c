/* fuzz/fuzz_mountinfo — any text as /proc/self/mountinfo, given as a file in memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "sys/cgroup_mount.h"

static void find(const char *path)
{
	struct diag d = { 0 };
	char *mount = NULL;
	int err = cgroup_find_mount(path, &d, &mount);

	if (err)
		fuzz_check(!mount && d.code == err && d.what[0]);
	else
		fuzz_check(mount && mount[0]);
	free(mount);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("mountinfo", MFD_CLOEXEC);
	char path[64];

	fuzz_check(fd >= 0);
	fuzz_check(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	find(path);
	close(fd);
	return 0;
}
