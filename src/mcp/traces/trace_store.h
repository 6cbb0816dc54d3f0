/*
 * mcp/trace_store — the traces that a server has loaded: by id, bounded in number and memory, the longest unused goes first.
 *
 * Files are opened only below the allowed directories, after all symbolic links; what this server recorded into its own directory
 * is allowed too. A trace that is in use stays until its user is done. All functions may be called on any thread; a trace is
 * lent to one user at a time, since its indexes grow when they are asked for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "session/recording.h"

#define TRACE_ID_LEN 128U

struct trace_store;

struct trace_store_cfg {
	const char *const *allow_paths; /* none = the working directory */
	size_t nr_allow_paths;
	size_t max_traces;
	uint64_t max_bytes; /* of memory */
};

struct trace_entry {
	const char *id;
	const char *path;
	uint64_t file_bytes;
	uint64_t memory_bytes;
	uint64_t nr_events;
	uint64_t loaded_ns; /* that loading took */
	uint64_t used_ns;   /* when it was last used, boot time */
	bool is_ours;       /* recorded by this server */
};

MUST_USE int trace_store_new(const struct trace_store_cfg *cfg, struct diag *d,
                             struct trace_store **out);
void trace_store_free(struct trace_store *s); /* NULL is fine */

/* The real path, if it may be read (or, with is_new, written): -EACCES with a sentence that names the allowed directories. */
MUST_USE int trace_store_allow(struct trace_store *s, const char *path, bool is_new, struct diag *d,
                               char **real);
/*
 * A new file of a private directory, which is made when it is first asked for: its name, to be freed. Such a file may be
 * loaded; it goes with its trace, and all of them with the store.
 */
MUST_USE int trace_store_temporary(struct trace_store *s, struct diag *d, char **path);

struct trace_load {
	const char *path;
	const char *id; /* NULL = the file's name without its last extension */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total); /* false gives up: -ECANCELED */
	void *ctx;
};
/*
 * Loads it under the id, in place of what had it; id_out takes TRACE_ID_LEN bytes. Others may be evicted: *nr_evicted.
 * Others are served meanwhile.
 */
MUST_USE int trace_store_load(struct trace_store *s, const struct trace_load *load, struct diag *d,
                              char *id_out, size_t *nr_evicted);
/* Waits for its turn. -ENOENT with a sentence that lists the ids that there are. id NULL = the only one. */
MUST_USE int trace_store_borrow(struct trace_store *s, const char *id, struct diag *d,
                                struct recording **out);
void trace_store_return(struct trace_store *s, struct recording *r);
/* The id of one that is borrowed; buf takes TRACE_ID_LEN bytes. */
void trace_store_id(struct trace_store *s, const struct recording *r, char *buf);
MUST_USE int trace_store_unload(struct trace_store *s, const char *id, struct diag *d);
void trace_store_each(struct trace_store *s, void (*fn)(void *ctx, const struct trace_entry *entry),
                      void *ctx);
