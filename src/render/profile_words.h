/*
 * render/profile_words — the words that describe a profile, the same in every output: what it was
 * made of, amounts, kinds of code, names that are safe to print.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

#define PROFILE_WORDS_BYTES  256
#define PROFILE_AMOUNT_BYTES 48

enum profile_code {
	PROFILE_USER,
	PROFILE_KERNEL,
	PROFILE_BPF,
	PROFILE_JIT,
	PROFILE_INLINED,
	PROFILE_NAMELESS,
	PROFILE_CODES
};

/* "cpu-clock, 4,950 samples at 99 Hz in 5.0 s, 3 lost" */
char *profile_words(const struct profile *p, char buf[static PROFILE_WORDS_BYTES]);
/* 1234567 -> "1,234,567" */
char *profile_digits(uint64_t value, char buf[static PROFILE_AMOUNT_BYTES]);
enum profile_code profile_code_of(const struct profile_frame *frame);
/* Time that one sample represents; 0 where samples are not of a clock. */
uint64_t profile_sample_ns(const struct profile *p);
bool profile_is_time(const struct profile *p); /* values are ns */
/* count of them, at most UINT64_MAX */
uint64_t profile_times(uint64_t count, uint64_t factor);
/* All that was written is in the file, or -EIO. */
int profile_written(FILE *out);
