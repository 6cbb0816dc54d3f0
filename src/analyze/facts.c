#include "analyze/facts.h"

#include "base/arena.h"

#define DECIMALS 3

struct facts *facts_new(struct arena *mem)
{
	struct facts *f = ARENA_ARRAY(mem, struct facts, 1);

	if (!f)
		return NULL;
	f->node.type = REPORT_OBJECT;
	f->mem = mem;
	f->top = f;
	return f;
}

bool facts_is_whole(const struct facts *top)
{
	return top && !top->is_cut;
}

static void link_node(struct facts *f, struct report_node *node)
{
	if (f->last)
		f->last->next = node;
	else
		f->node.first = node;
	f->last = node;
	f->node.nr++;
}

static struct report_node *add(struct facts *f, const char *key, enum report_type type)
{
	struct report_node *node;

	if (!f)
		return NULL;
	node = ARENA_ARRAY(f->mem, struct report_node, 1);
	if (!node) {
		f->top->is_cut = true;
		return NULL;
	}
	node->key = key;
	node->type = type;
	link_node(f, node);
	return node;
}

static struct facts *add_inner(struct facts *f, const char *key, enum report_type type)
{
	struct facts *inner;

	if (!f)
		return NULL;
	inner = ARENA_ARRAY(f->mem, struct facts, 1);
	if (!inner) {
		f->top->is_cut = true;
		return NULL;
	}
	*inner = (struct facts){ .node = { .key = key, .type = type },
		                 .top = f->top,
		                 .mem = f->mem };
	link_node(f, &inner->node);
	return inner;
}

void facts_u64(struct facts *f, const char *key, uint64_t value)
{
	struct report_node *new = add(f, key, REPORT_U64);

	if (new)
		new->u64 = value;
}

void facts_id(struct facts *f, const char *key, uint64_t value)
{
	struct report_node *new = add(f, key, REPORT_U64);

	if (new) {
		new->u64 = value;
		new->is_id = true;
	}
}

void facts_i64(struct facts *f, const char *key, int64_t value)
{
	struct report_node *new = add(f, key, REPORT_I64);

	if (new)
		new->i64 = value;
}

void facts_double(struct facts *f, const char *key, double value)
{
	struct report_node *new = add(f, key, REPORT_DOUBLE);

	if (!new)
		return;
	new->f = value;
	new->decimals = DECIMALS;
}

void facts_string(struct facts *f, const char *key, const char *value)
{
	struct report_node *new = add(f, key, value ? REPORT_STRING : REPORT_NULL);

	if (new)
		new->text = value;
}

void facts_bool(struct facts *f, const char *key, bool value)
{
	struct report_node *new = add(f, key, REPORT_BOOL);

	if (new)
		new->b = value;
}

void facts_null(struct facts *f, const char *key)
{
	(void)add(f, key, REPORT_NULL);
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
	return add_inner(f, key, REPORT_OBJECT);
}

struct facts *facts_list(struct facts *f, const char *key)
{
	return add_inner(f, key, REPORT_ARRAY);
}
