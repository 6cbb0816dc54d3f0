/* tests/trace/bytes — compares what was encoded with bytes written as hex. */
#pragma once

#include "../unit.h"

#include <stdio.h>
#include <string.h>

#include "base/pb_write.h"

static inline void expect_bytes(const struct pb *w, const char *hex)
{
	uint8_t want[1024];
	unsigned int byte;
	size_t nr = 0;
	int used;

	while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
		want[nr++] = (uint8_t)byte;
		hex += used;
	}
	expect_eq(w->error, 0);
	expect_eq(w->len, nr);
	assert_memory_equal(w->buf, want, nr);
}
