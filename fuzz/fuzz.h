/*
 * fuzz/fuzz — what every target defines, and how targets read their input.
 *
 * libFuzzer or fuzz/replay.c calls the target. A finding is a crash, a failed fuzz_check() or a report of a
 * sanitizer; fuzz_check() stays in builds without assertions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What is left of an input that is read as numbers; beyond its end there are zeroes. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* always 0 */

#define fuzz_check(condition) ((condition) ? (void)0 : fuzz_found(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_found(const char *what, const char *file, int line);

/* A copy that ends in a NUL, so that sanitizers see a read beyond it; never NULL. */
char *fuzz_text(const uint8_t *data, size_t size);
uint64_t fuzz_take(struct fuzz_input *in, size_t nr_bytes); /* little endian, 8 bytes at most */
