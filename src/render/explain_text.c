#include "render/explain_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "render/command_text.h"
#include "render/report_value.h"
#include "render/wrap.h"

#define NAME_BYTES  96
#define TIME_BYTES  24
#define LINE_BYTES  4096
#define MAX_DEPTH   32
#define MORE_LINES  3 /* how many more there are, and the prompt of the shell */
#define SAVED_LINES 2 /* of these, where all are shown */

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

/* A text that may be long. */
static const char *line(const struct report_node *node, const char *key, char buf[LINE_BYTES])
{
	const struct report_node *at = report_at(node, key);
	const char *text = at && at->type == REPORT_STRING ? at->text : "?";

	return text_printable(buf, LINE_BYTES, text, strlen(text));
}

static const char *time_of(const struct report_node *node, const char *key, char buf[TIME_BYTES])
{
	return text_duration(buf, TIME_BYTES, num(node, key));
}

static void print_sentences(const struct report_node *wait, size_t width, FILE *out)
{
	const struct report_node *all = report_at(wait, "sentences");
	char clean[LINE_BYTES];

	for (const struct report_node *at = all ? all->first : NULL; at; at = at->next)
		wrap_print(out, "  ",
		           text_printable(clean, sizeof(clean), at->text, strlen(at->text)), width);
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

/* When it ended, as --at and --to take it. */
static const char *end_of(const struct report_node *at, const struct explain_text_cfg *cfg,
                          char buf[TIME_BYTES])
{
	uint64_t end_ns = num(at, "end_timestamp");

	if (cfg->clock.is_known)
		return report_moment(end_ns, cfg->clock.start_ns, buf, TIME_BYTES);
	snprintf(buf, TIME_BYTES, "@%" PRIu64, end_ns);
	return buf;
}

/* Whether the next entry of the same depth has the same one above it. */
static bool has_sibling(const struct report_node *entry)
{
	uint64_t depth = num(entry, "depth");

	for (const struct report_node *at = entry->next; at && num(at, "depth") >= depth;
	     at = at->next)
		if (num(at, "depth") == depth)
			return true;
	return false;
}

/* What the sleep was for, what those tasks did, and so on. */
static void print_sleep_tree(const struct report_node *sleep, bool is_utf8, FILE *out)
{
	const char *tee = is_utf8 ? "\u251c\u2500" : "|-", *bar = is_utf8 ? "\u2502 " : "| ",
		   *corner = is_utf8 ? "\u2514\u2500" : "`-";
	const struct report_node *chain = report_at(sleep, "chain"),
				 *cut = report_at(sleep, "is_chain_cut");
	bool goes_on[MAX_DEPTH] = { false }; /* by depth: more of it follows below */
	char text[LINE_BYTES];

	fputc('\n', out);
	for (const struct report_node *at = chain ? chain->first : NULL; at; at = at->next) {
		uint64_t depth = num(at, "depth");

		if (depth >= MAX_DEPTH)
			continue;
		goes_on[depth] = has_sibling(at);
		fputs("  ", out);
		for (uint64_t i = 1; i < depth; i++)
			fprintf(out, "%s ", goes_on[i] ? bar : "  ");
		fprintf(out, "%s%s%s\n",
		        !depth           ? ""
		        : goes_on[depth] ? tee
		                         : corner,
		        depth ? " " : "", line(at, "text", text));
	}
	if (cut && cut->type == REPORT_BOOL && cut->b)
		fprintf(out, "  the chain goes on: it is cut here\n");
}

/* The answer, before how it came to it. */
static void print_answer(unsigned int nr, const char *text, const struct explain_text_cfg *cfg,
                         FILE *out)
{
	char number[16];

	snprintf(number, sizeof(number), "%u. ", nr);
	fputs(wrap_on(WRAP_ANSWER, cfg->is_colored), out);
	wrap_print(out, number, text, cfg->width);
	fputs(wrap_off(cfg->is_colored), out);
}

static void print_sleep(const struct report_node *at, unsigned int nr,
                        const struct explain_text_cfg *cfg, FILE *out)
{
	char name[NAME_BYTES], call[NAME_BYTES], t[TIME_BYTES], end[TIME_BYTES];
	const struct report_node *in = report_at(at, "call");
	bool has_call = in && in->type == REPORT_STRING;
	char text[LINE_BYTES];

	snprintf(text, sizeof(text), "%s (%" PRIu64 ") slept %s%s%s; %s at %s",
	         safe(at, "comm", name), num(at, "tid"), time_of(at, "sleep_ns", t),
	         has_call ? " in " : "", has_call ? safe(at, "call", call) : "",
	         is_open(at) ? "it still did" : "it ended", end_of(at, cfg, end));
	print_answer(nr, text, cfg, out);
	print_sentences(at, cfg->width, out);
	if (cfg->has_chain)
		print_sleep_tree(at, cfg->is_utf8, out);
}

/* What had most of the wait: ", 60 % of it behind cc1 (7) on CPU 0". Empty if it is not known of any of it. */
static void main_part(const struct report_node *wait, char *buf, size_t size)
{
	const struct report_node *parts = report_at(wait, "parts"), *most = NULL;
	uint64_t wait_ns = num(wait, "wait_ns");
	char text[LINE_BYTES];

	buf[0] = '\0';
	for (const struct report_node *at = parts ? parts->first : NULL; at; at = at->next)
		if (!most || num(at, "ns") > num(most, "ns"))
			most = at;
	if (most && wait_ns)
		snprintf(buf, size, ", %u %% of it %s",
		         (unsigned int)(100.0 * (double)num(most, "ns") / (double)wait_ns + 0.5),
		         line(most, "text", text));
}

static void print_wait(const struct report_node *wait, unsigned int nr,
                       const struct explain_text_cfg *cfg, FILE *out)
{
	char name[NAME_BYTES], t[TIME_BYTES], end[TIME_BYTES];
	char part[LINE_BYTES + 32], text[2 * LINE_BYTES];

	main_part(wait, part, sizeof(part));
	snprintf(text, sizeof(text), "%s (%" PRIu64 ") waited %s%s; %s at %s",
	         safe(wait, "comm", name), num(wait, "tid"), time_of(wait, "wait_ns", t), part,
	         is_open(wait) ? "it still did" : "it ended", end_of(wait, cfg, end));
	print_answer(nr, text, cfg, out);
	print_sentences(wait, cfg->width, out);
	if (cfg->has_chain)
		print_tree(wait, cfg->is_utf8, out);
}

static size_t lines_of(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

/* Prints an entry, or the report's end. */
typedef void print_fn(const struct report_node *at, unsigned int nr,
                      const struct explain_text_cfg *cfg, FILE *out);

static int text_of(print_fn *print, const struct report_node *at, unsigned int nr,
                   const struct explain_text_cfg *cfg, char **text)
{
	size_t size;
	FILE *out = open_memstream(text, &size);

	if (!out)
		return -ENOMEM;
	print(at, nr, cfg, out);
	return fclose(out) ? -ENOMEM : 0;
}

/* As many as leave room for what follows; of those below each other, a blank line is between two. */
static int print_entries(const struct report_node *list, print_fn *print, size_t room,
                         const struct explain_text_cfg *cfg, FILE *out)
{
	unsigned int nr = 0;
	size_t used = 0;

	for (const struct report_node *at = list ? list->first : NULL; at; at = at->next) {
		SCOPED(scoped_free) char *text = NULL;
		int err = text_of(print, at, nr + 1, cfg, &text);

		if (err)
			return err;
		used += (nr != 0) + lines_of(text);
		if (nr && used > room + (at->next ? 0 : SAVED_LINES)) {
			fprintf(out, "\nand %u more; -n %u shows them\n", list->nr - nr, list->nr);
			break;
		}
		fprintf(out, "%s%s", nr ? "\n" : "", text);
		nr++;
	}
	return 0;
}

/* What is true of all of them, and the command to run next. */
static void print_tail(const struct report_node *root, unsigned int nr,
                       const struct explain_text_cfg *cfg, FILE *out)
{
	const struct report_node *sleeps = report_at(root, "sleeps"),
				 *why = report_at(root, "incomplete"),
				 *list = sleeps ? sleeps : report_at(root, "waits");
	char text[LINE_BYTES], words[64], command[COMMAND_TEXT_BYTES];

	(void)nr;
	if (report_at(root, "in_all")) {
		fputc('\n', out);
		wrap_print(out, "", line(root, "in_all", text), cfg->width);
	}
	if (why && why->type == REPORT_STRING) {
		fputc('\n', out);
		wrap_print(out, "incomplete: ", why->text, cfg->width);
	}
	if (!cfg->file || !list || !list->first)
		return;
	snprintf(words, sizeof(words), "analyze FILE %s --tid %" PRIu64,
	         sleeps ? "sleeps" : "blame", num(list->first, "tid"));
	command_text(words, cfg->file, cfg->clock, cfg->width ? cfg->width - strlen("next: ") : 0,
	             command);
	fprintf(out, "\n%snext: %s%s\n", wrap_on(WRAP_COMMAND, cfg->is_colored), command,
	        wrap_off(cfg->is_colored));
}

int explain_text(const struct report_node *root, const struct explain_text_cfg *cfg, FILE *out)
{
	const struct report_node *sleeps = report_at(root, "sleeps");
	const struct report_node *list = sleeps ? sleeps : report_at(root, "waits");
	SCOPED(scoped_free) char *tail = NULL;
	size_t below = MORE_LINES, room;
	int err = text_of(print_tail, root, 0, cfg, &tail);

	if (err)
		return err;
	below += lines_of(tail);
	room = cfg->height && cfg->height < below ? 0 : cfg->height - below;
	if (!cfg->height)
		room = SIZE_MAX - SAVED_LINES;
	if (!list || !list->first)
		fprintf(out, "No %s matches.\n", sleeps ? "sleep" : "wait");
	err = print_entries(list, sleeps ? print_sleep : print_wait, room, cfg, out);
	fputs(tail, out);
	return err ? err : ferror(out) ? -EIO : 0;
}
