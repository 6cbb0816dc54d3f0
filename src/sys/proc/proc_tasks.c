#include "sys/proc/proc_tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define PF_KTHREAD       0x00200000U /* include/linux/sched.h, unchanged since 2.6.27 */
#define STAT_BYTES_MAX   4096
#define STATUS_BYTES_MAX 65536

static void scoped_closedir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

bool proc_task_parse(const char *text, struct proc_task *out)
{
	const char *open = strchr(text, '('),
		   *close = strrchr(text, ')'); /* a name may hold both */
	uint64_t ticks = 0;
	unsigned int flags = 0, tid = 0, ppid = 0;
	char state = '\0';
	long hz = sysconf(_SC_CLK_TCK);
	size_t len;

	if (!open || !close || close < open || sscanf(text, "%u", &tid) != 1)
		return false;
	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime
	 * cstime priority nice num_threads itrealvalue starttime */
	if (sscanf(close + 1,
	           " %c %u %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
	           &state, &ppid, &flags, &ticks) != 4)
		return false;
	memset(out, 0, sizeof(*out));
	len = (size_t)(close - open - 1);
	memcpy(out->comm, open + 1, len < sizeof(out->comm) ? len : sizeof(out->comm) - 1);
	out->tid = tid;
	out->ppid = ppid;
	out->is_kthread = flags & PF_KTHREAD;
	out->is_runnable = state == 'R';
	out->start_ns = hz > 0 ? ticks * (1000000000ULL / (uint64_t)hz) : 0;
	return true;
}

/* Whether there was such a task; one that has exited is not an error. */
static bool read_task(int task_dir, const char *tid, struct proc_task *out)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%.20s/stat", tid);
	return text_read_file_at(task_dir, path, STAT_BYTES_MAX, &text) == 0 &&
	       proc_task_parse(text, out);
}

static void read_cmdline(int proc_dir, const char *pid, struct proc_task *out)
{
	SCOPED(scoped_close) int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%.20s/cmdline", pid);
	fd = openat(proc_dir, path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, out->cmdline, sizeof(out->cmdline)) : 0;
	out->cmdline_len = n > 0 ? (size_t)n : 0;
}

static bool is_number(const char *name)
{
	return name[0] && name[strspn(name, "0123456789")] == '\0';
}

static int each_thread(int proc_dir, const char *pid, proc_task_fn *fn, void *ctx)
{
	SCOPED(scoped_closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%.20s/task", pid);
	fd = openat(proc_dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!err && (entry = readdir(dir))) {
		struct proc_task task;

		if (!is_number(entry->d_name) || !read_task(dirfd(dir), entry->d_name, &task))
			continue;
		task.tgid = (uint32_t)strtoul(pid, NULL, 10);
		if (task.tid == task.tgid)
			read_cmdline(proc_dir, pid, &task);
		err = fn(ctx, &task);
	}
	return err;
}

int proc_tasks_each(const char *root, proc_task_fn *fn, void *ctx, struct diag *d)
{
	SCOPED(scoped_closedir) DIR *dir = opendir(root);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return diag_set(d, -errno, "mount proc there", "cannot read '%s'", root);
	while (!err && (entry = readdir(dir)))
		if (is_number(entry->d_name))
			err = each_thread(dirfd(dir), entry->d_name, fn, ctx);
	return err;
}

uint32_t proc_tgid_of(uint32_t tid)
{
	SCOPED(scoped_free) char *text = NULL;
	unsigned int tgid = 0;
	const char *line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	if (text_read_file(path, STATUS_BYTES_MAX, &text))
		return 0;
	line = strstr(text, "\nTgid:");
	return line && sscanf(line, "\nTgid: %u", &tgid) == 1 ? tgid : 0;
}

bool proc_hides_processes(const char *mounts)
{
	FILE *table = setmntent(mounts, "re");
	const struct mntent *mount;
	bool is_hidden = false;

	while (table && (mount = getmntent(table)))
		if (strcmp(mount->mnt_dir, "/proc") == 0) /* the last one is on top */
			is_hidden = hasmntopt(mount, "hidepid") != NULL;
	if (table)
		endmntent(table);
	return is_hidden;
}
