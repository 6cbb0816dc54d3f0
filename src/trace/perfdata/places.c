/* Where CPUs are, as perf says it: cores, caches, nodes. */
#include "trace/perfdata/perfdata.h"

#include "trace/perfetto/meta_in.h"

#define LISTS_MAX  65536U
#define PLACES_MAX (1U << 20) /* in one file */

enum place { PLACE_CORE, PLACE_LLC, PLACE_NODE };

static void put(struct perfdata *d, uint32_t cpu, enum place place, uint32_t nr)
{
	struct trace_cpu_info *c = cpu < META_CPUS_MAX && nr <= INT32_MAX ? meta_cpu(d->r, cpu)
	                                                                  : NULL;

	if (!c || d->nr_places == PLACES_MAX)
		return;
	d->nr_places++;
	if (place == PLACE_CORE)
		c->core = (int32_t)nr;
	else if (place == PLACE_LLC)
		c->llc = (int32_t)nr;
	else
		c->node = (int32_t)nr;
	d->r->info.has_topology = true;
}

static bool number(const char **s, const char *end, uint32_t *out)
{
	uint32_t value = 0;
	const char *at = *s;

	for (; at < end && *at >= '0' && *at <= '9' && value < META_CPUS_MAX; at++)
		value = value * 10 + (uint32_t)(*at - '0');
	if (at == *s)
		return false;
	*s = at;
	*out = value;
	return value < META_CPUS_MAX;
}

/* "0-3,8": each of them gets the place. */
static void put_list(struct perfdata *d, const char *s, size_t len, enum place place, uint32_t nr)
{
	const char *end = s + len;
	uint32_t first, last;

	while (s < end && d->nr_places < PLACES_MAX && number(&s, end, &first)) {
		last = first;
		if (s < end && *s == '-') {
			s++;
			if (!number(&s, end, &last))
				return;
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			put(d, cpu, place, nr);
		if (s == end || *s++ != ',')
			return;
	}
}

/* Lists of CPUs of one socket, then of one core; numbers of the kernel behind them repeat in each socket. */
void pd_cpu_topology(struct perfdata *d, struct bytes_in in)
{
	uint32_t nr = bytes_u32(&in);
	const char *s;
	size_t len;

	for (uint32_t i = 0; i < nr && !in.is_bad; i++)
		(void)pd_in_text(&in, &len);
	nr = bytes_u32(&in);
	for (uint32_t i = 0; i < nr && i < LISTS_MAX && !in.is_bad; i++) {
		s = pd_in_text(&in, &len);
		put_list(d, s, len, PLACE_CORE, i);
	}
}

void pd_numa_topology(struct perfdata *d, struct bytes_in in)
{
	uint32_t nr = bytes_u32(&in), node;
	const char *s;
	size_t len;

	for (uint32_t i = 0; i < nr && i < LISTS_MAX && !in.is_bad; i++) {
		node = bytes_u32(&in);
		(void)bytes_take(&in, 2 * sizeof(uint64_t)); /* its memory, and how much is free */
		s = pd_in_text(&in, &len);
		put_list(d, s, len, PLACE_NODE, node);
	}
}

/* The last level of the caches. Levels are in any order. */
void pd_caches(struct perfdata *d, struct bytes_in in)
{
	uint32_t version = bytes_u32(&in), nr = bytes_u32(&in), level, last = 0, nr_llc = 0;
	const char *s;
	size_t len;

	if (version != 1)
		return;
	for (uint32_t i = 0; i < nr && i < LISTS_MAX && !in.is_bad; i++) {
		level = bytes_u32(&in);
		(void)bytes_take(&in, 3 * sizeof(uint32_t)); /* line, sets, ways */
		(void)pd_in_text(&in, &len);                 /* type */
		(void)pd_in_text(&in, &len);                 /* size */
		s = pd_in_text(&in, &len);
		if (level < last || in.is_bad)
			continue;
		nr_llc = level > last ? 0 : nr_llc;
		last = level;
		if (level > 1)
			put_list(d, s, len, PLACE_LLC, nr_llc++);
	}
}
