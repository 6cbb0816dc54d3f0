#include "mcp/event_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_facts.h"
#include "analyze/event_filter.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/loss.h"
#include "live/live_feed.h"
#include "mcp/outgoing.h"
#include "mcp/resource.h"
#include "model/event_log.h"
#include "model/event_notes.h"
#include "render/report_json.h"

#define EVENT_BYTES    ((size_t)64 << 10) /* of the facts of one event */
#define DEFAULT_LIMIT  20U
#define DEFAULT_BYTES  4600U
#define BLOCK          256U   /* records that are lent at once */
#define SCAN_MAX       16384U /* events that one check for new ones goes through */
#define PID_MAX        4194304U
#define SENTENCE_BYTES 256U
#define CPU_MAX        8191U

static bool is_listed(const char *types, const char *name)
{
	size_t name_len = strlen(name);

	while (*types) {
		size_t len = strcspn(types, ",");

		if (len == name_len && strncmp(types, name, len) == 0)
			return true;
		types += len + (types[len] == ',');
	}
	return false;
}

int stream_request_settle(struct stream_request *r, struct diag *d)
{
	bool is_any = !r->types[0] || strcmp(r->types, "all") == 0;
	int err = live_feed_kinds(r->types, d, &r->kinds);

	r->reported = 0;
	for (unsigned int kind = 0; !err && kind < 64; kind++) {
		const char *name = r->kinds & 1ULL << kind ? stream_type_name(kind) : NULL;

		/* A softirq is reported when it ends, unless its beginning is requested. */
		if (name &&
		    (is_any ? strcmp(name, "softirq_entry") != 0 : is_listed(r->types, name)))
			r->reported |= 1ULL << kind;
	}
	return err;
}

static int parse_u32(const char *query, const char *key, uint32_t max, bool *has, uint32_t *out,
                     struct diag *d)
{
	uint64_t value = UINT64_MAX;
	int err = resource_query_u64(query, key, 0, max, &value, d);

	*has = !err && value != UINT64_MAX;
	*out = *has ? (uint32_t)value : 0;
	return err;
}

int stream_request_parse(const char *query, struct stream_request *out, struct diag *d)
{
	uint64_t cursor = UINT64_MAX;
	int err;

	*out = (struct stream_request){ .sample_rate = 1, .limit = DEFAULT_LIMIT };
	(void)resource_query(query, "types", out->types, sizeof(out->types));
	(void)resource_query(query, "comm", out->comm, sizeof(out->comm));
	err = parse_u32(query, "cpu", CPU_MAX, &out->has_cpu, &out->cpu, d);
	if (!err)
		err = parse_u32(query, "pid", PID_MAX, &out->has_pid, &out->pid, d);
	if (!err)
		err = resource_query_u64(query, "cursor", 0, INT64_MAX, &cursor, d);
	if (!err)
		err = resource_query_u64(query, "limit", 1, STREAM_LIMIT_MAX, &out->limit, d);
	out->has_cursor = cursor != UINT64_MAX;
	out->cursor = out->has_cursor ? cursor : 0;
	return err ? err : stream_request_settle(out, d);
}

int stream_request_filter(const struct stream_request *r, struct diag *d, struct event_filter **out)
{
	struct event_filter_cfg cfg = {
		.pids = &r->pid,
		.nr_pids = r->has_pid,
		.comm_regex = r->comm[0] ? r->comm : NULL,
		.has_min_latency = r->has_min_latency,
		.min_latency_us = r->min_latency_us,
		.sample_rate = r->sample_rate,
	};

	*out = NULL;
	if (!r->has_pid && !r->comm[0] && !r->has_min_latency && r->sample_rate >= 1)
		return 0;
	return event_filter_new(&cfg, d, out);
}

/* What is searched for, and where. */
struct event_search {
	const struct stream_request *request;
	const struct event_filter *filter;
	struct live_events events;
	struct arena *scratch;
};

/* The facts of a record, if it is wanted; NULL otherwise. They live in scratch until the next one. */
static struct facts *take(const struct event_search *s, const struct ev_hdr *rec, uint64_t number)
{
	const struct stream_request *r = s->request;
	struct event_entry e = event_notes_read(rec);
	struct facts *f;

	if (!(r->reported & 1ULL << rec->kind) || (r->has_cpu && rec->cpu != r->cpu))
		return NULL;
	arena_reset(s->scratch);
	f = facts_new(s->scratch);
	if (!f)
		return NULL;
	event_facts(&e, s->events.tasks, f);
	if (s->filter && !event_filter_passes(s->filter, &f->node, number))
		return NULL;
	facts_u64(f, "number", number);
	return f;
}

/* Of every record, with its facts if it is wanted; false ends the walk. */
typedef bool record_fn(void *ctx, uint64_t number, const struct facts *f);

/* The records [from, to), upwards or from the newest on. */
static void walk(const struct event_search *s, uint64_t from, uint64_t to, bool is_down,
                 record_fn *fn, void *ctx)
{
	const struct ev_hdr *recs[BLOCK];

	while (from < to) {
		uint64_t some = to - from < BLOCK ? to - from : BLOCK;
		uint64_t at = is_down ? to - some : from;
		uint32_t nr = event_log_lend(s->events.log, at, recs, (uint32_t)some);

		for (uint32_t i = 0; i < nr; i++) {
			uint32_t k = is_down ? nr - 1 - i : i;

			if (!fn(ctx, at + k, take(s, recs[k], at + k)))
				return;
		}
		if (is_down)
			to = at;
		else
			from = at + some;
	}
}

/* What was chosen, as JSON texts. */
struct chosen {
	const struct stream_request *request;
	size_t max_bytes;
	struct outgoing *texts;
	uint64_t nr;
	size_t bytes;
	uint64_t seen; /* the last number that was read */
	bool has_more;
};

/* False when it does not fit any more; the first one always does. */
static bool keep(struct chosen *c, const struct facts *f)
{
	struct outgoing o = { 0 };

	if (c->nr == c->request->limit || outgoing_begin(&o))
		return false;
	report_json(&o.w, NULL, &f->node);
	if (outgoing_end(&o) || (c->nr && c->bytes + o.len > c->max_bytes)) {
		outgoing_done(&o);
		return false;
	}
	c->bytes += o.len + 1;
	c->texts[c->nr++] = o;
	return true;
}

static bool keep_next(void *ctx, uint64_t number, const struct facts *f)
{
	struct chosen *c = ctx;

	if (f && !keep(c, f)) {
		c->has_more = true;
		return false;
	}
	c->seen = number;
	return true;
}

static bool keep_newest(void *ctx, uint64_t number, const struct facts *f)
{
	(void)number;
	return !f || keep(ctx, f);
}

static void choose_after(const struct event_search *s, struct chosen *c)
{
	uint64_t first = live_events_first(&s->events), cursor = s->request->cursor;

	c->seen = cursor;
	walk(s, cursor < first ? first : cursor + 1, live_events_end(&s->events), false, keep_next,
	     c);
}

/* From the newest on, then turned round. */
static void choose_newest(const struct event_search *s, struct chosen *c)
{
	uint64_t end = live_events_end(&s->events);

	c->seen = end - 1;
	walk(s, live_events_first(&s->events), end, true, keep_newest, c);
	for (uint64_t i = 0; i < c->nr / 2; i++) {
		struct outgoing swap = c->texts[i];

		c->texts[i] = c->texts[c->nr - 1 - i];
		c->texts[c->nr - 1 - i] = swap;
	}
}

static void put_observed(struct json_writer *out, const struct live_events *e)
{
	jw_begin_object(out, "observed");
	jw_u64(out, "sampled_one_in", e->sampling);
	jw_u64(out, "lost_records", e->lost);
	jw_u64(out, "events_received", live_events_end(e) - 1);
	jw_u64(out, "events_kept", live_events_end(e) - live_events_first(e));
	jw_u64(out, "events_cut", event_log_cut(e->log));
	jw_end_object(out);
}

void event_stream_put_aborted(struct json_writer *out, uint64_t nr)
{
	char text[SENTENCE_BYTES];

	if (!nr)
		return;
	jw_u64(out, loss_name(LOSS_searches_aborted), nr);
	jw_string(out, "incomplete", loss_sentence(text, sizeof(text), LOSS_searches_aborted, nr));
}

static void put_chosen(struct json_writer *out, const struct event_search *s, struct chosen *c)
{
	uint64_t gone = live_events_first(&s->events) - 1;
	const struct stream_request *r = s->request;

	jw_begin_array(out, "events");
	for (uint64_t i = 0; i < c->nr; i++)
		jw_raw(out, NULL, c->texts[i].text, c->texts[i].len);
	jw_end_array(out);
	jw_u64(out, "count", c->nr);
	jw_u64(out, "next_cursor", c->seen);
	jw_bool(out, "has_more", c->has_more);
	jw_u64(out, "dropped", r->has_cursor && gone > r->cursor ? gone - r->cursor : 0);
	put_observed(out, &s->events);
}

static int put_found(struct live_feed *f, struct event_search *s, struct json_writer *out,
                     struct diag *d)
{
	const struct stream_request *r = s->request;
	struct chosen c = { .request = r,
		            .max_bytes = r->max_bytes ? r->max_bytes : DEFAULT_BYTES };
	int err;

	c.texts = calloc(r->limit + 1, sizeof(*c.texts));
	if (!c.texts)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = live_feed_borrow(f, LIVE_USE_STREAM, r->kinds, d);
	if (!err)
		err = live_feed_events(f, true, d, &s->events);
	if (!err) {
		if (r->has_cursor)
			choose_after(s, &c);
		else
			choose_newest(s, &c);
		put_chosen(out, s, &c);
		event_stream_put_aborted(out, event_filter_nr_aborted(s->filter));
	}
	live_events_done(&s->events);
	for (uint64_t i = 0; i < c.nr; i++)
		outgoing_done(&c.texts[i]);
	free(c.texts);
	return err;
}

int event_stream_put(struct live_feed *f, const struct stream_request *r, struct json_writer *out,
                     struct diag *d)
{
	SCOPED(scoped_arena) struct arena *scratch = arena_new(EVENT_BYTES);
	struct event_filter *filter = NULL;
	struct event_search s = { .request = r, .scratch = scratch };
	int err = scratch ? stream_request_filter(r, d, &filter)
	                  : diag_set(d, -ENOMEM, NULL, "out of memory");

	s.filter = filter;
	if (!err)
		err = put_found(f, &s, out, d);
	event_filter_free(filter);
	return err;
}

static bool is_match(void *ctx, uint64_t number, const struct facts *f)
{
	if (f)
		*(uint64_t *)ctx = number;
	return !f;
}

uint64_t event_stream_newest(struct live_feed *f, const struct stream_request *r,
                             const struct event_filter *filter, uint64_t match, uint64_t *scanned)
{
	SCOPED(scoped_arena) struct arena *scratch = arena_new(EVENT_BYTES);
	struct event_search s = { .request = r, .filter = filter, .scratch = scratch };
	struct diag d = { 0 };
	uint64_t from, end;

	if (!scratch || live_feed_events(f, false, &d, &s.events))
		return match; /* another time */
	from = live_events_first(&s.events);
	end = live_events_end(&s.events);
	from = from > *scanned ? from : *scanned + 1;
	if (end - from > SCAN_MAX && end > from)
		from = end - SCAN_MAX;
	walk(&s, from, end, true, is_match, &match);
	*scanned = end - 1;
	live_events_done(&s.events);
	return match;
}
