/* base/markup — what may not stand in HTML or XML as it is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MARKUP_UNKNOWN "\xef\xbf\xbd" /* U+FFFD */

/* In place of a code point that markup takes for itself, also within a quoted attribute, or of bytes that are none; NULL = as it is. */
const char *markup_entity(uint32_t code);
/* Controls; marks, embeddings, overrides and isolates of the direction; what has no width; separators of lines; tags; no characters. */
bool markup_is_hidden(uint32_t code);
