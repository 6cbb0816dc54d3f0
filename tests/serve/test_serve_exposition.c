/* Pages in all three formats, from sums that are made up. Protobuf is read by a decoder of its own, written for this test. */
#include "serve/exposition.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/metrics_page.h"

#define PAGE_CAP ((size_t)4 << 20)

static const struct page_facts no_facts = { .version = "1", .kernel = "k", .machine = "m" };

/* A page of the sums; to be freed. */
static char *page_of(const struct sums *s, enum metrics_format format, bool is_all, size_t *len)
{
	struct page_facts facts = no_facts;
	struct bounds bounds, few;
	struct exposition e;
	char *text;

	bounds_init(&bounds, is_all);
	bounds_init(&few, false);
	facts.bounds = &bounds;
	facts.cgroup_bounds = &few;
	facts.clock_to_unix_s = 1e9;
	exposition_init(&e, format, PAGE_CAP);
	assert_int_equal(metrics_page_write(s, &facts, &e), 0);
	text = malloc(e.out.len + 1);
	memcpy(text, e.out.buf, e.out.len);
	text[e.out.len] = '\0';
	if (len)
		*len = e.out.len;
	exposition_done(&e);
	return text;
}

/* A thousand waits, of which the longest is that of a task with a hostile name. */
static struct sums *make_sums(void)
{
	const struct sums_peak peak = {
		.ns = 999500, .at_ns = 5000000000, .tid = 4711, .cpu = 3, .comm = "a\"b\\c\nd\xff"
	};
	struct sums *s = NULL;

	assert_int_equal(sums_new(3, &s), 0);
	s->groups = STAT_GROUP_LATENCY;
	for (uint64_t i = 0; i < 1000; i++)
		hist_add(&s->dists[DIST_DELAY_WOKEN].hist, i * 1000 + 500, i, 0);
	sums_peak(s, DIST_DELAY_WOKEN, &peak);
	seats_note(s->cgroups, seats_find(s->cgroups, "/x \"y\" \\z"), 1, 1);
	seats_choose(s->cgroups, 1);
	return s;
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
	return false;
}

static void numbers_are_short_and_exact(void **state)
{
	char out[METRIC_NUMBER_LEN];

	(void)state;
	assert_string_equal(metric_number(out, 1e-6), "1e-06");
	assert_string_equal(metric_number(out, 0.000512), "0.000512");
	assert_string_equal(metric_number(out, 6.2e-5), "6.2e-05");
	assert_string_equal(metric_number(out, 33.554432), "33.554432");
	assert_string_equal(metric_number(out, 10), "10.0");
	assert_string_equal(metric_number(out, 0), "0.0");
	assert_string_equal(metric_number(out, (double)INFINITY), "+Inf");
	srand(1);
	for (int i = 0; i < 10000; i++) {
		double value = (double)rand() * (double)rand() / 1e9;

		assert_true(strtod(metric_number(out, value), NULL) == value);
	}
}

/* Every bound is the end of a slot, or a bucket would hold a part of one. */
static void bounds_lie_at_the_ends_of_slots(void **state)
{
	struct bounds b;

	(void)state;
	for (int is_all = 0; is_all < 2; is_all++) {
		bounds_init(&b, is_all);
		assert_int_equal(b.nr, is_all ? HIST_SLOTS - 1 : 26);
		for (uint32_t i = 0; i < b.nr; i++) {
			uint64_t ns = (uint64_t)llround(b.le[i] * 1e9);

			assert_int_equal(hist_slot(ns), b.end[i]);
			assert_int_equal(hist_slot(ns - 1), b.end[i] - 1);
			assert_true(!i || b.le[i] > b.le[i - 1]);
		}
	}
}

static void the_classic_text_has_no_exemplars(void **state)
{
	SCOPED(scoped_sums) struct sums *s = make_sums();
	SCOPED(scoped_free) char *text = page_of(s, FORMAT_TEXT, false, NULL);

	(void)state;
	assert_true(has_line(text, "# TYPE schedscope_sched_delay_seconds histogram"));
	assert_true(has_line(text, "# TYPE schedscope_reloads_total counter"));
	assert_true(has_line(
		text, "schedscope_sched_delay_seconds_bucket{cause=\"woken\",le=\"1e-06\"} 1"));
	assert_true(has_line(
		text,
		"schedscope_sched_delay_seconds_bucket{cause=\"woken\",le=\"0.000512\"} 512"));
	assert_true(has_line(
		text, "schedscope_sched_delay_seconds_bucket{cause=\"woken\",le=\"+Inf\"} 1000"));
	assert_true(has_line(text, "schedscope_sched_delay_seconds_sum{cause=\"woken\"} 0.5"));
	assert_true(has_line(text, "schedscope_cgroups_seen 1.0"));
	assert_non_null(strstr(text, "{cgroup=\"/x \\\"y\\\" \\\\z\",le="));
	assert_null(strstr(text, " # {"));
	assert_null(strstr(text, "# EOF"));
	assert_null(strstr(text, "schedscope_slice_seconds")); /* not asked for: not 0 */
}

static void openmetrics_has_an_exemplar_on_the_bucket_of_the_maximum(void **state)
{
	SCOPED(scoped_sums) struct sums *s = make_sums();
	SCOPED(scoped_free) char *text = page_of(s, FORMAT_OPENMETRICS, false, NULL);
	const char *mark = strstr(text, " # {");

	(void)state;
	assert_true(has_line(text, "# TYPE schedscope_reloads counter"));
	assert_true(has_line(text, "schedscope_reloads_total 0.0"));
	assert_true(has_line(text, "# TYPE schedscope_build info"));
	assert_true(has_line(text, "# UNIT schedscope_sched_delay_seconds seconds"));
	assert_true(has_line(
		text,
		"schedscope_sched_delay_seconds_bucket{cause=\"woken\",le=\"0.001024\"} 1000 "
		"# {comm=\"a\\\"b\\\\c?d?\",tid=\"4711\",cpu=\"3\"} 0.0009995 1000000005.000"));
	assert_non_null(mark);
	assert_null(strstr(mark + 1, " # {"));
	assert_true(strcspn(mark, "}") < EXEMPLAR_CHARS_MAX);
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
}

/* All labels at their longest are still what OpenMetrics allows. */
static void an_exemplar_names_its_dump(void **state)
{
	struct exemplar x = { .value = 0.5, .unix_s = 1, .tid = UINT32_MAX, .cpu = UINT32_MAX };
	static const double le[] = { 1 };
	static const uint64_t cum[] = { 1 };
	const struct metric_histogram h = {
		.nr = 1, .le = le, .cum = cum, .count = 1, .exemplar = &x
	};
	struct exposition e;
	size_t chars = 0;
	bool is_value = false;

	(void)state;
	memset(x.comm, 'c', STAT_COMM_LEN - 1);
	memset(x.dump, 'd', EXEMPLAR_DUMP_LEN - 1);
	exposition_init(&e, FORMAT_OPENMETRICS, PAGE_CAP);
	exposition_begin(&e, &metrics[METRIC_CPU_IDLE]);
	exposition_histogram(&e, &(struct metric_labels){ 0 }, &h);
	pb_raw(&e.out, "", 1);
	assert_null(e.out.error ? "error" : NULL);
	for (const char *p = strstr((const char *)e.out.buf, " # {") + 4; *p != '}'; p++) {
		is_value ^= *p == '"';
		chars += *p != '"' && *p != '=' && (is_value || *p != ',');
	}
	assert_non_null(strstr((const char *)e.out.buf, ",dump=\"ddd"));
	assert_true(chars <= EXEMPLAR_CHARS_MAX && chars > 120);
	exposition_done(&e);
}

/* A decoder of protobuf that knows nothing of the encoder. */
struct field {
	uint32_t nr;
	uint64_t number; /* of a varint or of 64 bits */
	const uint8_t *bytes;
	size_t len;
};

struct reader {
	const uint8_t *at, *end;
};

static uint64_t varint(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(r->at < r->end && shift < 64);
		value |= (uint64_t)(*r->at & 127) << shift;
		if (!(*r->at++ & 128))
			return value;
	}
}

static bool next(struct reader *r, struct field *f)
{
	uint64_t tag;

	if (r->at == r->end)
		return false;
	tag = varint(r);
	f->nr = (uint32_t)(tag >> 3);
	switch (tag & 7) {
	case 0:
		f->number = varint(r);
		return true;
	case 1:
		assert_true(r->end - r->at >= 8);
		f->number = 0;
		for (int i = 0; i < 8; i++)
			f->number |= (uint64_t)r->at[i] << (8 * i);
		r->at += 8;
		return true;
	case 2:
		f->len = varint(r);
		assert_true((size_t)(r->end - r->at) >= f->len);
		f->bytes = r->at;
		r->at += f->len;
		return true;
	default:
		fail_msg("an unknown type of field");
		return false;
	}
}

static struct reader within(const struct field *f)
{
	return (struct reader){ f->bytes, f->bytes + f->len };
}

static double as_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* What was read of one histogram. */
struct decoded {
	uint64_t count, zero;
	double sum, threshold;
	int64_t schema;
	uint32_t nr_buckets, nr_exemplars, nr_native;
	double le[HIST_SLOTS + 1];
	uint64_t cum[HIST_SLOTS + 1];
	int64_t index[512];
	int64_t native[512];
};

static void read_bucket(struct reader r, struct decoded *out)
{
	struct field f;

	while (next(&r, &f)) {
		if (f.nr == 1)
			out->cum[out->nr_buckets] = f.number;
		else if (f.nr == 2)
			out->le[out->nr_buckets] = as_double(f.number);
		else
			out->nr_exemplars++;
	}
	out->nr_buckets++;
}

static void read_span(struct reader r, struct decoded *out, uint32_t *nr, int64_t *index)
{
	struct field f;
	uint64_t len = 0;

	while (next(&r, &f)) {
		if (f.nr == 1)
			*index += unzigzag(f.number);
		else
			len = f.number;
	}
	for (; len; len--)
		out->index[(*nr)++] = (*index)++;
}

static void read_histogram(struct reader r, struct decoded *out)
{
	int64_t value = 0, index = 0;
	uint32_t nr_spanned = 0;
	struct field f;

	*out = (struct decoded){ 0 };
	while (next(&r, &f)) {
		switch (f.nr) {
		case 1:
			out->count = f.number;
			break;
		case 2:
			out->sum = as_double(f.number);
			break;
		case 3:
			read_bucket(within(&f), out);
			break;
		case 5:
			out->schema = unzigzag(f.number);
			break;
		case 6:
			out->threshold = as_double(f.number);
			break;
		case 7:
			out->zero = f.number;
			break;
		case 12:
			read_span(within(&f), out, &nr_spanned, &index);
			break;
		case 13:
			value += unzigzag(f.number);
			out->native[out->nr_native++] = value;
			break;
		default:
			fail_msg("field %u of a histogram", f.nr);
		}
	}
	assert_int_equal(nr_spanned, out->nr_native);
}

/* The first histogram of a family. */
static bool find_histogram(const char *page, size_t len, const char *family, struct decoded *out)
{
	struct reader r = { (const uint8_t *)page, (const uint8_t *)page + len };

	while (r.at < r.end) {
		uint64_t size = varint(&r);
		struct reader message = { r.at, r.at + size };
		bool is_it = false;
		struct field f, g;

		assert_true(size <= (uint64_t)(r.end - r.at));
		r.at += size;
		while (next(&message, &f)) {
			if (f.nr == 1)
				is_it = f.len == strlen(family) &&
				        memcmp(f.bytes, family, f.len) == 0;
			if (f.nr != 4 || !is_it)
				continue;
			message = within(&f);
			while (next(&message, &g))
				if (g.nr == 7) {
					read_histogram(within(&g), out);
					return true;
				}
		}
	}
	return false;
}

static void protobuf_says_the_same_and_has_native_histograms(void **state)
{
	SCOPED(scoped_sums) struct sums *s = make_sums();
	struct decoded h;
	size_t len;
	SCOPED(scoped_free) char *page = page_of(s, FORMAT_PROTOBUF, false, &len);
	uint64_t sum;

	(void)state;
	assert_true(find_histogram(page, len, "schedscope_sched_delay_seconds", &h));
	assert_int_equal(h.count, 1000);
	assert_true(fabs(h.sum - 0.5) < 1e-12);
	assert_int_equal(h.nr_buckets, 27);
	assert_true(isinf(h.le[26]) && h.cum[26] == 1000);
	assert_true(h.le[9] == 0.000512 && h.cum[9] == 512);
	assert_int_equal(h.nr_exemplars, 1);
	assert_int_equal(h.schema, 3);
	assert_true(h.threshold == 1e-6);
	assert_int_equal(h.zero, 1);
	sum = h.zero;
	for (uint32_t i = 0; i < h.nr_native; i++) {
		assert_true(h.native[i] > 0);
		sum += (uint64_t)h.native[i];
	}
	assert_int_equal(sum, h.count);
}

/* Where a native histogram puts a percentile, against the exact one: a slot and a bucket apart at most. */
static void native_buckets_are_a_slot_from_the_truth(void **state)
{
	struct native_buckets n;
	struct hist h = { 0 };

	(void)state;
	srand(3);
	for (int i = 0; i < 20000; i++)
		hist_add(&h, (uint64_t)exp((double)rand() / RAND_MAX * 16 + 7), 0, 0);
	native_buckets(&h, &n);
	for (uint32_t p = 100; p < 10000; p += 100) {
		uint64_t rank = percentile_rank(h.count, p), sum = n.zero;
		double exact = (double)hist_percentile_ns(&h, p), upper;
		uint32_t i = 0;

		while (sum < rank && i < n.nr)
			sum += n.count[i++];
		upper = exp2((n.first + (double)i - 1) / 8) * 1e9;
		if (exact > 2000) /* below, slots are as wide as their values */
			assert_true(upper / exact > 0.8 && upper / exact < 1.4);
	}
}

static void an_empty_machine_has_a_page(void **state)
{
	SCOPED(scoped_sums) struct sums *s = NULL;
	size_t len;

	(void)state;
	assert_int_equal(sums_new(0, &s), 0);
	for (int f = 0; f < FORMATS; f++) {
		SCOPED(scoped_free) char *page = page_of(s, (enum metrics_format)f, true, &len);

		assert_non_null(page);
		assert_true(len > 100);
	}
}

static void a_page_that_is_too_large_is_an_error(void **state)
{
	SCOPED(scoped_sums) struct sums *s = make_sums();
	struct page_facts facts = no_facts;
	struct exposition e;
	struct bounds b;

	(void)state;
	bounds_init(&b, true);
	facts.bounds = facts.cgroup_bounds = &b;
	for (int f = 0; f < FORMATS; f++) {
		exposition_init(&e, (enum metrics_format)f, 1000);
		assert_true(metrics_page_write(s, &facts, &e) < 0);
		exposition_done(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_short_and_exact),
		cmocka_unit_test(bounds_lie_at_the_ends_of_slots),
		cmocka_unit_test(the_classic_text_has_no_exemplars),
		cmocka_unit_test(openmetrics_has_an_exemplar_on_the_bucket_of_the_maximum),
		cmocka_unit_test(an_exemplar_names_its_dump),
		cmocka_unit_test(protobuf_says_the_same_and_has_native_histograms),
		cmocka_unit_test(native_buckets_are_a_slot_from_the_truth),
		cmocka_unit_test(an_empty_machine_has_a_page),
		cmocka_unit_test(a_page_that_is_too_large_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
