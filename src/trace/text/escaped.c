/* Text in which "<" stands as "&lt;". */
#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "trace/text/text.h"

static const struct {
	const char *entity;
	char c;
} entities[] = {
	{ "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&#39;", '\'' }
};

/* The idle task is in any trace, and its name has both. */
bool text_is_escaped(struct span in)
{
	return span_find(in, "&lt;idle&gt;", 12) || span_find(in, "&lt;...&gt;", 11) ||
	       span_find(in, "==&gt; next_comm", 16);
}

static char take_char(struct span *in)
{
	for (size_t i = 0; *in->at == '&' && i < sizeof(entities) / sizeof(entities[0]); i++)
		if (span_take(in, entities[i].entity, strlen(entities[i].entity)))
			return entities[i].c;
	return *in->at++;
}

int text_unescape(struct reader *r, struct span in, struct span *out)
{
	char *copy, *to;

	if (!budget_take(r->cfg.budget, span_len(in)))
		return -E2BIG;
	copy = to = malloc(span_len(in) + 1);
	if (!copy)
		return -ENOMEM;
	while (in.at < in.end)
		*to++ = take_char(&in);
	*out = (struct span){ copy, to };
	return 0;
}
