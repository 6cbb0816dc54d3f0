#include "machine/machine_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void machine_log_add(struct machine_log *l, const char *fmt, ...)
{
	va_list args;

	if (l->nr == MACHINE_LOG_LINES) {
		memmove(l->text, l->text + 1, sizeof(l->text) - MACHINE_LOG_LEN);
		l->nr--;
	}
	va_start(args, fmt);
	vsnprintf(l->text[l->nr], MACHINE_LOG_LEN, fmt, args);
	va_end(args);
	l->lines[l->nr] = l->text[l->nr];
	l->nr++;
}
