#include "analyze/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_fields.h"
#include "analyze/query_priv.h"
#include "base/cleanup.h"
#include "model/event_log.h"
#include "model/task_lives.h"

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
		return strstr(v.text, c->text) != NULL;
	if (v.is_text)
		return compare_order(strcmp(v.text, c->text), c->op);
	return c->is_number && compare_order(number_order(&v, c), c->op);
}

/* Whether one of the tasks that the event names is of that process and name. */
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
		if (!q->comm || !fnmatch(q->comm, source_comm(s, task), 0))
			return true;
	}
	return false;
}

static bool matches(const struct source *s, const struct query *q, const struct ev_hdr *rec)
{
	if (!event_type_name(rec->kind))
		return false;
	if ((q->pid || q->comm) && !names_task(s, q, rec))
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
	if (k->nr == k->capacity) {
		size_t capacity = k->capacity ? 2 * k->capacity : 1024;
		struct sort_key *at = reallocarray(k->at, capacity, sizeof(*at));

		if (!at)
			return -ENOMEM;
		k->at = at;
		k->capacity = capacity;
	}
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

static uint64_t end_of_page(const struct query *q, uint64_t total)
{
	if (q->offset >= total)
		return q->offset;
	return q->limit && q->limit < total - q->offset ? q->offset + q->limit : total;
}

static void show_totals(const struct query *q, uint64_t total, struct report *r)
{
	uint64_t end = end_of_page(q, total);

	report_u64(r, "total_matched", total);
	report_u64(r, "returned_count", end - q->offset);
	report_u64(r, "offset", q->offset);
	report_bool(r, "has_more", end < total);
}

/*
 * The rows of the page in their order. The log is read once more for each row's place in it: cheaper than a copy
 * of all that matches, as a page is small; so the rows are fetched in time order and shown in the other.
 */
static int show_sorted(const struct source *s, const struct query *q, struct report *r,
                       struct diag *d)
{
	SCOPED(scoped_keys) struct sort_keys keys = { 0 };
	SCOPED(scoped_free) uint64_t(*copies)[16] = NULL;
	SCOPED(scoped_free) struct sort_key *page = NULL;
	uint64_t end, nr, ordinal = 0, found = 0;
	struct event_log_iter it;
	const struct ev_hdr *rec;
	int err = collect_keys(s, q, &keys, d);

	if (err)
		return err;
	if (keys.nr)
		qsort(keys.at, keys.nr, sizeof(keys.at[0]), by_key);
	end = end_of_page(q, keys.nr);
	nr = end - q->offset;
	show_totals(q, keys.nr, r);
	copies = calloc(nr ? nr : 1, sizeof(*copies));
	page = calloc(nr ? nr : 1, sizeof(*page));
	if (!copies || !page)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint64_t i = 0; i < nr; i++) /* number: where it stands on the page */
		page[i] = (struct sort_key){ .ordinal = keys.at[q->offset + i].ordinal,
			                     .number = i };
	if (nr)
		qsort(page, nr, sizeof(page[0]), by_ordinal);
	err = query_find(s, q, &it, d);
	if (err)
		return err;
	while (found < nr && (rec = query_next(s, q, &it)))
		if (page[found].ordinal == ordinal++) {
			size_t size = rec->size < sizeof(*copies) ? rec->size : sizeof(*copies);

			memcpy(copies[page[found++].number], rec, size);
		}
	report_begin_array(r, "events");
	for (uint64_t i = 0; i < nr; i++)
		show_event(s, q, (const struct ev_hdr *)copies[i], r);
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
	show_totals(q, total, r);
	return 0;
}

int query_run(const struct source *s, const struct query *q, struct report *r, struct diag *d)
{
	if (q->fn != QUERY_NO_FN || q->group_by[0])
		return query_aggregate(s, q, r, d);
	return q->sort[0] ? show_sorted(s, q, r, d) : show_in_time_order(s, q, r, d);
}
