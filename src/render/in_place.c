#include "render/in_place.h"

#include <string.h>

#define HOME        "\033[H"
#define CLEAR       "\033[2J"
#define ERASE_LINE  "\033[K"
#define ERASE_BELOW "\033[J"

void in_place_print(const char *lines, size_t len, bool is_first, FILE *out)
{
	const char *end = lines + len;

	fputs(is_first ? HOME CLEAR : HOME, out);
	for (const char *line = lines, *next; line; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : NULL;
		fputs(next ? ERASE_LINE : ERASE_BELOW, out);
		fwrite(line, 1, (size_t)((next ? next : end) - line), out);
	}
}
