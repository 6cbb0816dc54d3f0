/*
 * base/diag — what failed and what to do about it, in the user's words.
 *
 * Libraries fill a diag and never print; each front end shows it once. The first, innermost cause
 * is kept. A diag may be NULL where the caller does not care.
 */
#pragma once

#include "base/attr.h"

struct diag {
	int code;       /* negative errno; 0 while nothing failed */
	char what[256]; /* what failed, in the user's words */
	char hint[256]; /* what to do about it; may be empty */
};

/* Keeps the first cause; returns code, so callers write: return diag_set(...). */
int diag_set(struct diag *d, int code, const char *hint, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* "what: strerror; hint" as one line into buf; always terminated. */
void diag_format(const struct diag *d, char *buf, unsigned int size);
