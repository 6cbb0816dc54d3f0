#include "symbol/perf_map.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/scan.h"

#define SYMBOLS_CAP (1U << 20)

static void skip_prefix(struct scan *s)
{
	scan_spaces(s);
	if (s->end - s->at > 2 && s->at[0] == '0' && (s->at[1] == 'x' || s->at[1] == 'X'))
		s->at += 2;
}

/* The name is the rest of the line, spaces included. */
static bool parse_line(struct scan s, struct symtab_range *r, struct scan *name)
{
	uint64_t size;

	skip_prefix(&s);
	if (!scan_hex(&s, &r->start))
		return false;
	skip_prefix(&s);
	if (!scan_hex(&s, &size) || __builtin_add_overflow(r->start, size, &r->end))
		return false;
	scan_spaces(&s);
	while (s.end > s.at && (s.end[-1] == '\r' || s.end[-1] == ' '))
		s.end--;
	*name = s;
	return s.at < s.end && !memchr(s.at, '\0', (size_t)(s.end - s.at));
}

int perf_map_parse(const char *text, size_t len, struct symtab **out)
{
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(SYMBOLS_CAP);
	struct scan rest = { text, text + len }, row, name;
	uint32_t rank = UINT32_MAX;
	int err = 0;

	if (!t)
		return -ENOMEM;
	while (!err && scan_row(&rest, &row)) {
		struct symtab_range r = { .rank = rank };

		if (!parse_line(row, &r, &name))
			continue;
		err = symtab_add(t, &r, name.at, (size_t)(name.end - name.at));
		rank -= rank > 0;
	}
	if (err && err != -E2BIG)
		return err;
	symtab_seal(t);
	*out = TAKE_PTR(t);
	return 0;
}
