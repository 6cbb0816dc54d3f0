#include "mcp/toolset.h"

#include <string.h>

const char *const toolset_names[] = { "core", "live", "trace", "profile", "full", NULL };

static const unsigned int toolset_bits[] = { TOOLSET_CORE, TOOLSET_LIVE, TOOLSET_TRACE,
	                                     TOOLSET_PROFILE, TOOLSET_FULL };

bool toolset_add(const char *word, size_t len, unsigned int *bits)
{
	for (size_t i = 0; toolset_names[i]; i++)
		if (strlen(toolset_names[i]) == len && memcmp(toolset_names[i], word, len) == 0) {
			*bits |= toolset_bits[i];
			return true;
		}
	return false;
}

bool toolset_parse(const char *words, unsigned int *bits)
{
	*bits = 0;
	for (;;) {
		size_t len = strcspn(words, ",");

		if (!toolset_add(words, len, bits))
			return false;
		if (!words[len])
			return true;
		words += len + 1;
	}
}
