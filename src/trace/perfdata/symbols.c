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

void pd_symbols_sort(struct perfdata *d)
{
	struct pd_symbols *s = &d->symbols;

	if (s->nr)
		qsort(s->all, s->nr, sizeof(*s->all), by_start);
	s->nr_sorted = s->nr;
}

const char *pd_symbol_find(struct perfdata *d, uint64_t address, size_t *len)
{
	const struct pd_symbols *s = &d->symbols;
	size_t low = 0, high = s->nr_sorted;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->all[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= s->all[low - 1].end)
		return functions_find(&d->kallsyms, address, len);
	return intern_string(d->stacks->paths, s->all[low - 1].name, len);
}

uint32_t pd_find_symbol(struct ftrace_cpu *on, uint64_t address)
{
	struct perfdata *d = (struct perfdata *)(uintptr_t)on->find_ctx; /* ours, not const */
	const char *name;
	size_t len;

	name = pd_symbol_find(d, address, &len);
	return name ? decoder_text(on->dec, name, len) : 0;
}
