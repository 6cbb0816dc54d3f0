/* The data of all buffers and CPUs: chunks, pages, events. */
#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "trace/tracedat/dat.h"

#define PAGE_MAX (1U << 26)

/* What is done with the pages of one CPU of one buffer. */
struct area {
	struct dat *dat;
	uint32_t buffer; /* its number */
	struct ring_layout layout;
	struct ftrace_cpu *on; /* NULL: they are only counted */
	uint64_t *counts;      /* by id */
	bool is_begun;         /* a page has been read */
};

/* Whether an event is one that this buffer has to give. */
static bool is_owned(const struct area *a, uint32_t id)
{
	return !a->dat->owners || a->dat->owners[id] == a->buffer;
}

static void take_events(struct area *a, struct ring_page *p)
{
	struct dat *dat = a->dat;
	struct read_counts *t = a->on->dec->tally;
	const struct ftrace_format *format = NULL;
	struct ftrace_event_in e;
	struct ring_event event;
	uint32_t id;

	while (ring_page_next(p, &event)) {
		if (!ftrace_formats_id(&dat->formats, event.data, event.len, &id)) {
			t->damage[DAMAGE_EVENT_SHORT]++;
			continue;
		}
		if (!is_owned(a, id)) {
			t->damage[DAMAGE_EVENT_TWICE]++;
			continue;
		}
		if (!format || format->id != id)
			format = ftrace_formats_find(&dat->formats, id);
		if (!format) {
			t->totals[OF_EVENTS]++;
			tally_other(t, true, id);
			continue;
		}
		if (!ftrace_format_read(&dat->formats, format, event.data, event.len, &e)) {
			t->damage[DAMAGE_EVENT_SHORT]++;
			continue;
		}
		e.ts_ns = dat_clock_ns(&dat->clock, a->on->cpu, event.ts);
		ftrace_cpus_take(a->on, &e, format->name);
	}
}

static void count_events(struct area *a, struct ring_page *p)
{
	struct ring_event event;
	uint32_t id;

	while (ring_page_next(p, &event))
		if (ftrace_formats_id(&a->dat->formats, event.data, event.len, &id))
			a->counts[id]++;
}

/*
 * What was lost before the first page was overwritten, or never recorded: the data of the CPU begins there, as it would
 * without the loss.
 */
static void take_loss(struct area *a, const struct ring_page *p)
{
	uint64_t ts_ns = dat_clock_ns(&a->dat->clock, a->on->cpu, p->ts);

	if (a->is_begun)
		ftrace_cpus_lost(a->on, ts_ns, p->nr_lost);
	else if (ts_ns > a->dat->r->info.valid_from_ns)
		a->dat->r->info.valid_from_ns = ts_ns;
}

static void take_page(struct area *a, const uint8_t *bytes, size_t len)
{
	uint64_t *damage = a->dat->r->tally.damage;
	struct ring_page p;

	if (a->on)
		a->dat->r->tally.totals[OF_PAGES]++;
	if (!ring_page_open(&p, &a->layout, bytes, len)) {
		if (a->on)
			damage[DAMAGE_PAGE_BAD]++;
		return;
	}
	if (!p.ts && p.at == p.end)
		return; /* was never written */
	if (!a->on) {
		count_events(a, &p);
		return;
	}
	if (p.is_lost)
		take_loss(a, &p);
	take_events(a, &p);
	a->is_begun = true;
	damage[DAMAGE_PAGE_BAD] += p.is_bad;
}

static void take_pages(struct area *a, const uint8_t *bytes, size_t len)
{
	size_t page_bytes = a->layout.page_bytes;

	for (size_t at = 0; at < len; at += page_bytes)
		take_page(a, bytes + at, len - at < page_bytes ? len - at : page_bytes);
	if (a->on)
		a->dat->r->info.nr_plain_bytes += len;
}

/* How many chunks, then each with its size before and after. */
static int take_chunks(struct area *a, struct bytes_in in)
{
	struct dat *dat = a->dat;
	uint32_t nr = bytes_u32(&in), packed_bytes, plain_bytes;
	struct bytes_in block;
	int err = 0;

	for (uint32_t i = 0; i < nr && !in.is_bad; i++) {
		packed_bytes = bytes_u32(&in);
		plain_bytes = bytes_u32(&in);
		block = bytes_sub(&in, packed_bytes);
		if (in.is_bad)
			break;
		if (a->on)
			dat->r->tally.totals[OF_CHUNKS]++;
		err = dat_unpack(dat, block, plain_bytes, &dat->chunk);
		if (err == -EBADMSG) {
			if (a->on)
				dat->r->tally.damage[DAMAGE_CHUNK_BAD]++;
			continue;
		}
		if (err)
			return err;
		take_pages(a, dat->chunk.bytes, dat->chunk.len);
	}
	if (in.is_bad && a->on && !dat->r->info.incomplete) {
		dat->r->tally.totals[OF_CHUNKS]++;
		dat->r->tally.damage[DAMAGE_CHUNK_BAD]++;
	}
	return 0;
}

/* What of a CPU's data is in the file; so many bytes of it. */
static struct bytes_in find_data(struct dat *dat, const struct dat_cpu *c, uint64_t size,
                                 bool is_counted)
{
	uint64_t len = (uint64_t)(dat->all.end - dat->all.at), there;
	struct bytes_in in = dat->all;

	there = c->offset < len ? len - c->offset : 0;
	if (size > there && is_counted) {
		dat->r->tally.damage[DAMAGE_TRUNCATED_BYTES] += size - there;
		dat->r->tally.totals[OF_BYTES] += size - there; /* that should be there */
		dat->r->info.incomplete =
			"the file is shorter than it says: the last events of some CPUs are missing";
	}
	there = size < there ? size : there;
	if (there > dat->left_bytes) { /* of overlapping parts */
		dat->r->tally.damage[DAMAGE_OVER_CAP]++;
		there = 0;
	}
	dat->left_bytes -= there;
	in.at += there ? c->offset : 0;
	in.end = in.at + there;
	return in;
}

static int take_cpu(struct dat *dat, uint32_t nr, const struct dat_cpu *c, uint64_t *counts)
{
	const struct dat_buffer *b = &dat->buffers[nr];
	struct area a = { .dat = dat, .buffer = nr, .layout = dat->layout, .counts = counts };
	struct bytes_in in;

	if (!c->size)
		return 0;
	a.layout.page_bytes = b->page_bytes ? b->page_bytes : dat->page_bytes;
	if (a.layout.page_bytes <= a.layout.data_at || a.layout.page_bytes > PAGE_MAX) {
		dat->r->tally.totals[OF_PAGES] += !counts;
		dat->r->tally.damage[DAMAGE_PAGE_BAD] += !counts;
		return 0;
	}
	/* The number of chunks is not in the size that trace-cmd gives. */
	in = find_data(dat, c, c->size + (b->is_packed ? sizeof(uint32_t) : 0), !counts);
	if (!counts) {
		a.on = ftrace_cpus_get(&dat->cpus, c->cpu);
		if (!a.on)
			return dat->cpus.err;
		if (nr) { /* other buffers of the CPU are as old as the first */
			decoder_run_end(a.on->dec);
			decoder_run_begin(a.on->dec, a.on->cpu * LANES_PER_CPU + LANE_EVENTS);
		}
	}
	if (b->is_packed)
		return take_chunks(&a, in);
	take_pages(&a, in.at, (size_t)bytes_left(&in));
	return 0;
}

static int take_buffer(struct dat *dat, uint32_t nr, uint64_t *counts)
{
	const struct dat_buffer *b = &dat->buffers[nr];
	int err = 0;

	for (size_t i = 0; i < b->nr_cpus && !err && !b->is_left_out; i++)
		err = take_cpu(dat, nr, &b->cpus[i], counts);
	return err;
}

static bool has_data(const struct dat_buffer *b)
{
	bool is_there = false;

	for (size_t i = 0; i < b->nr_cpus && !b->is_left_out; i++)
		is_there |= b->cpus[i].size != 0;
	return is_there;
}

static void begin_pass(struct dat *dat)
{
	dat->left_bytes = (uint64_t)(dat->all.end - dat->all.at);
	dat->left_unpacked = dat_unpacked_max(dat->left_bytes);
}

/* Which buffer has the most of each event. */
static int find_owners(struct dat *dat)
{
	size_t nr_used = 0;
	uint64_t *counts, *most;
	int err = 0;

	for (size_t i = 0; i < dat->nr_buffers; i++)
		nr_used += has_data(&dat->buffers[i]);
	if (nr_used < 2)
		return 0;
	counts = calloc(DAT_IDS, sizeof(*counts));
	most = calloc(DAT_IDS, sizeof(*most));
	dat->owners = calloc(DAT_IDS, sizeof(*dat->owners));
	if (!counts || !most || !dat->owners)
		err = -ENOMEM;
	begin_pass(dat);
	for (uint32_t nr = 0; nr < dat->nr_buffers && !err; nr++) {
		if (!has_data(&dat->buffers[nr]))
			continue;
		memset(counts, 0, DAT_IDS * sizeof(*counts));
		err = take_buffer(dat, nr, counts);
		for (uint32_t id = 0; id < DAT_IDS && !err; id++)
			if (counts[id] > most[id]) {
				most[id] = counts[id];
				dat->owners[id] = (uint16_t)nr;
			}
	}
	free(counts);
	free(most);
	return err;
}

static uint32_t find_symbol(struct ftrace_cpu *on, uint64_t address)
{
	struct dat *dat = (struct dat *)(uintptr_t)on->find_ctx; /* ours, not const */
	size_t len;
	const char *name = functions_find(&dat->symbols, address, &len);

	return name ? decoder_text(on->dec, name, len) : 0;
}

int dat_read_buffers(struct dat *dat, const struct ev_sink *sink)
{
	const struct trace_read_cfg *cfg = &dat->r->cfg;
	int err = find_owners(dat);

	dat->cpus =
		(struct ftrace_cpus){ .r = dat->r, .find_symbol = find_symbol, .find_ctx = dat };
	dat->symbols.budget = cfg->budget;
	begin_pass(dat);
	for (uint32_t nr = 0; nr < dat->nr_buffers && !err; nr++) {
		err = take_buffer(dat, nr, NULL);
		if (cfg->progress)
			cfg->progress(cfg->progress_ctx, nr + 1, 2 * dat->nr_buffers);
	}
	return err ? err : ftrace_cpus_merge(&dat->cpus, sink);
}
