#include "serve/exposition.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NS_PER_S   1e9
#define LABEL_LEN  512U
#define WHOLE_MAX  1e15 /* below, whole numbers are printed as such */
#define LINE_BYTES 256U
#define HEAD_BYTES 2048U /* a name and two labels, all of it escaped */

/* In us; each is the end of a slot. */
static const uint64_t few_us[] = { 1,       2,       4,       8,        16,      32,     62,
	                           122,     252,     512,     1024,     2048,    4096,   8192,
	                           16384,   32768,   65536,   131072,   262144,  524288, 1048576,
	                           2097152, 4194304, 8388608, 16777216, 33554432 };

static void add_bound(struct bounds *b, uint32_t end)
{
	b->end[b->nr] = end;
	b->le[b->nr] = (double)(hist_slot_range(end - 1).last + 1) / NS_PER_S;
	metric_number(b->text[b->nr], b->le[b->nr]);
	b->nr++;
}

/* The last slot has no end. */
void bounds_init(struct bounds *b, bool is_all)
{
	b->nr = 0;
	if (is_all)
		for (uint32_t slot = 1; slot < HIST_SLOTS; slot++)
			add_bound(b, slot);
	else
		for (size_t i = 0; i < sizeof(few_us) / sizeof(few_us[0]); i++)
			add_bound(b, hist_slot(few_us[i] * 1000));
}

void bounds_sum(const struct bounds *b, const uint64_t *slots, uint64_t *cum)
{
	uint64_t sum = 0;
	uint32_t slot = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		for (; slot < b->end[i]; slot++)
			sum += slots[slot];
		cum[i] = sum;
	}
}

char *metric_number(char out[METRIC_NUMBER_LEN], double value)
{
	int digits = 1;

	if (isinf(value) || isnan(value)) {
		snprintf(out, METRIC_NUMBER_LEN, "%s",
		         isnan(value) ? "NaN"
		         : value > 0  ? "+Inf"
		                      : "-Inf");
		return out;
	}
	if (fabs(value) < WHOLE_MAX && value == trunc(value)) {
		snprintf(out, METRIC_NUMBER_LEN, "%.1f", value);
		return out;
	}
	do
		snprintf(out, METRIC_NUMBER_LEN, "%.*g", digits, value);
	while (strtod(out, NULL) != value && ++digits <= 17);
	return out;
}

uint32_t histogram_bucket(const struct metric_histogram *h, double value)
{
	uint32_t i = 0;

	while (i < h->nr && value >= h->le[i])
		i++;
	return i;
}

void exposition_init(struct exposition *e, enum metrics_format format, size_t cap)
{
	*e = (struct exposition){ .format = format, .out.cap = cap, .family.cap = cap };
}

void exposition_done(struct exposition *e)
{
	pb_done(&e->out);
	pb_done(&e->family);
}

void exposition_clear(struct exposition *e)
{
	pb_clear(&e->out);
	pb_clear(&e->family);
}

static void put(struct pb *w, const char *text)
{
	pb_raw(w, text, strlen(text));
}

static PRINTF_LIKE(2, 3) void put_line(struct pb *w, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	put(w, line);
}

static void put_escaped(struct pb *w, const char *text)
{
	char clean[LABEL_LEN];

	text_printable(clean, sizeof(clean), text, strlen(text));
	for (const char *p = clean; *p;) {
		size_t len = strcspn(p, "\\\"");

		pb_raw(w, p, len);
		p += len;
		if (!*p)
			break;
		pb_raw(w, "\\", 1);
		pb_raw(w, p++, 1);
	}
}

/* Of a family, which has no suffix in OpenMetrics. */
static int family_len(const struct exposition *e)
{
	const struct metric *m = e->metric;
	size_t len = strlen(m->name), suffix = 0;

	if (e->format == FORMAT_OPENMETRICS && m->type == METRIC_COUNTER)
		suffix = strlen("_total");
	else if (e->format == FORMAT_OPENMETRICS && m->type == METRIC_INFO)
		suffix = strlen("_info");
	return (int)(len - suffix);
}

static void text_begin(struct exposition *e)
{
	const struct metric *m = e->metric;
	bool is_open = e->format == FORMAT_OPENMETRICS;
	int len = family_len(e);

	put_line(&e->out, "# HELP %.*s ", len, m->name);
	put(&e->out, m->help); /* of our own table, where nothing has to be escaped */
	put_line(&e->out, "\n# TYPE %.*s %s\n", len, m->name,
	         is_open && m->type == METRIC_INFO ? "info" : metric_type_name(m->type));
	if (is_open && m->unit[0])
		put_line(&e->out, "# UNIT %.*s %s\n", len, m->name, m->unit);
}

static void put_pairs(struct pb *w, const struct metric_labels *labels)
{
	for (size_t i = 0; i < labels->nr; i++) {
		put_line(w, "%s%s=\"", i ? "," : "", labels->items[i].name);
		put_escaped(w, labels->items[i].value);
		put(w, "\"");
	}
}

static void put_labels(struct pb *w, const struct metric_labels *labels)
{
	if (!labels->nr)
		return;
	put(w, "{");
	put_pairs(w, labels);
	put(w, "}");
}

static void text_value(struct exposition *e, const struct metric_labels *labels, double value)
{
	char number[METRIC_NUMBER_LEN];

	put(&e->out, e->metric->name);
	put_labels(&e->out, labels);
	put_line(&e->out, " %s\n", metric_number(number, value));
}

/* Names and values: 14 and 15 + 10 + 10 characters, and 79 of a dump, so never above EXEMPLAR_CHARS_MAX. */
static void put_exemplar(struct pb *w, const struct exemplar *x)
{
	char number[METRIC_NUMBER_LEN], comm[STAT_COMM_LEN + 1] = "";

	memcpy(comm, x->comm, STAT_COMM_LEN);
	put(w, " # {comm=\"");
	put_escaped(w, comm);
	put_line(w, "\",tid=\"%u\",cpu=\"%u\"", x->tid, x->cpu);
	if (x->dump[0]) {
		put(w, ",dump=\"");
		put_escaped(w, x->dump);
		put(w, "\"");
	}
	put_line(w, "} %s %.3f", metric_number(number, x->value), x->unix_s);
}

static const char *le_of(const struct metric_histogram *h, uint32_t i, char room[METRIC_NUMBER_LEN])
{
	if (i == h->nr)
		return "+Inf";
	return h->text ? h->text[i] : metric_number(room, h->le[i]);
}

static void put_bucket(struct exposition *e, const char *head, size_t len,
                       const struct metric_histogram *h, uint32_t i)
{
	bool is_marked = e->format == FORMAT_OPENMETRICS && h->exemplar &&
	                 histogram_bucket(h, h->exemplar->value) == i;
	char le[METRIC_NUMBER_LEN];

	pb_raw(&e->out, head, len);
	put_line(&e->out, "le=\"%s\"} %llu", le_of(h, i, le),
	         (unsigned long long)(i < h->nr ? h->cum[i] : h->count));
	if (is_marked)
		put_exemplar(&e->out, h->exemplar);
	put(&e->out, "\n");
}

/* What all lines of a histogram begin with is written once and copied: labels have to be escaped. */
static void put_buckets(struct exposition *e, const struct metric_labels *labels,
                        const struct metric_histogram *h)
{
	char head[HEAD_BYTES];
	size_t from = e->out.len, len;

	put(&e->out, e->metric->name);
	put(&e->out, "_bucket{");
	put_pairs(&e->out, labels);
	if (labels->nr)
		put(&e->out, ",");
	len = e->out.len - from;
	if (e->out.error || len > sizeof(head))
		return;
	memcpy(head, e->out.buf + from, len);
	pb_cut(&e->out, from);
	for (uint32_t i = 0; i <= h->nr; i++)
		put_bucket(e, head, len, h, i);
}

static void text_histogram(struct exposition *e, const struct metric_labels *labels,
                           const struct metric_histogram *h)
{
	char number[METRIC_NUMBER_LEN];

	put_buckets(e, labels, h);
	put(&e->out, e->metric->name);
	put(&e->out, "_sum");
	put_labels(&e->out, labels);
	put_line(&e->out, " %s\n", metric_number(number, h->sum));
	put(&e->out, e->metric->name);
	put(&e->out, "_count");
	put_labels(&e->out, labels);
	put_line(&e->out, " %llu\n", (unsigned long long)h->count);
}

void exposition_begin(struct exposition *e, const struct metric *m)
{
	e->metric = m;
	if (e->format == FORMAT_PROTOBUF)
		proto_begin(e);
	else
		text_begin(e);
}

void exposition_value(struct exposition *e, const struct metric_labels *labels, double value)
{
	if (e->format == FORMAT_PROTOBUF)
		proto_value(e, labels, value);
	else
		text_value(e, labels, value);
}

void exposition_histogram(struct exposition *e, const struct metric_labels *labels,
                          const struct metric_histogram *h)
{
	if (e->format == FORMAT_PROTOBUF)
		proto_histogram(e, labels, h);
	else
		text_histogram(e, labels, h);
}

void exposition_end(struct exposition *e)
{
	if (e->format == FORMAT_PROTOBUF)
		proto_end(e);
}

int exposition_finish(struct exposition *e)
{
	if (e->format == FORMAT_OPENMETRICS)
		put(&e->out, "# EOF\n");
	return e->out.error ? e->out.error : e->family.error;
}
