#include "../unit.h"

#include "enc.h"
#include "trace/perfetto/pb_read.h"

static void varints_of_every_length_are_read_at_every_distance_from_the_end(void **state)
{
	(void)state;
	for (unsigned int bits = 0; bits <= 64; bits++) {
		uint64_t want = bits == 64 ? UINT64_MAX : (1ULL << bits) - (bits % 3 ? 1 : 0);

		for (unsigned int behind = 0; behind < 12; behind++) {
			struct enc e = { 0 };
			struct pb_in in;
			uint64_t got = 0;
			size_t len;

			enc_varint(&e, want);
			len = e.len;
			for (unsigned int i = 0; i < behind; i++)
				enc_raw(&e, "\xff", 1);
			in = pb_in_of(e.buf, e.len);
			assert_true(pb_varint(&in, &got));
			expect_eq(got, want);
			expect_eq(in.p - e.buf, len);
		}
	}
}

static void a_varint_that_does_not_end_is_bad(void **state)
{
	static const uint8_t bytes[16] = { [0 ... 15] = 0x80 };

	(void)state;
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		struct pb_in in = pb_in_of(bytes, len);
		uint64_t value;

		assert_false(pb_varint(&in, &value));
		assert_true(in.is_bad);
		assert_ptr_equal(in.p, in.end);
	}
}

static void fields_of_all_wire_types_are_distinguished(void **state)
{
	struct enc e = { 0 };
	struct pb_field f;
	struct pb_in in;

	(void)state;
	enc_uint(&e, 1, 150);
	enc_text(&e, 2, "text");
	enc_hex(&e, "19 01 02 03 04 05 06 07 08");       /* 3, fixed64 */
	enc_hex(&e, "25 01 02 03 04");                   /* 4, fixed32 */
	enc_hex(&e, "20 fe ff ff ff ff ff ff ff ff 01"); /* 4 = -2, as in appendix A4 */
	in = pb_in_of(e.buf, e.len);

	assert_true(pb_next(&in, &f) && f.nr == 1 && f.type == PB_VARINT && f.value == 150);
	assert_true(pb_next(&in, &f) && f.nr == 2 && f.type == PB_BYTES && f.value == 4);
	assert_memory_equal(f.bytes, "text", 4);
	assert_true(pb_next(&in, &f) && f.nr == 3 && f.type == PB_FIXED64);
	expect_eq(f.value, 0x0807060504030201ULL);
	assert_true(pb_next(&in, &f) && f.nr == 4 && f.type == PB_FIXED32);
	expect_eq(f.value, 0x04030201);
	assert_true(pb_next(&in, &f) && f.nr == 4 && f.type == PB_VARINT);
	assert_int_equal((int64_t)f.value, -2);
	assert_int_equal(pb_to_int32(f.value), -2);
	assert_false(pb_next(&in, &f));
	assert_false(in.is_bad);
}

static void what_is_no_protobuf_ends_the_message(void **state)
{
	/* field 0; group; a length beyond the end; a length beyond all; fixed64 and 32 cut; no value */
	static const char *const bad[] = { "00 01",    "0b",
		                           "0a 05 61", "0a ff ff ff ff ff ff ff ff ff 01",
		                           "09 01 02", "0d 01",
		                           "08",       "f8 ff ff ff 7f 00" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct enc e = { 0 };
		struct pb_field f;
		struct pb_in in;

		enc_hex(&e, bad[i]);
		in = pb_in_of(e.buf, e.len);
		assert_false(pb_next(&in, &f));
		assert_true(in.is_bad);
		assert_false(pb_next(&in, &f));
	}
}

static void doubles_come_out_as_they_went_in(void **state)
{
	(void)state;
	assert_true(pb_to_double(0x4029000000000000ULL) == 12.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_of_every_length_are_read_at_every_distance_from_the_end),
		cmocka_unit_test(a_varint_that_does_not_end_is_bad),
		cmocka_unit_test(fields_of_all_wire_types_are_distinguished),
		cmocka_unit_test(what_is_no_protobuf_ends_the_message),
		cmocka_unit_test(doubles_come_out_as_they_went_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
