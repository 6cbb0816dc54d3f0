#include "render/explain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define NAME_BYTES 96
#define TIME_BYTES 24

static uint64_t num(const struct report_node *node, const char *key)
{
	const struct report_node *at = report_at(node, key);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

static const char *safe(const struct report_node *node, const char *key, char buf[NAME_BYTES])
{
	const struct report_node *at = report_at(node, key);
	const char *text = at && at->type == REPORT_STRING ? at->text : "?";

	return text_printable(buf, NAME_BYTES, text, strlen(text));
}

static const char *time_of(const struct report_node *node, const char *key, char buf[TIME_BYTES])
{
	return text_duration(buf, TIME_BYTES, num(node, key));
}

static void print_sentences(const struct report_node *wait, FILE *out)
{
	const struct report_node *all = report_at(wait, "sentences");
	char clean[512];

	for (const struct report_node *at = all ? all->first : NULL; at; at = at->next)
		fprintf(out, "  %s\n",
		        text_printable(clean, sizeof(clean), at->text, strlen(at->text)));
}

/* The last branch is a corner unless a waker follows. */
static void print_parts(const struct report_node *wait, const char *tee, const char *last,
                        FILE *out)
{
	const struct report_node *all = report_at(wait, "parts");
	char text[NAME_BYTES], t[TIME_BYTES];

	for (const struct report_node *at = all ? all->first : NULL; at; at = at->next)
		fprintf(out, "  %s %s %s\n", at->next ? tee : last, time_of(at, "ns", t),
		        safe(at, "text", text));
}

/* By an interrupt. */
static bool is_woken(const struct report_node *link)
{
	const struct report_node *by = report_at(link, "woken_by");

	return by && by->type == REPORT_STRING;
}

static void print_tree(const struct report_node *wait, bool is_utf8, FILE *out)
{
	const char *tee = is_utf8 ? "\u251c\u2500" : "|-",
		   *corner = is_utf8 ? "\u2514\u2500" : "`-";
	const struct report_node *chain = report_at(wait, "chain"),
				 *at = chain ? chain->first : NULL, *last;
	char name[NAME_BYTES], t[TIME_BYTES], t2[TIME_BYTES];
	int depth = 0;

	if (!at)
		return;
	fprintf(out, "\n  %s (%" PRIu64 ") waited %s for CPU %" PRIu64 "\n", safe(at, "comm", name),
	        num(at, "tid"), time_of(at, "wait_ns", t), num(at, "cpu"));
	print_parts(wait, tee, at->next || is_woken(at) ? tee : corner, out);
	for (last = at, at = at->next; at; last = at, at = at->next, depth++)
		fprintf(out,
		        "  %*s%s woken by %s (%" PRIu64
		        "), which ran %s after having waited %s for CPU %" PRIu64 "\n",
		        3 * depth, "", corner, safe(at, "comm", name), num(at, "tid"),
		        time_of(at, "run_ns", t), time_of(at, "wait_ns", t2), num(at, "cpu"));
	if (is_woken(last))
		fprintf(out, "  %*s%s woken by %s\n", 3 * depth, "", corner,
		        safe(last, "woken_by", name));
	fprintf(out, "  all waits together: %s\n", time_of(wait, "compound_delay_ns", t));
}

static bool is_open(const struct report_node *wait)
{
	const struct report_node *at = report_at(wait, "is_open");

	return at && at->type == REPORT_BOOL && at->b;
}

int explain_text(const struct report_node *root, const struct explain_text_cfg *cfg, FILE *out)
{
	const struct report_node *waits = report_at(root, "waits"),
				 *why = report_at(root, "incomplete");
	char name[NAME_BYTES], t[TIME_BYTES];
	unsigned int nr = 0;

	for (const struct report_node *at = waits ? waits->first : NULL; at; at = at->next) {
		fprintf(out, "%s%u. %s (%" PRIu64 ") waited %s; %s at @%" PRIu64 "\n",
		        nr ? "\n" : "", nr + 1, safe(at, "comm", name), num(at, "tid"),
		        time_of(at, "wait_ns", t), is_open(at) ? "it still did" : "it ended",
		        num(at, "end_timestamp"));
		nr++;
		print_sentences(at, out);
		if (cfg->has_chain)
			print_tree(at, cfg->is_utf8, out);
	}
	if (!nr)
		fprintf(out, "No wait matches.\n");
	if (why && why->type == REPORT_STRING)
		fprintf(out, "\nincomplete: %s\n", why->text);
	return ferror(out) ? -EIO : 0;
}
