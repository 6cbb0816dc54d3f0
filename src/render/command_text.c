#include "render/command_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_value.h"

/* One that a shell takes as it is, and that can be copied from a terminal. */
static bool is_plain(const char *file)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._/+,:@-";

	return *file && *file != '-' && strspn(file, plain) == strlen(file);
}

/* "1.500000s" is as good as "1.5s". */
static void trim(char *moment)
{
	size_t len = strlen(moment) - 1;

	while (len && moment[len - 1] == '0')
		len--;
	len -= len && moment[len - 1] == '.';
	memcpy(moment + len, "s", 2);
}

static void copy_words(const char *words, struct report_clock clock, char buf[COMMAND_TEXT_BYTES])
{
	size_t len = (size_t)snprintf(buf, COMMAND_TEXT_BYTES, "schedscope ");
	char moment[48];

	while (*words && len + sizeof(moment) < COMMAND_TEXT_BYTES) {
		if (*words != '@' || !isdigit((unsigned char)words[1]) || !clock.is_known) {
			buf[len++] = *words++;
			continue;
		}
		report_moment(strtoull(words + 1, NULL, 10), clock.start_ns, moment,
		              sizeof(moment));
		trim(moment);
		len = (size_t)(stpcpy(buf + len, moment) - buf);
		words += 1 + strspn(words + 1, "0123456789");
	}
	buf[len] = '\0';
}

char *command_text(const char *words, const char *file, struct report_clock clock, size_t width,
                   char buf[COMMAND_TEXT_BYTES])
{
	char whole[COMMAND_TEXT_BYTES];
	const char *at;
	int len;

	copy_words(words, clock, buf);
	at = strstr(buf, "FILE");
	if (!at || !is_plain(file))
		return buf;
	len = snprintf(whole, sizeof(whole), "%.*s%s%s", (int)(at - buf), buf, file,
	               at + strlen("FILE"));
	if (len < COMMAND_TEXT_BYTES && (!width || (size_t)len <= width))
		memcpy(buf, whole, (size_t)len + 1);
	return buf;
}
