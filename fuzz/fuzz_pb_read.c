/* fuzz/fuzz_pb_read — any bytes are read to their end, never beyond, whatever they claim. */
#include <string.h>

#include "fuzz.h"
#include "trace/perfetto/pb_read.h"

/* Every field, and the fields in it as if it were a message; how many bytes they have. */
static void walk(struct pb_in in, int depth)
{
	const uint8_t *at = in.p;
	struct pb_field f;

	while (pb_next(&in, &f)) {
		fuzz_check(in.p > at && in.p <= in.end && f.nr > 0);
		at = in.p;
		if (f.type != PB_BYTES)
			continue;
		fuzz_check(f.bytes >= in.p - f.value && f.bytes + f.value == in.p);
		if (depth < 8)
			walk(pb_in_field(&f), depth + 1);
	}
	fuzz_check(in.p == in.end);
}

/* A varint, byte by byte, as the format has it. */
static int plain_varint(const uint8_t *p, size_t len, uint64_t *out)
{
	unsigned __int128 value = 0;

	for (size_t i = 0; i < len && i < 10; i++) {
		value |= (unsigned __int128)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80) {
			*out = (uint64_t)value;
			return (int)i + 1;
		}
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size && at < 64; at++) {
		struct pb_in in = pb_in_of(data + at, size - at);
		uint64_t want = 0, got = 0;
		int len = plain_varint(data + at, size - at, &want);

		fuzz_check(pb_varint(&in, &got) == (len > 0));
		fuzz_check(len == 0 || (got == want && in.p == data + at + len));
	}
	walk(pb_in_of(data, size), 0);
	return 0;
}
