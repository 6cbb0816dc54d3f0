/*
 * make_fleet DIR HOSTS INTERVALS — Parquet files as HOSTS machines with `serve --parquet --every 5m` would have written them, over INTERVALS
 * intervals: made-up delays, slices and sleeps, and 20 cgroups with delays, through the daemon's own writer. A tenth of the machines waits longer.
 * The same arguments give the same numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "serve/columns.h"

#define SECOND_NS  1000000000ULL
#define EVERY_NS   (300 * SECOND_NS)
#define MIDNIGHT   (1794960000ULL * SECOND_NS) /* 2026-11-18 00:00:00 UTC */
#define NR_CGROUPS 20U
#define PER_DIST \
	4000U /* durations of an interval; the counts of a busy machine are larger, not more */
#define PER_CGROUP 400U

/* Made-up files need not survive a crash: that of the C library would take most of the time. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Most are short, each power of two half as often as the one before. */
static uint64_t duration(uint64_t *seed, uint64_t least_ns)
{
	uint64_t bits = next(seed);
	uint32_t doubled = bits ? (uint32_t)__builtin_ctzll(bits) : 0;

	return (least_ns + next(seed) % least_ns) << (doubled < 14 ? doubled : 14);
}

static void fill(struct hist *h, uint64_t *seed, uint64_t least_ns, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		hist_add(h, duration(seed, least_ns), 0, 0);
}

static void live_through(struct sums *s, uint64_t *seed, bool is_slow, uint64_t boot_ns)
{
	char path[64];

	for (int i = 0; i < DISTS; i++) {
		struct sums_peak peak = { .ns = 1000000 + next(seed) % 30000000,
			                  .at_ns = boot_ns,
			                  .tid = 1 + (uint32_t)(next(seed) % 30000),
			                  .comm = "worker" };

		if (!(dist_defs[i].group & s->groups))
			continue;
		fill(&s->dists[i].hist, seed,
		     i >= DIST_SLICE_SLEPT ? 20000
		     : is_slow             ? 6000
		                           : 2000,
		     PER_DIST);
		sums_peak(s, (enum dist_id)i, &peak);
	}
	for (uint32_t i = 0; i < NR_CGROUPS; i++) {
		uint32_t seat;

		(void)snprintf(path, sizeof(path), "/system.slice/service-%u.service", i);
		seat = seats_find(s->cgroups, path);
		seats_note(s->cgroups, seat, i + 1, 1000000);
		seats_choose(s->cgroups, boot_ns);
		fill(seats_sums(s->cgroups, seat)->delay, seed, is_slow ? 6000 : 2000, PER_CGROUP);
	}
}

static int write_host(const char *dir, unsigned int nr, unsigned int nr_intervals, struct diag *d)
{
	struct serve_source src = { .kernel = "6.12.9-amd64", .machine = "x86_64" };
	struct columns_now now = { 1000 * SECOND_NS, MIDNIGHT };
	struct columns_cfg cfg = {
		.dir = dir, .labels = "{\"role\":\"web\"}", .version = "bench", .every_ns = EVERY_NS
	};
	uint64_t seed = 0x9E3779B97F4A7C15ULL + nr;
	struct columns *c = NULL;
	struct sums *s = NULL;
	int err = sums_new(NR_CGROUPS, &s);

	(void)snprintf(src.host, sizeof(src.host), "web-%04u", nr);
	(void)snprintf(src.boot_id, sizeof(src.boot_id), "00000000-0000-4000-8000-%012u", nr);
	src.clock_to_unix_s = (double)(now.unix_ns - now.boot_ns) / 1e9;
	if (!err)
		err = columns_open(&cfg, d, &c);
	if (!err) {
		s->groups = STAT_GROUP_LATENCY | STAT_GROUP_SLICE | STAT_GROUP_SLEEP;
		columns_begin(c, &src, s, NULL, &now);
	}
	for (unsigned int i = 0; i < nr_intervals && !err; i++) {
		live_through(s, &seed, nr % 10 == 0, now.boot_ns);
		now.boot_ns += EVERY_NS;
		now.unix_ns += EVERY_NS;
		columns_write(c, &now);
		err = s->columns.failures.items[0].now
		              ? diag_set(d, -1, NULL, "a file could not be written")
		              : 0;
	}
	columns_close(c);
	sums_free(s);
	return err;
}

int main(int argc, char **argv)
{
	unsigned int hosts = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	unsigned int intervals = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 10) : 0;
	struct diag d = { 0 };
	int err = 0;

	if (argc != 4 || !hosts || !intervals) {
		fprintf(stderr, "make_fleet DIR HOSTS INTERVALS\n");
		return 2;
	}
	for (unsigned int i = 0; i < hosts && !err; i++)
		err = write_host(argv[1], i, intervals, &d);
	if (err)
		fprintf(stderr, "make_fleet: %s\n", d.what);
	return err ? 1 : 0;
}
