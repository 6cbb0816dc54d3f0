#include "model/allowed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

#define DEFAULT_CAP_BYTES ((size_t)64 << 20)
#define MAX_TIDS          (1U << 22)
#define NONE              UINT32_MAX

struct allowed_word {
	uint64_t since_ns;
	uint32_t before; /* the word about the same tid before it; NONE = none */
	uint32_t jump; /* an earlier one, so that each is found in steps that grow by the logarithm; NONE likewise */
	uint32_t nr_before;
	uint32_t first; /* of its mask */
	uint16_t nr;
	bool is_all;
};

struct allowed {
	struct allowed_word *words;
	uint32_t nr_words, max_words;
	uint64_t *masks;
	uint32_t nr_masks, max_masks;
	struct map *by_tid; /* the last word about it */
	size_t cap_bytes;
	uint64_t dropped;
};

int allowed_new(size_t cap_bytes, struct allowed **out)
{
	struct allowed *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->cap_bytes = cap_bytes ? cap_bytes : DEFAULT_CAP_BYTES;
	if (map_new(sizeof(uint32_t), MAX_TIDS, &a->by_tid)) {
		free(a);
		return -ENOMEM;
	}
	*out = a;
	return 0;
}

void allowed_free(struct allowed *a)
{
	if (!a)
		return;
	map_free(a->by_tid);
	free(a->words);
	free(a->masks);
	free(a);
}

static bool has_room(struct allowed *a, uint32_t nr_masks)
{
	size_t bytes = (a->nr_words + 1ULL) * sizeof(*a->words) +
	               (a->nr_masks + (size_t)nr_masks) * sizeof(*a->masks);

	return bytes <= a->cap_bytes && !GROW(a->words, a->max_words, a->nr_words) &&
	       !GROW(a->masks, a->max_masks, a->nr_masks + nr_masks);
}

/* Two jumps of one length become one of both, as carries do in a binary counter. */
static uint32_t jump_of(const struct allowed *a, uint32_t before)
{
	const struct allowed_word *w = &a->words[before], *over, *far;

	if (w->jump == NONE)
		return before;
	over = &a->words[w->jump];
	if (over->jump == NONE)
		return before;
	far = &a->words[over->jump];
	return w->nr_before - over->nr_before == over->nr_before - far->nr_before ? over->jump
	                                                                          : before;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	const struct ev_affinity *ev = (const void *)rec;
	struct allowed *a = ctx;
	uint32_t before = NONE;
	struct allowed_word *w;

	if (rec->kind != EV_AFFINITY)
		return 0;
	if (!has_room(a, ev->nr)) {
		a->dropped++;
		return 0;
	}
	(void)map_find(a->by_tid, &ev->tid, &before);
	if (map_insert(a->by_tid, &ev->tid, a->nr_words) < 0) {
		a->dropped++;
		return 0;
	}
	w = &a->words[a->nr_words++];
	*w = (struct allowed_word){ .since_ns = rec->ts_ns,
		                    .before = before,
		                    .jump = before == NONE ? NONE : jump_of(a, before),
		                    .nr_before = before == NONE ? 0
		                                                : a->words[before].nr_before + 1,
		                    .first = a->nr_masks,
		                    .nr = ev->nr,
		                    .is_all = ev->flags & EV_AFFINITY_ALL };
	memcpy(&a->masks[a->nr_masks], ev + 1, ev->nr * sizeof(*a->masks));
	a->nr_masks += ev->nr;
	return 0;
}

struct ev_sink allowed_sink(struct allowed *a)
{
	return (struct ev_sink){ .push = push, .ctx = a };
}

uint64_t allowed_dropped(const struct allowed *a)
{
	return a->dropped;
}

uint32_t allowed_nr_words(const struct allowed *a)
{
	return a->nr_words;
}

uint32_t allowed_word(const struct allowed *a, uint32_t tid, uint64_t at_ns)
{
	uint32_t at;

	if (!map_find(a->by_tid, &tid, &at))
		return 0;
	while (a->words[at].since_ns > at_ns && a->words[at].before != NONE) {
		uint32_t jump = a->words[at].jump;

		at = a->words[jump].since_ns > at_ns ? jump : a->words[at].before;
	}
	return a->words[at].is_all ? 0 : at + 1;
}

bool allowed_is_known(const struct allowed *a, uint32_t tid)
{
	uint32_t at;

	return map_find(a->by_tid, &tid, &at);
}

bool allowed_cpu(const struct allowed *a, uint32_t tid, uint32_t cpu, uint64_t at_ns)
{
	uint32_t word = allowed_word(a, tid, at_ns);
	const struct allowed_word *w;

	if (!word)
		return true;
	w = &a->words[word - 1];
	return cpu / 64 < w->nr && (a->masks[w->first + cpu / 64] >> (cpu % 64) & 1);
}
