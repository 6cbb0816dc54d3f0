/* machine/machine_tasks_priv — what the files of machine_tasks share; not for others. */
#pragma once

#include "machine/machine_past.h"
#include "machine/machine_tasks.h"
#include "machine/task_order.h"
#include "sys/proc/proc_reader.h"

struct intern;
struct map;

#define MACHINE_TASKS_NOWHERE   UINT32_MAX
#define MACHINE_TASKS_HISTORIES 4096U /* histories at a time: 32 MiB */

/* The history of a task, as long as there is any. */
struct task_history {
	struct machine_past run, wait; /* no waits until the first one */
	uint32_t quiet_refreshes;
	uint32_t at; /* its place among machine_tasks.trails; NOWHERE = none */
};

struct task_process {
	uint32_t tgid;
	uint32_t idx;       /* of its row */
	uint32_t hot_at;    /* its place among the hot ones; NOWHERE = it is not */
	bool is_seen;       /* by this list() */
	bool is_listed;     /* its threads, too */
	bool is_asked;      /* its command line */
	bool has_cgroup;    /* was searched for */
	uint64_t cgroup_ns; /* when */
	uint64_t nr_links;  /* of its folder of threads: two more than threads; 0 = list it again */
	char comm[PROC_THREAD_COMM];
	char *cmdline;
	struct thread *threads; /* a list */
	struct thread *leader;  /* NULL = not there */
	uint32_t nr_threads;
	uint32_t nr_running, nr_blocked; /* of them */
	uint32_t nr_active;              /* of them, while sums are made */
	struct task_history history;
};

/* Of a thread, that are read again and again. */
enum thread_file { THREAD_SCHED, THREAD_STAT, THREAD_FILES };

struct thread {
	uint32_t tid;
	uint32_t idx;    /* of its row */
	uint32_t hot_at; /* as of a process */
	struct task_process *process;
	struct thread *next, *previous; /* of its process */
	int fds[THREAD_FILES];          /* kept open; -1 = not */
	uint32_t listed_nr;             /* the list() that saw it last */
	uint32_t round_nr;              /* the read() that read it last */
	uint64_t read_ns;               /* when; 0 = never */
	uint64_t start_ticks;
	uint64_t run_ticks;
	struct proc_thread_sched sched;
	bool has_sched;
	double run; /* by the kernel's account, since the reading before */
	bool has_switches;
	struct proc_thread_switches switches;
	char comm[PROC_THREAD_COMM];
	struct task_history history;
};

/* Indexes of rows, rebuilt with each refresh. */
struct index_list {
	uint32_t *items;
	size_t nr, cap;
};

/* Tasks worth reading: active lately, new, or moved. Gaps are NULL. */
struct hot_list {
	void **items;
	size_t nr, cap;
};

struct history_place {
	struct task_history *history;
	const uint32_t *idx; /* of its row */
	bool is_process;
};

struct machine_tasks {
	struct machine_tasks_cfg cfg;
	int proc_fd;
	uint64_t hz, page_bytes;
	uint32_t list_nr;
	uint32_t round_nr;
	bool must_list;
	uint64_t list_after_ns; /* not before: listing has its share of the time, no more */
	bool has_load;
	struct proc_load load;
	uint64_t listed_ns; /* a task started after it has run for all of its life */

	/* A row, and what is behind it, have one index. */
	struct thread **threads;
	struct machine_task *thread_rows;
	size_t nr_threads, threads_cap;
	struct task_process **processes;
	struct machine_task *process_rows;
	size_t nr_processes, processes_cap;
	struct map *thread_of; /* tid -> index */
	struct map *process_of;
	size_t turn;   /* whose turn it is */
	size_t nr_new; /* never read */
	size_t nr_fds[THREAD_FILES], fds_max;
	struct history_place *histories;
	size_t nr_histories;

	struct hot_list hot_threads, hot_processes;
	size_t hot_turn; /* where the hot ones are begun with */
	struct task_order thread_ids, process_ids;
	struct index_list active_threads, active_processes, changed_threads, changed_processes;
	struct machine_order thread_order, process_order;
	bool is_all_changed;
	bool has_wait;      /* the kernel reports waits */
	bool is_rate_known; /* switches of inactive tasks are 0 */

	struct intern *names; /* of cgroups */
	struct proc_reader *cmdlines, *cgroups;
	bool is_quiet_known;
};

uint64_t machine_tasks_now(const struct machine_tasks *t);
/* Opens "PID/task/TID/FILE" or, for tid 0, "PID/FILE"; bytes read, with a NUL behind, or -errno. */
MUST_USE long machine_tasks_file(const struct machine_tasks *t, uint32_t tgid, uint32_t tid,
                                 const char *file, char *buf, size_t size);
MUST_USE int machine_tasks_add_process(struct machine_tasks *t, uint32_t tgid,
                                       struct task_process **out);
MUST_USE int machine_tasks_add_thread(struct machine_tasks *t, struct task_process *p,
                                      uint32_t tid);
void machine_tasks_drop_thread(struct machine_tasks *t, struct thread *th);
void machine_tasks_drop_process(struct machine_tasks *t, struct task_process *p);
void machine_tasks_set_state(struct machine_tasks *t, struct thread *th, char state);
/* Closes what is kept open of a thread, if anything is. */
void machine_tasks_close_files(struct machine_tasks *t, struct thread *th);
/* They are to be read. Without memory they are not, until something else happens to them. */
void machine_tasks_heat_thread(struct machine_tasks *t, struct thread *th);
void machine_tasks_heat_process(struct machine_tasks *t, struct task_process *p);
void machine_tasks_cool_thread(struct machine_tasks *t, struct thread *th);
void machine_tasks_cool_process(struct machine_tasks *t, struct task_process *p);
MUST_USE int machine_tasks_remember(struct machine_tasks *t); /* what all did; 0 or -ENOMEM */
void machine_tasks_drop_history(struct machine_tasks *t, struct task_history *history);
