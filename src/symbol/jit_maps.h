/*
 * symbol/jit_maps — the perf map files of processes: found in their own root and under their own number, read when
 * first asked for and again when they have grown.
 *
 * Looked at no more than every JIT_MAPS_PAUSE_NS for a process. Only a regular file that belongs to the process's
 * user or to root is believed. What was read outlives process and file; JIT_MAPS_MAX processes are kept, then the one
 * that was asked for longest ago goes. Blocks on files. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/symtab.h"

#define JIT_MAPS_MAX      64U
#define JIT_MAPS_PAUSE_NS 200000000ULL

struct jit_maps;

struct jit_process {
	uint32_t tgid;
	uint32_t life; /* tells processes of the same number apart */
	uint32_t uid;  /* for when it has ended; UINT32_MAX = unknown */
};

/* proc is lent for ever. NULL without memory. */
struct jit_maps *jit_maps_new(const char *proc);
void jit_maps_free(struct jit_maps *j); /* NULL is fine */

/* The name lives until the next call. */
bool jit_maps_find(struct jit_maps *j, const struct jit_process *p, uint64_t address,
                   struct symtab_hit *out);
/* The process ends: its file is looked at once more if anyone asked for it before. */
void jit_maps_leave(struct jit_maps *j, const struct jit_process *p);
