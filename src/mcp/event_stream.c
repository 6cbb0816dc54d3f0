#include "mcp/event_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_facts.h"
#include "analyze/event_filter.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "mcp/outgoing.h"
#include "mcp/resource.h"
#include "model/event_buffer.h"
#include "model/live.h"
#include "render/report_json.h"
#include "session/live_feed.h"

#define EVENT_BYTES   ((size_t)64 << 10) /* of the facts of one event */
#define DEFAULT_LIMIT 20U
#define DEFAULT_BYTES 4600U
#define SCAN_MAX      16384U /* events that one look for news goes through */
#define PID_MAX       4194304U
#define CPU_MAX       8191U

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

int stream_wish_settle(struct stream_wish *w, struct diag *d)
{
	bool is_any = !w->types[0] || strcmp(w->types, "all") == 0;
	int err = live_feed_kinds(w->types, d, &w->kinds);

	w->told = 0;
	for (unsigned int kind = 0; !err && kind < 64; kind++) {
		const char *name = w->kinds & 1ULL << kind ? stream_type_name(kind) : NULL;

		/* A softirq is told of when it ends, unless its beginning is asked for. */
		if (name &&
		    (is_any ? strcmp(name, "softirq_entry") != 0 : is_listed(w->types, name)))
			w->told |= 1ULL << kind;
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

int stream_wish_parse(const char *query, struct stream_wish *out, struct diag *d)
{
	uint64_t cursor = UINT64_MAX;
	int err;

	*out = (struct stream_wish){ .sample_rate = 1, .limit = DEFAULT_LIMIT };
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
	return err ? err : stream_wish_settle(out, d);
}

int stream_wish_filter(const struct stream_wish *w, struct diag *d, struct event_filter **out)
{
	struct event_filter_cfg cfg = {
		.pids = &w->pid,
		.nr_pids = w->has_pid,
		.comm_regex = w->comm[0] ? w->comm : NULL,
		.has_min_latency = w->has_min_latency,
		.min_latency_us = w->min_latency_us,
		.sample_rate = w->sample_rate,
	};

	*out = NULL;
	if (!w->has_pid && !w->comm[0] && !w->has_min_latency && w->sample_rate >= 1)
		return 0;
	return event_filter_new(&cfg, d, out);
}

/* Its facts, if it is wanted; NULL otherwise. They live in scratch until the next one. */
static struct facts *take(const struct stream_wish *w, const struct event_filter *filter,
                          const struct live_view *v, const struct event_entry *e,
                          struct arena *scratch)
{
	struct facts *f;

	if (!(w->told & 1ULL << e->rec->kind) || (w->has_cpu && e->rec->cpu != w->cpu))
		return NULL;
	arena_reset(scratch);
	f = facts_new(scratch);
	if (!f)
		return NULL;
	event_facts(e, v->tasks, f);
	if (filter && !event_filter_passes(filter, &f->node, e->number))
		return NULL;
	facts_u64(f, "number", e->number);
	return f;
}

/* What was chosen, as JSON texts. */
struct chosen {
	struct outgoing *texts;
	uint64_t nr;
	size_t bytes;
	uint64_t seen; /* the last number that was looked at */
	bool has_more;
};

/* False when it does not fit any more; the first one always does. */
static bool keep(struct chosen *c, const struct stream_wish *w, const struct facts *f)
{
	struct outgoing o = { 0 };

	if (c->nr == w->limit || outgoing_begin(&o))
		return false;
	report_json(&o.w, NULL, &f->node);
	if (outgoing_end(&o) || (c->nr && c->bytes + o.len > w->max_bytes)) {
		outgoing_done(&o);
		return false;
	}
	c->bytes += o.len + 1;
	c->texts[c->nr++] = o;
	return true;
}

static void choose_after(const struct stream_wish *w, const struct event_filter *filter,
                         const struct live_view *v, struct arena *scratch, struct chosen *c)
{
	struct event_entry e;

	c->seen = w->cursor;
	for (uint32_t i = event_buffer_after(v->stream, w->cursor);
	     event_buffer_at(v->stream, i, &e); i++) {
		const struct facts *f = take(w, filter, v, &e, scratch);

		if (f && !keep(c, w, f)) {
			c->has_more = true;
			return;
		}
		c->seen = e.number;
	}
}

/* From the newest on, then turned round. */
static void choose_newest(const struct stream_wish *w, const struct event_filter *filter,
                          const struct live_view *v, struct arena *scratch, struct chosen *c)
{
	struct event_buffer_stats s;
	struct event_entry e;

	event_buffer_stats(v->stream, &s);
	c->seen = s.total_received;
	for (uint32_t i = s.current_size; i-- > 0 && event_buffer_at(v->stream, i, &e);) {
		const struct facts *f = take(w, filter, v, &e, scratch);

		if (f && !keep(c, w, f))
			break;
	}
	for (uint64_t i = 0; i < c->nr / 2; i++) {
		struct outgoing swap = c->texts[i];

		c->texts[i] = c->texts[c->nr - 1 - i];
		c->texts[c->nr - 1 - i] = swap;
	}
}

static void put_observed(struct json_writer *out, const struct live_view *v)
{
	struct event_buffer_stats s;
	struct pair_breaks breaks;

	event_buffer_stats(v->stream, &s);
	pair_breaks(live_pair(v->live), &breaks);
	jw_begin_object(out, "observed");
	jw_u64(out, "sampled_one_in", pair_sampling(live_pair(v->live)));
	jw_u64(out, "lost_records", breaks.lost_records);
	jw_u64(out, "events_received", s.total_received);
	jw_u64(out, "events_kept", s.current_size);
	jw_end_object(out);
}

static void put_chosen(struct json_writer *out, const struct stream_wish *w,
                       const struct live_view *v, struct chosen *c)
{
	struct event_buffer_stats s;

	event_buffer_stats(v->stream, &s);
	jw_begin_array(out, "events");
	for (uint64_t i = 0; i < c->nr; i++)
		jw_raw(out, NULL, c->texts[i].text, c->texts[i].len);
	jw_end_array(out);
	jw_u64(out, "count", c->nr);
	jw_u64(out, "next_cursor", c->seen);
	jw_bool(out, "has_more", c->has_more);
	jw_u64(out, "dropped",
	       w->has_cursor && s.total_dropped > w->cursor ? s.total_dropped - w->cursor : 0);
	put_observed(out, v);
}

int event_stream_put(struct live_feed *f, const struct stream_wish *w, struct json_writer *out,
                     struct diag *d)
{
	SCOPED(scoped_arena) struct arena *scratch = arena_new(EVENT_BYTES);
	struct stream_wish wish = *w;
	struct event_filter *filter = NULL;
	struct chosen c = { .texts = calloc(w->limit + 1, sizeof(*c.texts)) };
	struct live_view v;
	int err;

	wish.max_bytes = w->max_bytes ? w->max_bytes : DEFAULT_BYTES;
	if (!scratch || !c.texts) {
		free(c.texts);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	err = stream_wish_filter(w, d, &filter);
	if (!err)
		err = live_feed_borrow(f, LIVE_USE_STREAM, w->kinds, d);
	if (!err) {
		v = live_feed_lock(f);
		if (w->has_cursor)
			choose_after(&wish, filter, &v, scratch, &c);
		else
			choose_newest(&wish, filter, &v, scratch, &c);
		put_chosen(out, w, &v, &c);
		live_feed_unlock(f);
	}
	for (uint64_t i = 0; i < c.nr; i++)
		outgoing_done(&c.texts[i]);
	free(c.texts);
	event_filter_free(filter);
	return err;
}

uint64_t event_stream_newest(struct live_feed *f, const struct stream_wish *w,
                             const struct event_filter *filter, uint64_t match, uint64_t *scanned)
{
	SCOPED(scoped_arena) struct arena *scratch = arena_new(EVENT_BYTES);
	struct live_view v = live_feed_lock_now(f);
	struct event_buffer_stats s;
	struct event_entry e;
	uint32_t first = event_buffer_after(v.stream, *scanned);

	event_buffer_stats(v.stream, &s);
	if (s.current_size > SCAN_MAX && first < s.current_size - SCAN_MAX)
		first = s.current_size - SCAN_MAX;
	for (uint32_t i = s.current_size;
	     scratch && i-- > first && event_buffer_at(v.stream, i, &e);) {
		if (!take(w, filter, &v, &e, scratch))
			continue;
		match = e.number;
		break;
	}
	*scanned = s.total_received;
	live_feed_unlock(f);
	return match;
}
