#include "tui/format.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define NS_PER_S        1e9
#define SECONDS_AN_HOUR 3600.0

static char *unknown(char *out)
{
	memcpy(out, "-", 2);
	return out;
}

/* Three digits and a unit; the limits are where rounding would make them four. */
static char *with_unit(char *out, double value, double step, const char *units)
{
	int decimals = 0;

	while (value >= 999.5 && units[1]) {
		value /= step;
		units++;
	}
	if (value < 9.995)
		decimals = 2;
	else if (value < 99.95)
		decimals = 1;
	snprintf(out, FORMAT_BYTES, "%.*f%c", decimals, value, *units);
	return out;
}

char *format_ns(char out[FORMAT_BYTES], double ns)
{
	if (!(ns >= 0))
		return unknown(out);
	/* Beyond 9999 seconds. */
	if (ns >= 9999.5 * NS_PER_S) {
		double hours = ns / NS_PER_S / SECONDS_AN_HOUR;

		if (hours < 9999.5)
			snprintf(out, FORMAT_BYTES, "%.*fh", hours < 99.95 ? 1 : 0, hours);
		else
			snprintf(out, FORMAT_BYTES, "long");
		return out;
	}
	return text_duration(out, FORMAT_BYTES, (uint64_t)(ns + 0.5));
}

static char *separated(char *out, double value)
{
	const char *mark = localeconv()->thousands_sep;
	char digits[16];
	size_t nr, used = 0;

	if (!mark || !mark[0] || strlen(mark) > 4)
		mark = ",";
	nr = (size_t)snprintf(digits, sizeof(digits), "%.0f", value);
	for (size_t i = 0; i < nr && used + 6 < FORMAT_BYTES; i++) {
		if (i && (nr - i) % 3 == 0) {
			memcpy(out + used, mark, strlen(mark));
			used += strlen(mark);
		}
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

char *format_count(char out[FORMAT_BYTES], double value, bool is_localized)
{
	if (!(value >= 0))
		return unknown(out);
	if (value < 9.95 && value != floor(value)) {
		snprintf(out, FORMAT_BYTES, "%.1f", value);
		return out;
	}
	if (is_localized && value < 9999999.5)
		return separated(out, value);
	if (value < 99999.5) {
		snprintf(out, FORMAT_BYTES, "%.0f", value);
		return out;
	}
	if (value >= 999.5e15)
		return memcpy(out, "many", 5);
	return with_unit(out, value / 1000, 1000, "kMGTP");
}

char *format_bytes(char out[FORMAT_BYTES], double bytes)
{
	if (!(bytes >= 0))
		return unknown(out);
	if (bytes < 999.5) {
		snprintf(out, FORMAT_BYTES, "%.0fB", bytes);
		return out;
	}
	return with_unit(out, bytes / 1024, 1024, "KMGTPE");
}

char *format_kib(char out[FORMAT_BYTES], uint64_t kib)
{
	return format_bytes(out, (double)kib * 1024);
}

char *format_percent(char out[FORMAT_BYTES], double part)
{
	double percent = part * 100;

	if (!(percent >= 0))
		return unknown(out);
	if (percent < 999.95)
		snprintf(out, FORMAT_BYTES, "%.1f", percent);
	else if (percent < 999999.5)
		snprintf(out, FORMAT_BYTES, "%.0f", percent);
	else
		snprintf(out, FORMAT_BYTES, "many");
	return out;
}

char *format_mhz(char out[FORMAT_BYTES], double mhz)
{
	/* Nothing has thousands of GHz. */
	if (!(mhz >= 0) || mhz > 999000)
		return unknown(out);
	if (mhz < 999.5)
		snprintf(out, FORMAT_BYTES, "%.0fM", mhz);
	else
		with_unit(out, mhz / 1000, 1000, "G");
	return out;
}

char *format_watts(char out[FORMAT_BYTES], double watts)
{
	/* Nothing takes more, and what does is a mistake. */
	if (!(watts >= 0) || watts >= 9999.5)
		return unknown(out);
	snprintf(out, FORMAT_BYTES, "%.*fW", watts < 9.995 ? 2 : watts < 99.95 ? 1 : 0, watts);
	return out;
}

char *format_celsius(char out[FORMAT_BYTES], double celsius)
{
	/* Implausible temperatures are ignored. */
	if (!(celsius >= -273.15) || celsius >= 999.5)
		return unknown(out);
	snprintf(out, FORMAT_BYTES, "%.0f\u00b0", celsius + 0.0);
	return out;
}
