#include "replay/replay_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "model/pair.h"

static int by_end(const void *a, const void *b)
{
	const struct machine_play_wait *x = a, *y = b;

	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Into the list of the longest, which has the shortest last. */
static void take(struct pair_wait *longest, size_t *nr, const struct pair_wait *w)
{
	uint64_t wait_ns = w->end_ns - pair_wait_woken_ns(w);
	size_t at = *nr;

	while (at > 0 && longest[at - 1].end_ns - pair_wait_woken_ns(&longest[at - 1]) < wait_ns)
		at--;
	if (at == REPLAY_WAITS_MAX)
		return;
	*nr += *nr < REPLAY_WAITS_MAX;
	for (size_t i = *nr - 1; i > at; i--)
		longest[i] = longest[i - 1];
	longest[at] = *w;
}

int replay_waits_find(const struct scope *sc, struct machine_play_wait **out, size_t *nr)
{
	struct pair_wait longest[REPLAY_WAITS_MAX], w;
	struct machine_play_wait *waits = calloc(REPLAY_WAITS_MAX, sizeof(*waits));
	struct rows it = { .sc = sc };

	if (!waits)
		return -ENOMEM;
	*nr = 0;
	while (rows_wait(&it, &w))
		take(longest, nr, &w);
	for (size_t i = 0; i < *nr; i++)
		waits[i] = (struct machine_play_wait){
			.end_ns = longest[i].end_ns,
			.wait_ns = longest[i].end_ns - pair_wait_woken_ns(&longest[i]),
			.tid = source_tid(sc->s, longest[i].task),
			.comm = source_comm_at(sc->s, longest[i].task, longest[i].end_ns),
		};
	qsort(waits, *nr, sizeof(*waits), by_end);
	*out = waits;
	return 0;
}
