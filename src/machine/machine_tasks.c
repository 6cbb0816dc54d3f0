/* The table of threads and processes: making, adding, dropping, finding. */
#include "machine/machine_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"
#include "machine/machine_tasks_priv.h"

#define FDS_MAX       8192U
#define CGROUPS_MAX   16384U
#define CGROUPS_BYTES (4U << 20)

uint64_t machine_tasks_now(const struct machine_tasks *t)
{
	return t->cfg.clock ? t->cfg.clock() : clock_boot_ns();
}

/* Half of what we may open is for others. */
static size_t fds_allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < FDS_MAX ? (size_t)limit.rlim_cur / 2 : FDS_MAX;
}

static int init(struct machine_tasks *t, struct diag *d)
{
	char path[256];
	long hz = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
	int err;

	(void)snprintf(path, sizeof(path), "%s/proc", t->cfg.root);
	t->page_bytes = page > 0 ? (uint64_t)page : 4096;
	t->hz = hz > 0 ? (uint64_t)hz : 100;
	t->fds_max = fds_allowed();
	t->proc_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->proc_fd < 0)
		return diag_set(d, -errno, "mount proc there", "cannot read '%s'", path);
	err = map_new(sizeof(uint32_t), MACHINE_THREADS_MAX, &t->thread_of);
	if (!err)
		err = map_new(sizeof(uint32_t), MACHINE_THREADS_MAX, &t->process_of);
	if (!err)
		err = proc_reader_open(path, PROC_READER_CMDLINE, &t->cmdlines);
	if (!err)
		err = proc_reader_open(path, PROC_READER_CGROUP, &t->cgroups);
	t->names = intern_new(CGROUPS_MAX, CGROUPS_BYTES);
	t->histories = calloc(MACHINE_TASKS_HISTORIES, sizeof(*t->histories));
	if (!err && (!t->names || !t->histories))
		err = -ENOMEM;
	return err ? diag_set(d, err, NULL, "cannot allocate the table of tasks") : 0;
}

DEFINE_SCOPED(machine_tasks, machine_tasks_free)

int machine_tasks_new(const struct machine_tasks_cfg *cfg, struct diag *d,
                      struct machine_tasks **out)
{
	SCOPED(scoped_machine_tasks) struct machine_tasks *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	t->cfg = *cfg;
	t->proc_fd = -1;
	t->must_list = true;
	err = init(t, d);
	if (err)
		return err;
	*out = TAKE_PTR(t);
	return 0;
}

static void free_thread(struct machine_tasks *t, struct thread *th)
{
	machine_tasks_close_files(t, th);
	t->nr_new -= th->read_ns == 0;
	machine_tasks_cool_thread(t, th);
	machine_tasks_drop_history(t, &th->history);
	free(th);
}

static void free_process(struct machine_tasks *t, struct task_process *p)
{
	machine_tasks_cool_process(t, p);
	machine_tasks_drop_history(t, &p->history);
	free(p->cmdline);
	free(p);
}

void machine_tasks_free(struct machine_tasks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_threads; i++)
		free_thread(t, t->threads[i]);
	for (size_t i = 0; i < t->nr_processes; i++)
		free_process(t, t->processes[i]);
	proc_reader_close(t->cmdlines);
	proc_reader_close(t->cgroups);
	intern_free(t->names);
	map_free(t->thread_of);
	map_free(t->process_of);
	free(t->threads);
	free(t->thread_rows);
	free(t->processes);
	free(t->process_rows);
	free(t->histories);
	free(t->hot_threads.items);
	free(t->hot_processes.items);
	free(t->active_threads.items);
	free(t->active_processes.items);
	free(t->changed_threads.items);
	free(t->changed_processes.items);
	task_order_done(&t->thread_ids);
	task_order_done(&t->process_ids);
	if (t->proc_fd >= 0)
		close(t->proc_fd);
	free(t);
}

long machine_tasks_file(const struct machine_tasks *t, uint32_t tgid, uint32_t tid,
                        const char *file, char *buf, size_t size)
{
	SCOPED(scoped_close) int fd = -1;
	char path[64];
	ssize_t n;

	if (tid)
		(void)snprintf(path, sizeof(path), "%u/task/%u/%s", tgid, tid, file);
	else
		(void)snprintf(path, sizeof(path), "%u/%s", tgid, file);
	fd = openat(t->proc_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	n = fd >= 0 ? read(fd, buf, size - 1) : -1;
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n;
}

void machine_task_quiet(struct machine_task *row, bool is_known)
{
	double rate = is_known ? 0 : NAN;

	if (is_known)
		row->run = row->wait = 0;
	row->stall_ns = 0;
	for (int i = 0; i < INTERVAL_DISTS; i++)
		row->dists[i] = (struct machine_dist){ 0 };
	for (int i = 0; i < INTERVAL_COUNTS; i++)
		row->rates[i] = rate;
}

static void blank(const struct machine_tasks *t, struct machine_task *row)
{
	*row = (struct machine_task){
		.state = '?',
		.last_cpu = -1,
		.prio = MACHINE_NO_PRIO,
		.run = NAN,
		.wait = NAN,
		.layer = -1,
		.memory_bytes = NAN,
		.comm = "",
	};
	machine_task_quiet(row, t->is_quiet_known);
}

void machine_tasks_quiet(struct machine_tasks *t, bool is_known)
{
	t->is_quiet_known = is_known;
	for (size_t i = 0; i < t->nr_threads; i++) {
		machine_task_quiet(&t->thread_rows[i], is_known);
		t->threads[i]->has_switches = false;
		if (!is_known) /* each has to be read again before it is like the others */
			machine_tasks_heat_thread(t, t->threads[i]);
	}
	for (size_t i = 0; i < t->nr_processes; i++)
		machine_task_quiet(&t->process_rows[i], is_known);
}

void machine_tasks_own_run(struct machine_tasks *t, uint32_t tid)
{
	uint32_t idx;

	if (map_find(t->thread_of, &tid, &idx))
		t->thread_rows[idx].run = t->threads[idx]->run;
}

/* Room for one more in both arrays. */
static int reserve_process(struct machine_tasks *t)
{
	size_t cap = t->processes_cap;

	if (GROW(t->process_rows, cap, t->nr_processes) ||
	    GROW(t->processes, t->processes_cap, t->nr_processes))
		return -ENOMEM;
	return task_order_reserve(&t->process_ids, t->processes_cap);
}

static int reserve_thread(struct machine_tasks *t)
{
	size_t cap = t->threads_cap;

	if (GROW(t->thread_rows, cap, t->nr_threads) ||
	    GROW(t->threads, t->threads_cap, t->nr_threads))
		return -ENOMEM;
	return task_order_reserve(&t->thread_ids, t->threads_cap);
}

int machine_tasks_add_process(struct machine_tasks *t, uint32_t tgid, struct task_process **out)
{
	struct task_process *p;
	struct machine_task *row;
	int err = reserve_process(t);

	p = err ? NULL : calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	err = map_insert(t->process_of, &tgid, (uint32_t)t->nr_processes);
	if (!err)
		err = task_order_add(&t->process_ids, (uint32_t)t->nr_processes);
	if (err) {
		map_remove(t->process_of, &tgid);
		free(p);
		return err;
	}
	p->tgid = tgid;
	p->hot_at = p->history.at = MACHINE_TASKS_NOWHERE;
	p->idx = (uint32_t)t->nr_processes;
	row = &t->process_rows[t->nr_processes];
	t->processes[t->nr_processes++] = p;
	blank(t, row);
	row->tid = row->tgid = tgid;
	row->comm = p->comm;
	machine_tasks_heat_process(t, p);
	*out = p;
	return 0;
}

static void join(struct task_process *p, struct thread *th)
{
	th->next = p->threads;
	if (th->next)
		th->next->previous = th;
	p->threads = th;
	p->nr_threads++;
	if (th->tid == p->tgid)
		p->leader = th;
}

static void part(struct task_process *p, const struct thread *th)
{
	if (th->next)
		th->next->previous = th->previous;
	if (th->previous)
		th->previous->next = th->next;
	else
		p->threads = th->next;
	p->nr_threads--;
	if (p->leader == th)
		p->leader = NULL;
}

void machine_tasks_set_state(struct machine_tasks *t, struct thread *th, char state)
{
	struct machine_task *row = &t->thread_rows[th->idx];
	struct task_process *p = th->process;

	p->nr_running += state == 'R';
	p->nr_running -= row->state == 'R';
	p->nr_blocked += state == 'D';
	p->nr_blocked -= row->state == 'D';
	row->state = state;
}

int machine_tasks_add_thread(struct machine_tasks *t, struct task_process *p, uint32_t tid)
{
	struct thread *th;
	struct machine_task *row;
	int err = reserve_thread(t);

	th = err ? NULL : calloc(1, sizeof(*th));
	if (!th)
		return -ENOMEM;
	err = map_insert(t->thread_of, &tid, (uint32_t)t->nr_threads);
	if (!err)
		err = task_order_add(&t->thread_ids, (uint32_t)t->nr_threads);
	if (err) {
		map_remove(t->thread_of, &tid);
		free(th);
		return err;
	}
	th->tid = tid;
	th->hot_at = th->history.at = MACHINE_TASKS_NOWHERE;
	th->idx = (uint32_t)t->nr_threads;
	th->process = p;
	for (int i = 0; i < THREAD_FILES; i++)
		th->fds[i] = -1;
	th->listed_nr = t->list_nr;
	row = &t->thread_rows[t->nr_threads];
	t->threads[t->nr_threads++] = th;
	t->nr_new++;
	blank(t, row);
	row->tid = tid;
	row->tgid = p->tgid;
	row->nr_threads = 1;
	row->comm = th->comm;
	row->cmdline = t->process_rows[p->idx].cmdline;
	row->cgroup = t->process_rows[p->idx].cgroup;
	join(p, th);
	machine_tasks_heat_thread(t, th);
	machine_tasks_heat_process(t, p);
	return 0;
}

/* The last one takes its place. */
void machine_tasks_drop_thread(struct machine_tasks *t, struct thread *th)
{
	size_t last = --t->nr_threads;

	machine_tasks_set_state(t, th, '?');
	part(th->process, th);
	machine_tasks_heat_process(t, th->process);
	map_remove(t->thread_of, &th->tid);
	task_order_drop(&t->thread_ids, th->idx, (uint32_t)last);
	if (th->idx != last) {
		t->threads[th->idx] = t->threads[last];
		t->thread_rows[th->idx] = t->thread_rows[last];
		t->threads[th->idx]->idx = th->idx;
		(void)!map_insert(t->thread_of, &t->threads[th->idx]->tid, th->idx);
		machine_tasks_heat_thread(t, t->threads[th->idx]);
	}
	free_thread(t, th);
}

void machine_tasks_drop_process(struct machine_tasks *t, struct task_process *p)
{
	size_t last = --t->nr_processes;

	map_remove(t->process_of, &p->tgid);
	task_order_drop(&t->process_ids, p->idx, (uint32_t)last);
	if (p->idx != last) {
		t->processes[p->idx] = t->processes[last];
		t->process_rows[p->idx] = t->process_rows[last];
		t->processes[p->idx]->idx = p->idx;
		(void)!map_insert(t->process_of, &t->processes[p->idx]->tgid, p->idx);
		machine_tasks_heat_process(t, t->processes[p->idx]);
	}
	free_process(t, p);
}

struct machine_task *machine_tasks_thread(struct machine_tasks *t, uint32_t tid)
{
	uint32_t idx;

	return map_find(t->thread_of, &tid, &idx) ? &t->thread_rows[idx] : NULL;
}

struct machine_task *machine_tasks_process(struct machine_tasks *t, uint32_t tgid)
{
	uint32_t idx;

	return map_find(t->process_of, &tgid, &idx) ? &t->process_rows[idx] : NULL;
}

struct machine_task *machine_tasks_update_thread(struct machine_tasks *t, uint32_t tid)
{
	uint32_t idx;

	if (!map_find(t->thread_of, &tid, &idx))
		return NULL;
	machine_tasks_heat_thread(t, t->threads[idx]);
	return &t->thread_rows[idx];
}

struct machine_task *machine_tasks_update_process(struct machine_tasks *t, uint32_t tgid)
{
	uint32_t idx;

	if (!map_find(t->process_of, &tgid, &idx))
		return NULL;
	machine_tasks_heat_process(t, t->processes[idx]);
	return &t->process_rows[idx];
}

const struct machine_task *machine_tasks_threads(const struct machine_tasks *t, size_t *nr)
{
	*nr = t->nr_threads;
	return t->thread_rows;
}

const struct machine_task *machine_tasks_processes(const struct machine_tasks *t, size_t *nr)
{
	*nr = t->nr_processes;
	return t->process_rows;
}

const struct proc_load *machine_tasks_load(const struct machine_tasks *t)
{
	return t->has_load ? &t->load : NULL;
}

uint32_t machine_tasks_nr_hung(const struct machine_tasks *t)
{
	return proc_reader_nr_hung(t->cmdlines) + proc_reader_nr_hung(t->cgroups);
}
