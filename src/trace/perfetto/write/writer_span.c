/* Named intervals, of requests and of others: slices on tracks of their own. */
#include <errno.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/writer_priv.h"

int writer_string(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_string *rec = (const void *)hdr;
	const char *text = (const char *)(rec + 1);

	return spans_text(&w->spans, rec->id, text, strnlen(text, hdr->size - sizeof(*rec)));
}

static uint32_t put_args(struct trace_writer *w, const struct ev_span *rec,
                         struct track_arg args[3])
{
	uint32_t nr = 0;

	args[nr++] = (struct track_arg){ .name_iid = track_iid(&w->tracks, USE_ARG, "cpu"),
		                         .i = rec->hdr.cpu };
	args[nr++] = (struct track_arg){
		.name_iid = track_iid(&w->tracks, USE_ARG, "span_category"),
		.type = ARG_TEXT,
		.text = spans_find_text(&w->spans, rec->category),
	};
	if (rec->id)
		args[nr++] =
			(struct track_arg){ .name_iid = track_iid(&w->tracks, USE_ARG, "req_id"),
			                    .type = ARG_UINT,
			                    .u = rec->id };
	return nr;
}

int writer_span(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_span *rec = (const void *)hdr;
	const struct span_interval span = { .start_ns = rec->start_ns, .end_ns = hdr->ts_ns };
	struct track_arg args[3];
	struct track_event begin = { .args = args }, end = { .args = args };
	struct trace_task *task;
	struct span_lane *lane;
	int err = rec->start_ns <= hdr->ts_ns ? writer_task(w, rec->tid, hdr->ts_ns, &task)
	                                      : -ERANGE;

	if (!err)
		err = spans_lane(&w->spans, rec->tid, &span, &lane);
	if (!err)
		err = track_begin(&w->tracks);
	if (!err)
		err = track_of_spans(&w->tracks, task, lane->number, span.start_ns, &lane->uuid);
	if (err)
		return err;
	begin.track_uuid = lane->uuid;
	begin.nr_args = end.nr_args = put_args(w, rec, args);
	begin.category_iid = end.category_iid = track_iid(&w->tracks, USE_CATEGORY, "span");
	begin.name_iid = track_iid(&w->tracks, USE_NAME, spans_find_text(&w->spans, rec->name));
	return track_slice(&w->tracks, span.start_ns, span.end_ns, &begin, &end);
}
