#include "render/wrap.h"

#include <string.h>

#include "base/text.h"

#define WORD_BYTES 1024

size_t wrap_print(FILE *out, const char *title, const char *text, size_t width)
{
	size_t indent = text_width(title), used = indent, lines = 1;
	char word[WORD_BYTES];

	fputs(title, out);
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t bytes = strcspn(text, " "), columns;

		snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
		columns = text_width(word);
		text += bytes;
		if (used > indent && width && used + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			used = indent;
			lines++;
		}
		fprintf(out, "%s%s", used > indent ? " " : "", word);
		used += (used > indent) + columns;
	}
	fputc('\n', out);
	return lines;
}

const char *wrap_on(enum wrap_weight weight, bool is_colored)
{
	static const char *const codes[WRAP_WEIGHTS] = {
		[WRAP_PLAIN] = "",
		[WRAP_ANSWER] = "\033[1m",
		[WRAP_ASIDE] = "\033[2m",
		[WRAP_COMMAND] = "\033[36m",
	};

	return is_colored ? codes[weight] : "";
}

const char *wrap_off(bool is_colored)
{
	return is_colored ? "\033[0m" : "";
}
