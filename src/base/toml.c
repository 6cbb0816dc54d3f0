#include "base/toml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/toml_scan.h"

void toml_free(struct toml *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++) {
		free(t->entries[i].table);
		free(t->entries[i].key);
		free(t->entries[i].text);
	}
	free(t->entries);
	free(t->text);
	free(t);
}

static int add(struct toml *t, const char *table, const char *key, const struct toml_value *v)
{
	struct toml_entry *e;

	if (t->nr >= TOML_MAX_ENTRIES)
		return -E2BIG;
	if (GROW(t->entries, t->room, t->nr))
		return -ENOMEM;
	e = &t->entries[t->nr];
	*e = (struct toml_entry){ .table = strdup(table),
		                  .key = strdup(key),
		                  .type = v->type,
		                  .integer = v->integer,
		                  .line = v->line,
		                  .begin = v->begin,
		                  .end = v->end };
	e->text = toml_scan_text(t->text, v);
	t->nr++;
	return e->table && e->key && e->text ? 0 : -ENOMEM;
}

/* "a.b.key" below the table of the section. */
static int add_dotted(struct toml *t, const char *section, char *name, const struct toml_value *v)
{
	char table[2 * TOML_MAX_NAME];
	char *dot = strrchr(name, TOML_DOT);
	int err;

	if (!dot)
		return add(t, section, name, v);
	*dot = '\0';
	snprintf(table, sizeof(table), "%s%s%s", section, *section ? "." : "", name);
	for (char *p = table; *p; p++)
		*p = *p == TOML_DOT ? '.' : *p;
	err = add(t, table, dot + 1, v);
	if (!err)
		t->entries[t->nr - 1].is_dotted = true;
	return err;
}

static int parse_header(struct toml *t, struct toml_scan *s, char section[TOML_MAX_NAME])
{
	struct toml_value v = { .type = TOML_TABLE, .line = s->line };
	bool is_array;
	int err;

	s->at++;
	is_array = s->at < s->len && s->text[s->at] == '[';
	s->at += is_array;
	err = toml_scan_name(s, section);
	if (err)
		return err;
	for (char *p = section; *p; p++)
		*p = *p == TOML_DOT ? '.' : *p;
	for (int i = 0; i <= is_array; i++) {
		if (s->at >= s->len || s->text[s->at] != ']')
			return toml_scan_fail(s, "']' is missing");
		s->at++;
	}
	v.begin = v.end = s->at;
	err = toml_scan_line_end(s);
	return err ? err : add(t, section, "", &v);
}

static int parse_line(struct toml *t, struct toml_scan *s, char section[TOML_MAX_NAME])
{
	char name[TOML_MAX_NAME];
	struct toml_value v;
	int err;

	if (s->text[s->at] == '[') {
		err = parse_header(t, s, section);
		return err == -E2BIG ? toml_scan_fail(s, "there are too many tables") : err;
	}
	err = toml_scan_name(s, name);
	if (err)
		return err;
	if (s->at >= s->len || s->text[s->at] != '=')
		return toml_scan_fail(s, "'=' is missing after a key");
	s->at++;
	err = toml_scan_value(s, &v);
	if (err)
		return err;
	err = toml_scan_line_end(s);
	if (err)
		return err;
	err = add_dotted(t, section, name, &v);
	return err == -E2BIG ? toml_scan_fail(s, "there are too many keys") : err;
}

static int parse(struct toml *t, struct diag *d)
{
	struct toml_scan s = { .text = t->text, .len = t->len, .line = 1, .d = d };
	char section[TOML_MAX_NAME] = "";
	int err = 0;

	while (!err && toml_scan_skip(&s))
		err = parse_line(t, &s, section);
	return err == -ENOMEM ? diag_set(d, err, NULL, "out of memory") : err;
}

int toml_parse(const char *text, size_t len, struct diag *d, struct toml **out)
{
	SCOPED(scoped_toml) struct toml *t = NULL;
	int err;

	if (len > TOML_MAX_BYTES)
		return diag_set(d, -EFBIG, NULL, "more than %zu KiB of settings",
		                TOML_MAX_BYTES / 1024);
	if (memchr(text, '\0', len))
		return diag_set(d, -EINVAL, NULL, "settings contain a NUL byte");
	t = calloc(1, sizeof(*t));
	if (t)
		t->text = malloc(len + 1);
	if (!t || !t->text)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	memcpy(t->text, text, len);
	t->text[len] = '\0';
	t->len = len;
	err = parse(t, d);
	if (err)
		return err;
	*out = TAKE_PTR(t);
	return 0;
}

const struct toml_entry *toml_find(const struct toml *t, const char *table, const char *key)
{
	for (size_t i = t->nr; i-- > 0;) {
		const struct toml_entry *e = &t->entries[i];

		if (e->type != TOML_TABLE && strcmp(e->table, table) == 0 &&
		    strcmp(e->key, key) == 0)
			return e;
	}
	return NULL;
}

bool toml_array_next(const struct toml_entry *e, size_t *at, char *buf, size_t size)
{
	struct toml_scan s = { .text = e->text, .len = strlen(e->text), .line = 1 };
	SCOPED(scoped_free) char *text = NULL;
	struct toml_value v;

	if (e->type != TOML_ARRAY)
		return false;
	s.at = *at ? *at : 1; /* after the bracket */
	while (toml_scan_skip(&s) && s.text[s.at] == ',')
		s.at++;
	if (s.at >= s.len || s.text[s.at] == ']' || toml_scan_value(&s, &v) ||
	    v.type != TOML_STRING)
		return false;
	text = toml_scan_text(s.text, &v);
	if (!text || strlen(text) >= size)
		return false;
	memcpy(buf, text, strlen(text) + 1);
	*at = s.at;
	return true;
}

int toml_quote(const char *s, char *buf, size_t size)
{
	size_t at = 0;

	if (size < 3)
		return -ENOSPC;
	buf[at++] = '"';
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		char piece[8];
		int len = c == '"' || c == '\\'   ? snprintf(piece, sizeof(piece), "\\%c", c)
		          : c < 0x20 || c == 0x7f ? snprintf(piece, sizeof(piece), "\\u%04x", c)
		                                  : snprintf(piece, sizeof(piece), "%c", c);

		if (at + (size_t)len + 2 > size)
			return -ENOSPC;
		memcpy(buf + at, piece, (size_t)len);
		at += (size_t)len;
	}
	buf[at++] = '"';
	buf[at] = '\0';
	return 0;
}

static bool is_bare(const char *key)
{
	return *key &&
	       strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
	               strlen(key);
}

/* Where a new line of a table goes: after its last entry; of the top one without any, at the start. */
static bool place_of(const struct toml *t, const char *table, size_t *at)
{
	bool is_there = !*table;

	*at = 0;
	for (size_t i = 0; i < t->nr; i++) {
		if (!t->entries[i].is_dotted && strcmp(t->entries[i].table, table) == 0) {
			const char *end = memchr(t->text + t->entries[i].end, '\n',
			                         t->len - t->entries[i].end);

			*at = end ? (size_t)(end - t->text) + 1 : t->len;
			is_there = true;
		}
	}
	return is_there;
}

static int replace(struct toml *t, size_t begin, size_t end, const char *with, struct diag *d)
{
	SCOPED(scoped_free) char *text = NULL;
	struct toml *next = NULL, old;
	int err, len;

	len = asprintf(&text, "%.*s%s%s", (int)begin, t->text, with, t->text + end);
	if (len < 0) {
		text = NULL;
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	err = toml_parse(text, (size_t)len, d, &next);
	if (err || !next)
		return err;
	old = *t;
	*t = *next;
	*next = old;
	toml_free(next);
	return 0;
}

int toml_set(struct toml *t, const char *table, const char *key, const char *value, struct diag *d)
{
	const struct toml_entry *e = toml_find(t, table, key);
	char quoted[TOML_MAX_NAME], line[4096], head[TOML_MAX_NAME + 8] = "";
	const char *lead = "";
	size_t at;
	int len;

	if (e)
		return replace(t, e->begin, e->end, value, d);
	if (!is_bare(key) && toml_quote(key, quoted, sizeof(quoted)))
		return diag_set(d, -EINVAL, NULL, "the key '%.40s' is too long", key);
	if (!place_of(t, table, &at)) {
		snprintf(head, sizeof(head), "%s[%s]\n", t->len ? "\n" : "", table);
		at = t->len;
	}
	if (at > 0 && t->text[at - 1] != '\n')
		lead = "\n";
	len = snprintf(line, sizeof(line), "%s%s%s = %s\n", lead, head, is_bare(key) ? key : quoted,
	               value);
	if (len < 0 || (size_t)len >= sizeof(line))
		return diag_set(d, -EINVAL, NULL, "the value of '%.40s' is too long", key);
	return replace(t, at, at, line, d);
}
