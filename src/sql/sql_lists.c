/* The tables of what is there once: the trace, its threads, processes and cgroups. */
#include "sql/sql_table_priv.h"

/* Rows that are places in a list: the key is the place, or, from 1 on, one more. */
static int begin_list(struct sql_scan *scan, uint64_t nr, uint64_t first_key)
{
	uint64_t key = scan->filter.key;

	scan->end = nr;
	if (!scan->filter.has_key)
		return 0;
	if (key < first_key || key - first_key >= nr) {
		scan->end = 0;
		return 0;
	}
	scan->at = key - first_key;
	scan->end = scan->at + 1;
	return 0;
}

static bool next_in_list(struct sql_scan *scan)
{
	if (scan->at >= scan->end)
		return false;
	scan->row.id = scan->at++;
	return true;
}

static uint64_t nr_one(struct sql_view *v)
{
	(void)v;
	return 1;
}

static int begin_one(struct sql_scan *scan)
{
	scan->end = 1;
	return 0;
}

static void trace_start(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->v->s->start_ns);
}

static void trace_end(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->v->s->end_ns);
}

static void trace_dur(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->v->s->end_ns - r->v->s->start_ns);
}

static void trace_cpus(const struct sql_row *r, struct sql_cell *c)
{
	if (r->v->s->facts->nr_cpus)
		cell_u64(c, r->v->s->facts->nr_cpus);
}

static void trace_events(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->v->s->facts->nr_events);
}

static void trace_lost(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->v->s->facts->lost);
}

static void trace_producer(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, r->v->s->facts->producer);
}

static void trace_release(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, r->v->s->facts->release);
}

static void trace_machine(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, r->v->s->facts->machine);
}

static void trace_host(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, r->v->s->facts->host);
}

static void trace_boot(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, r->v->s->facts->boot_id);
}

static void trace_unix(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, r->v->s->facts->unix_ns);
}

/* clang-format off */
static const struct sql_column trace_columns[] = {
	{ "start_ts", SQL_INTEGER, SQL_PLAIN, "when it begins", trace_start },
	{ "end_ts", SQL_INTEGER, SQL_PLAIN, "when it ends", trace_end },
	{ "dur", SQL_INTEGER, SQL_PLAIN, "how long it is", trace_dur },
	{ "cpus", SQL_INTEGER, SQL_PLAIN, "how many CPUs it is of", trace_cpus },
	{ "events", SQL_INTEGER, SQL_PLAIN, "events in it", trace_events },
	{ "lost_events", SQL_INTEGER, SQL_PLAIN, "events that its recorder reported as lost", trace_lost },
	{ "producer", SQL_TEXT, SQL_PLAIN, "what recorded it", trace_producer },
	{ "kernel", SQL_TEXT, SQL_PLAIN, "release of the kernel", trace_release },
	{ "machine", SQL_TEXT, SQL_PLAIN, "architecture", trace_machine },
	{ "unix_start_ns", SQL_INTEGER, SQL_PLAIN, "wall clock at the start, since 1970", trace_unix },
	{ "host_name", SQL_TEXT, SQL_PLAIN, "of the machine", trace_host },
	{ "boot_id", SQL_TEXT, SQL_PLAIN, "of its boot, as the kernel names it: two traces of one boot share a clock", trace_boot },
};
/* clang-format on */

static const struct sql_ops trace_ops = { nr_one, begin_one, next_in_list };

const struct sql_table sql_table_trace = {
	.name = "trace",
	.doc = "one row: the recording itself",
	SQL_COLUMNS(trace_columns),
	.rows = TIMELINE_TABLES,
	.ops = &trace_ops,
};

static uint64_t nr_threads(struct sql_view *v)
{
	return tasks_nr(v->s->tasks);
}

static int begin_threads(struct sql_scan *scan)
{
	return begin_list(scan, nr_threads(scan->row.v), 1);
}

static const struct task *task_of(const struct sql_row *r)
{
	return tasks_at(r->v->s->tasks, (uint32_t)r->id);
}

static void thread_utid(const struct sql_row *r, struct sql_cell *c)
{
	cell_utid(c, (uint32_t)r->id);
}

static void thread_tid(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, task_of(r)->tid);
}

static void thread_upid(const struct sql_row *r, struct sql_cell *c)
{
	if (task_of(r)->tgid)
		cell_u64(c, (uint64_t)units_of(&r->v->processes, (uint32_t)r->id) + 1);
}

static void thread_pid(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, task_of(r)->tgid);
}

static void thread_name(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, tasks_comm(r->v->s->tasks, (uint32_t)r->id));
}

static void thread_start(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, task_of(r)->start_ns);
}

static void thread_end(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, task_of(r)->end_ns);
}

static void thread_is_main(const struct sql_row *r, struct sql_cell *c)
{
	if (task_of(r)->tgid)
		cell_u64(c, task_of(r)->tgid == task_of(r)->tid);
}

static void thread_is_kernel(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, task_of(r)->is_kthread);
}

static void thread_cgroup(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, tasks_cgroup_now(r->v->s->tasks, (uint32_t)r->id));
}

/* clang-format off */
static const struct sql_column thread_columns[] = {
	{ "utid", SQL_INTEGER, SQL_KEY, "number of the task in this trace", thread_utid },
	{ "tid", SQL_INTEGER, SQL_PLAIN, "the kernel's number; one that was reused has several rows", thread_tid },
	{ "upid", SQL_INTEGER, SQL_PLAIN, "process.upid", thread_upid },
	{ "pid", SQL_INTEGER, SQL_PLAIN, "of its process, as the kernel counts", thread_pid },
	{ "name", SQL_TEXT, SQL_PLAIN, "the last one that it had", thread_name },
	{ "start_ts", SQL_INTEGER, SQL_PLAIN, "created; null if that was before the recording", thread_start },
	{ "end_ts", SQL_INTEGER, SQL_PLAIN, "exited; null if it was alive at the end", thread_end },
	{ "is_main_thread", SQL_INTEGER, SQL_PLAIN, "1 for the main thread of its process", thread_is_main },
	{ "is_kernel_thread", SQL_INTEGER, SQL_PLAIN, "1 for a thread that is known to be the kernel's", thread_is_kernel },
	{ "cgroup_id", SQL_INTEGER, SQL_PLAIN, "cgroup.cgroup_id in which it was last", thread_cgroup },
};
/* clang-format on */

static const struct sql_ops thread_ops = { nr_threads, begin_threads, next_in_list };

const struct sql_table sql_table_thread = {
	.name = "thread",
	.doc = "tasks that the recording mentions; idle is none",
	SQL_COLUMNS(thread_columns),
	.rows = TIMELINE_TABLES,
	.ops = &thread_ops,
};

static uint64_t nr_processes(struct sql_view *v)
{
	return v->processes.nr;
}

static int begin_processes(struct sql_scan *scan)
{
	return begin_list(scan, nr_processes(scan->row.v), 1);
}

static const struct task *main_of(const struct sql_row *r)
{
	return tasks_at(r->v->s->tasks, units_task(&r->v->processes, (uint32_t)r->id));
}

/* A task whose process is unknown is in none. */
static bool next_process(struct sql_scan *scan)
{
	while (next_in_list(scan))
		if (main_of(&scan->row)->tgid)
			return true;
	return false;
}

static void process_upid(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->id + 1);
}

static void process_pid(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, main_of(r)->tgid);
}

static void process_name(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, tasks_comm(r->v->s->tasks, units_task(&r->v->processes, (uint32_t)r->id)));
}

static bool has_main(const struct sql_row *r)
{
	return main_of(r)->tid == main_of(r)->tgid;
}

static void process_start(const struct sql_row *r, struct sql_cell *c)
{
	if (has_main(r))
		cell_time(c, main_of(r)->start_ns);
}

static void process_end(const struct sql_row *r, struct sql_cell *c)
{
	if (has_main(r))
		cell_time(c, main_of(r)->end_ns);
}

static void process_parent(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, main_of(r)->ppid);
}

static void process_threads(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, units_threads(&r->v->processes, (uint32_t)r->id));
}

/* clang-format off */
static const struct sql_column process_columns[] = {
	{ "upid", SQL_INTEGER, SQL_KEY, "number of the process in this trace", process_upid },
	{ "pid", SQL_INTEGER, SQL_PLAIN, "the kernel's number (tgid); one that was reused is one row", process_pid },
	{ "name", SQL_TEXT, SQL_PLAIN, "of its main thread where that was seen, else of any", process_name },
	{ "start_ts", SQL_INTEGER, SQL_PLAIN, "its main thread was created; null if that is unknown", process_start },
	{ "end_ts", SQL_INTEGER, SQL_PLAIN, "its main thread exited; null if it was alive, or that is unknown", process_end },
	{ "ppid", SQL_INTEGER, SQL_PLAIN, "pid of the parent", process_parent },
	{ "threads", SQL_INTEGER, SQL_PLAIN, "threads that ran or were woken", process_threads },
};
/* clang-format on */

static const struct sql_ops process_ops = { nr_processes, begin_processes, next_process };

const struct sql_table sql_table_process = {
	.name = "process",
	.doc = "processes of these tasks",
	SQL_COLUMNS(process_columns),
	.rows = TIMELINE_TABLES,
	.ops = &process_ops,
};

static uint64_t nr_cgroups(struct sql_view *v)
{
	return tasks_nr_cgroups(v->s->tasks);
}

static int begin_cgroups(struct sql_scan *scan)
{
	return begin_list(scan, nr_cgroups(scan->row.v), 1);
}

static void cgroup_id(const struct sql_row *r, struct sql_cell *c)
{
	cell_u64(c, r->id + 1);
}

static void cgroup_path(const struct sql_row *r, struct sql_cell *c)
{
	cell_text(c, tasks_cgroup_path(r->v->s->tasks, (uint32_t)r->id + 1));
}

static void cgroup_kernel_id(const struct sql_row *r, struct sql_cell *c)
{
	cell_time(c, tasks_cgroup_id(r->v->s->tasks, (uint32_t)r->id + 1));
}

/* clang-format off */
static const struct sql_column cgroup_columns[] = {
	{ "cgroup_id", SQL_INTEGER, SQL_KEY, "number of the cgroup in this trace", cgroup_id },
	{ "path", SQL_TEXT, SQL_PLAIN, "below the root of its hierarchy; / for the root; the last one if renamed", cgroup_path },
	{ "kernel_id", SQL_INTEGER, SQL_PLAIN, "the kernel's number", cgroup_kernel_id },
};
/* clang-format on */

static const struct sql_ops cgroup_ops = { nr_cgroups, begin_cgroups, next_in_list };

const struct sql_table sql_table_cgroup = {
	.name = "cgroup",
	.doc = "cgroups of the hierarchy that has the controller cpu, as far as recorded",
	SQL_COLUMNS(cgroup_columns),
	.rows = TIMELINE_TABLES,
	.ops = &cgroup_ops,
};
