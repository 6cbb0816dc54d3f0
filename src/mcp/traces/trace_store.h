/*
 * mcp/traces/trace_store — the traces that a server has loaded: by owner and id, bounded in number and memory.
 *
 * Files are opened only below the allowed directories, after all symbolic links; what this server
 * recorded into its own directory is allowed too. Every trace has an owner (struct tool_call): others
 * neither see it nor can use or unload it, nor open the file of a recording that this server made for
 * it. Clients that nothing identifies are all owner 0 (TRACE_NO_OWNER): their traces are called by 128 random bits, are
 * reached by that alone, and are never listed. When there is no room, the owner with the most loses the one unused
 * longest; all those of owner 0 count together. Each trace is held
 * by a process of its own (mcp/traces/trace_child); one whose process has died is gone. A trace that
 * is in use stays until its user is done. All functions may be called on any thread; a trace is lent
 * to one user at a time.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define TRACE_ID_LEN   128U
#define TRACE_NO_OWNER 0U

struct trace_child;
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
MUST_USE int trace_store_allow(struct trace_store *s, uint64_t owner, const char *path, bool is_new,
                               struct diag *d, char **real);
#define TRACE_FOLDER_MAX 16U
/* Recordings of a folder by their names, the one changed last first. */
struct trace_folder {
	char path[PATH_MAX];
	uint32_t nr;
	uint32_t nr_all; /* those beyond TRACE_FOLDER_MAX with them */
	struct trace_folder_file {
		int64_t changed_s;
		char name[NAME_MAX + 1];
	} files[TRACE_FOLDER_MAX];
};
/* Whether a path is a folder that 'perf record --threads' has made: it is loaded as a whole, as one recording. */
bool trace_store_is_perf_folder(const struct trace_store *s, const char *path);
/* Whether a path is a folder, below an allowed directory or one itself, that this process can read. */
bool trace_store_folder(const struct trace_store *s, const char *path, struct trace_folder *out);
/* Makes a file at a path that may be written, for its owner only: a descriptor, and its real path, to be freed. -EEXIST: it is there. */
MUST_USE int trace_store_create(struct trace_store *s, uint64_t owner, const char *path,
                                struct diag *d, char **real);
/* Removes it again. */
void trace_store_discard(struct trace_store *s, int fd);
/* A whole file in the place of what has the path, which trace_store_allow() gave, or no change. */
MUST_USE int trace_store_write(struct trace_store *s, const char *real, const char *bytes,
                               size_t len);
/*
 * A new file of a private directory, which is created when first needed: its name, to be freed. Its
 * owner may load such a file; it is removed with its trace, and all of them with the store.
 */
MUST_USE int trace_store_temporary(struct trace_store *s, uint64_t owner, struct diag *d,
                                   char **path);

struct trace_load {
	uint64_t owner;
	const char *path;
	const char *
		id; /* NULL = the file's name without its last extension, a number for our own; owner 0 gets a random one */
	bool (*progress)(void *ctx, uint64_t done, uint64_t total); /* false gives up: -ECANCELED */
	void *ctx;
};
/*
 * Loads it under the id, in place of what had it; id_out takes TRACE_ID_LEN bytes. Others may be evicted: *nr_evicted.
 * Others are served meanwhile.
 */
MUST_USE int trace_store_load(struct trace_store *s, const struct trace_load *load, struct diag *d,
                              char *id_out, size_t *nr_evicted);
/* Waits for its turn. -ENOENT with a sentence that lists the ids that there are. id NULL = the newest. */
MUST_USE int trace_store_borrow(struct trace_store *s, uint64_t owner, const char *id,
                                struct diag *d, struct trace_child **out);
void trace_store_return(struct trace_store *s, struct trace_child *c);
/* The id of the trace that is the nr-th newest of its owner, from 0; buf takes TRACE_ID_LEN bytes. -ENOENT: there is none. */
MUST_USE int trace_store_newest(struct trace_store *s, uint64_t owner, size_t nr, char *buf,
                                struct diag *d);
/* The id of one that is borrowed; buf takes TRACE_ID_LEN bytes. */
void trace_store_id(struct trace_store *s, const struct trace_child *c, char *buf);
/* Two traces together, loaded once more into a process of their own, which the caller frees; path and id do not count. */
MUST_USE int trace_store_pair(struct trace_store *s, const char *const ids[2],
                              const struct trace_load *load, struct diag *d,
                              struct trace_child **out);
MUST_USE int trace_store_unload(struct trace_store *s, uint64_t owner, const char *id,
                                struct diag *d);
/* Everything of an owner that has gone. NULL is fine. */
void trace_store_forget(struct trace_store *s, uint64_t owner);
void trace_store_each(struct trace_store *s, uint64_t owner,
                      void (*fn)(void *ctx, const struct trace_entry *entry), void *ctx);
