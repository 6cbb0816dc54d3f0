/*
 * trace/merge_priv — the inside of the merge: chains of runs in a heap, CPUs, and tasks as
 * described so far.
 */
#pragma once

#include "trace/merge.h"

/* Runs after each other that are in order. */
struct merge_chain {
	struct rec_run *run; /* at hand; NULL = at the end */
	uint32_t nr_runs;    /* numbers of the runs are in merge.order, from first on */
	uint32_t next;       /* chain of the same lane */
	uint64_t last_ts_ns; /* of the last run */
	uint32_t first_run, last_run;
	/* In the run at hand. */
	struct rec_chunk *chunk;
	uint32_t offset;
	uint64_t at;
};

struct heap_entry {
	uint64_t ts_ns;
	uint32_t rank; /* lane; decides where times are equal */
	uint32_t chain;
	struct ev_hdr *rec;
};

struct merge_cpu {
	bool is_known;      /* what runs */
	bool is_unreported; /* no record has mentioned it yet */
	bool has_held;      /* it is freed, and is to leave first */
	int16_t prio;
	uint32_t tid;
};

/* A task as the sink knows it. */
struct merge_task {
	uint32_t tid;
	uint32_t tgid;
	uint64_t born_ns; /* 0 = before the trace */
	bool is_reported;
	bool is_fresh; /* only its fork has been seen */
	bool is_kthread;
	uint16_t call;    /* ABI_CALL_NONE, OTHER for any, or UNKNOWN */
	uint16_t call_nr; /* of the machine */
	uint64_t call_args[2];
	char comm[EV_COMM_LEN];
};

struct merge_held {
	uint32_t cpu;
	struct ev_free rec;
};

/* A probe, or a mark of a program, that has begun. */
struct merge_open {
	uint64_t start_ns;
	uint32_t name;  /* of decoder_text() */
	uint32_t below; /* the one before of the same task and probe; UINT32_MAX = none */
};

struct merge {
	struct reader *r;
	const struct ev_sink *sink;
	struct rec_run **runs; /* all of them */
	uint32_t *next_run;    /* of the same chain */
	size_t nr_runs;
	struct merge_chain *chains;
	size_t nr_chains, cap_chains;
	struct heap_entry *heap;
	size_t nr_heap;
	uint64_t last_ns; /* pushed */
	bool has_calls;   /* beginnings and ends of system calls */
	uint32_t nr_cpus; /* that have switched */
	/* Tasks that are freed while they run, as some recorders order it: until they have left. */
	struct merge_held *held;
	size_t nr_held, cap_held;
	struct merge_cpu cpus[READER_CPUS_MAX];
	struct map *task_ids;
	struct merge_task *tasks;
	size_t nr_tasks, cap_tasks;
	struct map *text_ids; /* number of decoder_text() -> final one */
	uint32_t nr_texts;
	struct map *probe_ids; /* texts of probes that have been written */
	struct map *open_ids;  /* task and text of a probe or mark -> opens */
	struct merge_open *opens;
	size_t nr_opens, cap_opens;
	uint32_t kprobe_text, mark_text; /* the categories of their spans; 0 = not written */
};

/* merge.c */
/* The final number of a text of decoder_text(); emits an EV_STRING when it is new. */
MUST_USE int merge_text(struct merge *m, uint32_t text, uint32_t *out);
/* The same for a word of our own; *known is its number, or 0. */
MUST_USE int merge_word(struct merge *m, const char *word, uint32_t *known);
/* merge_probe.c */
/* Gives it its number; what begins and ends becomes a span. */
MUST_USE int merge_probe(struct merge *m, struct ev_probe *rec, bool *is_wanted);
MUST_USE int merge_mark(struct merge *m, const struct in_mark *rec);
/* merge_task.c */
MUST_USE int merge_name(struct merge *m, const struct in_name *rec);
/* Makes sure that the sink knows a task. */
MUST_USE int merge_see(struct merge *m, uint32_t tid, uint64_t ts_ns);
/* A system call of a task; and, where a task goes to sleep, the call in which it does, before that switch. */
MUST_USE int merge_call(struct merge *m, const struct in_call *rec);
MUST_USE int merge_sleep(struct merge *m, const struct ev_switch *rec);
/* The task that was freed while it ran on the CPU has left it, or nothing is known of it any more. */
MUST_USE int merge_release(struct merge *m, uint32_t cpu);
/* Fills in what a record of a task's life lacks; *is_wanted = false if it says nothing new. */
MUST_USE int merge_life(struct merge *m, struct ev_hdr *rec, bool *is_wanted);
