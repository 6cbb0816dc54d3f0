#include "base/markup.h"

#include <stddef.h>

#include "base/utf8.h"

const char *markup_entity(uint32_t code)
{
	switch (code) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case UTF8_INVALID:
		return MARKUP_UNKNOWN;
	default:
		return NULL;
	}
}

bool markup_is_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xfff9 && code <= 0xfffb) || (code & 0xfffe) == 0xfffe ||
	       (code >= 0xfdd0 && code <= 0xfdef) || (code >= 0xe0000 && code <= 0xe007f);
}
