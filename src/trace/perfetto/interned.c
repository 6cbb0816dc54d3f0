#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/perfetto/index.h"
#include "trace/perfetto/schema.h"

#define FIELDS      64U
#define ENTRIES     (1U << 26) /* of one table at most */
#define SMALL_TABLE 16U

/* Tables whose entries are {iid, string}; the others are kept whole. */
static bool is_text(uint32_t field)
{
	switch (field) {
	case INTERNED_EVENT_CATEGORIES:
	case INTERNED_EVENT_NAMES:
	case INTERNED_ANNOTATION_NAMES:
	case INTERNED_FUNCTION_NAMES:
	case INTERNED_BUILD_IDS:
	case INTERNED_MAPPING_PATHS:
	case INTERNED_SOURCE_PATHS:
	case INTERNED_KERNEL_SYMBOLS:
	case INTERNED_VALUE_TYPES:
	case INTERNED_STRING_VALUES:
	case INTERNED_CORRELATION_IDS:
		return true;
	default:
		return false;
	}
}

static struct iid_entry read_entry(const struct pb_field *of)
{
	struct iid_entry e = { .field = of->nr };
	struct pb_in in = pb_in_field(of);
	struct pb_field f;

	if (!is_text(of->nr)) {
		e.bytes = of->bytes;
		e.len = (uint32_t)of->value;
	}
	while (pb_next(&in, &f)) {
		if (f.nr == ENTRY_IID && f.type == PB_VARINT) {
			e.iid = f.value;
		} else if (f.nr == ENTRY_STRING && f.type == PB_BYTES && is_text(of->nr)) {
			e.bytes = f.bytes;
			e.len = (uint32_t)f.value;
		}
	}
	return e;
}

int interned_add(struct reader *r, uint32_t table, struct pb_in data)
{
	struct iid_table *t = &r->tables[table];
	struct pb_field f;
	struct iid_entry e;

	while (pb_next(&data, &f)) {
		if (f.type != PB_BYTES || f.nr >= FIELDS || f.value > UINT32_MAX)
			continue;
		e = read_entry(&f);
		if (!e.iid)
			continue;
		if (t->nr == ENTRIES) {
			r->tally.damage[DAMAGE_OVER_CAP]++;
			break;
		}
		if (is_text(f.nr) && e.len &&
		    intern_add(r->texts, (const char *)e.bytes, e.len, &e.text) == -ENOMEM)
			return -ENOMEM;
		e.order = (uint32_t)t->nr;
		if (!grow_counted(r, &t->entries, t->nr, &t->cap, sizeof(e)))
			return -ENOMEM;
		t->entries[t->nr++] = e;
	}
	if (data.is_bad)
		r->tally.damage[DAMAGE_PACKET_BAD]++;
	return 0;
}

static int by_field_and_iid(const void *a, const void *b)
{
	const struct iid_entry *x = a, *y = b;

	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	if (x->iid != y->iid)
		return x->iid < y->iid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_same(const struct iid_entry *a, const struct iid_entry *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->bytes, b->bytes, a->len) == 0);
}

/* Of several definitions the last counts; only another meaning is an error. */
static void keep_last(struct reader *r, struct iid_table *t)
{
	size_t to = 0;

	for (size_t i = 0; i < t->nr; i++) {
		struct iid_entry *e = &t->entries[i];

		if (to && t->entries[to - 1].field == e->field &&
		    t->entries[to - 1].iid == e->iid) {
			if (!is_same(&t->entries[to - 1], e))
				r->tally.damage[DAMAGE_INTERNED_REDEFINED]++;
			t->entries[to - 1] = *e;
		} else {
			t->entries[to++] = *e;
		}
	}
	t->nr = to;
}

/* Where each field begins, and the end: a lookup then mostly needs one comparison. */
static int make_starts(struct iid_table *t)
{
	size_t at = 0;

	t->first = calloc(FIELDS + 1, sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for (uint32_t field = 0; field <= FIELDS; field++) {
		while (at < t->nr && t->entries[at].field < field)
			at++;
		t->first[field] = (uint32_t)at;
	}
	return 0;
}

int interned_link(struct reader *r)
{
	int err = 0;

	for (size_t i = 0; i < r->nr_tables && !err; i++) {
		struct iid_table *t = &r->tables[i];

		if (t->nr == 0)
			continue;
		qsort(t->entries, t->nr, sizeof(*t->entries), by_field_and_iid);
		keep_last(r, t);
		if (t->nr > SMALL_TABLE)
			err = make_starts(t);
	}
	return err;
}

const struct iid_entry *state_find(const struct reader *r, uint32_t state, uint32_t field,
                                   uint64_t iid)
{
	const struct iid_entry key = { .field = field, .iid = iid }, *e;
	const struct iid_table *t;
	size_t low = 0, high, at;

	if (!iid || state >= r->nr_states || field >= FIELDS)
		return NULL;
	t = &r->tables[r->states[state].interned];
	high = t->nr;
	if (t->first) {
		low = t->first[field];
		high = t->first[field + 1];
		/* Most tables count up from 1 without a hole. */
		if (iid <= high - low && t->entries[low + iid - 1].iid == iid)
			return &t->entries[low + iid - 1];
	}
	while (low < high) {
		at = low + (high - low) / 2;
		e = &t->entries[at];
		if (e->field == key.field && e->iid == key.iid)
			return e;
		if (e->field < key.field || (e->field == key.field && e->iid < key.iid))
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

void interned_done(struct reader *r)
{
	for (size_t i = 0; i < r->nr_tables; i++) {
		free(r->tables[i].entries);
		free(r->tables[i].first);
	}
	free(r->tables);
	r->tables = NULL;
	r->nr_tables = r->cap_tables = 0;
}
