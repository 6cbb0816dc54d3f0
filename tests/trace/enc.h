/* tests/trace/enc — protobuf by hand for fixtures; shares nothing with src/trace. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ENC_BYTES 65536

struct enc {
	size_t len;
	uint8_t buf[ENC_BYTES];
};

static inline void enc_raw(struct enc *e, const void *bytes, size_t len)
{
	if (len > sizeof(e->buf) - e->len)
		abort();
	memcpy(e->buf + e->len, bytes, len);
	e->len += len;
}

static inline void enc_varint(struct enc *e, uint64_t value)
{
	uint8_t byte;

	for (; value > 127; value /= 128) {
		byte = (uint8_t)(value % 128 + 128);
		enc_raw(e, &byte, 1);
	}
	byte = (uint8_t)value;
	enc_raw(e, &byte, 1);
}

static inline void enc_uint(struct enc *e, uint32_t field, uint64_t value)
{
	enc_varint(e, (uint64_t)field * 8);
	enc_varint(e, value);
}

static inline void enc_bytes(struct enc *e, uint32_t field, const void *bytes, size_t len)
{
	enc_varint(e, (uint64_t)field * 8 + 2);
	enc_varint(e, len);
	enc_raw(e, bytes, len);
}

static inline void enc_text(struct enc *e, uint32_t field, const char *text)
{
	enc_bytes(e, field, text, strlen(text));
}

/* The message in sub, which is empty again afterwards. */
static inline void enc_msg(struct enc *e, uint32_t field, struct enc *sub)
{
	enc_bytes(e, field, sub->buf, sub->len);
	sub->len = 0;
}

/* Packed varints. */
static inline void enc_packed(struct enc *e, uint32_t field, const uint64_t *values, size_t nr)
{
	static struct enc sub;

	sub.len = 0;
	for (size_t i = 0; i < nr; i++)
		enc_varint(&sub, values[i]);
	enc_msg(e, field, &sub);
}

/* Bytes from hex digits and spaces. */
static inline void enc_hex(struct enc *e, const char *hex)
{
	char pair[3] = { 0 };
	uint8_t byte;

	for (; *hex; hex++) {
		if (*hex == ' ' || *hex == '\n')
			continue;
		pair[0] = hex[0];
		pair[1] = hex[1];
		byte = (uint8_t)strtoul(pair, NULL, 16);
		enc_raw(e, &byte, 1);
		hex++;
	}
}
