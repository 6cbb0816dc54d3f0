#include "mcp/trigger_story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "live/live_feed.h"
#include "live/live_shot.h"
#include "mcp/outgoing.h"
#include "record/flight_name.h"
#include "render/report_json.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000.0
#define SENTENCES 6U
#define CAUSES    4U

/* The clock of records goes on from the boot, that of people from another moment. */
static void put_when(struct json_writer *w, uint64_t ts_ns)
{
	uint64_t ago_ns = clock_boot_ns() - ts_ns;
	uint64_t unix_ns = clock_read_ns(CLOCK_REALTIME) - ago_ns;
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	struct tm utc = { 0 };
	char text[40];
	size_t len;

	gmtime_r(&seconds, &utc);
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(text + len, sizeof(text) - len, ".%03uZ",
	               (unsigned int)(unix_ns % NS_PER_S / 1000000));
	jw_string(w, "at", text);
	jw_u64(w, "timestamp_ns", ts_ns);
}

static void put_copy(struct json_writer *w, const struct report_node *row, const char *key)
{
	const struct report_node *n = report_at(row, key);

	if (n && n->type != REPORT_NULL)
		report_json(w, key, n);
}

static void put_sentences(struct json_writer *w, const struct report_node *row)
{
	const struct report_node *list = report_at(row, "sentences");
	uint32_t nr = 0;

	jw_begin_array(w, "sentences");
	for (const struct report_node *n = list ? list->first : NULL; n && nr < SENTENCES;
	     n = n->next, nr++)
		report_json(w, NULL, n);
	jw_end_array(w);
}

static bool is_small(const struct report_node *part)
{
	double percent;

	return report_number(report_at(part, "percent"), &percent) && percent < 1;
}

/* The parts of a wait that matter, the longest first. */
static void put_causes(struct json_writer *w, const struct report_node *row)
{
	const struct report_node *list = report_at(row, "parts");
	uint32_t nr = 0;

	if (!list)
		return;
	jw_begin_array(w, "causes");
	for (const struct report_node *n = list->first; n && nr < CAUSES; n = n->next, nr++) {
		const struct report_node *ns = report_at(n, "ns");

		if (nr && is_small(n))
			break;
		jw_begin_object(w, NULL);
		put_copy(w, n, "kind");
		jw_double(w, "ms", ns ? (double)ns->u64 / NS_PER_MS : 0, 3);
		put_copy(w, n, "percent");
		put_copy(w, n, "comm");
		put_copy(w, n, "tid");
		put_copy(w, n, "class");
		put_copy(w, n, "limit");
		put_copy(w, n, "cgroup");
		jw_end_object(w);
	}
	jw_end_array(w);
}

bool trigger_story_put(struct json_writer *w, const struct report_node *root, bool *is_open)
{
	const struct report_node *list = report_at(root, "waits");
	const struct report_node *row, *open;

	list = list ? list : report_at(root, "sleeps");
	row = list ? list->first : NULL;
	if (!row)
		return false;
	open = report_at(row, "is_open");
	*is_open = open && open->b;
	jw_bool(w, "is_over", !*is_open);
	put_sentences(w, row);
	put_causes(w, row);
	put_copy(w, row, "waker_comm");
	put_copy(w, row, "waker_pid");
	put_copy(w, row, "waker_interrupt");
	return true;
}

/* Not every trigger is about a wait or a sleep of a task. */
static bool has_row(const struct trigger_hit *hit)
{
	return hit->tid && hit->kind != TRIGGER_SLICE;
}

static bool put_why(struct live_feed *feed, const struct trigger_hit *hit, struct json_writer *w,
                    bool *is_open)
{
	SCOPED(scoped_live_shot) struct live_shot *shot = NULL;
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args = { .cpu = PASS_ANY_CPU,
		                  .layer = EV_NO_LAYER,
		                  .tid = hit->tid,
		                  .at_ns = hit->ts_ns,
		                  .category = hit->kind == TRIGGER_SLEEP ? "sleeps" : "waits",
		                  .limit = 1 };
	struct live_observed o;
	struct diag d = { 0 };

	if (live_feed_look(feed, LIVE_USE_WHY, &d, &shot, &o) ||
	    pass_run(&pass_explain, live_shot_source(shot), &args, &d, &r))
		return false;
	return trigger_story_put(w, report_root(r), is_open);
}

/* The next call, ready to be sent. */
static void put_next(struct json_writer *w, const struct trigger_hit *hit)
{
	bool has_task = has_row(hit) && hit->kind != TRIGGER_SLEEP;

	jw_begin_object(w, "next");
	jw_string(w, "tool", has_task ? "live" : "record");
	jw_begin_object(w, "arguments");
	if (has_task)
		jw_u64(w, "tid", hit->tid);
	jw_end_object(w);
	jw_end_object(w);
}

static void put_story(struct live_feed *feed, const struct trigger_hit *hit, struct json_writer *w,
                      bool *is_open)
{
	char text[160];

	jw_string(w, "what", flight_reason(text, sizeof(text), hit));
	put_when(w, hit->ts_ns);
	if (hit->tid) {
		jw_string(w, "comm", hit->comm);
		jw_u64(w, "tid", hit->tid);
		jw_u64(w, "pid", hit->tgid);
	}
	jw_u64_if(w, "cpu", hit->cpu != PAIR_NO_CPU, hit->cpu);
	if (has_row(hit) && !put_why(feed, hit, w, is_open))
		jw_string(w, "note", "the live window does not hold it any more");
	put_next(w, hit);
}

void trigger_story_tell(struct live_feed *feed, const struct trigger_hit *hit,
                        struct trigger_story *out)
{
	struct outgoing o = { 0 };

	*out = (struct trigger_story){ 0 };
	if (outgoing_begin(&o))
		return;
	jw_begin_object(&o.w, NULL);
	put_story(feed, hit, &o.w, &out->is_open);
	jw_end_object(&o.w);
	if (outgoing_end(&o) == 0) {
		out->json = strndup(o.text, o.len);
		out->len = out->json ? o.len : 0;
	}
	outgoing_done(&o);
}

void trigger_story_done(struct trigger_story *s)
{
	free(s->json);
	*s = (struct trigger_story){ 0 };
}
