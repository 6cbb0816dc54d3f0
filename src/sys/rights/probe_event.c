#include "sys/rights/probe_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/rights/elf_function.h"

#define DEVICES "/sys/bus/event_source/devices"

/* The number in a file of sysfs that begins with prefix. */
static int read_number(const char *pmu, const char *file, const char *prefix, uint64_t *out)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[128];

	(void)snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
	if (text_read_file(path, 64, &text))
		return -ENOENT;
	text_chomp(text);
	if (strncmp(text, prefix, strlen(prefix)) != 0 || !text_to_u64(text + strlen(prefix), out))
		return -ENOENT;
	return 0;
}

static int open_event(const char *pmu, const char *name, uint64_t offset, bool is_return)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	uint64_t type, bit = 0;
	int err = read_number(pmu, "type", "", &type);
	long fd;

	if (!err && is_return)
		err = read_number(pmu, "format/retprobe", "config:", &bit);
	if (err || bit > 63)
		return -ENOENT;
	attr.type = (uint32_t)type;
	attr.config = is_return ? 1ULL << bit : 0;
	attr.config1 = (uint64_t)(uintptr_t)name;
	attr.config2 = offset;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static bool is_function_name(const char *s)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$");

	return len && !s[len];
}

int probe_event_kernel(const char *function, bool is_return)
{
	return is_function_name(function) ? open_event("kprobe", function, 0, is_return) : -EINVAL;
}

/* The path leads to the file that is open, whatever has its name by now. */
int probe_event_user(int file, const char *function, uint64_t offset, bool is_return)
{
	char path[32];
	uint64_t at;
	int err = elf_function_find(file, function, &at);

	if (err)
		return err;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return open_event("uprobe", path, at + offset, is_return);
}
