#include "symbol/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "sys/rights/sandbox_msg.h"

#define TEXT_CAP        ((size_t)512 << 20)
#define NAME_CAP        ((size_t)16384)
#define RANGES_CAP      (1U << 24) /* of a table that another process made */
#define NO_PARENT       UINT32_MAX
#define MAX_STEPS       64 /* how deep ranges are nested in earnest; hostile tables must not cost more */
#define OPEN_TAIL_BYTES ((uint64_t)256 << 10)

struct symbol_range {
	uint64_t start, end;
	uint32_t name; /* in text */
	uint32_t name_len;
	uint32_t rank;
	uint32_t group;
	uint32_t parent; /* the innermost one before it that reaches beyond its start */
	uint32_t is_open;
};

struct symtab {
	uint32_t cap, nr, room;
	struct symbol_range *ranges;
	char *text;
	size_t nr_text, text_room;
	bool is_sealed;
};

struct symtab *symtab_new(uint32_t cap)
{
	struct symtab *t = calloc(1, sizeof(*t));

	if (t)
		t->cap = cap;
	return t;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	free(t->ranges);
	free(t->text);
	free(t);
}

static int reserve_text(struct symtab *t, size_t len)
{
	if (len > TEXT_CAP - t->nr_text)
		return -E2BIG;
	return GROW(t->text, t->text_room, t->nr_text + len - 1);
}

int symtab_add(struct symtab *t, const struct symtab_range *r, const char *name, size_t len)
{
	int err;

	len = strnlen(name, len < NAME_CAP ? len : NAME_CAP);
	if (r->end <= r->start || len == 0)
		return 0;
	if (t->nr >= t->cap)
		return -E2BIG;
	err = GROW(t->ranges, t->room, t->nr);
	if (!err)
		err = reserve_text(t, len + 1);
	if (err)
		return err;
	t->ranges[t->nr++] = (struct symbol_range){
		.start = r->start,
		.end = r->end,
		.name = (uint32_t)t->nr_text,
		.name_len = (uint32_t)len,
		.rank = r->rank,
		.group = r->group,
		.parent = NO_PARENT,
		.is_open = r->is_open,
	};
	memcpy(t->text + t->nr_text, name, len);
	t->text[t->nr_text + len] = '\0';
	t->nr_text += len + 1;
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_names(const struct symtab *t, const struct symbol_range *a,
                         const struct symbol_range *b)
{
	const char *name_a = t->text + a->name, *name_b = t->text + b->name;
	int order = compare_u64(strspn(name_a, "_"), strspn(name_b, "_"));

	if (!order)
		order = compare_u64(a->name_len, b->name_len);
	return order ? order : strcmp(name_a, name_b);
}

static int compare_ranges(const void *left, const void *right, void *table)
{
	const struct symbol_range *a = left, *b = right;
	int order = compare_u64(a->start, b->start);

	if (!order)
		order = compare_u64(a->is_open, b->is_open);
	if (!order)
		order = compare_u64(a->rank, b->rank);
	return order ? order : compare_names(table, a, b);
}

/* The first of each start is the best of them. */
static void drop_aliases(struct symtab *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		if (kept == 0 || t->ranges[kept - 1].start != t->ranges[i].start)
			t->ranges[kept++] = t->ranges[i];
	t->nr = kept;
}

/* The innermost range from `from` outwards that reaches beyond the address. */
static uint32_t reaching(const struct symtab *t, uint32_t from, uint64_t address)
{
	for (int step = 0; from != NO_PARENT && step < MAX_STEPS; step++) {
		if (t->ranges[from].end > address)
			return from;
		from = t->ranges[from].parent;
	}
	return NO_PARENT;
}

static uint64_t end_of_open(const struct symtab *t, uint32_t i)
{
	const struct symbol_range *r = &t->ranges[i];
	uint64_t end = r->end;

	if (i + 1 < t->nr && t->ranges[i + 1].start < end)
		end = t->ranges[i + 1].start;
	/* What lies between two modules belongs to none of them. */
	if ((i + 1 == t->nr || t->ranges[i + 1].group != r->group) &&
	    end - r->start > OPEN_TAIL_BYTES)
		end = r->start + OPEN_TAIL_BYTES;
	return end;
}

static void nest(struct symtab *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		struct symbol_range r = t->ranges[i];

		r.parent = kept ? reaching(t, kept - 1, r.start) : NO_PARENT;
		if (r.is_open) {
			/* A label in a function that knows its size. */
			if (r.parent != NO_PARENT)
				continue;
			r.end = end_of_open(t, i);
		}
		t->ranges[kept++] = r;
	}
	t->nr = kept;
}

void symtab_seal(struct symtab *t)
{
	if (t->nr)
		qsort_r(t->ranges, t->nr, sizeof(*t->ranges), compare_ranges, t);
	drop_aliases(t);
	nest(t);
	t->is_sealed = true;
}

bool symtab_find(const struct symtab *t, uint64_t address, struct symtab_hit *out)
{
	uint32_t low = 0, high = t->nr;

	if (!t->is_sealed)
		return false;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	low = reaching(t, low - 1, address);
	if (low == NO_PARENT)
		return false;
	out->name = t->text + t->ranges[low].name;
	out->start = t->ranges[low].start;
	out->group = t->ranges[low].group;
	return true;
}

void symtab_put(const struct symtab *t, struct sandbox_msg *m)
{
	sandbox_put_bytes(m, t->ranges, t->nr * sizeof(*t->ranges));
	sandbox_put_bytes(m, t->text, t->nr_text);
}

/* What the process that made it promises: a name that ends, and no way but back. */
static bool is_sound(const struct symtab *t, uint32_t at)
{
	const struct symbol_range *r = &t->ranges[at];
	uint64_t end = (uint64_t)r->name + r->name_len;

	return r->name_len <= NAME_CAP && end < t->nr_text && t->text[end] == '\0' &&
	       (r->parent == NO_PARENT || r->parent < at) &&
	       (at == 0 || t->ranges[at - 1].start < r->start);
}

static int copy_parts(struct sandbox_msg *m, struct symtab *t)
{
	size_t range_bytes, text_bytes;
	const void *ranges = sandbox_get_bytes(m, &range_bytes);
	const void *text = sandbox_get_bytes(m, &text_bytes);

	if (m->error || range_bytes % sizeof(*t->ranges) || text_bytes > TEXT_CAP ||
	    range_bytes / sizeof(*t->ranges) > RANGES_CAP)
		return -EBADMSG;
	t->ranges = malloc(range_bytes ? range_bytes : 1);
	t->text = malloc(text_bytes ? text_bytes : 1);
	if (!t->ranges || !t->text)
		return -ENOMEM;
	if (range_bytes)
		memcpy(t->ranges, ranges, range_bytes);
	if (text_bytes)
		memcpy(t->text, text, text_bytes);
	t->nr = t->room = (uint32_t)(range_bytes / sizeof(*t->ranges));
	t->nr_text = t->text_room = text_bytes;
	return 0;
}

int symtab_get(struct sandbox_msg *m, struct symtab **out)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(0);
	int err = t ? copy_parts(m, t) : -ENOMEM;

	if (err)
		return err;
	for (uint32_t i = 0; i < t->nr; i++)
		if (!is_sound(t, i))
			return -EBADMSG;
	t->is_sealed = true;
	*out = TAKE_PTR(t);
	return 0;
}

uint32_t symtab_nr(const struct symtab *t)
{
	return t->nr;
}

size_t symtab_bytes(const struct symtab *t)
{
	return (size_t)t->room * sizeof(*t->ranges) + t->text_room;
}
