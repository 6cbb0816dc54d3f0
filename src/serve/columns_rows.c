#include "serve/columns_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES  64
#define COMMON      6U
#define COLUMNS_MAX 24U
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
#define TIME(name)  { name, PARQUET_I64, PARQUET_DELTA, true }
#define NUMBER(name, is_required) { name, PARQUET_I64, PARQUET_DELTA, is_required }
#define WORD(name, is_required) { name, PARQUET_TEXT, PARQUET_DICTIONARY, is_required }
#define COMMON_COLUMNS \
	TIME("from_ns"), TIME("to_ns"), WORD("boot_id", false), WORD("kernel", false), WORD("machine", false), WORD("labels", false)

static const struct parquet_column hist_columns[] = {
	COMMON_COLUMNS,
	WORD("metric", true), WORD("kind", false), WORD("cgroup", false),
	NUMBER("low_ns", true), NUMBER("high_ns", false), NUMBER("count", true), NUMBER("sum_ns", true),
	NUMBER("max_ns", false), NUMBER("max_at_ns", false), NUMBER("max_tid", false), NUMBER("max_cpu", false),
	WORD("max_comm", false), WORD("dump", false),
};
static const struct parquet_column blame_columns[] = {
	COMMON_COLUMNS,
	WORD("victim", false), WORD("culprit", false), NUMBER("wait_ns", true), NUMBER("covered_ns", true),
};
static const struct parquet_column dumps_columns[] = {
	COMMON_COLUMNS,
	WORD("name", true), WORD("trigger", true), NUMBER("tid", false), TIME("begun_ns"),
};
/* clang-format on */

_Static_assert(COUNT(hist_columns) <= COLUMNS_MAX, "a row holds them");

static struct parquet_value number(uint64_t value)
{
	return (struct parquet_value){ .i64 = (int64_t)value };
}

/* Null for NULL and "". */
static struct parquet_value text(const char *value)
{
	bool is_null = !value || !*value;

	return (struct parquet_value){ .is_null = is_null,
		                       .text = value,
		                       .len = is_null ? 0 : strlen(value) };
}

/* The values that all rows of an interval share; all others are null. */
static void begin_row(const struct columns_rows *r, struct parquet_value row[COLUMNS_MAX])
{
	const struct parquet_value common[COMMON] = { number(r->from_ns), number(r->to_ns),
		                                      text(r->boot_id),   text(r->kernel),
		                                      text(r->machine),   text(r->labels) };

	memcpy(row, common, sizeof(common));
	for (uint32_t i = COMMON; i < COLUMNS_MAX; i++)
		row[i] = (struct parquet_value){ .is_null = true };
}

/* A distribution: what it is of, what it is now, and what files have of it. */
struct one_hist {
	const char *metric, *kind, *cgroup;
	const struct hist *now, *written;
	const struct sums_peak *longest; /* NULL = unknown */
	bool is_shown_empty;
};

/* Order of hist_columns. */
enum {
	HIST_METRIC = COMMON,
	HIST_KIND,
	HIST_CGROUP,
	HIST_LOW,
	HIST_HIGH,
	HIST_COUNT,
	HIST_SUM,
	HIST_MAX,
	HIST_MAX_AT,
	HIST_MAX_TID,
	HIST_MAX_CPU,
	HIST_MAX_COMM,
	HIST_DUMP,
};

static void put_longest(const struct columns_rows *r, const struct sums_peak *peak,
                        struct parquet_value *row)
{
	/* Signed: a clock that was never set may be behind that of the boot. */
	uint64_t at_ns = peak->at_ns + (uint64_t)(int64_t)(r->clock_to_unix_s * 1e9);
	const struct dump_wait wait = { .tid = peak->tid,
		                        .end_s = (double)at_ns / 1e9,
		                        .dur_s = (double)peak->ns / 1e9 };

	row[HIST_MAX] = number(peak->ns);
	row[HIST_MAX_AT] = number(at_ns);
	row[HIST_MAX_TID] = number(peak->tid);
	row[HIST_MAX_CPU] = number(peak->cpu);
	row[HIST_MAX_COMM] = text(peak->comm);
	if (r->dumps)
		row[HIST_DUMP] = text(dumps_find(r->dumps, &wait));
}

static int put_slot(const struct columns_rows *r, const struct one_hist *h, uint32_t slot,
                    uint64_t sum_ns)
{
	struct hist_range range = hist_slot_range(slot);
	bool has_longest = h->longest && h->longest->ns && hist_slot(h->longest->ns) == slot;
	struct parquet_value row[COLUMNS_MAX];

	begin_row(r, row);
	row[HIST_METRIC] = text(h->metric);
	row[HIST_KIND] = text(h->kind);
	row[HIST_CGROUP] = text(h->cgroup);
	row[HIST_LOW] = number(range.first);
	if (slot < HIST_SLOTS - 1) /* the last one has no end */
		row[HIST_HIGH] = number(range.last + 1);
	row[HIST_COUNT] = number(h->now->slots[slot] - h->written->slots[slot]);
	row[HIST_SUM] = number(sum_ns);
	if (has_longest)
		put_longest(r, h->longest, row);
	return parquet_append(r->out, row, r->d);
}

/* Slots that have grown. The sum of the durations is in the first row; one of a distribution that did not grow is that of slot 0. */
static int put_hist(const struct columns_rows *r, const struct one_hist *h)
{
	uint64_t sum_ns = h->now->sum_ns - h->written->sum_ns;
	uint32_t peak = h->longest && h->longest->ns ? hist_slot(h->longest->ns) : HIST_SLOTS;
	bool is_first = true;
	int err = 0;

	for (uint32_t i = 0; i < HIST_SLOTS && !err; i++) {
		if (h->now->slots[i] == h->written->slots[i] && i != peak)
			continue;
		err = put_slot(r, h, i, is_first ? sum_ns : 0);
		is_first = false;
	}
	return err || !is_first || !h->is_shown_empty ? err : put_slot(r, h, 0, sum_ns);
}

/* As the metric is called, without what is the same for all: values are in ns here. */
static const char *short_name(enum metric_id id, char buf[NAME_BYTES])
{
	static const char before[] = "schedscope_", after[] = "_seconds";
	const char *name = metrics[id].name + strlen(before);

	(void)snprintf(buf, NAME_BYTES, "%.*s", (int)(strlen(name) - strlen(after)), name);
	return buf;
}

/* With what forgotten ones counted since the last file. */
static struct hist other_and_gone(struct seats *s)
{
	struct hist all = *seats_at(s, SEAT_OTHER)->delay;

	hist_merge(&all, seats_gone(s));
	return all;
}

static int put_cgroups(const struct columns_rows *r)
{
	const struct hist other = other_and_gone(r->s->cgroups);
	char metric[NAME_BYTES];
	struct seat *seat;
	int err = 0;

	short_name(METRIC_CGROUP_DELAY, metric);
	/* Also of those that have lost their seat since. */
	for (uint32_t i = 0; !err && (seat = seats_at(r->s->cgroups, i)); i++) {
		struct one_hist h = { .metric = metric,
			              .cgroup = seat->name,
			              .now = i == SEAT_OTHER ? &other : seat->delay };

		if (!seat->delay)
			continue;
		if (!seat->written)
			seat->written = calloc(1, sizeof(*seat->written));
		if (!seat->written)
			return diag_set(r->d, -ENOMEM, NULL, "out of memory");
		h.written = seat->written;
		err = put_hist(r, &h);
	}
	return err;
}

static int put_hists(const struct columns_rows *r)
{
	char metric[NAME_BYTES];
	int err = 0;

	for (int i = 0; i < DISTS && !err; i++) {
		const struct dist_def *def = &dist_defs[i];
		const struct one_hist h = { .metric = short_name(def->metric, metric),
			                    .kind = def->value,
			                    .now = &r->s->dists[i].hist,
			                    .written = &r->written->dists[i],
			                    .longest = &r->s->dists[i].longest,
			                    .is_shown_empty = true };

		if (r->s->groups & def->group)
			err = put_hist(r, &h);
	}
	return err || !(r->s->groups & STAT_GROUP_LATENCY) ? err : put_cgroups(r);
}

static void mark_hists(const struct columns_rows *r)
{
	struct seat *seat;

	for (int i = 0; i < DISTS; i++) {
		r->written->dists[i] = r->s->dists[i].hist;
		r->s->dists[i].longest = (struct sums_peak){ 0 };
	}
	for (uint32_t i = 0; (seat = seats_at(r->s->cgroups, i)); i++)
		if (seat->delay && seat->written)
			*seat->written = *seat->delay;
	*seats_gone(r->s->cgroups) = (struct hist){ 0 };
}

enum { BLAME_VICTIM = COMMON, BLAME_CULPRIT, BLAME_WAIT, BLAME_COVERED };

static int put_pair(const struct columns_rows *r, const char *victim, const char *culprit,
                    uint64_t wait_ns, uint64_t covered_ns)
{
	struct parquet_value row[COLUMNS_MAX];

	begin_row(r, row);
	row[BLAME_VICTIM] = text(victim);
	row[BLAME_CULPRIT] = text(culprit);
	row[BLAME_WAIT] = number(wait_ns);
	row[BLAME_COVERED] = number(covered_ns);
	return parquet_append(r->out, row, r->d);
}

/* The time that it is about has a row of its own. */
static int put_blame(const struct columns_rows *r)
{
	const struct sums_blame *b = &r->s->blame;
	int err = put_pair(r, NULL, NULL, 0, b->covered_ns - r->written->covered_ns);

	for (size_t i = 0; i < b->nr && !err; i++) {
		const struct sums_pair *pair = &b->pairs[i];
		/* The first is that of "other" and "other". */
		uint64_t grown_ns = pair->ns - pair->written_ns + (i ? 0 : b->gone_ns);

		if (grown_ns)
			err = put_pair(r, seats_at(r->s->cgroups, pair->victim)->name,
			               sums_culprit(r->s, pair->culprit), grown_ns, 0);
	}
	return err;
}

static void mark_blame(const struct columns_rows *r)
{
	struct sums_blame *b = &r->s->blame;

	r->written->covered_ns = b->covered_ns;
	b->gone_ns = 0;
	for (size_t i = 0; i < b->nr; i++)
		b->pairs[i].written_ns = b->pairs[i].ns;
}

enum { DUMP_NAME = COMMON, DUMP_TRIGGER, DUMP_TID, DUMP_BEGUN };

static int put_dumps(const struct columns_rows *r)
{
	struct parquet_value row[COLUMNS_MAX];
	int err = 0;

	for (uint32_t i = 0; i < r->fresh->nr && !err; i++) {
		struct dump_name name;

		if (!dump_name_parse(r->fresh->names[i], &name))
			continue;
		begin_row(r, row);
		row[DUMP_NAME] = text(r->fresh->names[i]);
		row[DUMP_TRIGGER] = text(trigger_kind_names[name.kind]);
		if (name.tid)
			row[DUMP_TID] = number(name.tid);
		row[DUMP_BEGUN] = number((uint64_t)name.when * 1000000000ULL);
		err = parquet_append(r->out, row, r->d);
	}
	return err;
}

static void mark_dumps(const struct columns_rows *r)
{
	r->fresh->nr = 0;
}

static bool is_always_on(const struct sums *s)
{
	(void)s;
	return true;
}

static bool is_blame_on(const struct sums *s)
{
	return s->blame.is_on;
}

static bool are_dumps_on(const struct sums *s)
{
	return s->has_dumps;
}

static bool has_always_rows(const struct columns_rows *r)
{
	(void)r;
	return true;
}

static bool has_dumps(const struct columns_rows *r)
{
	return r->fresh->nr;
}

const struct columns_table columns_tables[COLUMN_TABLES] = {
	[TABLE_HIST] = { "latency_hist", hist_columns, COUNT(hist_columns), is_always_on,
	                 has_always_rows, put_hists, mark_hists },
	[TABLE_BLAME] = { "blame", blame_columns, COUNT(blame_columns), is_blame_on,
	                  has_always_rows, put_blame, mark_blame },
	[TABLE_DUMPS] = { "dumps", dumps_columns, COUNT(dumps_columns), are_dumps_on, has_dumps,
	                  put_dumps, mark_dumps },
};
