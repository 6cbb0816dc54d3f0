#include "base/pb_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define FIRST_BYTES 512U

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void pb_done(struct pb *w)
{
	free(w->buf);
	*w = (struct pb){ .cap = w->cap };
}

void pb_clear(struct pb *w)
{
	pb_cut(w, 0);
}

void pb_cut(struct pb *w, size_t len)
{
	if (len < w->len)
		w->len = len;
	w->error = 0;
}

static bool fail(struct pb *w, int error)
{
	if (!w->error)
		w->error = error;
	return false;
}

static bool grow(struct pb *w, size_t need)
{
	size_t size = w->size ? w->size : FIRST_BYTES;
	uint8_t *buf;

	if (need > w->cap)
		return fail(w, -E2BIG);
	while (size < need)
		size *= 2;
	if (size > w->cap)
		size = w->cap;
	buf = realloc(w->buf, size);
	if (!buf)
		return fail(w, -ENOMEM);
	w->buf = buf;
	w->size = size;
	return true;
}

bool pb_reserve(struct pb *w, size_t nr_bytes)
{
	if (w->error)
		return false;
	if (nr_bytes <= w->size - w->len)
		return true;
	if (nr_bytes > w->cap)
		return fail(w, -E2BIG);
	return grow(w, w->len + nr_bytes);
}

uint32_t pb_varint_size(uint64_t value)
{
	uint32_t bits = 64U - (uint32_t)__builtin_clzll(value | 1);

	return (bits + 6) / 7;
}

uint8_t *pb_put_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

static uint8_t *put_tag(uint8_t *p, uint32_t field, uint32_t wire)
{
	return pb_put_varint(p, (uint64_t)field << 3 | wire);
}

void pb_uint(struct pb *w, uint32_t field, uint64_t value)
{
	uint8_t *p;

	if (!pb_reserve(w, 2 * PB_VARINT_MAX))
		return;
	p = put_tag(w->buf + w->len, field, WIRE_VARINT);
	w->len = (size_t)(pb_put_varint(p, value) - w->buf);
}

void pb_int(struct pb *w, uint32_t field, int64_t value)
{
	pb_uint(w, field, (uint64_t)value);
}

void pb_bool(struct pb *w, uint32_t field, bool value)
{
	pb_uint(w, field, value);
}

void pb_fixed64(struct pb *w, uint32_t field, uint64_t value)
{
	uint8_t *p;

	if (!pb_reserve(w, PB_VARINT_MAX + 8))
		return;
	p = put_tag(w->buf + w->len, field, WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		*p++ = (uint8_t)(value >> (8 * i));
	w->len = (size_t)(p - w->buf);
}

void pb_double(struct pb *w, uint32_t field, double value)
{
	uint64_t bits;

	_Static_assert(sizeof(bits) == sizeof(value), "a double is 8 bytes");
	memcpy(&bits, &value, sizeof(bits));
	pb_fixed64(w, field, bits);
}

void pb_raw(struct pb *w, const void *bytes, size_t len)
{
	if (len == 0 || !pb_reserve(w, len))
		return;
	memcpy(w->buf + w->len, bytes, len);
	w->len += len;
}

void pb_bytes(struct pb *w, uint32_t field, const void *bytes, size_t len)
{
	uint8_t *p;

	if (len > w->cap) {
		fail(w, -E2BIG);
		return;
	}
	if (!pb_reserve(w, 2 * PB_VARINT_MAX + len))
		return;
	p = pb_put_varint(put_tag(w->buf + w->len, field, WIRE_BYTES), len);
	w->len = (size_t)(p - w->buf);
	pb_raw(w, bytes, len);
}

static bool is_ascii(const char *text, size_t len)
{
	unsigned char all = 0;

	for (size_t i = 0; i < len; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

void pb_text(struct pb *w, uint32_t field, const char *text, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd";
	struct pb_mark mark;
	uint32_t code;
	size_t n;

	len = strnlen(text, len);
	if (is_ascii(text, len)) {
		pb_bytes(w, field, text, len);
		return;
	}
	mark = pb_begin(w, field);
	for (; len > 0; text += n, len -= n) {
		n = utf8_next(text, len, &code);
		if (code == UTF8_INVALID)
			pb_raw(w, replacement, sizeof(replacement) - 1);
		else
			pb_raw(w, text, n);
	}
	pb_end(w, mark);
}

void pb_string(struct pb *w, uint32_t field, const char *text)
{
	if (text)
		pb_text(w, field, text, strlen(text));
}

static struct pb_mark begin(struct pb *w, uint32_t field, uint32_t width)
{
	if (pb_reserve(w, 2 * PB_VARINT_MAX))
		w->len = (size_t)(put_tag(w->buf + w->len, field, WIRE_BYTES) - w->buf) + width;
	return (struct pb_mark){ .start = w->len, .width = width };
}

struct pb_mark pb_begin(struct pb *w, uint32_t field)
{
	return begin(w, field, 1);
}

struct pb_mark pb_begin_large(struct pb *w, uint32_t field)
{
	return begin(w, field, 2);
}

void pb_end(struct pb *w, struct pb_mark mark)
{
	size_t len = w->len - mark.start;
	uint32_t width = pb_varint_size(len);
	uint8_t *at;

	if (!pb_reserve(w, PB_VARINT_MAX))
		return;
	at = w->buf + mark.start - mark.width;
	if (width != mark.width)
		memmove(at + width, at + mark.width, len);
	pb_put_varint(at, len);
	w->len = mark.start - mark.width + width + len;
}
