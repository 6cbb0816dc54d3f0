/* What they do: numbers of each thread, names of each process. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/map.h"
#include "machine/machine_tasks_priv.h"

#define STAT_BYTES      1024
#define STATUS_BYTES    16384 /* the end counts, and masks of many CPUs come before it */
#define SCHED_BYTES     96
#define CGROUP_AGAIN_NS 5000000000ULL
#define CLOCK_EVERY     16 /* threads between two reads of the clock */
#define FEW_THREADS     16 /* of a process: all of them may be read again at once */

/* From the kernel's headers: include/uapi/linux/sched.h. */
enum { POLICY_FIFO = 1, POLICY_RR = 2, POLICY_DEADLINE = 6, POLICY_EXT = 7 };

static const char *class_of(int32_t policy, enum machine_ext ext)
{
	switch (policy) {
	case POLICY_FIFO:
	case POLICY_RR:
		return "rt";
	case POLICY_DEADLINE:
		return "dl";
	case POLICY_EXT: /* fair has them while no scheduler is loaded */
		return ext != MACHINE_EXT_NONE ? "ext" : "fair";
	default:
		return ext == MACHINE_EXT_ALL ? "ext" : "fair";
	}
}

static void take_cgroup(struct machine_tasks *t, struct task_process *p, const char *text)
{
	const char *path = NULL;
	uint32_t id;

	if (text[0] && intern_add(t->names, text, strlen(text), &id) == 0)
		path = intern_string(t->names, id, NULL);
	if (path == t->process_rows[p->idx].cgroup)
		return;
	t->process_rows[p->idx].cgroup = path;
	for (struct thread *th = p->threads; th; th = th->next) {
		t->thread_rows[th->idx].cgroup = path;
		if (p->nr_threads <= FEW_THREADS)
			machine_tasks_heat_thread(t, th);
	}
	machine_tasks_heat_process(t, p);
	t->is_all_changed |= p->nr_threads > FEW_THREADS;
}

/* What a process is called, is in, and was started with; asks for what is not known yet. */
static void describe(struct machine_tasks *t, struct task_process *p)
{
	uint64_t now = machine_tasks_now(t);

	if ((!p->has_cgroup || now >= p->cgroup_ns + CGROUP_AGAIN_NS) &&
	    proc_reader_ask(t->cgroups, p->tgid, now)) {
		p->has_cgroup = true;
		p->cgroup_ns = now;
	}
	if (!p->is_asked)
		p->is_asked = proc_reader_ask(t->cmdlines, p->tgid, now);
}

static void take_cmdline(struct machine_tasks *t, struct task_process *p, const char *text)
{
	free(p->cmdline);
	p->cmdline = text[0] ? strdup(text) : NULL;
	t->process_rows[p->idx].cmdline = p->cmdline;
	for (const struct thread *th = p->threads; th; th = th->next)
		t->thread_rows[th->idx].cmdline = p->cmdline;
}

static void take_answers(struct machine_tasks *t)
{
	uint64_t now = machine_tasks_now(t);
	struct proc_answer answer;
	uint32_t idx;

	while (proc_reader_take(t->cmdlines, now, &answer))
		if (map_find(t->process_of, &answer.pid, &idx))
			take_cmdline(t, t->processes[idx], answer.text);
	while (proc_reader_take(t->cgroups, now, &answer))
		if (map_find(t->process_of, &answer.pid, &idx))
			take_cgroup(t, t->processes[idx], answer.text);
}

/* A leader lends its name; with another one it may have another command line, too. */
static void name_process(struct task_process *p, const struct proc_thread_stat *st)
{
	if (memcmp(p->comm, st->comm, sizeof(p->comm)) == 0)
		return;
	memcpy(p->comm, st->comm, sizeof(p->comm));
	p->is_asked = st->is_kthread;
}

static const char *const file_names[THREAD_FILES] = {
	[THREAD_SCHED] = "schedstat", [THREAD_STAT] = "stat"
};

/* Of all that may be kept open: the first is read of every thread, the second of those that run. */
static size_t fds_max(const struct machine_tasks *t, enum thread_file file)
{
	return file == THREAD_SCHED ? t->fds_max / 4 * 3 : t->fds_max / 4;
}

static int open_file(struct machine_tasks *t, struct thread *th, enum thread_file file)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%u/task/%u/%s", th->process->tgid, th->tid,
	               file_names[file]);
	fd = openat(t->proc_fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && t->nr_fds[file] < fds_max(t, file)) {
		th->fds[file] = fd;
		t->nr_fds[file]++;
	}
	return fd;
}

static void close_file(struct machine_tasks *t, struct thread *th, enum thread_file file)
{
	if (th->fds[file] < 0)
		return;
	close(th->fds[file]);
	th->fds[file] = -1;
	t->nr_fds[file]--;
}

void machine_tasks_close_files(struct machine_tasks *t, struct thread *th)
{
	close_file(t, th, THREAD_SCHED);
	close_file(t, th, THREAD_STAT);
}

static ssize_t read_once(struct machine_tasks *t, struct thread *th, enum thread_file file,
                         char *text, size_t size)
{
	int fd = th->fds[file] >= 0 ? th->fds[file] : open_file(t, th, file);
	ssize_t n = fd >= 0 ? pread(fd, text, size, 0) : -1;

	if (fd >= 0 && fd != th->fds[file])
		close(fd);
	return n;
}

/* Through the descriptor that is kept, if there is one: it is that of one thread, and says nothing once that has ended. */
static bool read_file(struct machine_tasks *t, struct thread *th, enum thread_file file, char *text,
                      size_t size)
{
	bool is_kept = th->fds[file] >= 0;
	ssize_t n = read_once(t, th, file, text, size - 1);

	/* The thread has ended; another one may have its id by now. */
	if (is_kept && n <= 0) {
		close_file(t, th, file);
		n = read_once(t, th, file, text, size - 1);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* False for an exited thread. */
static bool read_stat(struct machine_tasks *t, struct thread *th, struct proc_thread_stat *out)
{
	char text[STAT_BYTES];

	return read_file(t, th, THREAD_STAT, text, sizeof(text)) &&
	       proc_thread_stat_parse(text, out);
}

/* False for an exited thread, or a kernel without it: its stat shows which. */
static bool read_sched(struct machine_tasks *t, struct thread *th, struct proc_thread_sched *out)
{
	char text[SCHED_BYTES];

	/* All zero: a kernel without the option, or a thread that has not run yet. */
	return read_file(t, th, THREAD_SCHED, text, sizeof(text)) &&
	       proc_thread_sched_parse(text, out) && out->slices;
}

static double rate_of(uint64_t before, uint64_t now, double per)
{
	return per > 0 ? (double)(now > before ? now - before : 0) / per : NAN;
}

/* What is known of a thread before its first reading: if it was born since the last round, that it began at 0. */
static void begin_thread(const struct machine_tasks *t, struct thread *th,
                         const struct proc_thread_stat *st, const struct proc_thread_sched *sched,
                         bool has_sched)
{
	uint64_t tick_ns = 1000000000ULL / t->hz;
	bool is_born = t->listed_ns && (st->start_ticks + 1) * tick_ns >= t->listed_ns;

	th->start_ticks = st->start_ticks;
	th->has_sched = has_sched;
	th->has_switches = false;
	th->switches = (struct proc_thread_switches){ 0 };
	th->sched = (struct proc_thread_sched){ 0 };
	th->run_ticks = 0;
	th->read_ns = t->listed_ns;
	if (is_born) {
		th->has_switches = true;
		return;
	}
	if (has_sched)
		th->sched = *sched;
	th->run_ticks = st->run_ticks;
	th->read_ns = 0;
}

static void take_stat(struct machine_tasks *t, struct thread *th, const struct proc_thread_stat *st,
                      enum machine_ext ext)
{
	struct machine_task *row = &t->thread_rows[th->idx];

	memcpy(th->comm, st->comm, sizeof(th->comm));
	machine_tasks_set_state(t, th, st->state);
	row->last_cpu = st->cpu;
	row->prio = st->prio;
	row->class_name = class_of(st->policy, ext);
	t->process_rows[th->process->idx].parent = st->parent;
	t->process_rows[th->process->idx].memory_bytes =
		st->memory_pages ? (double)st->memory_pages * (double)t->page_bytes : NAN;
	if (th->tid == th->process->tgid)
		name_process(th->process, st);
	describe(t, th->process);
}

static void take_switches(struct machine_tasks *t, struct thread *th, double seconds, bool has_run)
{
	struct machine_task *row = &t->thread_rows[th->idx];
	struct proc_thread_switches now;
	char text[STATUS_BYTES];

	if (!has_run && th->has_switches) {
		row->voluntary_per_s = row->involuntary_per_s = 0;
		return;
	}
	if (machine_tasks_file(t, th->process->tgid, th->tid, "status", text, sizeof(text)) < 0 ||
	    !proc_thread_switches_parse(text, &now))
		return;
	if (th->has_switches) {
		row->voluntary_per_s = rate_of(th->switches.voluntary, now.voluntary, seconds);
		row->involuntary_per_s = rate_of(th->switches.involuntary, now.involuntary,
		                                 seconds);
	}
	th->switches = now;
	th->has_switches = true;
}

/* -ESRCH: it is gone. */
static int read_thread(struct machine_tasks *t, struct thread *th,
                       const struct machine_tasks_read *how)
{
	struct machine_task *row = &t->thread_rows[th->idx];
	struct proc_thread_sched sched = { 0 };
	struct proc_thread_stat st = { 0 };
	bool has_sched = read_sched(t, th, &sched), is_new = th->read_ns == 0, has_run;
	char state = row->state;
	uint64_t now = machine_tasks_now(t);
	double seconds;

	th->round_nr = t->round_nr;
	has_run = is_new || !has_sched || !th->has_sched ||
	          memcmp(&sched, &th->sched, sizeof(sched)) != 0;
	if (has_run || row->state == 'R') {
		if (!read_stat(t, th, &st))
			return -ESRCH;
		if (is_new || st.start_ticks != th->start_ticks)
			begin_thread(t, th, &st, &sched, has_sched);
		take_stat(t, th, &st, how->ext);
	}
	seconds = th->read_ns && now > th->read_ns ? (double)(now - th->read_ns) / 1e9 : 0;
	th->run = has_sched ? rate_of(th->sched.run_ns, sched.run_ns, seconds * 1e9)
	                    : rate_of(th->run_ticks, st.run_ticks, seconds * (double)t->hz);
	if (!t->is_quiet_known) {
		row->run = th->run;
		row->wait = has_sched ? rate_of(th->sched.wait_ns, sched.wait_ns, seconds * 1e9)
		                      : NAN;
	}
	if (how->has_switches)
		take_switches(t, th, seconds, has_run);
	if (is_new || (has_sched && has_run) || th->run > 0 || row->state != state)
		machine_tasks_heat_thread(t, th);
	t->has_wait |= has_sched;
	t->nr_new -= is_new;
	th->sched = sched;
	th->has_sched = has_sched;
	if (st.start_ticks)
		th->run_ticks = st.run_ticks;
	th->read_ns = now;
	return 0;
}

/* Reads it, or lets it go. */
static void visit(struct machine_tasks *t, struct thread *th, const struct machine_tasks_read *how)
{
	if (read_thread(t, th, how) == 0)
		return;
	th->process->nr_links = 0;
	t->must_list = true;
	machine_tasks_drop_thread(t, th);
}

/* Those that find no time are the first ones of the next round. */
static void visit_hot(struct machine_tasks *t, const struct machine_tasks_read *how)
{
	const struct hot_list *hot = &t->hot_threads;
	uint64_t end = machine_tasks_now(t) + how->hot_ns;
	size_t nr_hot = hot->nr; /* visits add some: they have been read */

	for (size_t nr = 1; nr <= nr_hot; nr++, t->hot_turn++) {
		struct thread *th = hot->items[t->hot_turn % nr_hot];

		if (th && th->read_ns && th->round_nr != t->round_nr)
			visit(t, th, how);
		if (nr % CLOCK_EVERY == 0 && machine_tasks_now(t) >= end)
			break;
	}
}

static void visit_new(struct machine_tasks *t, const struct machine_tasks_read *how)
{
	uint64_t end = machine_tasks_now(t) + how->new_ns;
	size_t nr = 0;

	for (size_t i = t->nr_threads; i-- > 0 && t->nr_new;) {
		if (t->threads[i]->read_ns)
			continue;
		visit(t, t->threads[i], how);
		if (++nr % CLOCK_EVERY == 0 && machine_tasks_now(t) >= end)
			break;
	}
}

static void visit_in_turn(struct machine_tasks *t, const struct machine_tasks_read *how)
{
	uint64_t end = machine_tasks_now(t) + how->turn_ns;
	size_t nr_left = how->turn_ns ? t->nr_threads : 0;

	for (; nr_left && t->nr_threads; nr_left--) {
		struct thread *th;

		if (t->turn >= t->nr_threads)
			t->turn = 0;
		th = t->threads[t->turn];
		if (th->round_nr != t->round_nr && th->read_ns)
			visit(t, th, how);
		/* One that was dropped has left its place to another. */
		if (t->turn < t->nr_threads && t->threads[t->turn] == th)
			t->turn++;
		if (nr_left % CLOCK_EVERY == 0 && machine_tasks_now(t) >= end)
			break;
	}
}

int machine_tasks_read(struct machine_tasks *t, const struct machine_tasks_read *how,
                       struct diag *d)
{
	uint64_t now = machine_tasks_now(t);

	(void)d;
	t->round_nr++;
	t->is_rate_known = how->has_switches || t->is_quiet_known;
	take_answers(t);
	visit_hot(t, how);
	if (t->nr_new)
		visit_new(t, how);
	visit_in_turn(t, how);
	t->listed_ns = now;
	return 0;
}

/* A task that has already exited is not added. */
static int bring_in(struct machine_tasks *t, uint32_t tid, uint32_t tgid)
{
	char text[STAT_BYTES];
	struct task_process *p;
	uint32_t idx;
	int err = 0;

	/* 0 is the idle task of every CPU, and no thread. */
	if (!tid || !tgid || (t->cfg.tgid && tgid != t->cfg.tgid) ||
	    machine_tasks_file(t, tgid, tid, "stat", text, sizeof(text)) < 0)
		return 0;
	if (map_find(t->process_of, &tgid, &idx))
		p = t->processes[idx];
	else
		err = machine_tasks_add_process(t, tgid, &p);
	if (!err)
		err = machine_tasks_add_thread(t, p, tid);
	return err == -E2BIG ? 0 : err;
}

int machine_tasks_hint(struct machine_tasks *t, uint32_t tid, uint32_t tgid)
{
	uint32_t idx;

	if (!map_find(t->thread_of, &tid, &idx))
		return bring_in(t, tid, tgid);
	machine_tasks_heat_thread(t, t->threads[idx]);
	return 0;
}
