#include "tui/background.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS   3
#define MAX_DIGITS 4 /* of a channel */

enum background background_of_environment(const char *colorfgbg)
{
	const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
	char *end;
	long colour;

	if (!last || last[1] < '0' || last[1] > '9')
		return BACKGROUND_UNKNOWN;
	colour = strtol(last + 1, &end, 10);
	if (*end || colour > 15)
		return BACKGROUND_UNKNOWN;
	/* White, and the bright colours but for the bright black, which is a dark grey. */
	return colour == 7 || colour > 8 ? BACKGROUND_LIGHT : BACKGROUND_DARK;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to max digits; of 1, or -1 where there is none. */
static double take_channel(const char **text, int max)
{
	uint32_t value = 0, most = 0;

	for (int i = 0; i < max && digit_of(**text) >= 0; i++, ++*text) {
		value = value * 16 + (uint32_t)digit_of(**text);
		most = most * 16 + 15;
	}
	return most ? (double)value / most : -1;
}

enum background background_of_reply(const char *text)
{
	static const double weights[CHANNELS] = { 0.30, 0.59, 0.11 };
	double light = 0;
	int digits = MAX_DIGITS;

	if (strncmp(text, "11;", 3) != 0)
		return BACKGROUND_UNKNOWN;
	text += 3;
	if (strncmp(text, "rgb:", 4) == 0) {
		text += 4;
	} else if (strncmp(text, "rgba:", 5) == 0) {
		text += 5;
	} else if (*text == '#' && strlen(text + 1) % CHANNELS == 0) {
		digits = (int)(strlen(text + 1) / CHANNELS);
		text++;
	} else {
		return BACKGROUND_UNKNOWN;
	}
	for (int i = 0; i < CHANNELS; i++) {
		double part = take_channel(&text, digits < MAX_DIGITS ? digits : MAX_DIGITS);

		if (part < 0)
			return BACKGROUND_UNKNOWN;
		light += weights[i] * part;
		if (*text == '/')
			text++;
	}
	return light > 0.5 ? BACKGROUND_LIGHT : BACKGROUND_DARK;
}
