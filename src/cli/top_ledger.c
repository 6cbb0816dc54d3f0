#include "cli/top_ledger.h"

#include <stdio.h>
#include <string.h>

#include "analyses/explain/explain.h"
#include "base/cleanup.h"
#include "base/text.h"

_Static_assert(TOP_LEDGER_PARTS >= EXPLAIN_MAX_PARTS, "parts would be missing from the sum");

static enum machine_ledger_kind kind_of(const char *kind)
{
	static const struct {
		uint8_t from;
		enum machine_ledger_kind to;
	} kinds[] = {
		{ LEDGER_TASK, MACHINE_LEDGER_TASK },
		{ LEDGER_THROTTLED, MACHINE_LEDGER_THROTTLED },
		{ LEDGER_STOLEN, MACHINE_LEDGER_STOLEN },
		{ LEDGER_INTERRUPT, MACHINE_LEDGER_INTERRUPT },
		{ LEDGER_SOFTIRQ, MACHINE_LEDGER_INTERRUPT },
		{ LEDGER_IDLE, MACHINE_LEDGER_IDLE },
		{ LEDGER_QUEUE, MACHINE_LEDGER_QUEUE },
		{ LEDGER_WAKING, MACHINE_LEDGER_QUEUE },
		{ LEDGER_KINDS, MACHINE_LEDGER_OTHERS },
	};

	for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, explain_kind(kinds[i].from)) == 0)
			return kinds[i].to;
	return MACHINE_LEDGER_UNKNOWN;
}

static void fill_parts(struct top_ledger *t, const struct report_node *parts)
{
	for (const struct report_node *at = parts ? parts->first : NULL;
	     at && t->ledger.nr < TOP_LEDGER_PARTS; at = at->next) {
		size_t i = t->ledger.nr++;
		const char *name = report_text_at(at, "name");

		(void)snprintf(t->names[i], TOP_LEDGER_NAME, "%s", name ? name : "?");
		t->parts[i] =
			(struct machine_ledger_part){ .name = t->names[i],
			                              .ns = report_u64_at(at, "ns"),
			                              .kind = kind_of(report_text_at(at, "kind")) };
	}
}

/* One text after the other; false where the room ends. */
static bool append(char text[TOP_LEDGER_TEXT], const char *between, const char *more)
{
	size_t len = strlen(text);

	return (size_t)snprintf(text + len, TOP_LEDGER_TEXT - len, "%s%s", len ? between : "",
	                        more) < TOP_LEDGER_TEXT - len;
}

static void fill_longest(struct top_ledger *t, const struct report_node *wait, uint64_t to_ns)
{
	const struct report_node *all = report_at(wait, "sentences"),
				 *open = report_at(wait, "is_open");
	uint64_t end_ns = report_u64_at(wait, "end_timestamp");

	t->longest[0] = '\0';
	for (const struct report_node *at = all ? all->first : NULL; at; at = at->next)
		if (!append(t->longest, " ", at->text))
			break;
	t->ledger.longest = wait ? t->longest : NULL;
	t->ledger.longest_ns = report_u64_at(wait, "wait_ns");
	t->ledger.is_open = open && open->b;
	t->ledger.ago_ns = to_ns > end_ns ? to_ns - end_ns : 0;
}

static void fill_sleeps(struct top_ledger *t, const struct report_node *root)
{
	const struct report_node *reasons = report_at(root, "reasons");
	uint64_t all_ns = report_u64_at(root, "sleep_ns");
	char one[TOP_LEDGER_NAME], time[24];

	t->sleeps[0] = '\0';
	if (!reasons || reasons->type != REPORT_ARRAY)
		return;
	for (const struct report_node *at = reasons->first; at; at = at->next) {
		uint64_t ns = report_u64_at(at, "sleep_ns");

		(void)snprintf(one, sizeof(one), "%s %s %.0f%%", report_text_at(at, "for"),
		               text_duration(time, sizeof(time), ns),
		               all_ns ? 100.0 * (double)ns / (double)all_ns : 0);
		if (!append(t->sleeps, ", ", one))
			break;
	}
	t->ledger.sleeps = t->sleeps;
}

void top_ledger_fill(struct top_ledger *t, const struct top_window *w, uint32_t tid, struct diag *d)
{
	SCOPED(scoped_report) struct report *r = NULL;
	const struct pass_args args = { .cpu = PASS_ANY_CPU,
		                        .layer = EV_NO_LAYER,
		                        .tid = tid,
		                        .from_ns = w->from_ns,
		                        .to_ns = w->to_ns };
	const struct report_node *root;

	t->ledger = (struct machine_ledger){ .tid = tid, .parts = t->parts, .lost = w->lost };
	if (pass_run(&pass_thread, w->source, &args, d, &r))
		return;
	root = report_root(r);
	t->ledger.seconds = (double)(w->to_ns - w->from_ns) / 1e9;
	t->ledger.waits = report_u64_at(root, "waits");
	t->ledger.wait_ns = report_u64_at(root, "wait_ns");
	fill_parts(t, report_at(root, "parts"));
	fill_longest(t, report_at(root, "longest.0"), w->to_ns);
	fill_sleeps(t, root);
}
