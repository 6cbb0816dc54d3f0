/*
 * record/flight — a flight recorder: keeps the last seconds, and writes them to disk when a trigger holds.
 *
 * open() checks everything that can be wrong before anything is attached. run() continues until
 * time is up, the command has exited, a signal comes, or max_dumps are written; SIGUSR2 makes a
 * dump. Each dump is a separate trace, named after its trigger (flight_name), and loads at any
 * moment. A dump that cannot be written is reported, and the run continues. Memory is fixed:
 * keep_bytes for records, and what the model needs per task. One thread; never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "record/flight_box.h"
#include "record/record_source.h"

struct flight;

struct flight_cfg {
	struct record_source_cfg source;
	/* A directory, or the beginning of the files' paths; NULL = "schedscope", here. */
	const char *output;
	bool is_compressed;
	const char *command_line;
	const struct trigger *triggers;
	const char *const *trigger_texts;
	size_t nr_triggers;
	uint64_t keep_ns;
	uint64_t after_ns;
	uint64_t cooldown_ns;
	size_t keep_bytes;
	uint64_t max_dumps; /* 0 = any number */
};

struct flight_stats {
	struct record_totals totals;
	struct flight_box_stats box;
};

/* Each may be NULL. */
struct flight_listener {
	void *ctx;
	void (*dumped)(void *ctx, const char *path, const struct flight_dump *dump);
	void (*progress)(void *ctx, const struct flight_stats *stats); /* four times a second */
	void (*ready)(void *ctx); /* it keeps events from now on; the command begins next */
};

MUST_USE int flight_open(const struct flight_cfg *cfg, struct diag *d, struct flight **out);
uint64_t flight_missing(const struct flight *f);        /* kinds that this kernel does not have */
bool flight_remark(struct flight *f, struct diag *out); /* as record_source_remark() */
MUST_USE int flight_run(struct flight *f, const struct flight_listener *listener, struct diag *d,
                        enum record_end *why);
void flight_stats(const struct flight *f, struct flight_stats *out);
void flight_close(struct flight *f); /* NULL is fine */
