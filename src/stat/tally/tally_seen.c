/*
 * What was seen of a histogram, and what is new in the next copy of it.
 *
 * Smallest and longest. Each copy carries the extremes of the last two epochs (times between drains) in
 * which the task had samples. The epoch turns just before the drain that reads them, so an epoch's
 * extremes no longer change when they are read, and stay until the drain after that one has begun:
 * merging whatever a copy carries makes those of the total exact, and doing so twice does no harm.
 *
 * For the interval only samples since the last copy may count. If a place holds another epoch than in
 * the last copy, it was started afresh since then and all of it is new. If it holds the same epoch, it
 * covers old and new samples; a maximum above the one seen before can only be new, an unchanged one
 * says nothing. So a maximum is never counted in two intervals, and one that the kernel wrote too late
 * for its own drain is counted in the next.
 *
 * What is left is a new sample in a slot that no known extreme reaches: one whose extreme is hidden
 * behind an older one of its epoch, or was being written while the copy was made. Then the nearer end
 * of the slot is taken: it was reached for certain, so that a later copy corrects the total. If that is
 * all, it would leave the minimum above the maximum: the total then has the slot's upper end for both,
 * until the maximum is known, and the interval, which nothing corrects, has the mean.
 *
 * Sums, and extremes for the interval, are taken along with slots that grew. If they are late and
 * no sample follows, the task's last record has them; an interval that is then empty has none.
 */
#include "stat/tally/tally_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_STEP 8 /* room grows by so many, so that a widening range is not copied each time */

_Static_assert(HIST_SLOTS % SLOTS_STEP == 0 && STAT_DEPTH_SLOTS % SLOTS_STEP == 0,
               "room never ends behind the slots");

/* What a histogram's samples reached. */
struct reach {
	bool has_min; /* known, not from a slot */
	bool has_max;
	uint64_t min_ns; /* UINT64_MAX while there is none */
	uint64_t max_ns;
	uint64_t max_at_ns;
	uint32_t max_cpu;
};

static int make_room(struct seen **s, uint32_t first, uint32_t last)
{
	const struct seen *old = *s;
	uint32_t end = last + 1;
	struct seen *new;

	if (old && first >= old->first && end <= old->first + old->nr)
		return 0;
	first -= first % SLOTS_STEP;
	end += (SLOTS_STEP - end % SLOTS_STEP) % SLOTS_STEP;
	if (old && old->first < first)
		first = old->first;
	if (old && old->first + old->nr > end)
		end = old->first + old->nr;
	new = calloc(1, sizeof(*new) + (end - first) * sizeof(new->slots[0]));
	if (!new)
		return -ENOMEM;
	if (old) {
		*new = *old;
		memcpy(new->slots + (old->first - first), old->slots,
		       old->nr * sizeof(old->slots[0]));
	}
	new->first = first;
	new->nr = end - first;
	free(*s);
	*s = new;
	return 0;
}

static uint32_t seen_slot(const struct seen *s, uint32_t slot)
{
	return s && slot >= s->first && slot - s->first < s->nr ? s->slots[slot - s->first] : 0;
}

/*
 * The counters may wrap, so a difference is right modulo 2^32. A huge difference is of a copy older
 * than the last; the next one will be ahead again.
 */
static void compare_block(const struct seen *s, const uint32_t *now, uint32_t begin,
                          struct slot_growth *out)
{
	for (uint32_t i = begin; i < begin + HIST_BLOCK_SLOTS; i++) {
		uint32_t grown = now[i] - seen_slot(s, i);

		if (s && grown > UINT32_MAX / 2 + 1)
			grown = 0;
		out->slots[i] = grown;
		if (!grown)
			continue;
		if (out->count == 0)
			out->first = i;
		out->last = i;
		out->count += grown;
	}
}

int seen_compare(struct seen **s, const uint32_t *now, uint32_t blocks, struct slot_growth *out)
{
	uint32_t done = 0; /* slots of growth that are set, from the first one that grew */

	out->count = 0;
	for (; blocks; blocks &= blocks - 1) {
		uint32_t begin = (uint32_t)__builtin_ctz(blocks) * HIST_BLOCK_SLOTS;

		if (out->count && begin > done)
			memset(out->slots + done, 0, (begin - done) * sizeof(out->slots[0]));
		compare_block(*s, now, begin, out);
		done = begin + HIST_BLOCK_SLOTS;
	}
	return out->count ? make_room(s, out->first, out->last) : 0;
}

uint64_t seen_advance(uint64_t *seen, uint64_t now)
{
	uint64_t grown = now - *seen;

	if (now <= *seen)
		return 0;
	*seen = now;
	return grown;
}

static void note_slots(struct seen *s, const struct slot_growth *g)
{
	for (uint32_t i = g->first; i <= g->last; i++)
		s->slots[i - s->first] += g->slots[i];
}

static void reach_min(struct reach *r, const struct abi_extremes *x)
{
	r->has_min = true;
	if (x->min_ns < r->min_ns)
		r->min_ns = x->min_ns;
}

static void reach_max(struct reach *r, const struct abi_extremes *x)
{
	if (r->has_max && x->max_ns <= r->max_ns)
		return;
	r->has_max = true;
	r->max_ns = x->max_ns;
	r->max_at_ns = x->max_at_ns;
	r->max_cpu = x->max_cpu;
}

static bool is_valid(const struct abi_extremes *x)
{
	return x->epoch != 0 && x->min_ns <= x->max_ns;
}

/* What the copy says of all samples. */
static struct reach reach_of_all(const struct abi_hist *now)
{
	struct reach r = { .min_ns = UINT64_MAX };

	for (int i = 0; i < 2; i++) {
		if (!is_valid(&now->extremes[i]))
			continue;
		reach_min(&r, &now->extremes[i]);
		reach_max(&r, &now->extremes[i]);
	}
	return r;
}

/* What it says of those since the last copy; notes the extremes as seen. */
static struct reach reach_of_new(struct seen *s, const struct abi_hist *now)
{
	struct reach r = { .min_ns = UINT64_MAX };

	for (int i = 0; i < 2; i++) {
		const struct abi_extremes *x = &now->extremes[i];
		struct seen_extremes *old = &s->extremes[i];
		bool is_fresh = x->epoch != old->epoch;

		if (!is_valid(x))
			continue;
		if (is_fresh || x->min_ns < old->min_ns)
			reach_min(&r, x);
		if (is_fresh || x->max_ns > old->max_ns)
			reach_max(&r, x);
		*old = (struct seen_extremes){ x->min_ns, x->max_ns, x->epoch };
	}
	return r;
}

static void reach_slots(struct reach *r, const struct slot_growth *g)
{
	uint64_t low = hist_slot_range(g->first).last, high = hist_slot_range(g->last).first;

	if (r->min_ns > low) {
		r->has_min = false;
		r->min_ns = low;
	}
	if (!r->has_max || r->max_ns < high) {
		r->has_max = false;
		r->max_ns = high;
		r->max_at_ns = 0;
		r->max_cpu = 0;
	}
}

/* The mean of what has grown, as far as the slots bear it out: the sum may be a sample apart. */
static uint64_t mean_of(const struct slot_growth *g, uint64_t sum_ns)
{
	uint64_t low = hist_slot_range(g->first).first, high = hist_slot_range(g->last).last;
	uint64_t mean = sum_ns / g->count;

	if (mean > high)
		return high;
	return mean < low ? low : mean;
}

/* Uncrosses ends that were taken from one slot; an end that is known stays. */
static void reach_mean(struct reach *r, uint64_t mean)
{
	if (r->has_min && mean < r->min_ns)
		mean = r->min_ns;
	if (r->has_max && mean > r->max_ns)
		mean = r->max_ns;
	if (!r->has_min)
		r->min_ns = mean;
	if (!r->has_max)
		r->max_ns = mean;
}

/* An unknown reach changes nothing, unless the histogram is empty. */
static void widen(struct hist *h, const struct reach *r)
{
	/* A maximum taken from a slot gives way to one that was measured there. */
	bool is_better = h->max_at_ns == 0 && r->max_at_ns != 0 &&
	                 hist_slot(h->max_ns) == hist_slot(r->max_ns);

	if (h->count == 0 || r->min_ns < h->min_ns)
		h->min_ns = r->min_ns;
	if (h->count == 0 || is_better || r->max_ns > h->max_ns) {
		h->max_ns = r->max_ns;
		h->max_at_ns = r->max_at_ns;
		h->max_cpu = r->max_cpu;
	}
}

static void add_to(struct hist *h, const struct slot_growth *g, uint64_t sum_ns,
                   const struct reach *r)
{
	widen(h, r);
	if (h->min_ns > h->max_ns) /* both ends of one slot, and nothing else is known */
		h->max_ns = h->min_ns;
	h->count += g->count;
	h->sum_ns += sum_ns;
	for (uint32_t i = g->first; i <= g->last; i++)
		h->slots[i] += g->slots[i];
}

void seen_take_hist(struct seen *s, const struct abi_hist *now, const struct slot_growth *g,
                    struct hist *const into[TALLY_VIEWS])
{
	struct reach reach[TALLY_VIEWS] = { reach_of_all(now), reach_of_new(s, now) };
	uint64_t sum_ns = seen_advance(&s->sum, now->sum_ns);

	for (int v = 0; v < TALLY_VIEWS; v++) {
		reach_slots(&reach[v], g);
		if (v == TALLY_INTERVAL && reach[v].min_ns > reach[v].max_ns)
			reach_mean(&reach[v], mean_of(g, sum_ns));
		add_to(into[v], g, sum_ns, &reach[v]);
	}
	note_slots(s, g);
}

void seen_take_late_hist(struct seen *s, const struct abi_hist *now, bool is_last,
                         struct hist *const into[TALLY_VIEWS])
{
	struct reach all = reach_of_all(now), new;
	uint64_t sum_ns;

	if (into[TALLY_TOTAL] && into[TALLY_TOTAL]->count)
		widen(into[TALLY_TOTAL], &all);
	if (!is_last)
		return;
	new = reach_of_new(s, now);
	sum_ns = seen_advance(&s->sum, now->sum_ns);
	for (int v = 0; v < TALLY_VIEWS; v++)
		if (into[v] && into[v]->count)
			into[v]->sum_ns += sum_ns;
	if (into[TALLY_INTERVAL] && into[TALLY_INTERVAL]->count)
		widen(into[TALLY_INTERVAL], &new);
}

static void add_depth_to(struct tally_depth *d, const struct slot_growth *g, uint64_t sum,
                         const struct stat_depth *known)
{
	/* Without a known maximum the deepest slot that grew is the best there is. */
	bool is_known = known && known->max >= g->last;
	uint64_t max = is_known ? known->max : g->last;

	if (d->count == 0 || max > d->max) {
		d->max = max;
		d->max_at_ns = is_known ? known->max_at_ns : 0;
		d->max_cpu = is_known ? known->max_cpu : 0;
	}
	d->count += g->count;
	d->sum += sum;
	for (uint32_t i = g->first; i <= g->last; i++)
		d->slots[i] += g->slots[i];
}

void seen_take_depth(struct seen *s, const struct stat_depth *now, const struct slot_growth *g,
                     struct tally_depth *const into[TALLY_VIEWS])
{
	uint64_t sum = seen_advance(&s->sum, now->sum);
	/* The maximum is that of all times: it is of the interval only if it has just grown. */
	bool is_new = seen_advance(&s->extremes[0].max_ns, now->max) > 0;

	add_depth_to(into[TALLY_TOTAL], g, sum, now);
	add_depth_to(into[TALLY_INTERVAL], g, sum, is_new ? now : NULL);
	note_slots(s, g);
}

void seen_take_late_depth(struct seen *s, const struct stat_depth *now,
                          struct tally_depth *const into[TALLY_VIEWS])
{
	uint64_t sum = seen_advance(&s->sum, now->sum);

	for (int v = 0; v < TALLY_VIEWS; v++)
		if (into[v])
			into[v]->sum += sum;
}
