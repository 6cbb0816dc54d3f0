#include "ledger/cookies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "model/timeline.h"

struct change {
	uint64_t ts_ns;
	uint32_t task;
	uint32_t cookie;
};

struct cookies {
	struct change *at; /* by task and time */
	uint32_t nr, room;
	int32_t *cores;
	uint32_t nr_cpus;
};

void cookies_free(struct cookies *c)
{
	if (!c)
		return;
	free(c->at);
	free(c->cores);
	free(c);
}

DEFINE_SCOPED(cookies, cookies_free)

static int by_task(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	if (left->task != right->task)
		return left->task < right->task ? -1 : 1;
	return (left->ts_ns > right->ts_ns) - (left->ts_ns < right->ts_ns);
}

int cookies_new(struct timeline *t, const int32_t *cores, uint32_t nr_cpus, struct cookies **out)
{
	SCOPED(scoped_cookies) struct cookies *c = calloc(1, sizeof(*c));
	union timeline_row row;

	if (!c)
		return -ENOMEM;
	c->nr_cpus = nr_cpus;
	c->cores = calloc(nr_cpus ? nr_cpus : 1, sizeof(*c->cores));
	if (!c->cores)
		return -ENOMEM;
	if (nr_cpus)
		memcpy(c->cores, cores, nr_cpus * sizeof(*cores));
	for (uint64_t id = timeline_first(t, TIMELINE_MARK); id < timeline_end(t, TIMELINE_MARK);
	     id++) {
		if (!timeline_row(t, TIMELINE_MARK, id, &row) || row.mark.kind != EV_POLICY)
			continue;
		if (GROW(c->at, c->room, c->nr))
			return -ENOMEM;
		c->at[c->nr++] = (struct change){ row.mark.ts_ns, row.mark.task,
			                          (uint32_t)row.mark.value };
	}
	if (c->nr)
		qsort(c->at, c->nr, sizeof(*c->at), by_task);
	*out = TAKE_PTR(c);
	return 0;
}

uint32_t cookies_of(const struct cookies *c, uint32_t task, uint64_t ts_ns)
{
	uint32_t low = 0, high = c->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct change *at = &c->at[mid];

		if (at->task < task || (at->task == task && at->ts_ns <= ts_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low && c->at[low - 1].task == task ? c->at[low - 1].cookie : 0;
}

uint32_t cookies_next_cpu(const struct cookies *c, uint32_t cpu, uint32_t after)
{
	if (cpu >= c->nr_cpus || c->cores[cpu] < 0)
		return cpu;
	do
		after = after + 1 < c->nr_cpus ? after + 1 : 0;
	while (c->cores[after] != c->cores[cpu]);
	return after;
}
