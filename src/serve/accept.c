#include "serve/accept.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RANGES_MAX 32 /* of a header; more are not read */

struct word {
	const char *text;
	size_t len;
};

struct range {
	struct word type;
	struct word version, proto, encoding;
	unsigned int q; /* in 1/1000 */
};

static bool is_word(struct word w, const char *text)
{
	return w.len == strlen(text) && strncasecmp(w.text, text, w.len) == 0;
}

static struct word trim(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	if (to - from >= 2 && *from == '"' && to[-1] == '"')
		return (struct word){ from + 1, (size_t)(to - from - 2) };
	return (struct word){ from, (size_t)(to - from) };
}

/* "1", "0.5", "0.125"; what is not a number is 0: refused. */
static unsigned int read_q(struct word w)
{
	unsigned int value = 0, scale = 1000;
	size_t i = 0;

	if (!w.len || (w.text[0] != '0' && w.text[0] != '1'))
		return 0;
	value = (unsigned int)(w.text[i++] - '0') * scale;
	if (i < w.len && w.text[i++] != '.')
		return 0;
	for (; i < w.len && scale > 1; i++) {
		if (w.text[i] < '0' || w.text[i] > '9')
			return 0;
		scale /= 10;
		value += (unsigned int)(w.text[i] - '0') * scale;
	}
	return value > 1000 ? 1000 : value;
}

static void take_parameter(struct range *r, const char *from, const char *to)
{
	const char *equals = memchr(from, '=', (size_t)(to - from));
	struct word name = trim(from, equals ? equals : to);
	struct word value = equals ? trim(equals + 1, to) : (struct word){ to, 0 };

	if (is_word(name, "q"))
		r->q = read_q(value);
	else if (is_word(name, "version"))
		r->version = value;
	else if (is_word(name, "proto"))
		r->proto = value;
	else if (is_word(name, "encoding"))
		r->encoding = value;
}

/* One element of the list; returns where the next begins. */
static const char *read_range(const char *text, struct range *r)
{
	const char *end = text + strcspn(text, ","), *part = text;
	bool is_first = true;

	*r = (struct range){ .q = 1000 };
	while (part <= end) {
		const char *to = part;

		while (to < end && *to != ';')
			to++;
		if (is_first)
			r->type = trim(part, to);
		else
			take_parameter(r, part, to);
		is_first = false;
		part = to + 1;
	}
	return *end ? end + 1 : end;
}

static bool takes(const struct range *r, enum metrics_format f)
{
	bool is_any = is_word(r->type, "*/*");

	switch (f) {
	case FORMAT_TEXT:
		return is_any || is_word(r->type, "text/*") ||
		       (is_word(r->type, "text/plain") &&
		        (!r->version.len || is_word(r->version, "0.0.4")));
	case FORMAT_OPENMETRICS:
		return is_word(r->type, "application/openmetrics-text") &&
		       (!r->version.len || is_word(r->version, "1.0.0"));
	case FORMAT_PROTOBUF:
		return is_word(r->type, "application/vnd.google.protobuf") &&
		       is_word(r->proto, "io.prometheus.client.MetricFamily") &&
		       is_word(r->encoding, "delimited");
	default:
		return false;
	}
}

/* "text/plain;q=0, *" refuses what it names: the most specific range that fits has the word. */
static unsigned int specificity(const struct range *r)
{
	return is_word(r->type, "*/*") ? 1 : is_word(r->type, "text/*") ? 2 : 3;
}

int accept_format(const char *accept)
{
	unsigned int best[FORMATS] = { 0 }, level[FORMATS] = { 0 };
	int found = -1;

	if (!accept || !accept[strspn(accept, " \t,")])
		return FORMAT_TEXT;
	for (int i = 0; i < RANGES_MAX && *accept; i++) {
		struct range r;

		accept = read_range(accept, &r);
		for (int f = 0; f < FORMATS; f++) {
			if (!takes(&r, (enum metrics_format)f) || specificity(&r) < level[f])
				continue;
			if (specificity(&r) > level[f] || r.q > best[f])
				best[f] = r.q;
			level[f] = specificity(&r);
		}
	}
	for (int f = 0; f < FORMATS; f++)
		if (best[f] && (found < 0 || best[f] >= best[found]))
			found = f;
	return found;
}

const char *format_content_type(enum metrics_format format)
{
	static const char *const types[FORMATS] = {
		[FORMAT_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[FORMAT_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[FORMAT_PROTOBUF] =
			"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
	};

	return types[format];
}
