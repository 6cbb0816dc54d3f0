/* model/timeline_priv — what the files of model/timeline share. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "model/timeline.h"

#define TIMELINE_MAX_COLS 13
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

/* Full ones never change, and are shared by a timeline and its snapshots. */
struct timeline_chunk {
	atomic_uint refs;
	struct budget *budget; /* to be given bytes back; NULL = none */
	size_t bytes;          /* with far */
	uint64_t min_start_ns;
	uint64_t min_end_ns;
	uint64_t max_end_ns;
	uint64_t base_ns;
	uint64_t *far;
	uint32_t nr_far;
	uint32_t max_far;
	uint8_t data[]; /* column after column, each for all rows of the chunk */
};

static inline uint64_t timeline_unpack(const struct timeline_chunk *c, uint32_t packed)
{
	if (packed < TIMELINE_NONE)
		return c->base_ns + packed;
	return packed == TIMELINE_NONE ? 0 : c->far[packed & ~TIMELINE_FAR];
}

/* A cell of a column: which one, its size and where. */
struct timeline_cell {
	const struct timeline_chunk *c;
	const struct timeline_col *col;
	const uint8_t *at;
};

/* A part of an index: rows of each key next to each other, by their ends. Never changes. */
struct timeline_index {
	atomic_uint refs;
	uint64_t first; /* for which rows it was built */
	uint64_t end;
	uint64_t min_end_ns, max_end_ns; /* of these */
	uint32_t nr_keys;
	uint32_t *starts; /* nr_keys + 1 places in order */
	uint32_t *order;  /* ids minus first */
	size_t bytes;
};

/* Parts one behind the other, by ids and by the ends of their rows. */
struct timeline_list {
	bool is_made;
	uint64_t first; /* for which rows */
	uint64_t end;
	uint32_t nr, max;
	struct timeline_index **parts;
};

/* Parts of full chunks, for a timeline with a window and all its snapshots. */
struct timeline_shared {
	atomic_uint refs;
	pthread_mutex_t lock;
	struct timeline_list by_task[TIMELINE_TABLES];
	struct timeline_list by_cpu[TIMELINE_TABLES];
};

/* When the rows of a chunk end: beside each other, so that passing over many chunks costs little. */
struct chunk_ends {
	uint64_t min_ns;
	uint64_t max_ns;
};

struct timeline_rows {
	const struct timeline_def *def;
	uint32_t row_bytes;
	uint32_t nr_chunks;
	uint32_t max_chunks;
	struct timeline_chunk **chunks;
	struct chunk_ends *ends; /* of all chunks but the last */
	struct timeline_chunk *spare;
	uint64_t first;
	uint64_t end;
	uint64_t shared_end; /* of a snapshot: up to there its rows are those of the timeline */
	uint64_t max_len_ns; /* of any row so far */
	struct timeline_list by_task;
	struct timeline_list by_cpu;
};

struct timeline {
	struct timeline_cfg cfg;
	struct timeline_loss loss;
	size_t bytes;
	bool is_frozen; /* indexes stay as they are */
	bool is_snapshot;
	struct timeline_shared *shared; /* NULL = without a window, nor a snapshot of one with it */
	uint64_t latest_ns;
	uint64_t whole_from_ns; /* rows that end before may have been forgotten early */
	struct timeline_rows tables[TIMELINE_TABLES];
};

extern const struct timeline_def timeline_defs[TIMELINE_TABLES];

/* False for a missing id or an offset that is not a field. */
bool timeline_cell(const struct timeline *t, enum timeline_table table, size_t offset, uint64_t id,
                   struct timeline_cell *out);
uint64_t timeline_end_at(const struct timeline *t, enum timeline_table table, uint64_t id);

/* timeline_index.c */
/* So that it is of the rows that are there. -ENOMEM; -ENOTSUP if it is not and the timeline is frozen. */
MUST_USE int timeline_list_make(struct timeline *t, enum timeline_table table, bool is_task);
void timeline_list_done(struct timeline_list *list);
size_t timeline_list_bytes(const struct timeline_list *list);
struct timeline_shared *timeline_shared_new(void);   /* NULL without memory */
void timeline_shared_put(struct timeline_shared *s); /* NULL is fine */
/* The row before the one at which it stands; false if there is none. The iterator is used up. */
bool timeline_iter_last(struct timeline_iter *it, uint64_t *id);

/* timeline_window.c */
/* Up to there rows lie in full chunks, which the timeline and its snapshots have in common. */
uint64_t timeline_shared_end(const struct timeline *t, const struct timeline_rows *tab);
size_t timeline_chunk_bytes(const struct timeline_rows *tab);
void timeline_chunk_put(struct timeline_chunk *c); /* NULL is fine; the last one frees it */
/* The first chunk of a table; its memory is kept for the next one if may_spare. */
void timeline_forget(struct timeline *t, struct timeline_rows *tab, bool may_spare);
/* Makes room for so many bytes, by forgetting the oldest chunks of a window; false if there is none. */
bool timeline_make_room(struct timeline *t, size_t bytes);
