/*
 * symbol/jit_maps — the perf map files of processes: found in their own root under their own pid,
 * read when first needed and again when they have grown.
 *
 * Checked at most every JIT_MAPS_PAUSE_NS for a process. Only a regular file that belongs to the
 * process's user or to root is accepted, not a link, and nothing in the process's root leads out of
 * it. What was read outlives process and file; JIT_MAPS_MAX processes are kept, then the least
 * recently used one is evicted. Blocks on files. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/symtab.h"

#define JIT_MAPS_MAX      64U
#define JIT_MAPS_PAUSE_NS 200000000ULL

struct jit_maps;
struct parser;

struct jit_process {
	uint32_t tgid;
	uint32_t life; /* distinguishes processes of the same pid */
	uint32_t uid;  /* for when it has ended; UINT32_MAX = unknown */
};

/* Both are lent forever. NULL without memory. */
struct jit_maps *jit_maps_new(const char *proc, struct parser *parser);
void jit_maps_free(struct jit_maps *j); /* NULL is fine */

/* The name lives until the next call. */
bool jit_maps_find(struct jit_maps *j, const struct jit_process *p, uint64_t address,
                   struct symtab_hit *out);
/* The process exits: its file is read once more if it was used before. */
void jit_maps_leave(struct jit_maps *j, const struct jit_process *p);
