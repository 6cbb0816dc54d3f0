#include "trace/ftrace/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/grow.h"

#define FUNCTION_MAX \
	65536U /* bytes; what is farther away is of a function that is not in the list */

void functions_done(struct functions *s)
{
	budget_give(s->budget, s->cap * sizeof(*s->all));
	free(s->all);
	*s = (struct functions){ 0 };
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ffffffff81000000 T _stext", then perhaps the module in brackets. Only functions. */
static bool read_line(const char *at, const char *end, const char *text, struct function *out)
{
	const char *name;
	uint64_t address = 0;

	for (; at < end && digit(*at) >= 0; at++)
		address = address << 4 | (uint64_t)digit(*at);
	if (!address || end - at < 4 || at[0] != ' ' || at[2] != ' ' || !strchr("tTwW", at[1]))
		return false;
	name = at + 3;
	for (at = name; at < end && *at != '\t' && *at != ' ' && *at != '\0'; at++)
		;
	*out = (struct function){ .address = address,
		                  .at = (uint32_t)(name - text),
		                  .len = (uint32_t)(at - name) };
	return at > name;
}

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool make_room(struct functions *s)
{
	size_t before = s->cap;

	if (s->nr < s->cap)
		return true;
	if (GROW(s->all, s->cap, s->nr))
		return false;
	if (budget_take(s->budget, (s->cap - before) * sizeof(*s->all)))
		return true;
	free(s->all);
	budget_give(s->budget, before * sizeof(*s->all));
	s->all = NULL;
	s->nr = s->cap = 0;
	return false;
}

/* Without memory there are none. */
static void make_ready(struct functions *s)
{
	const char *at = s->text, *end, *line;

	s->is_ready = true;
	if (!s->len || s->len > UINT32_MAX)
		return;
	end = at + s->len;
	while (at < end) {
		line = at;
		at = memchr(line, '\n', (size_t)(end - line));
		at = at ? at + 1 : end;
		if (!make_room(s))
			return;
		if (read_line(line, at > line && at[-1] == '\n' ? at - 1 : at, s->text,
		              &s->all[s->nr]))
			s->nr++;
	}
	if (s->nr)
		qsort(s->all, s->nr, sizeof(*s->all), by_address);
}

const char *functions_find(struct functions *s, uint64_t address, size_t *len)
{
	size_t low = 0, high;

	if (!s->is_ready)
		make_ready(s);
	for (high = s->nr; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (s->all[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address - s->all[low - 1].address >= FUNCTION_MAX)
		return NULL;
	*len = s->all[low - 1].len;
	return s->text + s->all[low - 1].at;
}
