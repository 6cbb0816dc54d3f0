#include "render/sheet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "render/report_value.h"

#define PATH_BYTES  128
#define VALUE_BYTES 256
#define LARGE       1e8

static double amount_of(const struct report_node *node)
{
	double value = 0;

	return report_number(node, &value) ? value : 0;
}

/* The row in which key is largest; the first one of equals. */
static const struct report_node *largest(const struct report_node *list, const char *key)
{
	const struct report_node *best = list->type == REPORT_ARRAY ? list->first : NULL;

	for (const struct report_node *at = best; at; at = at->next)
		if (amount_of(report_at(at, key)) > amount_of(report_at(best, key)))
			best = at;
	return best;
}

const struct report_node *sheet_at(const struct report_node *node, const char *path)
{
	while (node && *path) {
		size_t len = strcspn(path, ".");
		char step[PATH_BYTES];

		snprintf(step, sizeof(step), "%.*s", (int)len, path);
		node = step[0] == '^' ? largest(node, step + 1) : report_at(node, step);
		path += len + (path[len] == '.');
	}
	return node;
}

static const struct report_node *member(const struct report_node *node, const char *prefix,
                                        const char *key)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s%s", prefix, key);
	node = report_at(node, path);
	return node && node->type != REPORT_NULL ? node : NULL;
}

char *sheet_task(const struct report_node *node, const char *prefix, bool is_sentence, char *buf,
                 size_t size)
{
	static const char *const names[] = { "cgroup", "class", "interrupt", "comm" };
	static const char *const ids[] = { "pid", "tid" };
	const struct report_node *name = NULL, *id = NULL;
	size_t len;

	for (size_t i = 0; node && i < sizeof(names) / sizeof(names[0]) && !name; i++)
		name = member(node, prefix, names[i]);
	for (size_t i = 0; node && i < sizeof(ids) / sizeof(ids[0]) && !id; i++)
		id = member(node, prefix, ids[i]);
	snprintf(buf, size, "%s",
	         name && name->type == REPORT_STRING ? name->text
	         : id                                ? "?"
	                                             : "-");
	len = strlen(buf);
	if (id && id->type == REPORT_U64)
		snprintf(buf + len, size - len, is_sentence ? " (%" PRIu64 ")" : "/%" PRIu64,
		         id->u64);
	return buf;
}

/* What a sentence has so far, and how it stands. */
struct saying {
	const struct report_node *root;
	const struct sheet_words *words;
	char text[SHEET_BYTES];
	size_t len;
	size_t part;  /* where the part in brackets began */
	bool is_part; /* within brackets */
	bool is_lost; /* a value of that part is unknown or 0 */
};

static void put(struct saying *s, const char *text, size_t len)
{
	size_t room = sizeof(s->text) - 1 - s->len;

	len = len < room ? len : room;
	memcpy(s->text + s->len, text, len);
	s->len += len;
	s->text[s->len] = '\0';
}

/* What a shell takes as it is. */
static bool is_plain(const char *text)
{
	return *text && *text != '-' &&
	       strspn(text,
	              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+,:@-") ==
	               strlen(text);
}

char *sheet_value(const struct report_node *node, struct report_place place, char *buf, size_t size)
{
	double value = 0;

	report_value(node, place, buf, size);
	if (report_number(node, &value) && value >= LARGE && !node->is_id &&
	    strspn(buf, "0123456789.") == strlen(buf))
		text_rate(buf, size, value);
	return buf;
}

/* Between quotes, unless it has one itself: such a name cannot be copied. */
static bool put_value(struct saying *s, const struct report_node *node, struct report_place place)
{
	char raw[VALUE_BYTES], clean[VALUE_BYTES];
	bool is_quoted;

	text_printable(clean, sizeof(clean), sheet_value(node, place, raw, sizeof(raw)),
	               sizeof(raw));
	is_quoted = s->words->is_for_shell && !is_plain(clean);
	if (is_quoted && (strchr(clean, '\'') || strcmp(clean, raw) != 0))
		return false;
	put(s, "'", is_quoted);
	put(s, clean, strlen(clean));
	put(s, "'", is_quoted);
	return true;
}

/* "@path:prefix" */
static bool put_task(struct saying *s, char *path)
{
	char *prefix = strchr(path, ':'), raw[VALUE_BYTES], clean[VALUE_BYTES];
	const struct report_node *node;

	if (prefix)
		*prefix++ = '\0';
	node = sheet_at(s->root, path);
	if (!node || node->type != REPORT_OBJECT)
		return false;
	sheet_task(node, prefix ? prefix : "", true, raw, sizeof(raw));
	text_printable(clean, sizeof(clean), raw, sizeof(raw));
	put(s, clean, strlen(clean));
	return strcmp(clean, "-") != 0;
}

/* The object that holds what is at the path, whose name says what its percentiles are. */
struct report_place sheet_place(const struct report_node *root, const char *path,
                                struct report_clock clock)
{
	const char *dot = strrchr(path, '.');
	const struct report_node *in = root;
	char outer[PATH_BYTES];

	if (dot) {
		snprintf(outer, sizeof(outer), "%.*s", (int)(dot - path), path);
		in = sheet_at(root, outer);
	}
	return (struct report_place){ in, in ? in->key : NULL, clock };
}

/* One {...}; false if the value is unknown, or 0 where that is nothing to speak of. */
static bool put_one(struct saying *s, char *path)
{
	bool may_be_zero = *path == '=', is_plural = strlen(path) > 2 && strstr(path, "|s");
	const struct report_node *node;
	double value;

	if (*path == '@')
		return put_task(s, path + 1);
	path += may_be_zero;
	if (is_plural)
		*strstr(path, "|s") = '\0';
	node = sheet_at(s->root, path);
	if (!node || node->type == REPORT_NULL || !report_is_scalar(node))
		return false;
	if (is_plural) {
		put(s, "s", !(report_number(node, &value) && value == 1));
		return true;
	}
	if (!may_be_zero && report_number(node, &value) && value == 0)
		return false;
	return put_value(s, node, sheet_place(s->root, path, s->words->clock));
}

/* A bracket opens or closes a part, which goes if it is incomplete. */
static void bracket(struct saying *s, bool is_open)
{
	if (!is_open && s->is_lost)
		s->text[s->len = s->part] = '\0';
	s->part = s->len;
	s->is_part = is_open;
	s->is_lost = false;
}

bool sheet_say(const struct report_node *root, const char *sentence, const struct sheet_words *w,
               char *buf, size_t size)
{
	struct saying s = { .root = root, .words = w };
	char path[PATH_BYTES];

	for (const char *at = sentence; *at;) {
		size_t len = strcspn(at, "{[]");

		put(&s, at, len);
		at += len;
		if (*at == '{') {
			len = strcspn(at, "}");
			snprintf(path, sizeof(path), "%.*s", (int)len - 1, at + 1);
			if (!put_one(&s, path)) {
				if (!s.is_part)
					return false;
				s.is_lost = true;
			}
			at += len + (at[len] == '}');
		} else if (*at) {
			bracket(&s, *at == '[');
			at++;
		}
	}
	snprintf(buf, size, "%s", s.text);
	return true;
}

bool sheet_say_first(const struct report_node *root, const char *const *sentences,
                     const struct sheet_words *w, char *buf, size_t size)
{
	for (size_t i = 0; i < SHEET_ANSWERS && sentences[i]; i++)
		if (sheet_say(root, sentences[i], w, buf, size))
			return true;
	return false;
}
