#include "render/report_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/text.h"
#include "render/report_json.h"

#define MAX_COLUMNS 256
#define MAX_TEXT    1024 /* of one value; longer ones are cut */

struct line_columns {
	const char *keys[MAX_COLUMNS];
	size_t nr;
};

int report_jsonl(const struct report_node *rows, FILE *out)
{
	struct json_writer w;
	int err = 0;

	for (const struct report_node *row = rows->first; row && !err; row = row->next) {
		jw_init(&w, out, false);
		report_json(&w, NULL, row);
		err = jw_finish(&w);
	}
	return err;
}

static void add_column(struct line_columns *c, const char *key)
{
	for (size_t i = 0; i < c->nr; i++)
		if (!strcmp(c->keys[i], key))
			return;
	if (c->nr < MAX_COLUMNS)
		c->keys[c->nr++] = key;
}

static void add_columns(struct line_columns *c, const struct report_node *row)
{
	for (const struct report_node *at = row->first; at; at = at->next)
		if (at->type == REPORT_OBJECT)
			add_columns(c, at);
		else if (at->type != REPORT_ARRAY)
			add_column(c, at->key);
}

/* The member of that name, in the row or in an object within. */
static const struct report_node *find(const struct report_node *row, const char *key)
{
	for (const struct report_node *at = row->first; at; at = at->next) {
		const struct report_node *inner = at->type == REPORT_OBJECT ? find(at, key) : NULL;

		if (inner)
			return inner;
		if (at->type != REPORT_OBJECT && !strcmp(at->key, key))
			return at;
	}
	return NULL;
}

static const char *clean(const char *text, char buf[MAX_TEXT])
{
	return text_printable(buf, MAX_TEXT, text, strlen(text));
}

static void put_text(const char *text, FILE *out)
{
	char buf[MAX_TEXT];
	const char *at = clean(text, buf);

	if (!at[strcspn(at, ",\"")]) {
		fputs(at, out);
		return;
	}
	fputc('"', out);
	for (; *at; at++) {
		if (*at == '"')
			fputc('"', out);
		fputc(*at, out);
	}
	fputc('"', out);
}

static void put_value(const struct report_node *node, FILE *out)
{
	if (!node)
		return;
	if (node->type == REPORT_STRING)
		put_text(node->text, out);
	else if (node->type == REPORT_U64)
		fprintf(out, "%" PRIu64, node->u64);
	else if (node->type == REPORT_I64)
		fprintf(out, "%" PRId64, node->i64);
	else if (node->type == REPORT_DOUBLE)
		fprintf(out, "%.*f", node->decimals, node->f);
	else if (node->type == REPORT_BOOL)
		fputs(node->b ? "true" : "false", out);
}

int report_csv(const struct report_node *rows, FILE *out)
{
	struct line_columns c = { 0 };

	for (const struct report_node *row = rows->first; row; row = row->next)
		add_columns(&c, row);
	for (size_t i = 0; i < c.nr; i++) {
		if (i)
			fputc(',', out);
		put_text(c.keys[i], out);
	}
	fputs("\r\n", out);
	for (const struct report_node *row = rows->first; row; row = row->next) {
		for (size_t i = 0; i < c.nr; i++) {
			if (i)
				fputc(',', out);
			put_value(find(row, c.keys[i]), out);
		}
		fputs("\r\n", out);
	}
	return fflush(out) || ferror(out) ? -EIO : 0;
}
