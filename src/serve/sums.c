#include "serve/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS 60000000000ULL /* of peaks */

/* clang-format off */
const struct dist_def dist_defs[DISTS] = {
	[DIST_DELAY_WOKEN] = { "cause", "woken", METRIC_SCHED_DELAY, STAT_GROUP_LATENCY },
	[DIST_DELAY_PREEMPTED] = { "cause", "preempted", METRIC_SCHED_DELAY, STAT_GROUP_LATENCY },
	[DIST_DELAY_NEW] = { "cause", "new", METRIC_SCHED_DELAY, STAT_GROUP_LATENCY },
	[DIST_WAKING] = { NULL, NULL, METRIC_WAKING_DELAY, STAT_GROUP_WAKING },
	[DIST_SLICE_SLEPT] = { "end", "slept", METRIC_SLICE, STAT_GROUP_SLICE },
	[DIST_SLICE_PREEMPTED] = { "end", "preempted", METRIC_SLICE, STAT_GROUP_SLICE },
	[DIST_SLEEP_S] = { "state", "interruptible", METRIC_SLEEP, STAT_GROUP_SLEEP },
	[DIST_SLEEP_D] = { "state", "uninterruptible", METRIC_SLEEP, STAT_GROUP_SLEEP },
	[DIST_SLEEP_OTHER] = { "state", "other", METRIC_SLEEP, STAT_GROUP_SLEEP },
	[DIST_CPU_IDLE] = { NULL, NULL, METRIC_CPU_IDLE, STAT_GROUP_SLEEP },
	[DIST_DSQ_LOCAL] = { "queue", "local", METRIC_DSQ_LATENCY, STAT_GROUP_DSQ },
	[DIST_DSQ_GLOBAL] = { "queue", "global", METRIC_DSQ_LATENCY, STAT_GROUP_DSQ },
	[DIST_DSQ_USER] = { "queue", "user", METRIC_DSQ_LATENCY, STAT_GROUP_DSQ },
};
/* clang-format on */

int sums_new(uint32_t top, struct sums **out)
{
	SCOPED(scoped_sums) struct sums *s = calloc(1, sizeof(*s));

	if (!s || seats_new(top, &s->cgroups))
		return -ENOMEM;
	s->blame.pairs = calloc(SUMS_PAIRS_MAX, sizeof(*s->blame.pairs));
	if (!s->blame.pairs)
		return -ENOMEM;
	*out = TAKE_PTR(s);
	return 0;
}

void sums_free(struct sums *s)
{
	if (!s)
		return;
	seats_free(s->cgroups);
	free(s->blame.pairs);
	free(s);
}

void sums_add(struct sums *s, enum dist_id dist, const struct hist *grown)
{
	if (grown->count)
		hist_merge(&s->dists[dist].hist, grown);
}

void sums_peak(struct sums *s, enum dist_id dist, const struct sums_peak *peak)
{
	struct dist *d = &s->dists[dist];

	if (peak->ns > d->recent.ns)
		d->recent = *peak;
	if (peak->ns > d->longest.ns)
		d->longest = *peak;
}

void sums_age(struct sums *s, uint64_t now_ns)
{
	if (now_ns - s->window_ns < WINDOW_NS)
		return;
	for (int i = 0; i < DISTS; i++) {
		s->dists[i].before = s->dists[i].recent;
		s->dists[i].recent = (struct sums_peak){ 0 };
	}
	s->window_ns = now_ns;
}

const struct sums_peak *dist_peak(const struct dist *d)
{
	return d->recent.ns >= d->before.ns ? &d->recent : &d->before;
}

void counts_set(struct sums_counts *c, const char *name, uint64_t now)
{
	for (size_t i = 0; i < c->nr; i++)
		if (strcmp(c->items[i].name, name) == 0) {
			if (now > c->items[i].now)
				c->items[i].now = now;
			return;
		}
	if (c->nr < SUMS_COUNTS_MAX)
		c->items[c->nr++] = (struct sums_count){ .name = name, .now = now };
}

void counts_rebase(struct sums_counts *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		c->items[i].before += c->items[i].now;
		c->items[i].now = 0;
	}
}

static struct sums_pair *find_pair(struct sums_blame *b, uint32_t victim, uint32_t culprit)
{
	for (size_t i = 0; i < b->nr; i++)
		if (b->pairs[i].victim == victim && b->pairs[i].culprit == culprit)
			return &b->pairs[i];
	if (b->nr == SUMS_PAIRS_MAX)
		return NULL;
	b->pairs[b->nr] = (struct sums_pair){ .victim = victim, .culprit = culprit };
	return &b->pairs[b->nr++];
}

/* The pair of "other" and "other" is the first: there is always room for it. */
void sums_blame_add(struct sums *s, uint32_t victim, uint32_t culprit, uint64_t ns)
{
	struct sums_blame *b = &s->blame;
	struct sums_pair *pair;
	uint32_t of = seats_index(s->cgroups, victim);
	uint32_t by = culprit & BLAME_SPECIAL ? culprit : seats_index(s->cgroups, culprit);

	if (!b->nr)
		(void)find_pair(b, SEAT_OTHER, SEAT_OTHER);
	pair = find_pair(b, of, by);
	if (!pair || of == SEAT_OTHER || by == SEAT_OTHER)
		b->merged_ns += ns;
	if (!pair)
		pair = find_pair(b, SEAT_OTHER, SEAT_OTHER);
	pair->ns += ns;
}

void sums_blame_forget(struct sums *s, uint32_t seat)
{
	struct sums_blame *b = &s->blame;
	size_t nr = 0;

	if (seat == SEAT_NONE)
		return;
	for (size_t i = 0; i < b->nr; i++)
		if (b->pairs[i].victim != seat && b->pairs[i].culprit != seat)
			b->pairs[nr++] = b->pairs[i];
		else
			b->gone_ns += b->pairs[i].ns - b->pairs[i].written_ns;
	b->nr = nr;
}

const char *sums_culprit(const struct sums *s, uint32_t culprit)
{
	static const char *const names[BLAME_OTHERS] = {
		[BLAME_THROTTLED] = "(throttled)",  [BLAME_INTERRUPTS] = "(interrupts)",
		[BLAME_STOLEN] = "(stolen)",        [BLAME_IDLE] = "(idle)",
		[BLAME_QUEUE] = "(dispatch queue)", [BLAME_WAKING] = "(waking)",
		[BLAME_UNKNOWN] = "(unknown)",
	};

	return culprit & BLAME_SPECIAL ? names[culprit & ~BLAME_SPECIAL]
	                               : seats_at(s->cgroups, culprit)->name;
}
