/* Reads Perfetto's format: the passes of perfetto_in.h, in their order. */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/parallel.h"
#include "trace/decoder.h"
#include "trace/formats.h"
#include "trace/merge.h"
#include "trace/perfetto/meta_in.h"

#define TRACE_PACKET_TAG 0x0a /* what every trace begins with: field 1, its first packet */
#define SHARD_BYTES      (512U << 10)

/* Packets from first on that one worker decodes in one go. */
struct shard {
	size_t first;
	size_t nr;
};

struct decode_job {
	struct reader *r;
	struct shard *shards;
	size_t nr_shards, cap_shards;
	struct rec_out *outs;     /* by shard, then that of the track events */
	struct decoder *decoders; /* by worker */
	unsigned int nr_workers;
	int tracks_err;
};

/* Item 0 are the track events of the whole file, whose output is behind those of the shards. */
static void decode_item(void *ctx, unsigned int worker, size_t item)
{
	struct decode_job *job = ctx;
	struct decoder *dec = &job->decoders[worker];
	const struct shard *s;

	if (item == 0) {
		dec->out = &job->outs[job->nr_shards];
		job->tracks_err = tracks_settle(job->r, dec);
		return;
	}
	s = &job->shards[item - 1];
	dec->out = &job->outs[item - 1];
	dec->shard = (uint32_t)(item - 1);
	for (size_t i = s->first; i < s->first + s->nr; i++)
		if (job->r->packets[i].kind == PAYLOAD_FTRACE)
			ftrace_decode(dec, &job->r->packets[i]);
}

static void decode_progress(void *ctx, size_t nr_taken)
{
	const struct decode_job *job = ctx;
	const struct trace_read_cfg *cfg = &job->r->cfg;

	if (cfg->progress)
		cfg->progress(cfg->progress_ctx, nr_taken, 2 * job->nr_shards + 2);
}

static int cut_shards(struct decode_job *job)
{
	const struct reader *r = job->r;
	size_t bytes = 0;
	struct shard *s = NULL;

	for (size_t i = 0; i < r->nr_packets; i++) {
		if (!s || bytes >= SHARD_BYTES) {
			if (GROW(job->shards, job->cap_shards, job->nr_shards))
				return -ENOMEM;
			s = &job->shards[job->nr_shards++];
			*s = (struct shard){ .first = i };
			bytes = 0;
		}
		s->nr++;
		bytes += r->packets[i].len + sizeof(struct packet);
	}
	return 0;
}

static int make_workers(struct decode_job *job)
{
	int err = 0;

	job->nr_workers = parallel_nr(job->r->cfg.nr_workers, job->nr_shards + 1);
	job->outs = calloc(job->nr_shards + 1, sizeof(*job->outs));
	job->decoders = calloc(job->nr_workers, sizeof(*job->decoders));
	if (!job->outs || !job->decoders)
		return -ENOMEM;
	for (size_t i = 0; i <= job->nr_shards; i++)
		job->outs[i].budget = job->r->cfg.budget;
	for (unsigned int i = 0; i < job->nr_workers && !err; i++)
		err = decoder_init(&job->decoders[i], job->r);
	return err;
}

static int decode(struct decode_job *job)
{
	struct parallel p = { .fn = decode_item, .progress = decode_progress, .ctx = job };
	int err = cut_shards(job);

	if (!err)
		err = make_workers(job);
	if (err)
		return err;
	p.nr_workers = job->nr_workers;
	parallel_for(&p, job->nr_shards + 1);
	err = job->tracks_err;
	for (size_t i = 0; i <= job->nr_shards && !err; i++)
		err = job->outs[i].err;
	for (unsigned int i = 0; i < job->nr_workers; i++)
		tally_add(&job->r->tally, job->decoders[i].tally);
	return err;
}

static void done_job(struct decode_job *job)
{
	for (size_t i = 0; job->outs && i <= job->nr_shards; i++)
		rec_out_done(&job->outs[i]);
	for (unsigned int i = 0; job->decoders && i < job->nr_workers; i++)
		decoder_done(&job->decoders[i]);
	free(job->outs);
	free(job->decoders);
	free(job->shards);
}

static int decode_and_merge(struct reader *r, const struct ev_sink *sink)
{
	struct decode_job job = { .r = r };
	int err = decode(&job);

	r->crop_ns = r->info.valid_from_ns = r->tally.valid_from_ns;
	if (!err) {
		reach_find(r, &job.outs[job.nr_shards]);
		err = job.outs[job.nr_shards].err;
	}
	if (!err)
		err = merge_all(r, job.outs, job.nr_shards + 1, sink);
	if (!err)
		err = tracks_finish(r);
	done_job(&job);
	return err;
}

/* Between the passes: everything that decoders look up is put in order. */
static int link_all(struct reader *r)
{
	int err = clocks_link(&r->clocks);

	if (!err)
		err = interned_link(r);
	if (err)
		return err;
	producer_find(r);
	names_link(&r->names, &r->clocks);
	if (r->meta->tracing_started && !r->meta->keeps_buffer)
		r->drop_before_ns = r->meta->tracing_started;
	return tracks_link(r);
}

bool perfetto_is_format(const uint8_t *bytes, size_t len)
{
	return len && bytes[0] == TRACE_PACKET_TAG;
}

static int index_bytes(struct reader *r, const struct trace_bytes *in, struct diag *d)
{
	int err = index_trace(r, in->bytes, in->len);

	if (err || r->info.nr_packets)
		return err;
	if (r->tally.damage[DAMAGE_TRUNCATED_BYTES])
		return diag_set(d, -EBADMSG, "was the recording interrupted?",
		                "'%s' ends within its first packet, or is not a Perfetto trace",
		                in->name);
	return reader_not_a_trace(in, d);
}

int perfetto_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
                  struct diag *d)
{
	int err = index_bytes(r, in, d);

	if (!err)
		err = link_all(r);
	return err ? err : decode_and_merge(r, sink);
}

uint64_t packet_ts_ns(const struct reader *r, const struct packet *pk, struct read_counts *t)
{
	uint32_t clock = pk->clock == CLOCK_OF_TRACE ? r->default_clock : pk->clock;

	if (pk->raw_ts == NO_TS || clock == CLOCK_OF_TRACE)
		return pk->raw_ts;
	if (!clocks_has_way(&r->clocks, clock))
		t->damage[DAMAGE_CLOCK_FAILED]++;
	return clocks_to_trace(&r->clocks, clock, pk->raw_ts);
}
