/* model/analyzers_priv — what the files of model/analyzers share. */
#pragma once

#include "model/analyzers.h"

struct analyzer {
	void *self; /* NULL before the first start */
	struct ev_sink sink;
	struct pair_out out;
	uint64_t since_ns;  /* while running; 0 = from the next record on */
	uint64_t before_ns; /* observed in earlier runs */
	uint64_t records;
	uint64_t lost;
	bool has_run; /* since the last reset */
};

struct analyzers {
	struct analyzers_cfg cfg;
	struct live_place *places;
	struct analyzer all[ANALYZERS];
	uint32_t running;
	uint64_t now_ns;
};

struct analyzer_ops {
	const char *name;
	uint64_t kinds;
	int (*open)(const struct analyzers *a, struct analyzer *one);
	void (*close)(void *self);
	void (*reset)(void *self, uint64_t ts_ns);
	void (*resume)(void *self, uint64_t ts_ns); /* NULL = nothing to do */
};

extern const struct analyzer_ops analyzers_table[ANALYZERS];
