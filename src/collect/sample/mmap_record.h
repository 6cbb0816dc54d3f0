/*
 * collect/sample/mmap_record — one record of perf about mappings, forks and exits of processes,
 * checked and parsed.
 *
 * Records end in the ids and the time that mmap_ring asks for (PERF_SAMPLE_TID, PERF_SAMPLE_TIME). Pure; the bytes
 * are not trusted. Paths that are not ended within the record are refused.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "collect/sample/mmap_ring.h"

/* 1: a report, its path lent from the record; 0: nothing of ours; -EINVAL: it is damaged. */
MUST_USE int mmap_record_parse(const void *record, size_t len, struct mmap_report *out);
/* How many records the kernel dropped, if this is a record about that; else 0. */
uint64_t mmap_record_lost(const void *record, size_t len);
