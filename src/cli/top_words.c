#include "cli/top_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static char *joined(const char *option, const char *value)
{
	static char debug_true[] = "--debug=true", debug_false[] = "--debug=false";
	static char bpf_true[] = "--exclude-bpf=true", bpf_false[] = "--exclude-bpf=false";
	bool is_true = strcmp(value, "true") == 0;

	if (is_one_of(option, "-d", "--debug"))
		return is_true ? debug_true : debug_false;
	if (is_one_of(option, "-e", "--exclude-bpf"))
		return is_true ? bpf_true : bpf_false;
	return NULL;
}

int top_words(int argc, char **argv, char ***out, int *nr)
{
	/* Each value of a list may need an option before it. */
	char **words = calloc(2 * (size_t)argc + 1, sizeof(char *));
	static char events[] = "--perf-events";
	bool is_list = false;
	int n = 0;

	if (!words)
		return -ENOMEM;
	for (int i = 0; i < argc; i++) {
		bool has_value = i + 1 < argc && is_one_of(argv[i + 1], "true", "false");
		char *both = joined(argv[i], has_value ? argv[i + 1] : "true");

		if (both) {
			words[n++] = both;
			i += has_value;
			is_list = false;
			continue;
		}
		if (is_list && argv[i][0] != '-' && strcmp(words[n - 1], events) != 0)
			words[n++] = events;
		else if (argv[i][0] == '-')
			is_list = strcmp(argv[i], events) == 0;
		words[n++] = argv[i];
	}
	*out = words;
	*nr = n;
	return 0;
}
