/*
 * collect/sample/unwind_maps — tables by which user stacks are walked, in the kernel: rows of files, and which
 * process has which file where.
 *
 * Memory is what was set aside when the programs were loaded; a table or process that does not fit is left out and counted.
 * Tables stay. Pages of a process are used again once no entry of a process in the kernel names them. Programs copy an entry
 * at fork and empty it at exec; then only what is known since that exec is taken. One thread. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/unwind.h"
#include "base/attr.h"
#include "base/cleanup.h"

#define UNWIND_MAPS_PAGES     8192U /* 32 MiB */
#define UNWIND_MAPS_PROCESSES 8192U
#define UNWIND_MAPS_RANGES    ((UNWIND_PAGE_RANGES - 1) * UNWIND_PROCESS_PAGES) /* of a process */

struct unwind_maps;

/* Code of a process: addresses from start to end, and where the table has its first row. */
struct unwind_mapping {
	uint64_t start, end;
	uint64_t base; /* the process's address of the first row */
	uint32_t table;
};

struct unwind_maps_use {
	uint32_t nr_pages, max_pages; /* of UNWIND_PAGE_BYTES */
	uint32_t nr_tables;
	uint64_t left_out; /* tables, mappings and processes for which there was no room */
};

/* The maps are lent: an array of so many pages, and processes. */
MUST_USE int unwind_maps_new(int pages_fd, uint32_t nr_pages, int processes_fd,
                             struct unwind_maps **out);
void unwind_maps_free(struct unwind_maps *m); /* NULL is fine */
DEFINE_SCOPED(unwind_maps, unwind_maps_free)

/* The number of the new table; -ENOSPC without room, or -errno of the kernel. */
MUST_USE int unwind_maps_add_table(struct unwind_maps *m, const struct unwind_row *rows,
                                   uint32_t nr, uint32_t *out);
/*
 * What a process has mapped as of that time, by start; all of it. Nothing happens if the kernel knows of
 * a later exec. -ENOSPC without room, -errno of the kernel.
 */
MUST_USE int unwind_maps_set_process(struct unwind_maps *m, uint32_t tgid, uint64_t as_of_ns,
                                     const struct unwind_mapping *all, uint32_t nr);
void unwind_maps_use(const struct unwind_maps *m, struct unwind_maps_use *out);
