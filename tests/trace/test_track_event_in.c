#include "../unit.h"

#include <math.h>
#include <string.h>

#include "enc.h"
#include "trace/perfetto/tracks/track_event_in.h"

/* A table of strings: number 1 of field f is "f1", and a few that have a meaning. */
static bool find(const void *ctx, uint32_t field, uint64_t iid, struct track_text *out,
                 uint32_t *id)
{
	static const struct {
		uint32_t field;
		uint64_t iid;
		const char *text;
	} table[] = {
		{ 1, 1, "ONCPU" },     { 2, 1, "comm" },          { 3, 1, "cpu" },
		{ 3, 2, "switch_to" }, { 3, 3, "pmu:cycles" },    { 3, 4, "cpu_insns_kilo" },
		{ 3, 5, "unheard" },   { 29, 1, "swapper/\xff" },
	};

	(void)ctx;
	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].field != field || table[i].iid != iid)
			continue;
		*out = (struct track_text){ table[i].text, strlen(table[i].text) };
		*id = i;
		return true;
	}
	return false;
}

static const struct track_strings strings = { .find = find };

static void enc_double(struct enc *e, uint32_t field, double value)
{
	enc_varint(e, (uint64_t)field * 8 + 1);
	enc_raw(e, &value, sizeof(value));
}

/* An annotation with an interned name; the value has been put into sub. */
static void annotate(struct enc *e, uint64_t name, struct enc *sub)
{
	struct enc annotation = { 0 };

	enc_uint(&annotation, 1, name);
	enc_raw(&annotation, sub->buf, sub->len);
	sub->len = 0;
	enc_msg(e, 4, &annotation);
}

static struct track_event_in read_event(const struct enc *e)
{
	struct track_event_in event;

	memset(&event, 0x5a, sizeof(event));
	track_event_read(&event, pb_in_of(e->buf, e->len), strings);
	return event;
}

static void the_worked_example(void **state)
{
	struct enc e = { 0 };
	struct track_event_in event;

	(void)state;
	/* SLICE_BEGIN on track 1001, name 5, category 1, an int, a double and a flow. */
	enc_hex(&e, "48 01 58 e9 07 50 05 18 01 22 04 08 09 20 02"
	            "22 0b 08 0a 29 00 00 00 00 00 00 29 40 f9 02 34 12 00 00 00 00 00 00");
	event = read_event(&e);

	expect_eq(event.type, 1);
	expect_eq(event.uuid, 1001);
	expect_eq(event.name_iid, 5);
	expect_eq(event.category_iid, 1);
	expect_eq(event.nr_flows, 1);
	expect_eq(event.flows[0], 0x1234);
	assert_false(event.is_bad);
	assert_true(track_text_is(track_event_category_text(&event), "ONCPU"));
	expect_eq(track_category_of(track_event_category_text(&event)), CATEGORY_ONCPU);
}

static void numbers_of_every_type_are_numbers(void **state)
{
	static const uint32_t fields[] = { 2, 3, 4, 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct enc e = { 0 }, sub = { 0 };
		struct track_event_in event;

		enc_uint(&sub, fields[i], 1);
		annotate(&e, 1, &sub);
		event = read_event(&e);
		expect_eq(track_arg_u32(&event, KEY_CPU, 77), 1);
	}
}

static void a_double_may_be_anything(void **state)
{
	static const struct {
		double value;
		bool is_int;
	} values[] = {
		{ 3.0, true }, { -1.0, true }, { 1e300, false }, { NAN, false }, { INFINITY, false }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct enc e = { 0 }, sub = { 0 };
		struct track_event_in event;
		int64_t value = 55;

		enc_double(&sub, 5, values[i].value);
		annotate(&e, 1, &sub);
		event = read_event(&e);
		expect_eq(track_arg_int(&event, KEY_CPU, &value), values[i].is_int);
		expect_eq(track_arg_u32(&event, KEY_CPU, 77), values[i].value == 3.0 ? 3 : 77);
	}
}

static void texts_come_inline_or_by_number(void **state)
{
	struct enc e = { 0 }, sub = { 0 };
	struct track_event_in event;
	struct track_text text;

	(void)state;
	enc_uint(&sub, 17, 1);
	annotate(&e, 2, &sub);
	event = read_event(&e);
	assert_true(track_arg_text(&event, KEY_SWITCH_TO, &text));
	assert_true(track_text_is(text, "swapper/\xff"));
	/* an undefined number, then the text itself */
	e.len = 0;
	enc_uint(&sub, 17, 9);
	annotate(&e, 2, &sub);
	event = read_event(&e);
	assert_false(track_arg_text(&event, KEY_SWITCH_TO, &text));
	e.len = 0;
	enc_text(&sub, 6, "x");
	annotate(&e, 2, &sub);
	event = read_event(&e);
	assert_true(track_arg_text(&event, KEY_SWITCH_TO, &text) && track_text_is(text, "x"));
	assert_false(track_arg_text(&event, KEY_CPU, &text));
}

static void counters_are_kept_by_key(void **state)
{
	struct enc e = { 0 }, sub = { 0 };
	struct track_event_in event;

	(void)state;
	enc_double(&sub, 5, 1234.0);
	annotate(&e, 3, &sub);
	enc_double(&sub, 5, 2.5);
	annotate(&e, 4, &sub);
	enc_uint(&sub, 3, 9);
	annotate(&e, 5, &sub); /* means nothing */
	event = read_event(&e);

	expect_eq(event.nr_counts, 2);
	assert_true(track_text_is(event.counts[0].key, "pmu:cycles") &&
	            event.counts[0].value == 1234.0);
	assert_true(event.counts[1].value == 2500.0);
	expect_eq(event.has_keys, 0);
}

static void more_than_fits_is_left_out(void **state)
{
	struct enc e = { 0 }, sub = { 0 };
	struct track_event_in event;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		enc_double(&sub, 5, i);
		annotate(&e, 3, &sub);
		enc_uint(&e, 36, i);
		enc_uint(&e, 31, i);
		enc_uint(&e, 12, i);
	}
	event = read_event(&e);
	expect_eq(event.nr_counts, TRACK_COUNTS_MAX);
	expect_eq(event.nr_flows, TRACK_FLOWS_MAX);
	expect_eq(event.extra.nr_uuids, TRACK_EXTRAS_MAX);
	expect_eq(event.extra.nr_values, TRACK_EXTRAS_MAX);
}

static void lists_are_packed_or_not(void **state)
{
	static const uint64_t uuids[] = { 5, 6 };
	struct enc e = { 0 };
	struct track_event_in event;

	(void)state;
	enc_packed(&e, 31, uuids, 2);
	enc_uint(&e, 12, 300);
	enc_uint(&e, 12, (uint64_t)-1);
	enc_packed(&e, 3, uuids, 2);
	event = read_event(&e);

	expect_eq(event.extra.uuids[1], 6);
	expect_eq(event.extra.values[0], 300);
	assert_true((int64_t)event.extra.values[1] == -1);
	expect_eq(event.category_iid, 5);
}

static void absolute_time_beats_a_step(void **state)
{
	struct enc e = { 0 };
	struct track_event_in event;

	(void)state;
	enc_uint(&e, 16, 700);
	enc_uint(&e, 1, 3);
	event = read_event(&e);
	assert_true(event.has_absolute_us && !event.has_delta_us);
	expect_eq(event.time_us, 700);
}

static void cut_anywhere_it_is_bad_or_shorter(void **state)
{
	struct enc e = { 0 }, sub = { 0 };
	struct track_event_in event;

	(void)state;
	enc_text(&sub, 6, "some text");
	annotate(&e, 2, &sub);
	enc_uint(&e, 11, 1ULL << 40);
	enc_text(&e, 23, "name");
	for (size_t len = 0; len <= e.len; len++) {
		/* A copy of its own, so that a sanitizer sees a read beyond it. */
		uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, e.buf, len);
		track_event_read(&event, pb_in_of(copy, len), strings);
		if (len == e.len)
			assert_true(!event.is_bad && track_text_is(event.name, "name"));
		track_event_head(&event, pb_in_of(copy, len));
		expect_eq(event.has_keys, 0);
		free(copy);
	}
}

static void every_key_is_found_by_its_text(void **state)
{
	static const char *const texts[] = {
#define X(name, text) text,
		TRACK_KEYS(X)
#undef X
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_eq(track_key_of((struct track_text){ texts[i], strlen(texts[i]) }), i + 1);
	expect_eq(track_key_of((struct track_text){ "cp", 2 }), KEY_OTHER);
	expect_eq(track_key_of((struct track_text){ 0 }), KEY_OTHER);
	assert_true(KEY_MAX <= KEY_PMU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(numbers_of_every_type_are_numbers),
		cmocka_unit_test(a_double_may_be_anything),
		cmocka_unit_test(texts_come_inline_or_by_number),
		cmocka_unit_test(counters_are_kept_by_key),
		cmocka_unit_test(more_than_fits_is_left_out),
		cmocka_unit_test(lists_are_packed_or_not),
		cmocka_unit_test(absolute_time_beats_a_step),
		cmocka_unit_test(cut_anywhere_it_is_bad_or_shorter),
		cmocka_unit_test(every_key_is_found_by_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
