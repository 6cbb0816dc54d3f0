/*
 * workload — programs whose scheduling is known: the live tests hold schedscope's numbers against it.
 *
 * Each kind of work runs in threads or processes with names of their own and fills one struct truth
 * per task, in memory that forked tasks share. What a task knows about itself comes from its own clock
 * readings and from the kernel's counters of its thread (getrusage, /proc/thread-self/schedstat), which
 * are kept by other code than the tracepoints. Any failure ends the program with a message.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define MAX_TRUTHS 64

struct truth {
	char comm[16];
	pid_t tid;
	long voluntary;     /* switches out asleep */
	long involuntary;   /* switches out still runnable */
	uint64_t before_ns; /* on a CPU, before the account began */
	uint64_t before_slices;
	long before_voluntary;
	uint64_t run_ns;
	uint64_t wait_ns; /* runnable, not running */
	uint64_t slices;
	uint64_t count; /* of the action measured: naps, hand-offs, moves */
	uint64_t min_ns, max_ns, sum_ns;
};

struct work {
	int argc;
	char **argv; /* key=value */
	struct truth *truths;
	int nr_truths;
};

/* The value of key=NUMBER, or the fallback. */
long work_number(const struct work *w, const char *key, long fallback);
/* The value of key=TEXT; ends the program when it is missing. */
const char *work_text(const struct work *w, const char *key);
/* The value of name=TEXT, or the fallback: a name of its own tells a task from those of other runs. */
const char *work_name(const struct work *w, const char *fallback);
struct truth *work_truth(struct work *w);

/* The calling thread takes this name, and its counters so far are not part of the truth. */
void truth_begin(struct truth *t, const char *comm);
void truth_sample(struct truth *t, uint64_t ns);
void truth_end(struct truth *t);
/* Then its switches are those of all threads of the process, from their beginning to their end. */
void truth_end_all(struct truth *t);

uint64_t now_ns(void); /* boot-time clock */
void pin(int cpu);
void nap_us(long us);
void spin_us(long us);
void burn_us(long us); /* time on a CPU, however long that takes */
/* nr naps, each measured into t. */
void naps(struct truth *t, long nr, long us);
pid_t fork_or_die(void);
void reap(pid_t pid);
_Noreturn void die(const char *what);

typedef void *(*thread_main)(void *arg);
/* Threads args[i] = first + i * stride, started together, joined. */
void run_threads(thread_main body, void *first, size_t stride, int nr);

void work_pingpong(struct work *w);
void work_futex(struct work *w);
void work_convoy(struct work *w);
void work_inversion(struct work *w);
void work_hogs(struct work *w);
void work_yield(struct work *w);
void work_spin(struct work *w);
void work_keep(struct work *w);
void work_migrate(struct work *w);
void work_depth(struct work *w);
void work_sleep(struct work *w);
void work_dsleep(struct work *w);
void work_rename(struct work *w);
void work_exec(struct work *w);
void work_thread_exec(struct work *w);
void work_names(struct work *w);
void work_renamed(struct work *w);
void work_leader(struct work *w);
void work_storm(struct work *w);
void work_reuse(struct work *w);
void work_cgroup(struct work *w);
void work_touch(struct work *w);
void work_crowd(struct work *w);
