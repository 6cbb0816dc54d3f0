/* fuzz/fuzz_mountinfo — any text as /proc/self/mountinfo, where the controller cpu is in version 2, and in version 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "sys/cgroup_mount.h"

static char folder[] = "/tmp/fuzz-mountinfo-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const void *data, size_t size)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fuzz_check(fd >= 0);
	fuzz_check(write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void clean(void)
{
	unlink(path_of("cgroup"));
	unlink(path_of("mountinfo"));
	rmdir(folder);
}

static void find(const char *cgroup, bool is_v1)
{
	struct cgroup_hierarchy h = { 0 };

	put("cgroup", cgroup, strlen(cgroup));
	fuzz_check(cgroup_find_cpu(folder, &h) == 0);
	fuzz_check(h.is_v1 == is_v1 && (!h.mount || h.mount[0]));
	cgroup_hierarchy_done(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool has_folder;

	if (!has_folder) {
		fuzz_check(mkdtemp(folder));
		atexit(clean);
		has_folder = true;
	}
	put("mountinfo", data, size);
	find("0::/\n", false);
	find("4:cpu,cpuacct:/a\n0::/\n", true);
	return 0;
}
