#include "analyze/buckets.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/map.h"

/* The upper bits of a product are spread well; deliberate collisions fall back to the map. */
#define HASH_FACTOR 0x9e3779b97f4a7c15ULL
#define HASH_SHIFT  56

static uint32_t find(struct buckets *b, uint64_t key)
{
	uint32_t i;

	if (!b->by_key && map_new(sizeof(key), MAP_MAX_CAP, &b->by_key))
		return BUCKETS_NONE;
	if (map_find(b->by_key, &key, &i))
		return i;
	if (GROW(b->at, b->capacity, b->nr) || map_insert(b->by_key, &key, b->nr))
		return BUCKETS_NONE;
	b->at[b->nr] = (struct bucket){ .key = key };
	return b->nr++;
}

uint32_t buckets_count(struct buckets *b, uint64_t key)
{
	uint32_t *cached = &b->cache[key * HASH_FACTOR >> HASH_SHIFT];
	uint32_t i = *cached;

	if (i >= b->nr || b->at[i].key != key)
		i = find(b, key);
	if (i == BUCKETS_NONE) {
		b->has_failed = true;
		return i;
	}
	*cached = i;
	b->at[i].count++;
	return i;
}

uint32_t buckets_sum(struct buckets *b, uint64_t key, uint64_t ns)
{
	uint32_t i = buckets_count(b, key);

	if (i == BUCKETS_NONE)
		return i;
	b->at[i].sum_ns += ns;
	if (ns > b->at[i].max_ns)
		b->at[i].max_ns = ns;
	return i;
}

uint32_t buckets_add(struct buckets *b, uint64_t key, uint64_t ns)
{
	uint32_t i = buckets_sum(b, key, ns);

	if (i != BUCKETS_NONE)
		grouped_add(&b->values, i, ns);
	return i;
}

int buckets_order(struct buckets *b)
{
	return b->has_failed ? -ENOMEM : grouped_order(&b->values, b->nr);
}

struct samples buckets_at(const struct buckets *b, uint32_t i)
{
	return grouped_at(&b->values, i);
}

void buckets_top(const struct buckets *b, bool is_by_count, struct top *top)
{
	for (uint32_t i = 0; i < b->nr; i++)
		top_add(top, is_by_count ? b->at[i].count : b->at[i].sum_ns, i);
	top_rank(top);
}

void buckets_report(const struct buckets *b, uint32_t i, struct report *r)
{
	struct samples samples = buckets_at(b, i);

	report_u64(r, "count", b->at[i].count);
	report_u64(r, "total_duration_ns", b->at[i].sum_ns);
	samples_report_object(&samples, r, "percentiles");
}

void buckets_done(struct buckets *b)
{
	free(b->at);
	map_free(b->by_key);
	grouped_done(&b->values);
	*b = (struct buckets){ 0 };
}

uint64_t bucket_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

uint32_t bucket_high(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

uint32_t bucket_low(uint64_t key)
{
	return (uint32_t)key;
}
