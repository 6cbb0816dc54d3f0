/* base/utf8 — reads bytes from outside as code points; never fails, never reads beyond len. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/*
 * Bytes taken by the first code point of s, at least 1; len > 0. Where the bytes are not UTF-8 (also
 * overlong, a surrogate or beyond U+10FFFF), *out is UTF8_INVALID and the longest start of a valid
 * sequence is taken, as Unicode advises for replacement.
 */
size_t utf8_next(const char *s, size_t len, uint32_t *out);
