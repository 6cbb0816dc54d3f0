/* mcp/outgoing — one text, JSON as a rule, that is being written, in memory. A zeroed struct is empty; done() is always needed. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/json_write.h"

struct outgoing {
	FILE *file;
	char *text;
	size_t len;
	struct json_writer w;
};

MUST_USE int outgoing_begin(struct outgoing *o); /* -ENOMEM */
/* The text is whole: .text and .len hold it, without a newline. -ENOMEM or -EINVAL for what is not one value. */
MUST_USE int outgoing_end(struct outgoing *o);
/* The same of a text that is no JSON, written to .file. */
MUST_USE int outgoing_end_text(struct outgoing *o);
void outgoing_done(struct outgoing *o);
