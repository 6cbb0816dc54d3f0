/* The list of tasks: which threads and processes were created and exited. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "machine/machine_tasks_priv.h"

#define LOAD_BYTES 256
#define LIST_SHARE 100 /* listing takes a hundredth of the time at most */

static void scoped_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

static DIR *open_dir(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* 0 for a name that is not an id. */
static uint32_t id_of(const char *name)
{
	size_t len = strspn(name, "0123456789");

	return len && len < 10 && name[len] == '\0' ? (uint32_t)strtoul(name, NULL, 10) : 0;
}

/* Notes whether any task can have been created or exited since the last time. */
void machine_tasks_read_load(struct machine_tasks *t)
{
	SCOPED(scoped_close) int fd = openat(t->proc_fd, "loadavg", O_RDONLY | O_CLOEXEC);
	struct proc_load before = t->load;
	char text[LOAD_BYTES];
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	bool had_load = t->has_load;

	text[n > 0 ? n : 0] = '\0';
	t->has_load = proc_load_parse(text, &t->load);
	t->must_list |= !t->has_load || !had_load || before.last_pid != t->load.last_pid ||
	                before.nr_threads != t->load.nr_threads;
}

static int list_threads(struct machine_tasks *t, struct task_process *p)
{
	SCOPED(scoped_dir) DIR *dir = NULL;
	const struct dirent *entry;
	char path[32];
	int err = 0;

	(void)snprintf(path, sizeof(path), "%u/task", p->tgid);
	dir = open_dir(t->proc_fd, path);
	if (!dir)
		return 0;
	p->is_listed = true;
	while (!err && (entry = readdir(dir))) {
		uint32_t tid = id_of(entry->d_name), idx;

		if (!tid)
			continue;
		if (!map_find(t->thread_of, &tid, &idx)) {
			err = machine_tasks_add_thread(t, p, tid);
		} else if (t->threads[idx]->process == p) {
			t->threads[idx]->listed_nr = t->list_nr;
		} else { /* an id that another process had: that one is removed, this one is added next time */
			t->must_list = true;
			p->nr_links = 0;
		}
	}
	return err;
}

static int list_process(struct machine_tasks *t, uint32_t tgid)
{
	struct task_process *p;
	struct stat st;
	char path[32];
	uint32_t idx;
	int err = 0;

	(void)snprintf(path, sizeof(path), "%u/task", tgid);
	if (fstatat(t->proc_fd, path, &st, 0))
		return 0; /* it is gone */
	if (map_find(t->process_of, &tgid, &idx))
		p = t->processes[idx];
	else
		err = machine_tasks_add_process(t, tgid, &p);
	if (err)
		return err;
	p->is_seen = true;
	/* Two and one for each folder in it; some file systems, not proc, count nothing. */
	if (st.st_nlink > 2 && p->nr_links == st.st_nlink)
		return 0;
	p->nr_links = st.st_nlink;
	return list_threads(t, p);
}

static int list_all(struct machine_tasks *t)
{
	SCOPED(scoped_dir) DIR *dir = open_dir(t->proc_fd, ".");
	const struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		uint32_t tgid = id_of(entry->d_name);

		if (tgid)
			err = list_process(t, tgid);
	}
	return err;
}

static void drop_gone(struct machine_tasks *t)
{
	for (size_t i = t->nr_threads; i-- > 0;) {
		struct thread *th = t->threads[i];
		const struct task_process *p = th->process;

		if (!p->is_seen || (p->is_listed && th->listed_nr != t->list_nr))
			machine_tasks_drop_thread(t, th);
	}
	for (size_t i = t->nr_processes; i-- > 0;)
		if (!t->processes[i]->is_seen)
			machine_tasks_drop_process(t, t->processes[i]);
}

static int list_now(struct machine_tasks *t, struct diag *d)
{
	int err;

	t->must_list = false;
	t->list_nr++;
	for (size_t i = 0; i < t->nr_processes; i++)
		t->processes[i]->is_seen = t->processes[i]->is_listed = false;
	err = t->cfg.tgid ? list_process(t, t->cfg.tgid) : list_all(t);
	if (err == -E2BIG)
		err = 0; /* there are more than we keep account of */
	if (err)
		return diag_set(d, err, NULL, "cannot list the tasks in '%s/proc'", t->cfg.root);
	drop_gone(t);
	return 0;
}

int machine_tasks_list_rarely(struct machine_tasks *t, uint64_t pause_ns, struct diag *d)
{
	uint64_t begin = machine_tasks_now(t), end;
	int err;

	if (!t->must_list || begin < t->list_after_ns)
		return 0;
	err = list_now(t, d);
	end = machine_tasks_now(t);
	t->list_after_ns = end + (end - begin) * LIST_SHARE;
	if (pause_ns && t->list_after_ns < begin + pause_ns)
		t->list_after_ns = begin + pause_ns;
	return err;
}
