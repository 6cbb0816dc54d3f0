/* mcp/traces/trace_store_priv — what the files of the store share. */
#pragma once

#include <pthread.h>

#include "mcp/traces/trace_store.h"
#include "sys/rights/broker_dirs.h"

struct held {
	uint64_t owner;
	char id[TRACE_ID_LEN];
	char *path;
	struct trace_child *child;
	int fd;         /* the file, whatever its name leads to by now; of a folder its first one */
	bool is_folder; /* of 'perf record --threads' */
	uint64_t file_bytes, memory_bytes, nr_events, loaded_ns, used_ns;
	bool is_temporary; /* its file is ours alone */
	bool is_lent;
	bool is_gone; /* unlisted: its last user frees it */
	unsigned int nr_waiting;
	struct held *next;
};

struct trace_store {
	pthread_mutex_t lock;
	pthread_cond_t is_returned;
	struct broker_dirs dirs; /* that are allowed */
	size_t max_traces;
	uint64_t max_bytes;
	char *own_dir;          /* NULL until it is needed */
	uint64_t nr_recordings; /* that have a name of ours */
	struct held *traces;
	struct held *leaving; /* unloaded while in use */
};

#define STORE_HANDLE_LEN 33U
/* 128 random bits, as text. */
MUST_USE int store_make_handle(char handle[STORE_HANDLE_LEN]);

/* store_path.c; the lock is the caller's. */
MUST_USE int store_allow_dirs(struct trace_store *s, const struct trace_store_cfg *cfg,
                              struct diag *d);
/* A path that may be relative, as an absolute one; a new text, NULL = no memory. */
char *store_from_allowed(const struct trace_store *s, const char *path);
/* One that this server recorded for the owner. */
bool store_is_temporary(const struct trace_store *s, uint64_t owner, const char *real);
/* Whether a path, below an allowed directory, is a folder of 'perf record --threads': its real path, to be freed; NULL = no. */
char *store_perf_folder(const struct trace_store *s, const char *path);
#define STORE_FIRST_PART "data" /* its first file; the next ones are data.0, data.1 and so on */
/* Opens what trace_store_allow() let through. A descriptor, or -errno. */
MUST_USE int store_open(struct trace_store *s, const char *real, struct diag *d,
                        uint64_t *file_bytes);
void store_remove_dir(struct trace_store *s);

/* store_load.c; it takes the lock itself where it needs it. */
/* What a process loads. */
struct trace_from {
	int fd;
	char *name;
	bool is_folder;
	const struct trace_store *store;
	uint64_t part_bytes; /* of the files that came after the first */
};

/* By what the client said, or by the file's name without its last extension. */
MUST_USE int store_name_trace(struct trace_store *s, const struct trace_load *load,
                              const char *real, struct diag *d, char *id);
/* Where the trace is, if it may be loaded. */
MUST_USE int store_find_trace(struct trace_store *s, const struct trace_load *load, struct held *h,
                              struct diag *d);
/* Opens what was found and loads it into a process of its own. */
MUST_USE int store_open_trace(struct trace_store *s, const struct trace_load *load, struct held *h,
                              struct diag *d);
/* Positions in a file go with a descriptor: every reader gets its own. */
MUST_USE int store_load_into(struct trace_store *s, struct trace_child *child,
                             struct trace_from *from, const struct trace_load *load,
                             struct diag *d);
