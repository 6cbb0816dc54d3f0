#include "model/event_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ULL
#define SLOTS    (EVENT_RATES_SECONDS + 1) /* the one that runs, too */

struct event_rates {
	uint64_t origin_ns;
	uint64_t second; /* the one that runs, since the origin; meaningful once has_started */
	bool has_started;
	uint64_t totals[EV_KIND_MAX];
	uint32_t kinds[SLOTS][EV_KIND_MAX];
};

int event_rates_new(struct event_rates **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void event_rates_free(struct event_rates *r)
{
	free(r);
}

/* Empties the slots of the seconds that have begun since. */
static void move_on(struct event_rates *r, uint64_t ts_ns)
{
	uint64_t second;

	if (!r->has_started)
		event_rates_resume(r, ts_ns);
	second = ts_ns > r->origin_ns ? (ts_ns - r->origin_ns) / NS_PER_S : 0;
	if (second > r->second + SLOTS)
		r->second = second - SLOTS; /* all slots are emptied, once */
	while (r->second < second)
		memset(r->kinds[++r->second % SLOTS], 0, sizeof(r->kinds[0]));
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct event_rates *r = ctx;

	move_on(r, rec->ts_ns);
	if (rec->kind < EV_KIND_MAX) {
		r->totals[rec->kind]++;
		r->kinds[r->second % SLOTS][rec->kind]++;
	}
	return 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	move_on(ctx, ts_ns);
	return 0;
}

struct ev_sink event_rates_sink(struct event_rates *r)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = r };
}

void event_rates_reset(struct event_rates *r)
{
	memset(r, 0, sizeof(*r));
}

void event_rates_resume(struct event_rates *r, uint64_t ts_ns)
{
	memset(r->kinds, 0, sizeof(r->kinds));
	r->has_started = ts_ns != 0;
	r->origin_ns = ts_ns;
	r->second = 0;
}

uint32_t event_rates_seconds(const struct event_rates *r)
{
	return r->second < EVENT_RATES_SECONDS ? (uint32_t)r->second : EVENT_RATES_SECONDS;
}

/* The second so many before the one that runs. */
static uint32_t slot_before(const struct event_rates *r, uint32_t nr)
{
	return (uint32_t)((r->second - nr) % SLOTS);
}

bool event_rates_kind(const struct event_rates *r, unsigned int kind, struct event_rates_kind *out)
{
	uint32_t seconds = event_rates_seconds(r), nr_usual = 0;
	uint64_t sum = 0, usual = 0;

	if (kind >= EV_KIND_MAX || !r->totals[kind])
		return false;
	*out = (struct event_rates_kind){ .total = r->totals[kind] };
	if (!seconds)
		return true;
	for (uint32_t i = 1; i <= seconds; i++) {
		uint32_t count = r->kinds[slot_before(r, i)][kind];

		sum += count;
		if (i > 1 && i <= 1 + EVENT_RATES_BASELINE) {
			usual += count;
			nr_usual++;
		}
	}
	out->last = r->kinds[slot_before(r, 1)][kind];
	out->per_second = (double)sum / seconds;
	out->has_usual = nr_usual > 0;
	out->usual = nr_usual ? (double)usual / nr_usual : 0;
	out->spike = out->usual > 0 ? (double)out->last / out->usual : 0;
	return true;
}
