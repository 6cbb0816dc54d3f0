/* model/timeline_priv — what the files of model/timeline share. */
#pragma once

#include "model/timeline.h"

#define TIMELINE_MAX_COLS 12
#define TIMELINE_NO_FIELD UINT16_MAX

struct timeline_col {
	uint16_t offset; /* in the row */
	uint16_t size;   /* 0 ends the list */
};

struct timeline_def {
	struct timeline_col cols[TIMELINE_MAX_COLS];
	uint64_t (*start)(const union timeline_row *r);
	uint16_t end_offset;
	uint16_t task_offset; /* TIMELINE_NO_FIELD: rows of this table belong to no task */
	uint16_t cpu_offset;
};

struct chunk {
	uint64_t min_start_ns;
	uint64_t max_end_ns;
	uint8_t data[]; /* column after column, each for all rows of the chunk */
};

/* Rows of each key next to each other, by their ends. */
struct timeline_index {
	uint64_t first; /* for which rows it was built */
	uint64_t end;
	uint32_t nr_keys;
	uint32_t *starts; /* nr_keys + 1 places in order */
	uint32_t *order;  /* ids minus first */
	size_t bytes;
};

struct table {
	const struct timeline_def *def;
	uint32_t row_bytes;
	uint32_t nr_chunks;
	uint32_t max_chunks;
	struct chunk **chunks;
	struct chunk *spare;
	uint64_t first;
	uint64_t end;
	uint64_t max_len_ns; /* of any row so far */
	struct timeline_index by_task;
	struct timeline_index by_cpu;
};

struct timeline {
	struct timeline_cfg cfg;
	struct timeline_loss loss;
	size_t bytes;
	uint64_t latest_ns;
	struct table tables[TIMELINE_TABLES];
};

extern const struct timeline_def timeline_defs[TIMELINE_TABLES];

void timeline_index_free(struct timeline_index *ix);
