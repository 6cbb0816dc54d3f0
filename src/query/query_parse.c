#include "query/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_pattern.h"
#include "query/event_fields.h"

static const struct {
	const char *sign;
	const char *name; /* scxtop's */
	enum query_op op;
} ops[] = {
	/* Longer signs first: ">" is the beginning of ">=". */
	{ "!=", "not_equal", QUERY_NE },     { ">=", "greater_or_equal", QUERY_GE },
	{ "<=", "less_or_equal", QUERY_LE }, { "=", "equal", QUERY_EQ },
	{ ">", "greater_than", QUERY_GT },   { "<", "less_than", QUERY_LT },
	{ "~", "contains", QUERY_CONTAINS },
};

static const char *const fn_names[] = {
	[QUERY_COUNT] = "count", [QUERY_SUM] = "sum", [QUERY_AVG] = "avg", [QUERY_MIN] = "min",
	[QUERY_MAX] = "max",     [QUERY_P50] = "p50", [QUERY_P95] = "p95", [QUERY_P99] = "p99",
};

/* Copies a field's name of len bytes, if any event has such a field. */
static int take_field(char out[QUERY_NAME_LEN], const char *name, size_t len, struct diag *d)
{
	char copy[QUERY_NAME_LEN] = "";

	if (len > 0 && len < sizeof(copy)) {
		memcpy(copy, name, len);
		if (event_field_exists(copy)) {
			memcpy(out, copy, sizeof(copy));
			return 0;
		}
	}
	return diag_set(d, -EINVAL, "'query --fields' lists the fields of each event",
	                "no event has a field '%.*s'", (int)(len < 64 ? len : 64), name);
}

/* A whole number, negative or not; what lies outside of 64 bits is none. */
static bool read_number(const char *text, struct query_condition *c)
{
	bool is_negative = text[0] == '-';
	char *end;

	if (!text[0] || strchr(" \t+", text[0]) || (is_negative && text[1] == '-'))
		return false;
	errno = 0;
	if (is_negative) {
		c->number = strtoll(text, &end, 0);
		c->whole = 0;
	} else {
		c->whole = strtoull(text, &end, 0);
		c->number = c->whole > INT64_MAX ? INT64_MAX : (int64_t)c->whole;
	}
	return !errno && *end == '\0' && end != text;
}

bool query_op_by_name(const char *name, enum query_op *out)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, name) || !strcmp(ops[i].sign, name)) {
			*out = ops[i].op;
			return true;
		}
	return false;
}

static int add_where(struct query *q, const char *field, size_t len, enum query_op op,
                     const char *value, struct diag *d)
{
	struct query_condition *c = &q->where[q->nr_where];
	int err;

	if (q->nr_where == QUERY_MAX_WHERE)
		return diag_set(d, -E2BIG, NULL, "more than %d conditions", QUERY_MAX_WHERE);
	*c = (struct query_condition){ .op = op };
	err = take_field(c->field, field, len, d);
	if (err)
		return err;
	if (strlen(value) >= sizeof(c->text))
		return diag_set(d, -EINVAL, NULL, "the value of %s is longer than %d characters",
		                c->field, QUERY_VALUE_LEN - 1);
	snprintf(c->text, sizeof(c->text), "%s", value);
	c->is_number = read_number(value, c);
	if (!c->is_number && op != QUERY_CONTAINS && event_field_is_number(c->field))
		return diag_set(d, -EINVAL, NULL, "%s is a number, and '%.64s' is not", c->field,
		                value);
	q->nr_where++;
	return 0;
}

int query_add_where(struct query *q, const char *field, enum query_op op, const char *value,
                    struct diag *d)
{
	return add_where(q, field, strlen(field), op, value, d);
}

static int add_pattern(struct query *q, const char *field, size_t len, const char *pattern,
                       struct diag *d)
{
	int err = name_pattern_check(pattern, d);

	if (!err)
		err = add_where(q, field, len, QUERY_CONTAINS, pattern, d);
	if (!err)
		q->where[q->nr_where - 1].is_pattern = true;
	return err;
}

int query_parse_where(const char *text, struct query *q, struct diag *d)
{
	size_t len = strcspn(text, "!<>=~");

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		size_t sign = strlen(ops[i].sign);

		if (strncmp(text + len, ops[i].sign, sign) != 0)
			continue;
		return ops[i].op == QUERY_CONTAINS
		               ? add_pattern(q, text, len, text + len + sign, d)
		               : add_where(q, text, len, ops[i].op, text + len + sign, d);
	}
	return diag_set(d, -EINVAL, "write FIELD=VALUE; operators are = != > < >= <= ~",
	                "'%.64s' is not a condition", text);
}

int query_parse_select(const char *text, struct query *q, struct diag *d)
{
	for (;;) {
		size_t len = strcspn(text, ",");
		int err;

		if (q->nr_select == QUERY_MAX_SELECT)
			return diag_set(d, -E2BIG, NULL, "more than %d fields", QUERY_MAX_SELECT);
		err = take_field(q->select[q->nr_select], text, len, d);
		if (err)
			return err;
		q->nr_select++;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

int query_parse_sort(const char *text, struct query *q, struct diag *d)
{
	size_t len = strcspn(text, ":");
	const char *order = text[len] ? text + len + 1 : "asc";

	q->is_descending = !strcmp(order, "desc");
	if (!q->is_descending && strcmp(order, "asc") != 0)
		return diag_set(d, -EINVAL, "write FIELD, FIELD:asc or FIELD:desc",
		                "'%.32s' is not an order", order);
	return take_field(q->sort, text, len, d);
}

int query_parse_fn(const char *text, struct query *q, struct diag *d)
{
	size_t len = strcspn(text, ":");

	q->fn = QUERY_NO_FN;
	for (size_t i = QUERY_COUNT; i < sizeof(fn_names) / sizeof(fn_names[0]); i++)
		if (strlen(fn_names[i]) == len && !strncmp(fn_names[i], text, len))
			q->fn = (enum query_fn)i;
	if (q->fn == QUERY_NO_FN)
		return diag_set(d, -EINVAL, "count, sum, avg, min, max, p50, p95 and p99 are",
		                "'%.*s' is not a function", (int)(len < 32 ? len : 32), text);
	if (q->fn == QUERY_COUNT && !text[len])
		return 0;
	if (!text[len])
		return diag_set(d, -EINVAL, "write FUNCTION:FIELD", "%s of what?", text);
	return take_field(q->fn_field, text + len + 1, strlen(text + len + 1), d);
}

int query_set_group(const char *field, struct query *q, struct diag *d)
{
	return take_field(q->group_by, field, strlen(field), d);
}
