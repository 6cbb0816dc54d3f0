#include "cli/top_verdict.h"

#include <stdio.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "base/text.h"

/* The sentence about the cause comes first; it knows the name of the task, but neither its number nor how long it waited. */
static void fill_text(struct top_verdict *t, const struct report_node *wait)
{
	const struct report_node *sentences = report_at(wait, "sentences");
	const char *first = sentences && sentences->first ? sentences->first->text : "";
	const char *comm = report_text_at(wait, "comm");
	char duration[24];
	size_t len;

	(void)snprintf(t->text, sizeof(t->text), "%.15s [%u] waited %s: %s", comm ? comm : "?",
	               t->verdict.tid,
	               text_duration(duration, sizeof(duration), t->verdict.wait_ns), first);
	len = strlen(t->text);
	while (len &&
	       (t->text[len - 1] == '.' || t->text[len - 1] == ' ' || t->text[len - 1] == ':'))
		t->text[--len] = '\0';
	t->verdict.text = t->text;
}

void top_verdict_fill(struct top_verdict *t, const struct top_window *w, struct diag *d)
{
	SCOPED(scoped_report) struct report *r = NULL;
	const struct pass_args args = { .cpu = PASS_ANY_CPU,
		                        .layer = EV_NO_LAYER,
		                        .from_ns = w->from_ns,
		                        .to_ns = w->to_ns,
		                        .limit = 1 };
	const struct report_node *wait;

	t->verdict = (struct machine_verdict){ 0 };
	if (pass_run(&pass_explain, w->source, &args, d, &r))
		return;
	wait = report_at(report_root(r), "waits.0");
	if (!wait)
		return;
	t->verdict.tid = (uint32_t)report_u64_at(wait, "tid");
	t->verdict.wait_ns = report_u64_at(wait, "wait_ns");
	fill_text(t, wait);
}
