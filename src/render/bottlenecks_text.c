#include "render/bottlenecks_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define LINE_BYTES 1024
#define TITLE_TRY  "    try:  "
#define TITLE_NEXT "    next: "

static uint64_t number(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

static char *printable(const struct report_node *node, const char *path, char buf[LINE_BYTES])
{
	const struct report_node *at = report_at(node, path);

	return text_printable(buf, LINE_BYTES, at && at->type == REPORT_STRING ? at->text : "?",
	                      LINE_BYTES);
}

/* One that a shell takes as it is, and that can be copied from a terminal. */
static bool is_plain(const char *file)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._/+,:@-";

	return *file && *file != '-' && strspn(file, plain) == strlen(file);
}

char *bottleneck_next(const struct report_node *entry, const char *file, size_t width,
                      char buf[BOTTLENECK_NEXT_BYTES])
{
	const struct report_node *next = report_at(entry, "next");
	const char *text = next && next->type == REPORT_STRING ? next->text : "",
		   *at = strstr(text, "FILE");
	int before = (int)(at ? (size_t)(at - text) : strlen(text));
	int len = snprintf(buf, BOTTLENECK_NEXT_BYTES, "schedscope %.*s%s%s", before, text,
	                   at ? file : "", at ? at + strlen("FILE") : "");

	if (!is_plain(file) || len >= BOTTLENECK_NEXT_BYTES || (width && (size_t)len > width))
		snprintf(buf, BOTTLENECK_NEXT_BYTES, "schedscope %s", text);
	return buf;
}

/* After a title, broken at blanks; further lines begin below its first word. */
static void wrap(FILE *out, const char *title, char *text, size_t width)
{
	size_t indent = strlen(title), used = indent;
	char *save = NULL;

	fputs(title, out);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t len = text_width(word);

		if (used > indent && width && used + 1 + len > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			used = indent;
		}
		used += (size_t)fprintf(out, "%s", used > indent ? " " : "") + len;
		fputs(word, out);
	}
	fputc('\n', out);
}

static void show_one(const struct report_node *entry, uint32_t nr,
                     const struct bottlenecks_text_cfg *cfg, FILE *out)
{
	char text[LINE_BYTES], title[16], next[BOTTLENECK_NEXT_BYTES];
	size_t indent = strlen(TITLE_NEXT);

	snprintf(title, sizeof(title), "%2" PRIu32 ". ", nr);
	wrap(out, title, printable(entry, "description", text), cfg->width);
	wrap(out, TITLE_TRY, printable(entry, "remedy", text), cfg->width);
	fprintf(out, "%s%s\n", TITLE_NEXT,
	        bottleneck_next(entry, cfg->file, cfg->width > indent ? cfg->width - indent : 0,
	                        next));
}

int bottlenecks_text(const struct report_node *root, const struct bottlenecks_text_cfg *cfg,
                     FILE *out)
{
	const struct report_node *list = report_at(root, "bottlenecks"),
				 *rates = report_at(root, "high_rates");
	char text[LINE_BYTES];
	uint32_t nr = 0;

	for (const struct report_node *at = list ? list->first : NULL; at; at = at->next)
		show_one(at, ++nr, cfg, out);
	if (!nr)
		fprintf(out, "no task lost much time; waits for a CPU: %s in all\n",
		        text_duration(text, sizeof(text), number(root, "total_lost_ns")));
	else if (number(root, "total_bottlenecks") > nr)
		fprintf(out, "and %" PRIu64 " more; -n shows more of them\n",
		        number(root, "total_bottlenecks") - nr);
	for (const struct report_node *at = rates ? rates->first : NULL; at; at = at->next)
		fprintf(out, "%s%s\n", at == rates->first ? "\n" : "",
		        printable(at, "description", text));
	return ferror(out) ? -EIO : 0;
}
