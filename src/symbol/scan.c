#include "symbol/scan.h"

#include <string.h>

#include "base/text.h"

void scan_spaces(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

bool scan_row(struct scan *s, struct scan *out)
{
	const char *newline;

	if (s->at >= s->end)
		return false;
	newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
	out->at = s->at;
	out->end = newline ? newline : s->end;
	s->at = newline ? newline + 1 : s->end;
	return true;
}

bool scan_word(struct scan *s, struct scan *out)
{
	struct scan rest = *s;
	const char *first;

	scan_spaces(&rest);
	first = rest.at;
	while (rest.at < rest.end && *rest.at != ' ' && *rest.at != '\t')
		rest.at++;
	if (rest.at == first)
		return false;
	out->at = first;
	out->end = rest.at;
	*s = rest;
	return true;
}

static bool take_number(struct scan *s, int base, uint64_t *out)
{
	struct scan rest = *s;
	const char *first;
	uint64_t value = 0;

	scan_spaces(&rest);
	for (first = rest.at; rest.at < rest.end; rest.at++) {
		int digit = text_digit(*rest.at);

		if (digit < 0 || digit >= base)
			break;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	if (rest.at == first)
		return false;
	*out = value;
	*s = rest;
	return true;
}

bool scan_hex(struct scan *s, uint64_t *out)
{
	return take_number(s, 16, out);
}

bool scan_number(struct scan *s, uint64_t *out)
{
	return take_number(s, 10, out);
}

bool scan_char(struct scan *s, char c)
{
	if (s->at >= s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

bool scan_is_mapping_symbol(const struct scan *name)
{
	size_t len = (size_t)(name->end - name->at);

	if (len < 2)
		return false;
	if (name->at[0] == '.' && name->at[1] == 'L')
		return true;
	return name->at[0] == '$' && name->at[1] && strchr("xdta", name->at[1]) &&
	       (len == 2 || name->at[2] == '.');
}
