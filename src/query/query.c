#include "query/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cgroups.h"
#include "analyze/losses.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/match.h"
#include "base/name_pattern.h"
#include "model/event_log.h"
#include "model/task_lives.h"
#include "query/event_fields.h"
#include "query/query_priv.h"

#define SIGN_BIT (1ULL << 63)

static bool compare_order(int order, enum query_op op)
{
	switch (op) {
	case QUERY_EQ:
		return order == 0;
	case QUERY_NE:
		return order != 0;
	case QUERY_GT:
		return order > 0;
	case QUERY_LT:
		return order < 0;
	case QUERY_GE:
		return order >= 0;
	case QUERY_LE:
		return order <= 0;
	case QUERY_CONTAINS:
		break;
	}
	return false;
}

static int number_order(const struct event_value *v, const struct query_condition *c)
{
	bool is_given_negative = c->number < 0;

	if (v->is_signed && (v->i64 < 0 || is_given_negative))
		return (v->i64 > c->number) - (v->i64 < c->number);
	if (is_given_negative)
		return 1;
	uint64_t value = v->is_signed ? (uint64_t)v->i64 : v->u64;

	return (value > c->whole) - (value < c->whole);
}

static bool meets(const struct source *s, const struct ev_hdr *rec, const struct query_condition *c)
{
	struct event_value v;

	if (!event_value(s, rec, c->field, &v))
		return false;
	if (v.is_text && c->op == QUERY_CONTAINS)
		return c->match ? match_any(c->match, v.text, strlen(v.text))
		                : strstr(v.text, c->text) != NULL;
	if (v.is_text)
		return compare_order(strcmp(v.text, c->text), c->op);
	return c->is_number && compare_order(number_order(&v, c), c->op);
}

/* Whether one of the tasks that the event names is of that process, name and cgroup. */
static bool names_task(const struct source *s, const struct query *q, const struct ev_hdr *rec)
{
	uint32_t tids[EVENT_LOG_MAX_TIDS];
	unsigned int nr = event_log_tids(rec, tids);

	for (unsigned int i = 0; i < nr; i++) {
		uint32_t task = s->lives ? task_lives_at(s->lives, tids[i], rec->ts_ns)
		                         : tasks_find(s->tasks, tids[i]);
		const struct task *t = tasks_at(s->tasks, task);

		if (!t || (q->pid && t->tgid != q->pid))
			continue;
		if (q->cgroups && !q->cgroups[tasks_cgroup_at(s->tasks, task, rec->ts_ns)])
			continue;
		if (!q->comm || (q->comm_match ? source_matches_name(s, task, q->comm_match)
		                               : source_has_name(s, task, q->comm)))
			return true;
	}
	return false;
}

static bool matches(const struct source *s, const struct query *q, const struct ev_hdr *rec)
{
	if (!event_type_name(rec->kind))
		return false;
	if ((q->pid || q->comm || q->cgroups) && !names_task(s, q, rec))
		return false;
	for (size_t i = 0; i < q->nr_where; i++)
		if (!meets(s, rec, &q->where[i]))
			return false;
	return true;
}

int query_find(const struct source *s, const struct query *q, struct event_log_iter *it,
               struct diag *d)
{
	struct event_log_query lq = {
		.kinds = q->kinds,
		.cpu = q->cpu,
		.tid = q->tid,
		.from_ns = q->from_ns,
		.to_ns = q->to_ns ? q->to_ns : UINT64_MAX,
	};

	if (!s->log)
		return diag_set(d, -ENODATA, NULL, "no raw events are kept here");
	return event_log_find(s->log, &lq, it) ? diag_set(d, -ENOMEM, NULL, "out of memory") : 0;
}

const struct ev_hdr *query_next(const struct source *s, const struct query *q,
                                struct event_log_iter *it)
{
	const struct ev_hdr *rec;

	while ((rec = event_log_next(it)))
		if (matches(s, q, rec))
			return rec;
	return NULL;
}

static void add_value(struct report *r, const char *key, const struct event_value *v)
{
	if (v->is_text)
		report_string(r, key, v->text);
	else if (v->is_signed)
		report_i64(r, key, v->i64);
	else if (v->is_id)
		report_id(r, key, v->u64);
	else
		report_u64(r, key, v->u64);
}

static void add_named(const struct source *s, const struct ev_hdr *rec, const char *field,
                      struct report *r)
{
	struct event_value v;

	if (event_value(s, rec, field, &v))
		add_value(r, field, &v);
	else
		report_null(r, field);
}

static void show_event(const struct source *s, const struct query *q, const struct ev_hdr *rec,
                       struct report *r)
{
	struct event_value v;

	report_begin_object(r, NULL);
	for (size_t i = 0; i < q->nr_select; i++)
		add_named(s, rec, q->select[i], r);
	if (!q->nr_select) {
		report_u64(r, "timestamp", rec->ts_ns);
		report_u64(r, "cpu", rec->cpu);
		report_string(r, "event_type", event_type_name(rec->kind));
		add_named(s, rec, "pid", r);
		report_begin_object(r, "fields");
		for (const struct event_field *f = event_fields(rec->kind); f->name; f++)
			if (event_field_value(s, rec, f, &v))
				add_value(r, f->name, &v);
			else
				report_null(r, f->name);
		report_end_object(r);
	}
	report_end_object(r);
}

/* A number that orders as the value does; texts order by themselves. */
static uint64_t order_of(const struct event_value *v)
{
	if (v->is_signed)
		return (uint64_t)v->i64 ^ SIGN_BIT;
	return v->u64 > INT64_MAX ? UINT64_MAX : v->u64 | SIGN_BIT;
}

struct sort_key {
	uint64_t ordinal; /* among those that match */
	uint64_t number;
	char *text;
	bool is_known;
	bool is_descending;
};

struct sort_keys {
	struct sort_key *at;
	size_t nr, capacity;
};

static void scoped_keys(struct sort_keys *k)
{
	for (size_t i = 0; i < k->nr; i++)
		free(k->at[i].text);
	free(k->at);
}

static int add_key(struct sort_keys *k, const struct sort_key *key)
{
	if (GROW(k->at, k->capacity, k->nr))
		return -ENOMEM;
	k->at[k->nr++] = *key;
	return 0;
}

/* Unknown values last, equal ones in time order. */
static int by_key(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;
	int order = 0;

	if (left->is_known != right->is_known)
		return left->is_known ? -1 : 1;
	if (left->text && right->text)
		order = strcmp(left->text, right->text);
	else if (left->number != right->number)
		order = left->number < right->number ? -1 : 1;
	if (order)
		return left->is_descending ? -order : order;
	return left->ordinal < right->ordinal ? -1 : 1;
}

static int by_ordinal(const void *a, const void *b)
{
	const struct sort_key *left = a, *right = b;

	return left->ordinal < right->ordinal ? -1 : left->ordinal > right->ordinal;
}

static int collect_keys(const struct source *s, const struct query *q, struct sort_keys *keys,
                        struct diag *d)
{
	struct event_log_iter it;
	const struct ev_hdr *rec;
	int err = query_find(s, q, &it, d);

	while (!err && (rec = query_next(s, q, &it))) {
		struct sort_key key = { .ordinal = keys->nr, .is_descending = q->is_descending };
		struct event_value v;

		key.is_known = event_value(s, rec, q->sort, &v);
		if (key.is_known && v.is_text) {
			key.text = strdup(v.text);
			if (!key.text)
				err = -ENOMEM;
		} else if (key.is_known) {
			key.number = order_of(&v);
		}
		if (!err)
			err = add_key(keys, &key);
		if (err)
			diag_set(d, err, NULL, "out of memory");
	}
	return err;
}

void query_show_losses(const struct source *s, struct report *r)
{
	struct losses losses;
	char text[256];

	source_losses(s, &losses);
	if (losses.nr[LOSS_logged_events])
		report_string(r, "incomplete",
		              loss_sentence(text, sizeof(text), LOSS_logged_events,
		                            losses.nr[LOSS_logged_events]));
}

static uint64_t end_of_page(const struct query *q, uint64_t total)
{
	if (q->offset >= total)
		return q->offset;
	return q->limit && q->limit < total - q->offset ? q->offset + q->limit : total;
}

static void show_totals(const struct source *s, const struct query *q, uint64_t total,
                        struct report *r)
{
	uint64_t end = end_of_page(q, total);

	report_u64(r, "total_matched", total);
	report_u64(r, "returned_count", end - q->offset);
	report_u64(r, "offset", q->offset);
	report_bool(r, "has_more", end < total);
	query_show_losses(s, r);
}

/* The records of a page, each a whole copy: an iterator lends one at a time. */
struct query_page {
	struct ev_hdr **rows;    /* as they are shown */
	struct sort_key *wanted; /* by ordinal; number: its position on the page */
	uint64_t nr;
};

static void scoped_page(const struct query_page *p)
{
	for (uint64_t i = 0; p->rows && i < p->nr; i++)
		free(p->rows[i]);
	free(p->rows);
	free(p->wanted);
}

static int page_begin(struct query_page *p, const struct sort_keys *keys, uint64_t offset,
                      uint64_t nr)
{
	p->nr = nr;
	p->rows = calloc(nr ? nr : 1, sizeof(struct ev_hdr *));
	p->wanted = calloc(nr ? nr : 1, sizeof(*p->wanted));
	if (!p->rows || !p->wanted)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++)
		p->wanted[i] = (struct sort_key){ .ordinal = keys->at[offset + i].ordinal,
			                          .number = i };
	if (nr)
		qsort(p->wanted, nr, sizeof(p->wanted[0]), by_ordinal);
	return 0;
}

/*
 * The log is read once more for each row's place in it: cheaper than a copy of all that matches, as a page is small; so
 * the rows are fetched in time order and shown in the other.
 */
static int page_fill(const struct source *s, const struct query *q, struct query_page *p,
                     struct diag *d)
{
	uint64_t ordinal = 0, found = 0;
	struct event_log_iter it;
	const struct ev_hdr *rec;
	int err = query_find(s, q, &it, d);

	while (!err && found < p->nr && (rec = query_next(s, q, &it))) {
		struct ev_hdr *copy;

		if (p->wanted[found].ordinal != ordinal++)
			continue;
		copy = malloc(rec->size);
		if (!copy)
			return diag_set(d, -ENOMEM, NULL, "out of memory");
		memcpy(copy, rec, rec->size);
		p->rows[p->wanted[found++].number] = copy;
	}
	return err;
}

static int show_sorted(const struct source *s, const struct query *q, struct report *r,
                       struct diag *d)
{
	SCOPED(scoped_keys) struct sort_keys keys = { 0 };
	SCOPED(scoped_page) struct query_page page = { 0 };
	int err = collect_keys(s, q, &keys, d);

	if (err)
		return err;
	if (keys.nr)
		qsort(keys.at, keys.nr, sizeof(keys.at[0]), by_key);
	show_totals(s, q, keys.nr, r);
	err = page_begin(&page, &keys, q->offset, end_of_page(q, keys.nr) - q->offset);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	err = page_fill(s, q, &page, d);
	if (err)
		return err;
	report_begin_array(r, "events");
	for (uint64_t i = 0; i < page.nr; i++)
		if (page.rows[i])
			show_event(s, q, page.rows[i], r);
	report_end_array(r);
	return 0;
}

static int show_in_time_order(const struct source *s, const struct query *q, struct report *r,
                              struct diag *d)
{
	struct event_log_iter it;
	const struct ev_hdr *rec;
	uint64_t total = 0;
	int err = query_find(s, q, &it, d);

	if (err)
		return err;
	report_begin_array(r, "events");
	for (; (rec = query_next(s, q, &it)); total++)
		if (total >= q->offset && (!q->limit || total - q->offset < q->limit))
			show_event(s, q, rec, r);
	report_end_array(r);
	show_totals(s, q, total, r);
	return 0;
}

static bool mentions(const struct query *q, const char *field)
{
	for (size_t i = 0; i < q->nr_where; i++)
		if (!strcmp(q->where[i].field, field))
			return true;
	for (size_t i = 0; i < q->nr_select; i++)
		if (!strcmp(q->select[i], field))
			return true;
	return !strcmp(q->sort, field) || !strcmp(q->group_by, field);
}

static int run(const struct source *s, const struct query *q, struct report *r, struct diag *d)
{
	if (q->fn != QUERY_NO_FN || q->group_by[0])
		return query_aggregate(s, q, r, d);
	return q->sort[0] ? show_sorted(s, q, r, d) : show_in_time_order(s, q, r, d);
}

/* Once for all events. */
static int compile(const char *pattern, struct diag *d, struct match **out)
{
	SCOPED(scoped_free) char *regex = NULL;

	if (name_pattern_regex(pattern, &regex))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	return match_new((const char *const[]){ regex }, 1, d, out);
}

/* A part of a text may hold anything that does not make it a pattern. */
static int compile_conditions(struct query *q, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < q->nr_where && !err; i++) {
		struct query_condition *c = &q->where[i];
		enum name_pattern_kind kind = name_pattern_kind(c->text);

		if (c->is_pattern && (kind == NAME_PATTERN_GLOB || kind == NAME_PATTERN_REGEX))
			err = compile(c->text, d, &c->match);
	}
	return err;
}

static void release(struct query *q)
{
	for (size_t i = 0; i < q->nr_where; i++) {
		match_free(q->where[i].match);
		q->where[i].match = NULL;
	}
	q->cgroups = NULL;
	q->comm_match = NULL;
}

int query_run(const struct source *s, struct query *q, struct report *r, struct diag *d)
{
	SCOPED(scoped_free) uint8_t *cgroups = NULL;
	SCOPED(scoped_match) struct match *comm = NULL;
	int err = mentions(q, "cgroup") ? cgroups_check(s, d) : 0;

	if (!err && q->cgroup)
		err = cgroups_pick(s, q->cgroup, d, &cgroups);
	if (!err && q->comm && name_pattern_kind(q->comm) == NAME_PATTERN_REGEX)
		err = compile(q->comm, d, &comm);
	if (!err)
		err = compile_conditions(q, d);
	q->cgroups = cgroups;
	q->comm_match = comm;
	if (!err)
		err = run(s, q, r, d);
	release(q);
	return err;
}
