#include "base/json_write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

#define MAX_DECIMALS 15

void jw_init(struct json_writer *w, FILE *out, bool is_pretty)
{
	memset(w, 0, sizeof(*w));
	w->out = out;
	w->is_pretty = is_pretty;
}

static void fail(struct json_writer *w, int error)
{
	if (!w->error)
		w->error = error ? error : -EIO;
}

static void put(struct json_writer *w, const char *bytes, size_t len)
{
	if (w->error || len == 0)
		return;
	errno = 0;
	if (fwrite(bytes, 1, len, w->out) != len)
		fail(w, -errno);
}

static void put_text(struct json_writer *w, const char *text)
{
	put(w, text, strlen(text));
}

static void put_line(struct json_writer *w)
{
	if (!w->is_pretty)
		return;
	put_text(w, "\n");
	for (int i = 0; i < w->depth; i++)
		put_text(w, "  ");
}

/* The escape of a code point that must be escaped; NULL if it need not be. */
static const char *escape_of(uint32_t code, char buf[static 8])
{
	switch (code) {
	case UTF8_INVALID:
		return "\xef\xbf\xbd"; /* U+FFFD */
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	default:
		break;
	}
	/* JSON lets DEL and C1 pass, a terminal that shows the document does not. */
	if (code >= 0x20 && (code < 0x7f || code > 0x9f))
		return NULL;
	snprintf(buf, 8, "\\u%04x", (unsigned int)code);
	return buf;
}

/* Bytes from s[at] on that need no escape: most of a text. */
static size_t plain_until(const char *s, size_t at, size_t len)
{
	while (at < len && s[at] >= 0x20 && s[at] < 0x7f && s[at] != '"' && s[at] != '\\')
		at++;
	return at;
}

static void put_quoted(struct json_writer *w, const char *s, size_t len)
{
	size_t at = 0, clean_from = 0, taken;
	const char *escape;
	uint32_t code;
	char buf[8];

	put_text(w, "\"");
	while ((at = plain_until(s, at, len)) < len) {
		taken = utf8_next(s + at, len - at, &code);
		escape = escape_of(code, buf);
		if (escape) {
			put(w, s + clean_from, at - clean_from);
			put_text(w, escape);
			clean_from = at + taken;
		}
		at += taken;
	}
	put(w, s + clean_from, len - clean_from);
	put_text(w, "\"");
}

/* Everything before a value: comma, key. */
static void start_value(struct json_writer *w, const char *key)
{
	if (w->has_value[w->depth]) {
		if (w->depth == 0)
			fail(w, -EINVAL);
		put_text(w, ",");
	}
	w->has_value[w->depth] = true;
	if (w->depth > 0)
		put_line(w);
	if (key) {
		put_quoted(w, key, strlen(key));
		put_text(w, w->is_pretty ? ": " : ":");
	}
}

static void begin(struct json_writer *w, const char *key, const char *bracket)
{
	if (w->depth == JSON_MAX_DEPTH)
		fail(w, -EINVAL);
	if (w->error)
		return; /* the depth must not grow beyond has_value */
	start_value(w, key);
	put_text(w, bracket);
	w->depth++;
	w->has_value[w->depth] = false;
}

static void end(struct json_writer *w, const char *bracket)
{
	if (w->depth == 0)
		fail(w, -EINVAL);
	if (w->error)
		return;
	w->depth--;
	if (w->has_value[w->depth + 1])
		put_line(w);
	put_text(w, bracket);
}

void jw_begin_object(struct json_writer *w, const char *key)
{
	begin(w, key, "{");
}

void jw_end_object(struct json_writer *w)
{
	end(w, "}");
}

void jw_begin_array(struct json_writer *w, const char *key)
{
	begin(w, key, "[");
}

void jw_end_array(struct json_writer *w)
{
	end(w, "]");
}

void jw_string(struct json_writer *w, const char *key, const char *value)
{
	jw_bytes(w, key, value, value ? strlen(value) : 0);
}

void jw_bytes(struct json_writer *w, const char *key, const char *value, size_t len)
{
	if (!value) {
		jw_null(w, key);
		return;
	}
	start_value(w, key);
	put_quoted(w, value, len);
}

static void put_value(struct json_writer *w, const char *key, const char *text)
{
	start_value(w, key);
	put_text(w, text);
}

void jw_u64(struct json_writer *w, const char *key, uint64_t value)
{
	char buf[TEXT_U64_BYTES];

	put_value(w, key, text_u64(buf, value));
}

void jw_i64(struct json_writer *w, const char *key, int64_t value)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%" PRId64, value);
	put_value(w, key, buf);
}

/* A locale may write the point otherwise, even with several bytes; JSON knows only '.'. */
static void make_point(char *number)
{
	size_t len = strspn(number, "-0123456789");
	size_t point = strcspn(number + len, "0123456789");

	if (point == 0 || number[len] == 'e')
		return;
	number[len] = '.';
	memmove(number + len + 1, number + len + point, strlen(number + len + point) + 1);
}

void jw_double(struct json_writer *w, const char *key, double value, int decimals)
{
	char buf[64];

	if (!isfinite(value)) {
		jw_null(w, key);
		return;
	}
	if (decimals < 0 || decimals > MAX_DECIMALS)
		decimals = decimals < 0 ? 0 : MAX_DECIMALS;
	if (fabs(value) < 1e15)
		snprintf(buf, sizeof(buf), "%.*f", decimals, value);
	else
		snprintf(buf, sizeof(buf), "%.16e", value);
	make_point(buf);
	put_value(w, key, buf);
}

void jw_bool(struct json_writer *w, const char *key, bool value)
{
	put_value(w, key, value ? "true" : "false");
}

void jw_null(struct json_writer *w, const char *key)
{
	put_value(w, key, "null");
}

void jw_u64_if(struct json_writer *w, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		jw_u64(w, key, value);
	else
		jw_null(w, key);
}

void jw_i64_if(struct json_writer *w, const char *key, bool is_known, int64_t value)
{
	if (is_known)
		jw_i64(w, key, value);
	else
		jw_null(w, key);
}

void jw_raw(struct json_writer *w, const char *key, const char *json, size_t len)
{
	start_value(w, key);
	put(w, json, len);
}

/* "{}" has none. */
void jw_raw_members(struct json_writer *w, const char *object, size_t len)
{
	if (len <= 2)
		return;
	if (w->has_value[w->depth])
		put_text(w, ",");
	w->has_value[w->depth] = true;
	put(w, object + 1, len - 2);
}

int jw_finish(struct json_writer *w)
{
	if (w->depth != 0 || !w->has_value[0])
		fail(w, -EINVAL);
	put_text(w, "\n");
	if (!w->error) {
		errno = 0;
		if (fflush(w->out) != 0)
			fail(w, -errno);
	}
	w->has_value[0] = false;
	return w->error;
}
