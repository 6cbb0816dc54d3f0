#include "analyze/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define DEFAULT_CAP_BYTES ((size_t)512 << 20)
#define MAX_DEPTH         16

struct report {
	struct arena *mem;
	struct report_node *open[MAX_DEPTH]; /* from the root inwards */
	struct report_node *last[MAX_DEPTH]; /* child of each */
	int depth;
	const struct report_node *root;
	int error;
};

struct report *report_new(size_t cap_bytes)
{
	struct report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->mem = arena_new(cap_bytes ? cap_bytes : DEFAULT_CAP_BYTES);
	if (!r->mem) {
		free(r);
		return NULL;
	}
	return r;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	arena_free(r->mem);
	free(r);
}

static void fail(struct report *r, int code)
{
	if (!r->error)
		r->error = code;
}

/* The position of a value: named in an object, unnamed in an array, and only an object at the top. */
static bool fits(const struct report *r, const char *key, enum report_type type)
{
	if (r->depth == 0)
		return !r->root && type == REPORT_OBJECT && !key;
	return (r->open[r->depth - 1]->type == REPORT_OBJECT) == (key != NULL);
}

static struct report_node *add(struct report *r, const char *key, enum report_type type)
{
	struct report_node *node, *parent;

	if (r->error)
		return NULL;
	if (!fits(r, key, type)) {
		fail(r, -EINVAL);
		return NULL;
	}
	node = ARENA_ARRAY(r->mem, struct report_node, 1);
	if (!node) {
		fail(r, -ENOMEM);
		return NULL;
	}
	node->key = key;
	node->type = type;
	if (r->depth == 0)
		return node;
	parent = r->open[r->depth - 1];
	if (r->last[r->depth - 1])
		r->last[r->depth - 1]->next = node;
	else
		parent->first = node;
	r->last[r->depth - 1] = node;
	parent->nr++;
	return node;
}

static void begin(struct report *r, const char *key, enum report_type type)
{
	struct report_node *node;

	if (r->depth == MAX_DEPTH) {
		fail(r, -EINVAL);
		return;
	}
	node = add(r, key, type);
	if (!node)
		return;
	r->open[r->depth] = node;
	r->last[r->depth] = NULL;
	r->depth++;
}

static void end(struct report *r, enum report_type type)
{
	if (r->error)
		return;
	if (r->depth == 0 || r->open[r->depth - 1]->type != type) {
		fail(r, -EINVAL);
		return;
	}
	r->depth--;
	if (r->depth == 0)
		r->root = r->open[0];
}

void report_begin_object(struct report *r, const char *key)
{
	begin(r, key, REPORT_OBJECT);
}

void report_end_object(struct report *r)
{
	end(r, REPORT_OBJECT);
}

void report_begin_array(struct report *r, const char *key)
{
	begin(r, key, REPORT_ARRAY);
}

void report_end_array(struct report *r)
{
	end(r, REPORT_ARRAY);
}

void report_u64(struct report *r, const char *key, uint64_t value)
{
	struct report_node *node = add(r, key, REPORT_U64);

	if (node)
		node->u64 = value;
}

void report_i64(struct report *r, const char *key, int64_t value)
{
	struct report_node *node = add(r, key, REPORT_I64);

	if (node)
		node->i64 = value;
}

void report_id(struct report *r, const char *key, uint64_t value)
{
	struct report_node *node = add(r, key, REPORT_U64);

	if (!node)
		return;
	node->u64 = value;
	node->is_id = true;
}

void report_double(struct report *r, const char *key, double value, int decimals)
{
	struct report_node *node = add(r, key, REPORT_DOUBLE);

	if (!node)
		return;
	node->f = value;
	node->decimals = (uint8_t)decimals;
}

void report_bool(struct report *r, const char *key, bool value)
{
	struct report_node *node = add(r, key, REPORT_BOOL);

	if (node)
		node->b = value;
}

void report_string(struct report *r, const char *key, const char *value)
{
	struct report_node *node = add(r, key, value ? REPORT_STRING : REPORT_NULL);

	if (!node || !value)
		return;
	node->text = arena_strdup(r->mem, value);
	if (!node->text) {
		node->text = "";
		fail(r, -ENOMEM);
	}
}

void report_null(struct report *r, const char *key)
{
	(void)add(r, key, REPORT_NULL);
}

const char *report_printf(struct report *r, const char *fmt, ...)
{
	char text[256];
	va_list args;
	char *copy;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	copy = arena_strdup(r->mem, text);
	if (!copy)
		fail(r, -ENOMEM);
	return copy ? copy : "";
}

void report_u64_if(struct report *r, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		report_u64(r, key, value);
	else
		report_null(r, key);
}

void report_i64_if(struct report *r, const char *key, bool is_known, int64_t value)
{
	if (is_known)
		report_i64(r, key, value);
	else
		report_null(r, key);
}

void report_double_if(struct report *r, const char *key, bool is_known, double value, int decimals)
{
	if (is_known)
		report_double(r, key, value, decimals);
	else
		report_null(r, key);
}

static void copy_members(struct report *r, const struct report_node *node)
{
	for (const struct report_node *n = node->first; n; n = n->next)
		report_copy(r, n->key, n);
}

/* The key as well: it may lie in the report that is copied from. */
void report_copy(struct report *r, const char *key, const struct report_node *node)
{
	if (key)
		key = report_printf(r, "%s", key);
	switch (node->type) {
	case REPORT_NULL:
		report_null(r, key);
		return;
	case REPORT_BOOL:
		report_bool(r, key, node->b);
		return;
	case REPORT_U64:
		if (node->is_id)
			report_id(r, key, node->u64);
		else
			report_u64(r, key, node->u64);
		return;
	case REPORT_I64:
		report_i64(r, key, node->i64);
		return;
	case REPORT_DOUBLE:
		report_double(r, key, node->f, node->decimals);
		return;
	case REPORT_STRING:
		report_string(r, key, node->text);
		return;
	case REPORT_ARRAY:
		report_begin_array(r, key);
		copy_members(r, node);
		report_end_array(r);
		return;
	case REPORT_OBJECT:
		report_begin_object(r, key);
		copy_members(r, node);
		report_end_object(r);
		return;
	}
}

void report_percent(struct report *r, const char *key, uint64_t part, uint64_t whole)
{
	report_double_if(r, key, whole, 100.0 * (double)part / (double)whole, 2);
}

int report_error(const struct report *r)
{
	if (r->error)
		return r->error;
	return r->root ? 0 : -EINVAL;
}

const struct report_node *report_root(const struct report *r)
{
	return report_error(r) ? NULL : r->root;
}

/* The child named by the len bytes at name, or by its number in an array. */
static const struct report_node *child(const struct report_node *node, const char *name, size_t len)
{
	bool is_array = node->type == REPORT_ARRAY;
	unsigned long wanted = is_array ? strtoul(name, NULL, 10) : 0, nr = 0;

	if (!is_array && node->type != REPORT_OBJECT)
		return NULL;
	for (const struct report_node *at = node->first; at; at = at->next, nr++)
		if (is_array ? nr == wanted : !strncmp(at->key, name, len) && !at->key[len])
			return at;
	return NULL;
}

const struct report_node *report_at(const struct report_node *node, const char *path)
{
	while (node && *path) {
		size_t len = strcspn(path, ".");

		node = child(node, path, len);
		path += len + (path[len] == '.');
	}
	return node;
}

uint64_t report_u64_at(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

const char *report_text_at(const struct report_node *node, const char *path)
{
	const struct report_node *at = report_at(node, path);

	return at && at->type == REPORT_STRING ? at->text : NULL;
}

bool report_number(const struct report_node *node, double *out)
{
	if (!node)
		return false;
	if (node->type == REPORT_U64)
		*out = (double)node->u64;
	else if (node->type == REPORT_I64)
		*out = (double)node->i64;
	else if (node->type == REPORT_DOUBLE)
		*out = node->f;
	return node->type == REPORT_U64 || node->type == REPORT_I64 || node->type == REPORT_DOUBLE;
}
