#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/record_facts.h"
#include "record/system_stats.h"
#include "record/trace_file.h"
#include "sys/topology.h"

#define PROGRESS_NS 250000000ULL

struct recorder {
	struct record_source *source;
	struct trace_writer *writer;
	struct system_stats *stats; /* NULL = not asked for */
	int stats_err;              /* why it ended */
	recorder_progress_fn *progress;
	void *progress_ctx;
	uint64_t next_progress_ns;
	void (*ready)(void *ctx);
	void *ready_ctx;
};

static void scoped_recorder(struct recorder *const *r)
{
	if (*r)
		(void)!recorder_close(*r, NULL, NULL);
}

static int open_system_stats(struct recorder *r, struct diag *d)
{
	uint32_t nr_cpus = topology_counts(record_source_topology(r->source))->nr_cpu_ids;

	return system_stats_new(nr_cpus, &r->stats) ? diag_set(d, -ENOMEM, NULL, "out of memory")
	                                            : 0;
}

int recorder_open(const struct recorder_cfg *cfg, struct diag *d, struct recorder **out)
{
	SCOPED(scoped_recorder) struct recorder *r = calloc(1, sizeof(*r));
	struct trace_file_cfg file = {
		.path = cfg->path,
		.is_real_path = cfg->is_real_path,
		.is_compressed = cfg->is_compressed,
		.command_line = cfg->command_line,
		.source = &cfg->source,
	};
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = record_source_open(&cfg->source, d, &r->source);
	if (err)
		return err;
	if (!file.path) {
		file.fd = fcntl(cfg->fd, F_DUPFD_CLOEXEC, 3);
		if (file.fd < 0)
			return diag_set(d, -errno, NULL, "there is no file to write to");
	}
	/* Last, so that a failure leaves no empty file behind; nothing is attached yet. */
	file.topology = record_source_topology(r->source);
	file.symbols = record_source_symbols(r->source);
	file.stack_event = record_source_stack_event(r->source);
	err = trace_file_open(&file, d, &r->writer);
	if (!err && cfg->wants_system_stats)
		err = open_system_stats(r, d);
	if (err)
		return err;
	r->ready = cfg->ready;
	r->ready_ctx = cfg->ready_ctx;
	*out = TAKE_PTR(r);
	return 0;
}

static void fill_stats(const struct recorder *r, struct recorder_stats *out)
{
	struct trace_writer_stats writer;

	record_source_totals(r->source, &out->totals);
	trace_writer_stats(r->writer, &writer);
	out->written = writer.nr_records;
	out->bytes = writer.nr_bytes;
	out->breaks = writer.nr_breaks;
}

static enum record_next on_round(void *ctx, uint64_t now_ns, bool has_asked)
{
	struct recorder *r = ctx;
	struct recorder_stats stats;
	bool goes_on = true;

	(void)has_asked;
	if (r->stats)
		r->stats_err = system_stats_tick(r->stats, clock_boot_ns(), r->writer);
	if (r->stats_err)
		return RECORD_STOP;
	if (r->progress && now_ns >= r->next_progress_ns) {
		if (r->next_progress_ns) {
			fill_stats(r, &stats);
			goes_on = r->progress(r->progress_ctx, &stats);
		}
		r->next_progress_ns = now_ns + PROGRESS_NS;
	}
	return goes_on ? RECORD_GO_ON : RECORD_STOP;
}

static void on_ready(void *ctx)
{
	const struct recorder *r = ctx;

	if (r->ready)
		r->ready(r->ready_ctx);
}

/* The writer knows better than the stream why a record was refused. */
static int explain(const struct recorder *r, int err, struct diag *d)
{
	const struct diag *why = trace_writer_error(r->writer);

	if (err && why && d)
		*d = *why;
	return err;
}

int recorder_run(struct recorder *r, recorder_progress_fn *progress, void *ctx, struct diag *d,
                 enum record_end *why)
{
	struct record_run run = {
		.sink = trace_writer_sink(r->writer), .round = on_round, .ready = on_ready, .ctx = r
	};
	int err;

	r->progress = progress;
	r->progress_ctx = ctx;
	err = record_source_run(r->source, &run, d, why);
	if (!err && r->stats_err)
		err = diag_set(d, r->stats_err, NULL, "cannot record system statistics");
	return explain(r, err, d);
}

uint64_t recorder_missing(const struct recorder *r)
{
	return record_source_missing(r->source);
}

bool recorder_remark(struct recorder *r, struct diag *out)
{
	return record_source_remark(r->source, out);
}

/* Losses that no record of the stream reports, so that the file says what it lacks. */
static void emit_losses(const struct recorder *r)
{
	struct record_totals totals;

	record_source_totals(r->source, &totals);
	trace_writer_losses(r->writer, &(struct trace_losses){ .skipped = totals.skipped,
	                                                       .damaged = totals.damaged,
	                                                       .run = totals.losses });
}

int recorder_close(struct recorder *r, struct recorder_stats *stats, struct diag *d)
{
	int err = 0;

	if (r->writer)
		err = trace_writer_flush(r->writer, d); /* so that the bytes are all counted */
	if (r->source && r->writer)
		emit_losses(r);
	if (r->source && r->writer && stats)
		fill_stats(r, stats);
	if (r->writer) {
		int closing = trace_writer_close(r->writer, err ? NULL : d);

		err = err ? err : closing;
	}
	system_stats_free(r->stats);
	record_source_close(r->source);
	free(r);
	return err;
}
