/*
 * machine/machine_log — what happened while a machine was shown, for people: the newest lines.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

#define MACHINE_LOG_LINES 64U
#define MACHINE_LOG_LEN   256U

struct machine_log {
	char text[MACHINE_LOG_LINES][MACHINE_LOG_LEN];
	const char *lines[MACHINE_LOG_LINES]; /* the newest last */
	size_t nr;
};

void machine_log_add(struct machine_log *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
