/* Every prompt, in the order of the list. */
#include "mcp/prompt.h"

const struct prompt *const prompts[] = {
	NULL,
};

const size_t nr_prompts = 0;
