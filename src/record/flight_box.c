#include "record/flight_box.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/run_losses.h"
#include "model/pair.h"
#include "model/tasks.h"
#include "record/evicted_state.h"
#include "record/record_ring.h"

#define PUMP_BYTES   (8U << 20) /* of records between two reads of the kernel's rings */
#define DEAD_KEEP_NS 1000000000ULL

struct flight_box {
	struct flight_box_cfg cfg;
	struct tasks *tasks;
	struct pair *pair;
	struct ev_sink model;
	struct trigger_eval *eval;
	struct record_ring *ring;
	struct evicted_state *left;
	uint64_t first_ns; /* of all records; 0 = none yet */
	uint64_t now_ns;

	/* The dump that is being written. */
	struct trace_writer *writer; /* NULL = none */
	struct ev_sink out;
	struct flight_dump dump;
	uint64_t end_ns; /* last moment that belongs to it */

	uint64_t ready_ns; /* not before that does the next trigger count */
	uint64_t nr_dumps;
	uint64_t nr_failed;
	uint64_t nr_fired;
	uint64_t nr_ignored;
};

/* Of the whole run: what a filter or a trigger missed is not known by time. */
static void emit_losses(const struct flight_box *b)
{
	struct trace_losses losses = { 0 };
	struct losses triggers;

	if (b->cfg.calls.losses)
		b->cfg.calls.losses(b->cfg.calls.ctx, &losses.run);
	run_losses(&(struct run_losses_of){ .trigger_calls = trigger_eval_no_room(b->eval) },
	           &triggers);
	for (int i = 0; i < NR_LOSSES; i++)
		losses.run.nr[i] += triggers.nr[i];
	trace_writer_losses(b->writer, &losses);
}

static void end_dump(struct flight_box *b, int err)
{
	const struct diag *why = trace_writer_error(b->writer);
	struct trace_writer_stats stats;
	int closing;

	if (err && why)
		b->dump.diag = *why;
	emit_losses(b);
	/* Flushed first, so that the bytes are all counted. */
	if (!err)
		err = trace_writer_flush(b->writer, &b->dump.diag);
	trace_writer_stats(b->writer, &stats);
	closing = trace_writer_close(b->writer, err ? NULL : &b->dump.diag);
	if (!b->dump.diag.code && (err || closing))
		diag_set(&b->dump.diag, err ? err : closing, NULL, "cannot write the trace");
	b->writer = NULL;
	b->dump.records = stats.nr_records;
	b->dump.bytes = stats.nr_bytes;
	if (b->now_ns > b->dump.hit.ts_ns)
		b->dump.after_ns = b->now_ns - b->dump.hit.ts_ns;
	if (b->dump.after_ns > b->cfg.after_ns)
		b->dump.after_ns = b->cfg.after_ns;
	b->nr_failed += b->dump.diag.code != 0;
	b->ready_ns = b->now_ns + b->cfg.cooldown_ns;
	record_ring_release(b->ring);
	b->cfg.calls.ended(b->cfg.calls.ctx, &b->dump);
}

static void write_record(struct flight_box *b, const struct ev_hdr *rec)
{
	int err = b->out.push(b->out.ctx, rec);

	if (err)
		end_dump(b, err);
}

static void on_leave(void *ctx, const struct ev_hdr *rec, bool is_unread)
{
	struct flight_box *b = ctx;

	if (is_unread && b->writer && rec->ts_ns <= b->end_ns)
		write_record(b, rec);
	evicted_state_add(b->left, rec);
}

static const char *text_of(const struct flight_box *b, const struct trigger_hit *hit)
{
	return hit->kind == TRIGGER_USER ? "SIGUSR2" : b->cfg.trigger_texts[hit->trigger];
}

static int open_dump(struct flight_box *b, const struct trigger_hit *hit)
{
	struct trace_attr attrs[] = {
		{ .key = "trigger", .text = text_of(b, hit) },
		{ .key = "trigger_time_ns", .number = (int64_t)hit->ts_ns },
		{ .key = "trigger_value", .number = (int64_t)hit->value },
		{ .key = "trigger_tid", .number = hit->tid },
		{ .key = "trigger_comm", .text = hit->comm },
		{ .key = "keep_ns", .number = (int64_t)b->cfg.keep_ns },
		{ .key = "after_ns", .number = (int64_t)b->cfg.after_ns },
	};

	return b->cfg.calls.open(b->cfg.calls.ctx, hit, attrs, sizeof(attrs) / sizeof(attrs[0]),
	                         &b->dump.diag, &b->writer);
}

static int mark_hit(struct flight_box *b, const struct trigger_hit *hit)
{
	struct trace_attr args[] = {
		{ .key = "value", .number = (int64_t)hit->value },
		{ .key = "tid", .number = hit->tid },
		{ .key = "cpu", .number = hit->cpu == PAIR_NO_CPU ? -1 : hit->cpu },
	};
	struct trace_mark mark = {
		.ts_ns = hit->ts_ns,
		.name = text_of(b, hit),
		.args = args,
		.nr_args = hit->kind == TRIGGER_USER ? 0 : 3,
	};

	return trace_writer_mark(b->writer, &mark);
}

/* The state from before, and what fired: then what the ring holds can follow. */
static int begin_trace(struct flight_box *b, const struct trigger_hit *hit, uint64_t oldest_ns)
{
	uint64_t since_ns = oldest_ns > b->cfg.keep_ns ? oldest_ns - b->cfg.keep_ns : 0;
	int err = evicted_state_emit(b->left, &b->out, oldest_ns, since_ns);

	return err ? err : mark_hit(b, hit);
}

/* How much of the time before ts_ns the ring knows; it may be short of memory, or of life. */
static uint64_t covered_ns(const struct flight_box *b, uint64_t ts_ns)
{
	uint64_t cut_ns = record_ring_cut_ns(b->ring);
	uint64_t since_ns = cut_ns > b->first_ns ? cut_ns : b->first_ns;
	uint64_t ns = b->first_ns && ts_ns > since_ns ? ts_ns - since_ns : 0;

	return ns < b->cfg.keep_ns ? ns : b->cfg.keep_ns;
}

static void begin_dump(struct flight_box *b, const struct trigger_hit *hit)
{
	uint64_t oldest_ns;
	int err;

	b->dump = (struct flight_dump){ .hit = *hit };
	b->nr_dumps++;
	if (!record_ring_oldest_ns(b->ring, &oldest_ns) || oldest_ns > hit->ts_ns)
		oldest_ns = hit->ts_ns;
	b->dump.before_ns = covered_ns(b, hit->ts_ns);
	b->dump.is_cut = record_ring_nr_cut(b->ring) &&
	                 record_ring_cut_ns(b->ring) + b->cfg.keep_ns > hit->ts_ns;
	b->end_ns = hit->ts_ns + b->cfg.after_ns;
	if (open_dump(b, hit)) {
		b->nr_failed++;
		b->ready_ns = b->now_ns + b->cfg.cooldown_ns;
		b->cfg.calls.ended(b->cfg.calls.ctx, &b->dump);
		return;
	}
	b->out = trace_writer_sink(b->writer);
	record_ring_rewind(b->ring);
	err = begin_trace(b, hit, oldest_ns);
	if (err)
		end_dump(b, err);
}

static bool may_dump(const struct flight_box *b)
{
	return !b->writer && (!b->cfg.max_dumps || b->nr_dumps < b->cfg.max_dumps);
}

static void on_fire(void *ctx, const struct trigger_hit *hit)
{
	struct flight_box *b = ctx;

	if (b->cfg.self_tgid && hit->tgid == b->cfg.self_tgid)
		return;
	b->nr_fired++;
	if (may_dump(b) && b->now_ns >= b->ready_ns)
		begin_dump(b, hit);
	else
		b->nr_ignored++;
}

void flight_box_ask(struct flight_box *b, uint64_t ts_ns)
{
	struct trigger_hit hit = { .kind = TRIGGER_USER, .ts_ns = ts_ns, .cpu = PAIR_NO_CPU };

	b->nr_fired++;
	if (may_dump(b))
		begin_dump(b, &hit);
	else
		b->nr_ignored++;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct flight_box *b = ctx;
	int err;

	if (!b->first_ns)
		b->first_ns = rec->ts_ns;
	if (rec->ts_ns > b->now_ns)
		b->now_ns = rec->ts_ns;
	/* First kept, then judged: what fires is in its own dump. */
	err = record_ring_add(b->ring, rec);
	if (err)
		return err;
	if (rec->kind == EV_LOST)
		trigger_eval_lost(b->eval, (const struct ev_lost *)rec);
	err = b->model.push(b->model.ctx, rec);
	trigger_eval_advance(b->eval, b->now_ns);
	return err;
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct flight_box *b = ctx;
	int err;

	if (ts_ns > b->now_ns)
		b->now_ns = ts_ns;
	record_ring_advance(b->ring, ts_ns);
	err = b->model.advance(b->model.ctx, ts_ns);
	trigger_eval_advance(b->eval, b->now_ns);
	return err;
}

struct ev_sink flight_box_sink(struct flight_box *b)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = b };
}

struct trigger_eval *flight_box_triggers(struct flight_box *b)
{
	return b->eval;
}

/* The next record of the dump; false if there is none for now, or none any more. */
static bool write_next(struct flight_box *b, size_t *bytes)
{
	const struct ev_hdr *rec = b->writer ? record_ring_next(b->ring) : NULL;

	if (!rec) {
		if (b->writer && b->now_ns > b->end_ns)
			end_dump(b, 0);
		return false;
	}
	if (rec->ts_ns > b->end_ns) {
		end_dump(b, 0);
		return false;
	}
	*bytes += rec->size;
	write_record(b, rec);
	return true;
}

bool flight_box_pump(struct flight_box *b)
{
	size_t bytes = 0;

	while (bytes < PUMP_BYTES)
		if (!write_next(b, &bytes))
			return false;
	return true;
}

void flight_box_finish(struct flight_box *b)
{
	while (flight_box_pump(b))
		;
	if (b->writer)
		end_dump(b, 0);
}

bool flight_box_is_done(const struct flight_box *b)
{
	return b->cfg.max_dumps && b->nr_dumps >= b->cfg.max_dumps && !b->writer;
}

void flight_box_stats(const struct flight_box *b, struct flight_box_stats *out)
{
	*out = (struct flight_box_stats){
		.dumps = b->nr_dumps,
		.failed = b->nr_failed,
		.fired = b->nr_fired,
		.ignored = b->nr_ignored,
		.bytes = record_ring_bytes(b->ring),
		.nr_cut = record_ring_nr_cut(b->ring),
		.is_dumping = b->writer != NULL,
		.covered_ns = covered_ns(b, b->now_ns),
	};
	run_losses(&(struct run_losses_of){ .trigger_calls = trigger_eval_no_room(b->eval) },
	           &out->losses);
}

static int make_model(struct flight_box *b)
{
	struct tasks_cfg tasks = { .keep_dead_ns = DEAD_KEEP_NS };
	struct trigger_eval_cfg eval = {
		.triggers = b->cfg.triggers, .nr = b->cfg.nr_triggers, .fire = on_fire, .ctx = b
	};
	struct pair_cfg pair = { .nr_cpus = b->cfg.nr_cpus };
	struct pair_out out;
	int err = tasks_new(&tasks, &b->tasks);

	pair.tasks = eval.tasks = b->tasks;
	if (!err)
		err = pair_new(&pair, &b->pair);
	eval.pair = b->pair;
	if (!err)
		err = trigger_eval_new(&eval, &b->eval);
	if (err)
		return err;
	out = trigger_eval_out(b->eval);
	b->model = pair_sink(b->pair);
	return pair_add_out(b->pair, &out);
}

DEFINE_SCOPED(flight_box, flight_box_free)

int flight_box_new(const struct flight_box_cfg *cfg, struct diag *d, struct flight_box **out)
{
	SCOPED(scoped_flight_box) struct flight_box *b = calloc(1, sizeof(*b));
	struct record_ring_cfg ring = {
		.keep_ns = cfg->keep_ns, .max_bytes = cfg->keep_bytes, .leaves = on_leave, .ctx = b
	};
	int err = b ? 0 : -ENOMEM;

	if (err)
		return diag_set(d, err, NULL, "out of memory");
	b->cfg = *cfg;
	err = make_model(b);
	if (!err)
		err = evicted_state_new(cfg->nr_cpus, &b->left);
	if (!err)
		err = record_ring_new(&ring, &b->ring);
	if (err)
		return diag_set(d, err, NULL, "cannot set up the flight recorder");
	*out = TAKE_PTR(b);
	return 0;
}

void flight_box_free(struct flight_box *b)
{
	if (!b)
		return;
	if (b->writer)
		end_dump(b, 0);
	trigger_eval_free(b->eval);
	pair_free(b->pair);
	tasks_free(b->tasks);
	evicted_state_free(b->left);
	record_ring_free(b->ring);
	free(b);
}
