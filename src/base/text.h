/*
 * base/text — small files, numbers and names that come from outside.
 *
 * Names from the system are untrusted: each must pass text_printable() before it reaches a
 * terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

/* -1 for what is not a digit of any base up to 16; independent of the locale. */
int text_digit(char c);
/* Whole strings only: trailing junk, a sign or an empty string is false, and *out stays untouched. */
MUST_USE bool text_to_u64(const char *s, uint64_t *out);     /* decimal, or hex after 0x */
MUST_USE bool text_hex_to_u64(const char *s, uint64_t *out); /* hex without prefix */

#define TEXT_U64_BYTES 21
/* Its decimal digits, somewhere in buf, for documents that have very many numbers. */
char *text_u64(char buf[TEXT_U64_BYTES], uint64_t value);

/* Reads a file of at most cap bytes into a new string; 0 or -errno (-EFBIG beyond cap). */
MUST_USE int text_read_file(const char *path, size_t cap, char **out);
/* The same relative to a directory descriptor. */
MUST_USE int text_read_file_at(int dir_fd, const char *path, size_t cap, char **out);
/* The same for an open file, from its current offset. */
MUST_USE int text_read_fd(int fd, size_t cap, char **out);
void text_chomp(char *s); /* cuts trailing white space */

/*
 * Copies len bytes at most up to a NUL; controls (also those that turn the direction of text) and
 * invalid UTF-8 become '?'. What does not fit is cut between characters. Returns dst.
 */
char *text_printable(char *dst, size_t size, const char *src, size_t len);
/* Columns that a printable UTF-8 string takes on a terminal; coarse, the same in every locale. */
size_t text_width(const char *s);
/* Cuts a printable string in place so that it takes at most so many columns. Returns it. */
char *text_cut(char *s, size_t width);

/* 1234 -> "1.2K"; below 1000 the integer; K, M, G, T with one decimal. */
char *text_rate(char *dst, size_t size, double value);
/* Durations for people: "850ns", "12.3us", "4.56ms", "1.23s". */
char *text_duration(char *dst, size_t size, uint64_t ns);
