/* mcp/toolset — which tools are meant by the words of a user or client: core, live, trace, profile, full. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * core is what an assistant needs; live, trace and profile hold a tool for each question, with the names that scxtop's server has;
 * full is all of them.
 */
enum toolset {
	TOOLSET_LIVE = 1,
	TOOLSET_TRACE = 2,
	TOOLSET_PROFILE = 4,
	TOOLSET_CORE = 8,
	TOOLSET_FULL = 15,
};

extern const char *const toolset_names[]; /* ended by NULL */

/* Adds the bits of one word, of len bytes; false if it is none. */
bool toolset_add(const char *word, size_t len, unsigned int *bits);
/* Bits of words with commas between them; false if one is none, or there are none. */
bool toolset_parse(const char *words, unsigned int *bits);
