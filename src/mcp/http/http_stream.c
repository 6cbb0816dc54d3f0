#include "mcp/http/http_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX 64U

struct http_event {
	struct http_event *next;
	uint64_t seq;
	size_t len;
	size_t head; /* bytes before the message */
	char text[];
};

static void drop_oldest(struct http_stream *s)
{
	struct http_event *e = s->first;

	s->first = e->next;
	if (!s->first)
		s->last = NULL;
	s->nr--;
	s->bytes -= e->len;
	s->lost_seq = e->seq;
	free(e);
}

void http_stream_done(struct http_stream *s)
{
	while (s->first)
		drop_oldest(s);
}

int http_stream_put(struct http_stream *s, const char *json, size_t len)
{
	struct http_event *e = malloc(sizeof(*e) + HEAD_MAX + len + 3);

	if (!e)
		return -ENOMEM;
	e->next = NULL;
	e->seq = ++s->last_seq;
	if (s->has_no_ids)
		e->head = (size_t)snprintf(e->text, HEAD_MAX, "event: message\ndata: ");
	else
		e->head = (size_t)snprintf(e->text, HEAD_MAX,
		                           "event: message\nid: %u-%llu\ndata: ", s->id,
		                           (unsigned long long)e->seq);
	memcpy(e->text + e->head, json, len);
	memcpy(e->text + e->head + len, "\n\n", 3);
	e->len = e->head + len + 2;
	if (s->last)
		s->last->next = e;
	else
		s->first = e;
	s->last = e;
	s->nr++;
	s->bytes += e->len;
	while (s->nr > 1 && (s->nr > STREAM_MAX_EVENTS || s->bytes > STREAM_MAX_BYTES))
		drop_oldest(s);
	return 0;
}

const char *http_stream_newest(const struct http_stream *s, size_t *len)
{
	if (!s->last)
		return NULL;
	*len = s->last->len - s->last->head - 2;
	return s->last->text + s->last->head;
}

struct http_cursor http_stream_after(const struct http_stream *s, uint64_t seq)
{
	if (seq > s->last_seq)
		seq = s->last_seq;
	return (struct http_cursor){ .seq = (seq < s->lost_seq ? s->lost_seq : seq) + 1 };
}

bool http_stream_has_lost(const struct http_stream *s, const struct http_cursor *at)
{
	return at->seq <= s->lost_seq;
}

ssize_t http_stream_read(struct http_stream *s, struct http_cursor *at, char *buf, size_t size)
{
	const struct http_event *e = s->first;
	size_t nr = 0;

	if (http_stream_has_lost(s, at))
		return -ESTALE;
	while (e && e->seq < at->seq)
		e = e->next;
	while (e && nr < size) {
		size_t part = e->len - at->offset < size - nr ? e->len - at->offset : size - nr;

		memcpy(buf + nr, e->text + at->offset, part);
		nr += part;
		at->offset += part;
		if (at->offset < e->len)
			break;
		if (s->sent_seq < e->seq)
			s->sent_seq = e->seq;
		*at = (struct http_cursor){ .seq = e->seq + 1 };
		e = e->next;
	}
	return (ssize_t)nr;
}
