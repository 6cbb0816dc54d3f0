#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define FIRST_READ_BYTES ((size_t)4096)
#define ARRAY_SIZE(a)    (sizeof(a) / sizeof((a)[0]))

int text_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

char *text_u64(char buf[TEXT_U64_BYTES], uint64_t value)
{
	char *at = buf + TEXT_U64_BYTES - 1;

	*at = '\0';
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	return at;
}

static bool parse(const char *s, unsigned int base, uint64_t *out)
{
	uint64_t value = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		int digit = text_digit(*s);

		if (digit < 0 || (unsigned int)digit >= base)
			return false;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*out = value;
	return true;
}

bool text_to_u64(const char *s, uint64_t *out)
{
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return parse(s + 2, 16, out);
	return parse(s, 10, out);
}

bool text_hex_to_u64(const char *s, uint64_t *out)
{
	return parse(s, 16, out);
}

/* Reads until the end, or until *len reaches size. */
static int read_all(int fd, char *buf, size_t size, size_t *len)
{
	while (*len < size) {
		ssize_t n = read(fd, buf + *len, size - *len);

		if (n == 0)
			return 0;
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int text_read_fd(int fd, size_t cap, char **out)
{
	SCOPED(scoped_free) char *buf = NULL;
	size_t size = FIRST_READ_BYTES, len = 0;
	char *bigger;
	int err;

	/*
	 * Files of the kernel have no size, so the length is known only after reading; one byte is
	 * kept for the NUL.
	 */
	for (;;) {
		bigger = realloc(buf, size);
		if (!bigger)
			return -ENOMEM;
		buf = bigger;
		err = read_all(fd, buf, size - 1, &len);
		if (err)
			return err;
		if (len > cap)
			return -EFBIG;
		if (len < size - 1)
			break;
		if (__builtin_mul_overflow(size, 2, &size))
			return -EFBIG;
	}
	buf[len] = '\0';
	*out = TAKE_PTR(buf);
	return 0;
}

int text_read_file_at(int dir_fd, const char *path, size_t cap, char **out)
{
	SCOPED(scoped_close) int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : text_read_fd(fd, cap, out);
}

int text_read_file(const char *path, size_t cap, char **out)
{
	return text_read_file_at(AT_FDCWD, path, cap, out);
}

void text_chomp(char *s)
{
	size_t len = strlen(s);

	while (len > 0 && strchr(" \t\n\v\f\r", s[len - 1]))
		len--;
	s[len] = '\0';
}

struct code_range {
	uint32_t first;
	uint32_t last;
};

static bool is_within(const struct code_range *ranges, size_t nr, uint32_t code)
{
	for (size_t i = 0; i < nr; i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

/* What could move the cursor, ring, or turn the direction of a line around. */
static bool is_control(uint32_t code)
{
	static const struct code_range ranges[] = {
		{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x061c, 0x061c }, { 0x200e, 0x200f },
		{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
	};

	return is_within(ranges, ARRAY_SIZE(ranges), code);
}

char *text_printable(char *dst, size_t size, const char *src, size_t len)
{
	size_t at = 0, taken, given;
	const char *shown;
	uint32_t code;

	if (size == 0)
		return dst;
	len = strnlen(src, len);
	while (len > 0) {
		taken = utf8_next(src, len, &code);
		shown = src;
		given = taken;
		if (code == UTF8_INVALID || is_control(code)) {
			shown = "?";
			given = 1;
		}
		if (given >= size - at)
			break; /* a character fits as a whole or not at all */
		memcpy(dst + at, shown, given);
		at += given;
		src += taken;
		len -= taken;
	}
	dst[at] = '\0';
	return dst;
}

static size_t width_of(uint32_t code)
{
	static const struct code_range empty[] = {
		{ 0x0300, 0x036f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200d },
		{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
	};
	static const struct code_range wide[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
		{ 0xa960, 0xa97c },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};

	if (code < 0x0300 || code == UTF8_INVALID)
		return 1;
	if (is_within(empty, ARRAY_SIZE(empty), code))
		return 0;
	return is_within(wide, ARRAY_SIZE(wide), code) ? 2 : 1;
}

size_t text_width(const char *s)
{
	size_t len = strlen(s), width = 0, taken;
	uint32_t code;

	while (len > 0) {
		taken = utf8_next(s, len, &code);
		width += width_of(code);
		s += taken;
		len -= taken;
	}
	return width;
}

char *text_cut(char *s, size_t width)
{
	size_t len = strlen(s), at = 0, used = 0, taken;
	uint32_t code;

	while (at < len) {
		taken = utf8_next(s + at, len - at, &code);
		used += width_of(code);
		if (used > width) {
			s[at] = '\0';
			break;
		}
		at += taken;
	}
	return s;
}

char *text_rate(char *dst, size_t size, double value)
{
	static const char units[] = "KMGT";
	size_t unit = 0;

	if (!(fabs(value) >= 999.5)) {
		snprintf(dst, size, "%.0f", value);
		return dst;
	}
	/* The limits are where rounding would give 1000 of the smaller unit. */
	for (value /= 1000; fabs(value) >= 999.95 && units[unit + 1]; unit++)
		value /= 1000;
	snprintf(dst, size, "%.1f%c", value, units[unit]);
	return dst;
}

char *text_duration(char *dst, size_t size, uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double value = (double)ns / 1000;
	size_t unit = 0;
	int decimals = 0;

	if (ns < 1000) {
		snprintf(dst, size, "%uns", (unsigned int)ns);
		return dst;
	}
	/* Three digits; the limits are where rounding would make them four. */
	for (; value >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1000;
	if (value < 9.995)
		decimals = 2;
	else if (value < 99.95)
		decimals = 1;
	snprintf(dst, size, "%.*f%s", decimals, value, units[unit]);
	return dst;
}
