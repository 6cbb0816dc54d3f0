/* Messages of io.prometheus.client (metrics.proto), each behind its length, as Prometheus scrapes them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "serve/exposition.h"

/* Numbers of fields. */
enum { FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4 };
enum { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4 };
enum { ITEM_LABEL = 1, ITEM_GAUGE = 2, ITEM_COUNTER = 3, ITEM_HISTOGRAM = 7 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum {
	HIST_COUNT = 1,
	HIST_SUM = 2,
	HIST_BUCKET = 3,
	HIST_SCHEMA = 5,
	HIST_ZERO_THRESHOLD = 6,
	HIST_ZERO_COUNT = 7,
	HIST_SPAN = 12,
	HIST_DELTA = 13,
};
enum { BUCKET_COUNT = 1, BUCKET_LE = 2, BUCKET_EXEMPLAR = 3 };
enum { EXEMPLAR_LABEL = 1, EXEMPLAR_VALUE = 2, EXEMPLAR_TIME = 3 };
enum { TIME_SECONDS = 1, TIME_NANOS = 2 };
enum { SPAN_OFFSET = 1, SPAN_LENGTH = 2 };

#define PER_POWER (1 << NATIVE_SCHEMA)
#define LABEL_LEN 512U

static uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

void proto_begin(struct exposition *e)
{
	static const uint64_t types[] = {
		[METRIC_COUNTER] = TYPE_COUNTER,
		[METRIC_GAUGE] = TYPE_GAUGE,
		[METRIC_HISTOGRAM] = TYPE_HISTOGRAM,
		[METRIC_INFO] = TYPE_GAUGE,
	};

	pb_clear(&e->family);
	pb_string(&e->family, FAMILY_NAME, e->metric->name);
	pb_string(&e->family, FAMILY_HELP, e->metric->help);
	pb_uint(&e->family, FAMILY_TYPE, types[e->metric->type]);
}

void proto_end(struct exposition *e)
{
	uint8_t head[PB_VARINT_MAX];
	uint8_t *end = pb_put_varint(head, e->family.len);

	if (e->family.error && !e->out.error)
		e->out.error = e->family.error;
	pb_raw(&e->out, head, (size_t)(end - head));
	pb_raw(&e->out, e->family.buf, e->family.len);
}

static void put_label(struct pb *w, uint32_t field, const char *name, const char *value)
{
	struct pb_mark mark = pb_begin(w, field);
	char clean[LABEL_LEN];

	pb_string(w, LABEL_NAME, name);
	pb_string(w, LABEL_VALUE, text_printable(clean, sizeof(clean), value, strlen(value)));
	pb_end(w, mark);
}

static void put_labels(struct pb *w, const struct metric_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++)
		put_label(w, ITEM_LABEL, labels->items[i].name, labels->items[i].value);
}

void proto_value(struct exposition *e, const struct metric_labels *labels, double value)
{
	struct pb *w = &e->family;
	struct pb_mark item = pb_begin(w, FAMILY_METRIC), number;

	put_labels(w, labels);
	number = pb_begin(w, e->metric->type == METRIC_COUNTER ? ITEM_COUNTER : ITEM_GAUGE);
	pb_double(w, 1, value);
	pb_end(w, number);
	pb_end(w, item);
}

static void put_exemplar(struct pb *w, const struct exemplar *x)
{
	struct pb_mark mark = pb_begin(w, BUCKET_EXEMPLAR), time;
	char number[16], comm[STAT_COMM_LEN + 1] = "";
	double whole = floor(x->unix_s);

	memcpy(comm, x->comm, STAT_COMM_LEN);
	put_label(w, EXEMPLAR_LABEL, "comm", comm);
	snprintf(number, sizeof(number), "%u", x->tid);
	put_label(w, EXEMPLAR_LABEL, "tid", number);
	snprintf(number, sizeof(number), "%u", x->cpu);
	put_label(w, EXEMPLAR_LABEL, "cpu", number);
	if (x->dump[0])
		put_label(w, EXEMPLAR_LABEL, "dump", x->dump);
	pb_double(w, EXEMPLAR_VALUE, x->value);
	time = pb_begin(w, EXEMPLAR_TIME);
	pb_int(w, TIME_SECONDS, (int64_t)whole);
	pb_int(w, TIME_NANOS, (int64_t)((x->unix_s - whole) * 1e3) * 1000000);
	pb_end(w, time);
	pb_end(w, mark);
}

static void put_bucket(struct pb *w, const struct metric_histogram *h, uint32_t i)
{
	struct pb_mark mark = pb_begin(w, HIST_BUCKET);

	pb_uint(w, BUCKET_COUNT, i < h->nr ? h->cum[i] : h->count);
	pb_double(w, BUCKET_LE, i < h->nr ? h->le[i] : (double)INFINITY);
	if (h->exemplar && histogram_bucket(h, h->exemplar->value) == i)
		put_exemplar(w, h->exemplar);
	pb_end(w, mark);
}

/* The bucket that holds the middle of a slot: numbered by its upper bound, 2^(i/8) s. */
static int32_t bucket_of(uint32_t slot)
{
	struct hist_range r = hist_slot_range(slot);

	return (int32_t)ceil(log2(((double)r.first + (double)r.last + 1) / 2e9) * PER_POWER);
}

void native_buckets(const struct hist *h, struct native_buckets *out)
{
	memset(out, 0, sizeof(*out));
	out->first = bucket_of(1);
	out->zero = h->slots[0];
	for (uint32_t slot = 1; slot < HIST_SLOTS - 1; slot++) {
		uint32_t i = (uint32_t)(bucket_of(slot) - out->first);

		out->count[i] += h->slots[slot];
		out->nr = i + 1;
	}
	/* The last one has no end: its beginning is all that is known. */
	out->count[out->nr++] = h->slots[HIST_SLOTS - 1];
}

static void put_span(struct pb *w, int32_t offset, uint32_t len)
{
	struct pb_mark mark = pb_begin(w, HIST_SPAN);

	pb_uint(w, SPAN_OFFSET, zigzag(offset));
	pb_uint(w, SPAN_LENGTH, len);
	pb_end(w, mark);
}

/* Runs of buckets that are not empty: the first by its number, others by the gap before them. */
static void put_spans(struct pb *w, const struct native_buckets *n)
{
	uint32_t done = 0, i = 0;

	while (i < n->nr) {
		uint32_t from = i;

		while (i < n->nr && n->count[i])
			i++;
		if (i > from) {
			put_span(w, done ? (int32_t)(from - done) : n->first + (int32_t)from,
			         i - from);
			done = i;
		}
		i += i == from;
	}
}

static void put_native(struct pb *w, const struct hist *h)
{
	struct native_buckets n;
	int64_t before = 0;

	native_buckets(h, &n);
	pb_uint(w, HIST_SCHEMA, zigzag(NATIVE_SCHEMA));
	pb_double(w, HIST_ZERO_THRESHOLD, NATIVE_ZERO_NS / 1e9);
	pb_uint(w, HIST_ZERO_COUNT, n.zero);
	put_spans(w, &n);
	for (uint32_t i = 0; i < n.nr; i++) {
		if (!n.count[i])
			continue;
		pb_uint(w, HIST_DELTA, zigzag((int64_t)n.count[i] - before));
		before = (int64_t)n.count[i];
	}
}

void proto_histogram(struct exposition *e, const struct metric_labels *labels,
                     const struct metric_histogram *h)
{
	struct pb *w = &e->family;
	struct pb_mark item = pb_begin_large(w, FAMILY_METRIC), hist;

	put_labels(w, labels);
	hist = pb_begin_large(w, ITEM_HISTOGRAM);
	pb_uint(w, HIST_COUNT, h->count);
	pb_double(w, HIST_SUM, h->sum);
	for (uint32_t i = 0; i <= h->nr; i++)
		put_bucket(w, h, i);
	if (h->native)
		put_native(w, h->native);
	pb_end(w, hist);
	pb_end(w, item);
}
