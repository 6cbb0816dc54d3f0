#include "report/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "base/markup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "render/report_value.h"

#define VALUE_BYTES  512
#define HUNDREDTHS   100
#define NUMBER_BYTES 32

/* So many bytes from the start on are letters that stand for themselves: most of a text, which is written at once. */
static size_t plain(const char *text)
{
	size_t len = 0;

	for (char c = *text;
	     c >= 0x20 && c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"' && c != '\'';
	     c = text[len])
		len++;
	return len;
}

void html_text(FILE *out, const char *text)
{
	size_t len = strlen(text), taken;
	uint32_t code;

	for (; len > 0; text += taken, len -= taken) {
		const char *entity;

		taken = plain(text);
		if (taken) {
			fwrite(text, 1, taken, out);
			continue;
		}
		taken = utf8_next(text, len, &code);
		entity = markup_entity(code);
		if (entity)
			fputs(entity, out);
		else if (!markup_is_hidden(code))
			fwrite(text, 1, taken, out);
		else if (code < 0x80)
			fprintf(out, "\\x%02" PRIx32, code);
		else
			fprintf(out, code < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, code);
	}
}

void html_command(FILE *out, const char *command)
{
	while (*command) {
		size_t len = strcspn(command, " ");
		char *word = strndup(command, len);
		bool is_kept = word && strchr(word, '-');

		fputs(is_kept ? "<span>" : "", out);
		html_text(out, word ? word : "");
		fputs(is_kept ? "</span>" : "", out);
		free(word);
		command += len;
		if (*command)
			fputc(*command++, out);
	}
}

static void put_name(FILE *out, const char *name)
{
	fputc(' ', out);
	fputs(name, out);
	fputs("=\"", out);
}

void html_attr(FILE *out, const char *name, const char *text)
{
	put_name(out, name);
	html_text(out, text);
	fputc('"', out);
}

/* References reach all but U+0080 to U+009F, which they would turn into other characters. */
static void put_exact(FILE *out, const char *text, size_t len, uint32_t code)
{
	const char *entity = markup_entity(code);

	if (entity)
		fputs(entity, out);
	else if (markup_is_hidden(code) && (code < 0x80 || code > 0x9f))
		fprintf(out, "&#%" PRIu32 ";", code);
	else
		fwrite(text, 1, len, out);
}

void html_attr_exact(FILE *out, const char *name, const char *text)
{
	size_t len = strlen(text), taken;
	uint32_t code;

	put_name(out, name);
	for (; len > 0; text += taken, len -= taken) {
		taken = plain(text);
		if (taken) {
			fwrite(text, 1, taken, out);
			continue;
		}
		taken = utf8_next(text, len, &code);
		put_exact(out, text, taken, code);
	}
	fputc('"', out);
}

void html_attr_u64(FILE *out, const char *name, uint64_t value)
{
	char buf[TEXT_U64_BYTES];

	put_name(out, name);
	fputs(text_u64(buf, value), out);
	fputc('"', out);
}

void html_time(FILE *out, uint64_t ns)
{
	char t[HTML_TIME_BYTES];

	fputs(text_duration(t, sizeof(t), ns), out);
}

void html_number(FILE *out, double value)
{
	long long all = llround(value * HUNDREDTHS);
	unsigned long long whole = (unsigned long long)llabs(all) / HUNDREDTHS,
			   rest = (unsigned long long)llabs(all) % HUNDREDTHS;
	char text[NUMBER_BYTES], *at = text + sizeof(text);

	/* From its end, by hand: pictures have some ten thousand of them. */
	if (rest % 10)
		*--at = (char)('0' + rest % 10);
	if (rest) {
		*--at = (char)('0' + rest / 10);
		*--at = '.';
	}
	do
		*--at = (char)('0' + whole % 10);
	while (whole /= 10);
	if (all < 0)
		*--at = '-';
	(void)fwrite(at, 1, (size_t)(text + sizeof(text) - at), out);
}

/* As JSON has it. */
static void put_raw(FILE *out, const struct report_node *node)
{
	char buf[TEXT_U64_BYTES];

	if (node->type == REPORT_U64)
		fputs(text_u64(buf, node->u64), out);
	else if (node->type == REPORT_I64)
		fprintf(out, "%" PRId64, node->i64);
	else if (node->type == REPORT_DOUBLE)
		fprintf(out, "%.*f", node->decimals, node->f);
	else
		fputs("null", out);
}

void html_cell(FILE *out, const struct report_node *node)
{
	html_cell_of(out, node, NULL);
}

void html_cell_of(FILE *out, const struct report_node *node, const char *analysis)
{
	char text[VALUE_BYTES];

	if (!node) {
		fputs("<td></td>", out);
		return;
	}
	fputs(report_is_number(node) ? "<td class=\"n\"" : "<td", out);
	if (analysis)
		html_attr(out, "data-analysis", analysis);
	if (node->key)
		html_attr(out, "data-key", node->key);
	if (report_is_number(node)) {
		fputs(" data-value=\"", out);
		put_raw(out, node);
		fputc('"', out);
	}
	fputc('>', out);
	if (node->type == REPORT_STRING)
		html_text(out, node->text);
	else if (node->type == REPORT_U64 && node->key && strcmp(node->key, "ns") == 0)
		html_time(out, node->u64);
	else
		html_text(out, report_value(node, (struct report_place){ 0 }, text, sizeof(text)));
	fputs("</td>", out);
}

void html_cell_u64(FILE *out, const char *key, uint64_t value)
{
	struct report_node node = { .key = key, .type = REPORT_U64, .u64 = value };

	html_cell(out, &node);
}

void html_json(FILE *out, const char *json, size_t len)
{
	const char *end = json + len;

	while (json < end) {
		const char *at = memchr(json, '<', (size_t)(end - json));

		fwrite(json, 1, (size_t)((at ? at : end) - json), out);
		if (!at)
			return;
		fputs("\\u003c", out);
		json = at + 1;
	}
}
