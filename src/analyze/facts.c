#include "analyze/facts.h"

#include <string.h>

#include "base/arena.h"

struct facts *facts_new(struct arena *mem)
{
	struct facts *f = ARENA_ARRAY(mem, struct facts, 1);

	if (!f)
		return NULL;
	f->type = FACTS_OBJECT;
	f->mem = mem;
	f->top = f;
	return f;
}

bool facts_is_whole(const struct facts *top)
{
	return top && !top->is_cut;
}

static struct facts *add(struct facts *f, const char *key, enum facts_type type)
{
	struct facts *new;

	if (!f)
		return NULL;
	new = ARENA_ARRAY(f->mem, struct facts, 1);
	if (!new) {
		f->top->is_cut = true;
		return NULL;
	}
	*new = (struct facts){ .key = key, .type = type, .top = f->top, .mem = f->mem };
	if (f->last)
		f->last->next = new;
	else
		f->first = new;
	f->last = new;
	return new;
}

void facts_u64(struct facts *f, const char *key, uint64_t value)
{
	struct facts *new = add(f, key, FACTS_U64);

	if (new)
		new->u64 = value;
}

void facts_i64(struct facts *f, const char *key, int64_t value)
{
	struct facts *new = add(f, key, FACTS_I64);

	if (new)
		new->i64 = value;
}

void facts_double(struct facts *f, const char *key, double value)
{
	struct facts *new = add(f, key, FACTS_DOUBLE);

	if (new)
		new->real = value;
}

void facts_string(struct facts *f, const char *key, const char *value)
{
	struct facts *new = add(f, key, value ? FACTS_STRING : FACTS_NULL);

	if (new)
		new->text = value;
}

void facts_bool(struct facts *f, const char *key, bool value)
{
	struct facts *new = add(f, key, FACTS_BOOL);

	if (new)
		new->is_true = value;
}

void facts_null(struct facts *f, const char *key)
{
	(void)add(f, key, FACTS_NULL);
}

void facts_known_u64(struct facts *f, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		facts_u64(f, key, value);
	else
		facts_null(f, key);
}

void facts_us(struct facts *f, const char *key, bool is_known, uint64_t ns)
{
	if (is_known)
		facts_double(f, key, (double)ns / 1000);
	else
		facts_null(f, key);
}

struct facts *facts_object(struct facts *f, const char *key)
{
	return add(f, key, FACTS_OBJECT);
}

struct facts *facts_list(struct facts *f, const char *key)
{
	return add(f, key, FACTS_LIST);
}

const struct facts *facts_find(const struct facts *f, const char *key)
{
	for (const struct facts *at = f ? f->first : NULL; at; at = at->next)
		if (at->key && strcmp(at->key, key) == 0)
			return at;
	return NULL;
}

bool facts_number(const struct facts *f, double *out)
{
	if (!f)
		return false;
	if (f->type == FACTS_U64)
		*out = (double)f->u64;
	else if (f->type == FACTS_I64)
		*out = (double)f->i64;
	else if (f->type == FACTS_DOUBLE)
		*out = f->real;
	return f->type == FACTS_U64 || f->type == FACTS_I64 || f->type == FACTS_DOUBLE;
}
