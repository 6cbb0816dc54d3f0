/* Functions of the kernel: those of BPF programs that the file reports, and of kallsyms, which only old files carry. */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/perfdata/stacks.h"

#define SYMBOLS_MAX (1U << 22)

int pd_symbol_add(struct perfdata *d, uint64_t address, uint64_t len, const char *name,
                  size_t name_len)
{
	struct pd_symbols *s = &d->symbols;
	uint32_t text;
	int err = intern_add(d->stacks->paths, name, name_len, &text);

	if (s->nr == SYMBOLS_MAX || err == -E2BIG)
		return 0;
	if (err || !grow_counted(d->r, &s->all, s->nr, &s->cap, sizeof(*s->all)))
		return -ENOMEM;
	s->all[s->nr] = (struct pd_symbol){ .start = address,
		                            .end = len > UINT64_MAX - address ? UINT64_MAX
		                                                              : address + len,
		                            .name = text,
		                            .order = (uint32_t)s->nr };
	s->nr++;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct pd_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool hex(const char **at, const char *end, uint64_t *out)
{
	const char *from = *at;
	uint64_t value = 0;

	for (; *at < end; (*at)++) {
		char c = **at;
		unsigned int digit = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
		                     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
		                                            : 16;

		if (digit == 16)
			break;
		value = value << 4 | digit;
	}
	*out = value;
	return *at > from;
}

/* "ffffffff81000000 T _stext" with a tab and a module behind it. A function ends where the next one begins. */
static int read_kallsyms(struct perfdata *d)
{
	const char *at = d->kallsyms_len ? (const char *)d->kallsyms : "";
	const char *end = at + d->kallsyms_len;
	int err = 0;

	while (at < end && !err) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		uint64_t address;
		const char *name_end;

		line_end = line_end ? line_end : end;
		if (hex(&at, line_end, &address) && address && line_end - at > 3 &&
		    (at[1] == 't' || at[1] == 'T' || at[1] == 'w' || at[1] == 'W')) {
			at += 3;
			name_end = memchr(at, '\t', (size_t)(line_end - at));
			err = pd_symbol_add(d, address, UINT64_MAX, at,
			                    (size_t)((name_end ? name_end : line_end) - at));
		}
		at = line_end < end ? line_end + 1 : end;
	}
	return err;
}

int pd_symbols_sort(struct perfdata *d)
{
	struct pd_symbols *s = &d->symbols;
	int err = s->has_kallsyms ? 0 : read_kallsyms(d);

	s->has_kallsyms = true;
	if (s->nr)
		qsort(s->all, s->nr, sizeof(*s->all), by_start);
	s->nr_sorted = s->nr;
	return err;
}

const char *pd_symbol_find(const struct perfdata *d, uint64_t address, size_t *len)
{
	const struct pd_symbols *s = &d->symbols;
	size_t low = 0, high = s->nr_sorted;

	*len = 0;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->all[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= s->all[low - 1].end)
		return NULL;
	return intern_string(d->stacks->paths, s->all[low - 1].name, len);
}

uint32_t pd_find_symbol(struct ftrace_cpu *on, uint64_t address)
{
	const struct perfdata *d = on->find_ctx;
	const char *name;
	size_t len;

	name = pd_symbol_find(d, address, &len);
	return name ? decoder_text(on->dec, name, len) : 0;
}
