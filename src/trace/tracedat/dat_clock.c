#include "trace/tracedat/dat_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/perfetto/schema.h"
#include "trace/reader_priv.h"

#define INTERPOLATE  1U
#define NUMBERS      3U /* of a shift: its time, offset, scaling */
#define FRACTION_MAX 63
#define SHIFT_MAX    63U

static const struct {
	const char *name;
	enum dat_clock_kind kind;
	uint32_t number;
} known[] = {
	{ "mono", DAT_CLOCK_NS, CLOCK_ID_MONOTONIC },
	{ "mono_raw", DAT_CLOCK_NS, CLOCK_ID_MONOTONIC_RAW },
	{ "boot", DAT_CLOCK_NS, CLOCK_ID_BOOTTIME },
	{ "uptime", DAT_CLOCK_TICKS, 0 },
	{ "counter", DAT_CLOCK_COUNTER, 0 },
	{ "x86-tsc", DAT_CLOCK_CYCLES, 0 },
	{ "tsc2nsec", DAT_CLOCK_CYCLES, 0 },
	{ "ppc-tb", DAT_CLOCK_CYCLES, 0 },
	{ "s390-tod", DAT_CLOCK_CYCLES, 0 },
};

void dat_clock_name(struct dat_clock *c, const char *text, size_t len)
{
	const char *open = memchr(text, '[', len), *end = text + len;

	if (open) {
		const char *close = memchr(open, ']', (size_t)(end - open));

		text = open + 1;
		end = close ? close : end;
	}
	len = strnlen(text, (size_t)(end - text));
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	if (!len)
		return;
	len = len < sizeof(c->name) ? len : sizeof(c->name) - 1;
	memcpy(c->name, text, len);
	c->name[len] = '\0';
	c->kind = DAT_CLOCK_NS;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, c->name) == 0)
			c->kind = known[i].kind;
}

uint32_t dat_clock_number(const struct dat_clock *c)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, c->name) == 0)
			return known[i].number;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct dat_shift *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Those of one CPU: all times, then all offsets, then all scalings. */
static bool read_cpu(struct dat_clock *c, struct bytes_in *in, uint32_t first, uint32_t nr)
{
	struct dat_shift *s = &c->shifts[first];

	for (uint32_t i = 0; i < nr; i++)
		s[i].from = (int64_t)bytes_u64(in);
	for (uint32_t i = 0; i < nr; i++)
		s[i].offset = (int64_t)bytes_u64(in);
	for (uint32_t i = 0; i < nr; i++)
		s[i].scaling = (int64_t)bytes_u64(in);
	return !in->is_bad;
}

/* Later versions of trace-cmd have bits behind the point of scalings, after all else. */
static void read_fractions(struct dat_clock *c, struct bytes_in *in, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && bytes_left(in); i++)
		c->shifts[i].fraction = (int64_t)bytes_u64(in);
	for (uint32_t i = 0; i < nr; i++)
		if (c->shifts[i].fraction < 0 || c->shifts[i].fraction > FRACTION_MAX)
			c->shifts[i].fraction = 0;
}

int dat_clock_shifts(struct dat_clock *c, struct reader *r, struct bytes_in in)
{
	uint32_t nr_cpus, nr, total = 0;
	uint64_t max = bytes_left(&in) / sizeof(uint64_t) / NUMBERS;

	(void)bytes_u64(&in); /* whose clock it is */
	c->is_interpolated = bytes_u32(&in) & INTERPOLATE;
	nr_cpus = bytes_u32(&in);
	if (in.is_bad || nr_cpus > READER_CPUS_MAX)
		return -EBADMSG;
	c->nr_shift_cpus = 0;
	c->first_shift = ARENA_ARRAY(r->mem, uint32_t, nr_cpus + 1);
	c->shifts = ARENA_ARRAY(r->mem, struct dat_shift, (size_t)max + 1);
	if (!c->first_shift || !c->shifts)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_cpus; i++) {
		nr = bytes_u32(&in);
		if (nr > max - total || !read_cpu(c, &in, total, nr))
			return -EBADMSG;
		c->first_shift[i] = total;
		total += nr;
	}
	c->first_shift[nr_cpus] = total;
	read_fractions(c, &in, total);
	for (uint32_t i = 0; i < nr_cpus; i++)
		qsort(&c->shifts[c->first_shift[i]], c->first_shift[i + 1] - c->first_shift[i],
		      sizeof(struct dat_shift), by_time);
	c->nr_shift_cpus = nr_cpus;
	return 0;
}

/* The last one from before a time that is not the last of all: the two around it. */
static uint32_t find_shift(const struct dat_shift *s, uint32_t nr, int64_t time)
{
	uint32_t low = 0, high = nr - 1; /* the answer is in [low, high) */

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (s[mid].from <= time)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Numbers of a hostile file may overflow: the result is then meaningless, but defined. */
static __int128 times(__int128 a, __int128 b)
{
	return (__int128)((unsigned __int128)a * (unsigned __int128)b);
}

static uint64_t to_host(const struct dat_clock *c, uint32_t cpu, uint64_t raw)
{
	const struct dat_shift *s = &c->shifts[c->first_shift[cpu]];
	uint32_t nr = c->first_shift[cpu + 1] - c->first_shift[cpu];
	__int128 offset, delta;

	if (nr < 2)
		return nr ? raw + (uint64_t)s->offset : raw;
	s += find_shift(s, nr, (int64_t)raw);
	offset = s->offset;
	delta = (__int128)s[1].from - s->from;
	if (c->is_interpolated && delta > 0)
		offset += (times((__int128)(int64_t)raw - s->from,
		                 (__int128)s[1].offset - s->offset) +
		           delta / 2) /
		          delta;
	return (uint64_t)(times((int64_t)raw, s->scaling) >> s->fraction) + (uint64_t)offset;
}

uint64_t dat_clock_ns(const struct dat_clock *c, uint32_t cpu, uint64_t raw)
{
	if (cpu < c->nr_shift_cpus)
		raw = to_host(c, cpu, raw);
	if (c->mult)
		raw = (uint64_t)((unsigned __int128)raw * c->mult >> (c->shift & SHIFT_MAX));
	return raw + c->offset_ns;
}
