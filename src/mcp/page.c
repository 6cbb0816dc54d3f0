/* call_put_report(): a report as a short answer, and how to get more. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/report.h"
#include "mcp/outgoing.h"
#include "mcp/tool.h"
#include "render/report_json.h"

#define PAIR       2U  /* such as [from, to]: no list, in fact */
#define FEW_VALUES 40U /* plain values, not rows: shown whole */
#define FEW_TEXTS  12U /* the same inside of rows, of texts */
#define FEW_INNER  10U /* rows inside of rows that a limit for the outer ones leaves */
#define PATH_LEN   128U
#define MOST_BYTES 8000U /* some 2,000 tokens */

/* Tried one after the other until the answer fits. */
static const uint32_t limits[] = { 50, 30, 20, 15, 10, 7, 5, 3, 2, 1 };
#define NR_LIMITS (sizeof(limits) / sizeof(limits[0]))

struct list_page {
	uint64_t offset;
	uint64_t limit;
	uint64_t inner;                /* of lists inside of rows */
	const struct call_list *known; /* NULL = none */
	bool is_cut;
};

static bool is_plain(const struct report_node *n)
{
	return n->type != REPORT_ARRAY && n->type != REPORT_OBJECT;
}

static bool is_whole(const struct report_node *n, bool is_in_row)
{
	bool has_texts = n->first && n->first->type == REPORT_STRING;

	if (n->nr > (!is_in_row ? FEW_VALUES : has_texts ? FEW_TEXTS : PAIR))
		return false;
	for (const struct report_node *m = n->first; m; m = m->next)
		if (!is_plain(m))
			return false;
	return true;
}

/* What is known of a list besides the report; NULL = nothing. */
static const struct call_list *known_of(const struct list_page *p, const char *key)
{
	return p->known && key && strcmp(key, p->known->key) == 0 ? p->known : NULL;
}

/* The first row of a list that is shown; those inside of rows are only cut. */
static uint64_t first_of(const struct list_page *p, const struct report_node *n, bool is_in_row)
{
	const struct call_list *known = known_of(p, n->key);

	if (is_in_row || is_whole(n, is_in_row) || (known && known->is_from_offset))
		return 0;
	return p->offset;
}

static uint64_t total_of(const struct list_page *p, const struct report_node *n)
{
	const struct call_list *known = known_of(p, n->key);

	return known ? known->total : n->nr;
}

static uint64_t nr_shown(const struct list_page *p, const struct report_node *n, bool is_in_row)
{
	uint64_t from = first_of(p, n, is_in_row), left = n->nr > from ? n->nr - from : 0;
	uint64_t limit = is_in_row ? p->inner : p->limit;

	return is_whole(n, is_in_row) || left < limit ? left : limit;
}

static void put_node(struct list_page *p, struct json_writer *w, const struct report_node *n,
                     bool is_in_row);

static void put_array(struct list_page *p, struct json_writer *w, const struct report_node *n,
                      bool is_in_row)
{
	uint64_t from = first_of(p, n, is_in_row), nr = nr_shown(p, n, is_in_row), at = 0;

	jw_begin_array(w, n->key);
	for (const struct report_node *m = n->first; m && at < from + nr; m = m->next, at++)
		if (at >= from)
			put_node(p, w, m, true);
	jw_end_array(w);
	if (nr < (is_in_row ? n->nr : total_of(p, n)))
		p->is_cut = true;
}

/* The list that a number counts: "events_shown" of "events", "returned_count" of the one that is known. */
static const struct report_node *list_counted(const struct list_page *p,
                                              const struct report_node *object, const char *key)
{
	size_t len = strlen(key);

	if (p->known && strcmp(key, "returned_count") == 0)
		return report_at(object, p->known->key);
	if (len <= 6 || strcmp(key + len - 6, "_shown") != 0)
		return NULL;
	for (const struct report_node *n = object->first; n; n = n->next)
		if (n->type == REPORT_ARRAY && strlen(n->key) == len - 6 &&
		    strncmp(n->key, key, len - 6) == 0)
			return n;
	return NULL;
}

static void put_members(struct list_page *p, struct json_writer *w,
                        const struct report_node *object, bool is_in_row)
{
	for (const struct report_node *n = object->first; n; n = n->next) {
		const struct report_node *list = list_counted(p, object, n->key);

		if (list)
			jw_u64(w, n->key, nr_shown(p, list, is_in_row));
		else if (strcmp(n->key, "limit_per_subcategory") == 0)
			jw_u64(w, n->key, p->limit);
		else
			put_node(p, w, n, is_in_row);
	}
}

static void put_node(struct list_page *p, struct json_writer *w, const struct report_node *n,
                     bool is_in_row)
{
	if (n->type == REPORT_ARRAY) {
		put_array(p, w, n, is_in_row);
	} else if (n->type == REPORT_OBJECT) {
		jw_begin_object(w, n->key);
		put_members(p, w, n, is_in_row);
		jw_end_object(w);
	} else {
		report_json(w, n->key, n);
	}
}

static void put_list(const struct list_page *p, struct json_writer *w, const struct report_node *n,
                     const char *name)
{
	uint64_t next = p->offset + p->limit, total = total_of(p, n);

	jw_begin_object(w, NULL);
	jw_string(w, "name", name);
	jw_u64(w, "total", total);
	jw_u64_if(w, "next_offset", next < total, next);
	jw_end_object(w);
}

/* Lists of the object and of those in it, by path. */
static void put_lists(const struct list_page *p, struct json_writer *w,
                      const struct report_node *object, const char *prefix)
{
	for (const struct report_node *n = object->first; n; n = n->next) {
		char name[PATH_LEN];

		if (is_plain(n))
			continue;
		snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", n->key);
		if (n->type == REPORT_OBJECT)
			put_lists(p, w, n, name);
		else if (!is_whole(n, false))
			put_list(p, w, n, name);
	}
}

static void put_all(struct list_page *p, struct json_writer *w, const struct report_node *root)
{
	put_members(p, w, root, false);
	jw_bool(w, "truncated", p->is_cut);
	if (!p->is_cut)
		return;
	jw_begin_object(w, "page");
	jw_u64(w, "offset", p->offset);
	jw_u64(w, "limit", p->limit);
	jw_begin_array(w, "lists");
	put_lists(p, w, root, "");
	jw_end_array(w);
	jw_end_object(w);
}

/* How long it would be; SIZE_MAX without memory. */
static size_t measure(struct list_page p, const struct report_node *root)
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

/* As many rows as the budget allows, and not more than the argument's default. */
static uint64_t fitting_limit(struct list_page p, const struct report_node *root)
{
	uint64_t most = p.limit ? p.limit : UINT64_MAX;

	for (size_t i = 0; i < NR_LIMITS; i++) {
		p.limit = p.inner = limits[i] < most ? limits[i] : most;
		if (measure(p, root) <= TOOL_BUDGET)
			break;
	}
	return p.limit;
}

/* Of lists inside of the rows that were asked for: fewer, if the answer fits then. */
static uint64_t fitting_inner(struct list_page p, const struct report_node *root)
{
	for (size_t i = 0; i < NR_LIMITS; i++) {
		p.inner = limits[i];
		if (p.inner <= FEW_INNER && measure(p, root) <= MOST_BYTES)
			return p.inner;
	}
	return FEW_INNER;
}

int call_put_list(struct tool_call *c, const struct report_node *root,
                  const struct call_list *known)
{
	struct list_page p = { .offset = call_u64(c, "offset"),
		               .limit = call_u64(c, "limit"),
		               .known = known };

	if (!root || root->type != REPORT_OBJECT)
		return diag_set(c->d, -ENOMEM, "ask for less", "the answer is too large");
	if (!call_was_given(c, "limit"))
		p.limit = p.inner = fitting_limit(p, root);
	else
		p.inner = p.limit > FEW_INNER ? p.limit : fitting_inner(p, root);
	put_all(&p, c->out, root);
	return 0;
}

int call_put_report(struct tool_call *c, const struct report_node *root)
{
	return call_put_list(c, root, NULL);
}
