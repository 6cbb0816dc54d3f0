#include "render/bottlenecks_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "render/wrap.h"

#define LINE_BYTES 1024
#define TIME_BYTES 24
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

char *bottleneck_next(const struct report_node *entry, const char *file, struct report_clock clock,
                      size_t width, char buf[COMMAND_TEXT_BYTES])
{
	const char *next = report_text_at(entry, "next");

	return command_text(next ? next : "", file, clock, width, buf);
}

char *bottlenecks_none(const struct report_node *root, char *buf, size_t size)
{
	char t[TIME_BYTES];

	snprintf(buf, size, "no task lost much time; waits for a CPU: %s in all",
	         text_duration(t, sizeof(t), number(root, "total_lost_ns")));
	return buf;
}

static bool is_first_of_cause(const struct report_node *list, const struct report_node *one)
{
	const char *cause = report_text_at(one, "cause");

	for (const struct report_node *n = list->first; n != one; n = n->next)
		if (strcmp(report_text_at(n, "cause"), cause) == 0)
			return false;
	return true;
}

void bottlenecks_choose(const struct report_node *list, uint64_t most,
                        bool is_chosen[BOTTLENECKS_RANKED])
{
	for (int pass = 0; pass < 2; pass++) {
		uint32_t at = 0;

		for (const struct report_node *n = list->first;
		     n && at < BOTTLENECKS_RANKED && most; n = n->next, at++)
			if (!is_chosen[at] && (pass || is_first_of_cause(list, n))) {
				is_chosen[at] = true;
				most--;
			}
	}
}

static void show_one(const struct report_node *entry, uint32_t nr,
                     const struct report_text_cfg *cfg, FILE *out)
{
	char text[LINE_BYTES], title[16], next[COMMAND_TEXT_BYTES];
	size_t indent = strlen(TITLE_NEXT);

	snprintf(title, sizeof(title), "%2" PRIu32 ". ", nr);
	fputs(wrap_on(WRAP_ANSWER, cfg->is_colored), out);
	wrap_print(out, title, printable(entry, "description", text), cfg->width);
	fputs(wrap_off(cfg->is_colored), out);
	wrap_print(out, TITLE_TRY, printable(entry, "remedy", text), cfg->width);
	bottleneck_next(entry, cfg->file, cfg->clock, cfg->width > indent ? cfg->width - indent : 0,
	                next);
	fprintf(out, "%s%s%s%s\n", TITLE_NEXT, wrap_on(WRAP_COMMAND, cfg->is_colored), next,
	        wrap_off(cfg->is_colored));
}

int bottlenecks_text(const struct report_node *root, const struct report_text_cfg *cfg, FILE *out)
{
	const struct report_node *list = report_at(root, "bottlenecks"),
				 *rates = report_at(root, "high_rates");
	char text[LINE_BYTES];
	uint32_t nr = 0;

	for (const struct report_node *at = list ? list->first : NULL; at; at = at->next)
		show_one(at, ++nr, cfg, out);
	if (!nr)
		fprintf(out, "%s\n", bottlenecks_none(root, text, sizeof(text)));
	else if (number(root, "total_bottlenecks") > nr)
		fprintf(out, "and %" PRIu64 " more; -n shows more of them\n",
		        number(root, "total_bottlenecks") - nr);
	for (const struct report_node *at = rates ? rates->first : NULL; at; at = at->next)
		fprintf(out, "%s%s\n", at == rates->first ? "\n" : "",
		        printable(at, "description", text));
	return ferror(out) ? -EIO : 0;
}
