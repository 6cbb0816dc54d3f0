/* model/timeline_priv — what the files of model/timeline share. */
#pragma once

#include "model/timeline.h"

#define TIMELINE_MAX_COLS 12
#define TIMELINE_NO_FIELD UINT16_MAX

struct timeline_col {
	uint16_t offset; /* in the row */
	uint8_t size;    /* in the chunk; 0 ends the list */
	bool is_time;    /* 8 bytes in the row, packed into 4 */
};

struct timeline_def {
	struct timeline_col cols[TIMELINE_MAX_COLS];
	uint64_t (*start)(const union timeline_row *r);
	uint16_t end_offset;
	uint16_t task_offset; /* TIMELINE_NO_FIELD: rows of this table belong to no task */
	uint16_t cpu_offset;
};

/*
 * Times are stored as their distance from base_ns. One that is too far away for that has FAR set, and its
 * place in far; 0, which means unknown, is NONE.
 */
#define TIMELINE_FAR  0x80000000U
#define TIMELINE_NONE 0x7fffffffU

struct chunk {
	uint64_t min_start_ns;
	uint64_t min_end_ns;
	uint64_t max_end_ns;
	uint64_t base_ns;
	uint64_t *far;
	uint32_t nr_far;
	uint32_t max_far;
	uint8_t data[]; /* column after column, each for all rows of the chunk */
};

static inline uint64_t timeline_unpack(const struct chunk *c, uint32_t packed)
{
	if (packed < TIMELINE_NONE)
		return c->base_ns + packed;
	return packed == TIMELINE_NONE ? 0 : c->far[packed & ~TIMELINE_FAR];
}

/* A cell of a column: which one, its size and where. */
struct timeline_cell {
	const struct chunk *c;
	const struct timeline_col *col;
	const uint8_t *at;
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

/* When the rows of a chunk end: beside each other, so that passing over many chunks costs little. */
struct chunk_ends {
	uint64_t min_ns;
	uint64_t max_ns;
};

struct table {
	const struct timeline_def *def;
	uint32_t row_bytes;
	uint32_t nr_chunks;
	uint32_t max_chunks;
	struct chunk **chunks;
	struct chunk_ends *ends; /* of all chunks but the last */
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
	bool is_frozen; /* indexes stay as they are */
	uint64_t latest_ns;
	struct table tables[TIMELINE_TABLES];
};

extern const struct timeline_def timeline_defs[TIMELINE_TABLES];

/* False for an id that is not there or an offset that is no field. */
bool timeline_cell(const struct timeline *t, enum timeline_table table, size_t offset, uint64_t id,
                   struct timeline_cell *out);
void timeline_index_free(struct timeline_index *ix);
