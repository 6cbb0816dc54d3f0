/* mcp/trace_store_priv — what the files of the store share. */
#pragma once

#include <pthread.h>

#include "mcp/trace_store.h"

struct held {
	char id[TRACE_ID_LEN];
	char *path;
	struct recording *rec;
	uint64_t file_bytes, memory_bytes, nr_events, loaded_ns, used_ns;
	bool is_temporary; /* its file is ours alone */
	bool is_lent;
	bool is_gone; /* among those that leave: whoever uses it last frees it */
	unsigned int nr_waiting;
	struct held *next;
};

struct trace_store {
	pthread_mutex_t lock;
	pthread_cond_t is_returned;
	char **allowed; /* real paths */
	size_t nr_allowed;
	size_t max_traces;
	uint64_t max_bytes;
	char *own_dir; /* NULL until it is needed */
	uint64_t nr_files;
	struct held *traces;
	struct held *leaving; /* unloaded while somebody used them */
};

/* store_path.c; the lock is the caller's. */
MUST_USE int store_allow_dirs(struct trace_store *s, const struct trace_store_cfg *cfg,
                              struct diag *d);
bool store_is_temporary(const struct trace_store *s, const char *real);
/* Opens what trace_store_allow() let through and looks again at what it opened. A descriptor, or -errno. */
MUST_USE int store_open(struct trace_store *s, const char *real, struct diag *d,
                        uint64_t *file_bytes);
void store_remove_dir(struct trace_store *s);
