#include "symbol/cfi.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/unwind.h"
#include "base/grow.h"
#include "symbol/cfi_priv.h"

#define LENGTH_64    0xffffffffU
#define MAX_SHIFT    63U
#define LETTERS_MAX  16
#define VERSION_OLD  1U
#define VERSION_LAST 4U

/* One function, or a part of one. */
struct cfi_entry {
	uint64_t begin, end;
	uint64_t at;  /* of its own bytes in the section, behind the range */
	uint64_t cie; /* of its CIE; without a section the rule */
	uint32_t len; /* of the own bytes */
	uint32_t section;
};

#define NO_SECTION UINT32_MAX

struct cfi {
	enum cfi_machine machine;
	struct cfi_section sections[CFI_SECTIONS_MAX];
	uint32_t nr_sections;
	struct cfi_entry *entries;
	uint32_t nr, room;
	uint64_t nr_steps;
};

struct cfi *cfi_new(enum cfi_machine machine)
{
	struct cfi *c = calloc(1, sizeof(*c));

	if (c)
		c->machine = machine;
	return c;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	free(c->entries);
	free(c);
}

enum cfi_machine cfi_machine(const struct cfi *c)
{
	return c->machine;
}

uint32_t cfi_nr(const struct cfi *c)
{
	return c->nr;
}

uint64_t cfi_get(struct cfi_bytes *b, size_t nr)
{
	uint64_t value = 0;

	if (b->is_bad || (size_t)(b->end - b->at) < nr) {
		b->is_bad = true;
		return 0;
	}
	memcpy(&value, b->at, nr); /* files of another byte order are not read */
	b->at += nr;
	return value;
}

static uint64_t get_leb(struct cfi_bytes *b, uint32_t *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	do {
		*last = (uint8_t)cfi_get(b, 1);
		if (*shift > MAX_SHIFT) {
			b->is_bad = true;
			return 0;
		}
		value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80);
	return value;
}

uint64_t cfi_get_uleb(struct cfi_bytes *b)
{
	uint32_t shift;
	uint8_t last;

	return get_leb(b, &shift, &last);
}

int64_t cfi_get_sleb(struct cfi_bytes *b)
{
	uint32_t shift;
	uint8_t last;
	uint64_t value = get_leb(b, &shift, &last);

	if ((last & 0x40) && shift <= MAX_SHIFT)
		value |= ~0ULL << shift;
	return (int64_t)value;
}

struct cfi_bytes cfi_cut(struct cfi_bytes *b, uint64_t nr)
{
	struct cfi_bytes cut = { b->at, b->at, true };

	if (b->is_bad || nr > (uint64_t)(b->end - b->at)) {
		b->is_bad = true;
		return cut;
	}
	b->at += nr;
	return (struct cfi_bytes){ cut.at, b->at, false };
}

static uint64_t get_signed(struct cfi_bytes *b, size_t nr)
{
	uint64_t value = cfi_get(b, nr), sign = 1ULL << (nr * 8 - 1);

	return (value ^ sign) - sign;
}

/* An address or, without what it is relative to, a size. */
static uint64_t get_plain(struct cfi_bytes *b, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cfi_get(b, 8);
	case DW_EH_PE_udata2:
		return cfi_get(b, 2);
	case DW_EH_PE_udata4:
		return cfi_get(b, 4);
	case DW_EH_PE_sdata2:
		return get_signed(b, 2);
	case DW_EH_PE_sdata4:
		return get_signed(b, 4);
	case DW_EH_PE_uleb128:
		return cfi_get_uleb(b);
	case DW_EH_PE_sleb128:
		return (uint64_t)cfi_get_sleb(b);
	default:
		b->is_bad = true;
		return 0;
	}
}

static uint64_t get_address(const struct cfi_section *s, struct cfi_bytes *b, uint8_t encoding)
{
	uint64_t here = s->address + (uint64_t)(b->at - s->bytes), value;

	value = get_plain(b, encoding);
	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return value + here;
	default:
		b->is_bad = true;
		return 0;
	}
}

static struct cfi_bytes bytes_from(const struct cfi_section *s, uint64_t at)
{
	if (at >= s->len)
		return (struct cfi_bytes){ s->bytes, s->bytes, true };
	return (struct cfi_bytes){ s->bytes + at, s->bytes + s->len, false };
}

struct cfi_head {
	struct cfi_bytes body; /* behind the id */
	uint64_t id, id_at;    /* and where that is */
	bool is_cie;
};

/* The entry at the front, taken off. False at the end. */
static bool next_head(const struct cfi_section *s, struct cfi_bytes *b, struct cfi_head *out)
{
	uint64_t len = cfi_get(b, 4);
	size_t id_bytes = 4;

	if (len == LENGTH_64) {
		len = cfi_get(b, 8);
		id_bytes = s->is_eh ? 4 : 8;
	}
	*out = (struct cfi_head){ .body = cfi_cut(b, len) };
	if (b->is_bad)
		return false;
	if (len == 0) /* linkers end each part with it */
		return true;
	out->id_at = (uint64_t)(out->body.at - s->bytes);
	out->id = cfi_get(&out->body, id_bytes);
	out->is_cie = s->is_eh ? out->id == 0
	                       : out->id == (id_bytes == 8 ? UINT64_MAX : (uint64_t)UINT32_MAX);
	return true;
}

/* The letters of an augmentation that begins with z. */
static void get_letters(const char *letters, struct cfi_bytes *b, struct cfi_cie *out)
{
	struct cfi_bytes data = cfi_cut(b, cfi_get_uleb(b));

	out->has_length = true;
	for (; *letters && !data.is_bad; letters++) {
		switch (*letters) {
		case 'R':
			out->encoding = (uint8_t)cfi_get(&data, 1);
			break;
		case 'P':
			(void)get_plain(&data, (uint8_t)cfi_get(&data, 1));
			break;
		case 'L':
			(void)cfi_get(&data, 1);
			break;
		case 'S':
			out->is_signal = true;
			break;
		default: /* 'B': return addresses are signed with another key */
			break;
		}
	}
	b->is_bad |= data.is_bad;
}

static bool get_cie(const struct cfi_section *s, uint64_t at, struct cfi_cie *out)
{
	struct cfi_bytes all = bytes_from(s, at), b;
	struct cfi_head head;
	const char *letters;
	size_t len;

	if (!next_head(s, &all, &head) || !head.is_cie)
		return false;
	b = head.body;
	*out = (struct cfi_cie){ .version = (uint8_t)cfi_get(&b, 1) };
	letters = (const char *)b.at;
	len = strnlen(letters, b.end - b.at < LETTERS_MAX ? (size_t)(b.end - b.at) : LETTERS_MAX);
	(void)cfi_cut(&b, len + 1);
	if (b.is_bad || len == LETTERS_MAX || !out->version || out->version > VERSION_LAST ||
	    (*letters && *letters != 'z'))
		return false;
	/* Addresses of 8 bytes, no segments. */
	if (out->version == VERSION_LAST && cfi_get(&b, 2) != 8)
		return false;
	out->code_align = cfi_get_uleb(&b);
	out->data_align = cfi_get_sleb(&b);
	out->ra = out->version == VERSION_OLD ? cfi_get(&b, 1) : cfi_get_uleb(&b);
	if (*letters)
		get_letters(letters + 1, &b, out);
	out->initial = b;
	return !b.is_bad;
}

static int add_entry(struct cfi *c, const struct cfi_entry *e)
{
	if (e->begin >= e->end)
		return 0;
	if (c->nr >= CFI_ENTRIES_MAX)
		return -E2BIG;
	if (GROW(c->entries, c->room, c->nr))
		return -ENOMEM;
	c->entries[c->nr++] = *e;
	return 0;
}

/* Most entries have the CIE of the one before. */
struct cie_cache {
	uint64_t at;
	bool is_known, is_good;
	struct cfi_cie cie;
};

static bool find_cie(const struct cfi_section *s, uint64_t at, struct cie_cache *cache)
{
	if (!cache->is_known || cache->at != at) {
		cache->is_good = get_cie(s, at, &cache->cie);
		cache->at = at;
		cache->is_known = true;
	}
	return cache->is_good;
}

static int take_fde(struct cfi *c, uint32_t section, struct cfi_head *head, struct cie_cache *cache)
{
	const struct cfi_section *s = &c->sections[section];
	struct cfi_entry e = { .section = section,
		               .cie = s->is_eh ? head->id_at - head->id : head->id };
	uint64_t size;

	if (!find_cie(s, e.cie, cache))
		return 0;
	e.begin = get_address(s, &head->body, cache->cie.encoding);
	size = get_plain(&head->body, cache->cie.encoding);
	if (cache->cie.has_length)
		(void)cfi_cut(&head->body, cfi_get_uleb(&head->body));
	/* What the linker left out begins at 0. */
	if (head->body.is_bad || !e.begin || __builtin_add_overflow(e.begin, size, &e.end))
		return 0;
	e.begin += s->move;
	e.end += s->move;
	e.at = (uint64_t)(head->body.at - s->bytes);
	if (head->body.end - head->body.at > UINT32_MAX)
		return 0;
	e.len = (uint32_t)(head->body.end - head->body.at);
	return add_entry(c, &e);
}

int cfi_add(struct cfi *c, const struct cfi_section *s)
{
	struct cfi_bytes all = { s->bytes, s->bytes + s->len, false };
	struct cie_cache cache = { 0 };
	struct cfi_head head;
	int err = 0;

	if (c->nr_sections == CFI_SECTIONS_MAX)
		return -E2BIG;
	c->sections[c->nr_sections++] = *s;
	while (!err && all.at < all.end && next_head(s, &all, &head))
		if (!head.is_cie && head.id_at && !head.body.is_bad)
			err = take_fde(c, c->nr_sections - 1, &head, &cache);
	return err;
}

int cfi_add_rule(struct cfi *c, uint64_t begin, uint64_t end, uint32_t rule)
{
	return add_entry(c,
	                 &(struct cfi_entry){
				 .begin = begin, .end = end, .cie = rule, .section = NO_SECTION });
}

static int by_begin(const void *a, const void *b)
{
	const struct cfi_entry *l = a, *r = b;

	if (l->begin != r->begin)
		return l->begin < r->begin ? -1 : 1;
	if (l->section != r->section)
		return l->section < r->section ? -1 : 1;
	return l->at < r->at ? -1 : l->at > r->at;
}

static int run_entry(struct cfi *c, const struct cfi_entry *e, uint64_t from,
                     struct cie_cache *cache, cfi_row_fn *row, void *ctx)
{
	const struct cfi_section *s = &c->sections[e->section];
	struct cfi_program p = {
		.machine = c->machine,
		.cie = &cache->cie,
		.own = { s->bytes + e->at, s->bytes + e->at + e->len, false },
		.begin = e->begin,
		.end = e->end,
		.from = from,
		.nr_steps = &c->nr_steps,
	};

	/* It was good when the entry was taken. */
	return find_cie(s, e->cie, cache) ? cfi_run(&p, row, ctx) : 0;
}

int cfi_rows(struct cfi *c, cfi_row_fn *row, void *ctx)
{
	struct cie_cache caches[CFI_SECTIONS_MAX] = { 0 };
	uint64_t end = 0; /* of all so far */
	int err = 0;

	if (c->nr)
		qsort(c->entries, c->nr, sizeof(*c->entries), by_begin);
	for (uint32_t i = 0; !err && i < c->nr; i++) {
		const struct cfi_entry *e = &c->entries[i];
		uint64_t from = e->begin > end ? e->begin : end;

		if (from >= e->end)
			continue;
		if (i && from > end)
			err = row(ctx, end, UNWIND_RULE(UNWIND_NONE, 0, 0, 0));
		if (!err && e->section == NO_SECTION)
			err = row(ctx, from, (uint32_t)e->cie);
		else if (!err)
			err = run_entry(c, e, from, &caches[e->section], row, ctx);
		end = e->end;
	}
	if (!err && c->nr)
		err = row(ctx, end, UNWIND_RULE(UNWIND_NONE, 0, 0, 0));
	return err;
}
