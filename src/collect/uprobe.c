#include "collect/uprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/event.h"
#include "base/cleanup.h"
#include "collect/loaded.h"
#include "collect/probe_spec.h"
#include "sys/rights/broker.h"

#if defined(__x86_64__)
#define MULTIARCH "/usr/lib/x86_64-linux-gnu"
#else
#define MULTIARCH "/usr/lib/aarch64-linux-gnu"
#endif

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* In each of the folders, which stand between colons. */
static int open_below(const char *folders, const char *name)
{
	char path[PATH_MAX];

	while (folders && *folders) {
		int len = (int)strcspn(folders, ":"), fd = -ENOENT;

		if (len &&
		    snprintf(path, sizeof(path), "%.*s/%s", len, folders, name) < (int)sizeof(path))
			fd = open_file(path);
		if (fd >= 0)
			return fd;
		folders += len + (folders[len] == ':');
	}
	return -ENOENT;
}

/* Without a folder, where libraries or programs are. */
static int open_named(const char *name)
{
	bool is_library = strstr(name, ".so");
	int fd;

	if (strchr(name, '/'))
		return open_file(name);
	fd = open_below(getenv(is_library ? "LD_LIBRARY_PATH" : "PATH"), name);
	if (fd < 0)
		fd = open_below(is_library ? "/usr/lib64:/usr/lib:" MULTIARCH
		                           : "/usr/bin:/usr/sbin",
		                name);
	return fd;
}

static int refused(const struct probe_spec *spec, int err, struct diag *d)
{
	if (err == -ENOENT && strchr(spec->path, '/'))
		return diag_set(d, err, "see 'nm' and 'nm -D' for what there is",
		                "'%.80s' has no function '%.60s'", spec->path, spec->symbol);
	if (err == -ENOENT)
		return diag_set(d, err, "give its path, and see 'nm -D' for what is in it",
		                "found no '%.60s' with a function '%.60s'", spec->path,
		                spec->symbol);
	if (err == -EINVAL && spec->offset && broker_can_trace())
		return diag_set(d, err, "leave the offset out, or use 'schedscope profile'",
		                "a server does not probe inside of functions, only at '%.60s'",
		                spec->symbol);
	return diag_set(d, err, "run again with --debug for the whole log",
	                "the kernel refused a uprobe on '%.60s' in '%.60s'", spec->symbol,
	                spec->path);
}

int uprobe_attach(int prog_fd, const struct probe_spec *spec, uint64_t cookie, struct diag *d,
                  struct bpf_tie *out)
{
	SCOPED(scoped_close) int file = open_named(spec->path);
	int event, err;

	if (file < 0 && strchr(spec->path, '/'))
		return diag_set(d, file, "check the path", "cannot probe '%.100s'", spec->path);
	if (file < 0)
		return refused(spec, file, d);
	event = broker_uprobe(file, spec->symbol, spec->offset, spec->type == EV_PROBE_URETPROBE);
	if (event < 0)
		return refused(spec, event, d);
	err = bpf_tie_event(prog_fd, event, cookie, out);
	if (!err)
		return 0;
	close(event);
	return refused(spec, err, d);
}
