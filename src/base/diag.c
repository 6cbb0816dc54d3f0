#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int diag_set(struct diag *d, int code, const char *hint, const char *fmt, ...)
{
	va_list args;

	if (!d || d->code)
		return code;
	d->code = code;
	va_start(args, fmt);
	vsnprintf(d->what, sizeof(d->what), fmt, args);
	va_end(args);
	snprintf(d->hint, sizeof(d->hint), "%s", hint ? hint : "");
	return code;
}

/* These only say that the input was wrong, and "what" already says how. */
static bool is_said(int code)
{
	return code == 0 || code == -EINVAL || code == -ENODATA || code == -EISDIR ||
	       code == -EBADMSG || code == -E2BIG;
}

void diag_format(const struct diag *d, char *buf, unsigned int size)
{
	const char *sep = d->hint[0] ? "; " : "";

	if (!is_said(d->code))
		snprintf(buf, size, "%s: %s%s%s", d->what, strerror(-d->code), sep, d->hint);
	else
		snprintf(buf, size, "%s%s%s", d->what, sep, d->hint);
}
