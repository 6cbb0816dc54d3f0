/* call_put_report(): a report as a short answer, and how to get the rest. */
#include <errno.h>
#include <string.h>

#include "analyze/report.h"
#include "mcp/outgoing.h"
#include "mcp/tool.h"
#include "render/report_json.h"

/* Tried one after the other until the answer fits. */
static const uint32_t limits[] = { 50, 30, 20, 15, 10, 7, 5, 3, 2, 1 };
#define NR_LIMITS (sizeof(limits) / sizeof(limits[0]))

struct page {
	uint64_t offset;
	uint64_t limit;
	bool is_cut;
};

/* Lists at the top begin at the offset; those inside of rows are only cut. */
static void put_node(struct page *p, struct json_writer *w, const struct report_node *n, int depth)
{
	uint64_t from = depth == 1 ? p->offset : 0, at = 0;

	if (n->type != REPORT_ARRAY && n->type != REPORT_OBJECT) {
		report_json(w, n->key, n);
		return;
	}
	if (n->type == REPORT_OBJECT) {
		jw_begin_object(w, n->key);
		for (const struct report_node *m = n->first; m; m = m->next)
			put_node(p, w, m, depth + 1);
		jw_end_object(w);
		return;
	}
	jw_begin_array(w, n->key);
	for (const struct report_node *m = n->first; m; m = m->next, at++)
		if (at >= from && at - from < p->limit)
			put_node(p, w, m, depth + 1);
	jw_end_array(w);
	if (n->nr > p->limit || (depth == 1 && from))
		p->is_cut = true;
}

static void put_lists(const struct page *p, struct json_writer *w, const struct report_node *root)
{
	jw_begin_array(w, "lists");
	for (const struct report_node *n = root->first; n; n = n->next) {
		uint64_t next = p->offset + p->limit;

		if (n->type != REPORT_ARRAY)
			continue;
		jw_begin_object(w, NULL);
		jw_string(w, "name", n->key);
		jw_u64(w, "total", n->nr);
		if (next < n->nr)
			jw_u64(w, "next_offset", next);
		else
			jw_null(w, "next_offset");
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_all(struct page *p, struct json_writer *w, const struct report_node *root)
{
	for (const struct report_node *n = root->first; n; n = n->next)
		put_node(p, w, n, 1);
	jw_bool(w, "truncated", p->is_cut);
	if (!p->is_cut)
		return;
	jw_begin_object(w, "page");
	jw_u64(w, "offset", p->offset);
	jw_u64(w, "limit", p->limit);
	put_lists(p, w, root);
	jw_end_object(w);
}

/* How long it would be; SIZE_MAX without memory. */
static size_t measure(struct page p, const struct report_node *root)
{
	struct outgoing o;
	size_t len = SIZE_MAX;

	if (outgoing_begin(&o))
		return len;
	jw_begin_object(&o.w, NULL);
	put_all(&p, &o.w, root);
	jw_end_object(&o.w);
	if (outgoing_end(&o) == 0)
		len = o.len;
	outgoing_done(&o);
	return len;
}

int call_put_report(struct tool_call *c, const struct report_node *root)
{
	struct page p = { .offset = call_u64(c, "offset"), .limit = call_u64(c, "limit") };

	if (!root || root->type != REPORT_OBJECT)
		return diag_set(c->d, -ENOMEM, "ask for less", "the answer is too large");
	for (size_t i = 0; !call_was_given(c, "limit") && i < NR_LIMITS; i++) {
		p.limit = limits[i];
		if (measure(p, root) <= TOOL_BUDGET)
			break;
	}
	put_all(&p, c->out, root);
	return 0;
}
