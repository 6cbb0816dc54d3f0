#include "report/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parallel.h"

/* clang-format off */
#define CPU    { "cpu", 16, ROLE_PLAIN }
#define WHO    { "who", WHO_BITS, ROLE_WHO }
#define PAIRED { "who", WHO_BITS, ROLE_OTHER }
#define KIND   { "kind", TABLE_KIND_BITS, ROLE_PLAIN }
#define SLOT   { "slot", TABLE_SLOT_BITS, ROLE_SLOT }
#define BAND   { "band", TABLE_SLOT_BITS, ROLE_BAND }
/* clang-format on */

const struct table_kind table_kinds[REPORT_TABLES] = {
	[TABLE_RUN] = { "run", false, 2, { CPU, WHO }, { "ns", "begun" } },
	[TABLE_RUN_OPEN] = { "run_open", true, 2, { CPU, WHO }, { "count" } },
	[TABLE_WAIT] = { "wait", false, 3, { WHO, KIND, SLOT }, { "count", "sum_ns" } },
	[TABLE_WAIT_OPEN] = { "wait_open", true, 3, { WHO, KIND, SLOT }, { "count", "sum_ns" } },
	[TABLE_WAIT_CPU] = { "wait_cpu", false, 3, { CPU, KIND, SLOT }, { "count", "sum_ns" } },
	[TABLE_WAIT_CPU_OPEN] = { "wait_cpu_open",
	                          true,
	                          3,
	                          { CPU, KIND, SLOT },
	                          { "count", "sum_ns" } },
	[TABLE_WAKE] = { "wake",
	                 false,
	                 4,
	                 { PAIRED, { "waker", WHO_BITS, ROLE_WAKER }, KIND, BAND },
	                 { "count", "sum_ns" } },
	[TABLE_WAKE_OPEN] = { "wake_open",
	                      true,
	                      4,
	                      { PAIRED, { "waker", WHO_BITS, ROLE_WAKER }, KIND, BAND },
	                      { "count", "sum_ns" } },
	[TABLE_WAITING] = { "waiting", false, 2, { WHO, KIND }, { "count", "sum_ns" } },
	[TABLE_BLAME] = { "blame",
	                  false,
	                  4,
	                  { PAIRED,
	                    BAND,
	                    { "cause", 4, ROLE_PLAIN },
	                    { "culprit", WHO_BITS, ROLE_OTHER } },
	                  { "ns" } },
	[TABLE_IRQ] = { "irq", false, 2, { CPU, { "what", 24, ROLE_PLAIN } }, { "count", "ns" } },
	[TABLE_IDLE] = { "idle", false, 2, { CPU, { "state", 24, ROLE_PLAIN } }, { "ns" } },
	[TABLE_DSQ] = { "dsq", false, 1, { { "queue", 24, ROLE_PLAIN } }, { "count", "ns" } },
	[TABLE_SAMPLE] = { "sample",
	                   false,
	                   3,
	                   { { "kind", 6, ROLE_PLAIN }, WHO, { "stack", 31, ROLE_PLAIN } },
	                   { "count", "ns" } },
};

uint64_t table_key(enum report_table table, const uint32_t *numbers)
{
	const struct table_kind *kind = &table_kinds[table];
	uint64_t key = 0;

	for (uint32_t i = 0; i < kind->nr_keys; i++)
		key = key << kind->keys[i].bits | numbers[i];
	return key;
}

void table_numbers(enum report_table table, uint64_t key, uint32_t *out)
{
	const struct table_kind *kind = &table_kinds[table];

	for (uint32_t i = kind->nr_keys; i-- > 0; key >>= kind->keys[i].bits)
		out[i] = (uint32_t)(key & ((1ULL << kind->keys[i].bits) - 1));
}

int tables_init(struct tables *t, uint32_t nr_buckets)
{
	int err = 0;

	*t = (struct tables){ 0 };
	for (int i = 0; i < REPORT_TABLES && !err; i++)
		err = cells_init(&t->at[i], nr_buckets);
	return err;
}

void tables_done(struct tables *t)
{
	for (int i = 0; i < REPORT_TABLES; i++)
		cells_done(&t->at[i]);
}

struct halving {
	struct tables *t;
	int err[REPORT_TABLES];
};

static void halve_table(void *ctx, unsigned int worker, size_t item)
{
	struct halving *h = ctx;

	(void)worker;
	if (table_kinds[item].is_open)
		cells_halve_edges(&h->t->at[item]);
	else
		h->err[item] = cells_halve(&h->t->at[item]);
}

static int first_error(const int err[REPORT_TABLES])
{
	for (int i = 0; i < REPORT_TABLES; i++)
		if (err[i])
			return err[i];
	return 0;
}

int tables_halve(struct tables *t)
{
	struct halving h = { .t = t };
	struct parallel p = { .fn = halve_table, .ctx = &h };

	parallel_for(&p, REPORT_TABLES);
	return first_error(h.err);
}

struct refold {
	enum report_table table;
	const struct who *w;
	const uint8_t *bands;
};

static uint32_t refold_number(const struct refold *r, uint8_t role, uint32_t number)
{
	const struct who *w = r->w;

	switch (role) {
	case ROLE_WHO:
		return w->as_who ? w->as_who[number] : number;
	case ROLE_WAKER:
		if (number & WHO_INTERRUPT)
			return number;
		/* fall through */
	case ROLE_OTHER:
		return w->as_other ? w->as_other[number] : number;
	case ROLE_BAND:
		return r->bands ? r->bands[number] : number;
	default:
		return number;
	}
}

static uint64_t refold_key(void *ctx, uint64_t key)
{
	const struct refold *r = ctx;
	const struct table_kind *kind = &table_kinds[r->table];
	uint32_t numbers[TABLE_MAX_KEYS];

	table_numbers(r->table, key, numbers);
	for (uint32_t i = 0; i < kind->nr_keys; i++)
		numbers[i] = refold_number(r, kind->keys[i].role, numbers[i]);
	return table_key(r->table, numbers);
}

static bool has_role(enum report_table table, uint32_t roles)
{
	for (uint32_t i = 0; i < table_kinds[table].nr_keys; i++)
		if (roles & 1U << table_kinds[table].keys[i].role)
			return true;
	return false;
}

struct refolding {
	struct tables *t;
	const struct who *w;
	const uint8_t *bands;
	int err[REPORT_TABLES];
};

static void refold_table(void *ctx, unsigned int worker, size_t item)
{
	uint32_t roles = 1U << ROLE_WHO | 1U << ROLE_OTHER | 1U << ROLE_WAKER | 1U << ROLE_BAND;
	struct refolding *f = ctx;
	struct refold r = { (enum report_table)item, f->w, f->bands };

	(void)worker;
	if (has_role(r.table, roles))
		f->err[item] = cells_rekey(&f->t->at[item], refold_key, &r);
}

int tables_refold(struct tables *t, const struct who *w, const uint8_t *bands,
                  unsigned int nr_workers)
{
	struct refolding f = { .t = t, .w = w, .bands = bands };
	struct parallel p = { .nr_workers = nr_workers, .fn = refold_table, .ctx = &f };

	parallel_for(&p, REPORT_TABLES);
	return first_error(f.err);
}

static void mark_one(struct tables_used *used, uint8_t role, uint32_t number)
{
	switch (role) {
	case ROLE_WHO:
	case ROLE_OTHER:
		used->who[number] = 1;
		break;
	case ROLE_WAKER:
		if (number & WHO_INTERRUPT)
			used->interrupts[number & ~WHO_INTERRUPT] = 1;
		else
			used->wakers[number] = 1;
		break;
	default:
		break;
	}
}

void tables_mark(const struct tables *t, struct tables_used *used)
{
	uint32_t numbers[TABLE_MAX_KEYS];

	for (int i = 0; i < REPORT_TABLES; i++) {
		const struct table_kind *kind = &table_kinds[i];

		for (uint32_t b = 0; b < t->at[i].nr_sets; b++) {
			const struct cell_set *s = &t->at[i].sets[b];

			for (uint32_t k = 0; k < s->room; k++) {
				if (s->at[k].key == CELLS_NO_KEY)
					continue;
				table_numbers((enum report_table)i, s->at[k].key, numbers);
				for (uint32_t n = 0; n < kind->nr_keys; n++)
					mark_one(used, kind->keys[n].role, numbers[n]);
			}
		}
	}
}

static uint32_t number_of(const struct who *w, const struct report_slots *slots, uint8_t role,
                          uint32_t number)
{
	switch (role) {
	case ROLE_WHO:
	case ROLE_OTHER:
		return w->numbers[number];
	case ROLE_WAKER:
		return who_waker_number(w, number);
	case ROLE_SLOT:
		return slots->numbers[number];
	case ROLE_BAND:
		return slots->band_numbers[number];
	default:
		return number;
	}
}

static void pack_cell(enum report_table table, uint32_t bucket, const struct cell *cell,
                      const struct who *w, const struct report_slots *slots, struct pack *out)
{
	const struct table_kind *kind = &table_kinds[table];
	uint32_t numbers[TABLE_MAX_KEYS];
	uint64_t row[PACK_MAX_COLUMNS] = { bucket };
	uint32_t nr = 1;

	table_numbers(table, cell->key, numbers);
	for (uint32_t i = 0; i < kind->nr_keys; i++)
		row[nr++] = number_of(w, slots, kind->keys[i].role, numbers[i]);
	row[nr++] = cell->a;
	row[nr] = cell->b;
	pack_row(out, row);
}

int tables_pack(const struct tables *t, enum report_table table, const struct who *w,
                const struct report_slots *slots, struct pack *out)
{
	const struct table_kind *kind = &table_kinds[table];
	const struct cells *c = &t->at[table];
	SCOPED(scoped_free) struct cell *room = NULL;
	uint32_t most = 1;

	*out = (struct pack){ .table = kind->name };
	pack_column(out, kind->is_open ? "edge" : "bucket", true);
	for (uint32_t i = 0; i < kind->nr_keys; i++)
		pack_column(out, kind->keys[i].name, i == 0);
	for (uint32_t i = 0; i < 2 && kind->values[i]; i++)
		pack_column(out, kind->values[i], false);
	for (uint32_t i = 0; i < c->nr_sets; i++)
		most = c->sets[i].nr > most ? c->sets[i].nr : most;
	room = calloc(2UL * most, sizeof(*room));
	if (!room)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_sets; i++) {
		const struct cell *list = cells_list(c, i, room);

		for (uint32_t k = 0; k < c->sets[i].nr; k++)
			pack_cell(table, i, &list[k], w, slots, out);
	}
	return pack_close(out);
}
