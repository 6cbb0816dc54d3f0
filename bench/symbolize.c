/*
 * symbolize — how long it takes to name the frames of 100,000 samples, from nothing: reading the kernel's list, the
 * maps of a process and its files included. Three sets of addresses: stacks of 20 frames over some 2,000 places, as profiles have
 * them; 100,000 places that are all different; and the first again with files, lines and inlined calls. Of several
 * rounds the best counts, and of that the time on the CPU, so that others on the machine matter little.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "symbol/proc_maps.h"
#include "symbol/symbolizer.h"

#define ROUNDS        3
#define SAMPLES       100000U
#define DEPTH         20U
#define KERNEL_DEPTH  6U
#define PLACES        2000U
#define BAR_S         1.0
#define LINES_BAR_S   1.0
#define MAPS_BYTES    ((size_t)16 << 20)
#define RANGES_MAX    64
#define KERNEL_PLACES 8192U

struct range {
	uint64_t start, end;
};

struct addresses {
	struct range user[RANGES_MAX];
	uint32_t nr_user;
	uint64_t kernel[KERNEL_PLACES];
	uint32_t nr_kernel;
};

static uint32_t seed = 1;

static uint32_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

/* What this program has mapped: itself, the C library and those that it is linked with. */
static void read_user(struct addresses *c)
{
	struct proc_maps_line line;
	struct scan rest;
	char *text = NULL;

	if (text_read_file("/proc/self/maps", MAPS_BYTES, &text))
		exit(1);
	rest = (struct scan){ text, text + strlen(text) };
	while (proc_maps_next(&rest, &line))
		if (line.is_executable && line.path[0] == '/' && c->nr_user < RANGES_MAX)
			c->user[c->nr_user++] = (struct range){ line.start, line.end };
	free(text);
}

static void read_kernel(struct addresses *c)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	uint64_t address;
	char type, row[512];

	if (!in)
		exit(1);
	/* Every fifth, so that they are from all over the kernel. */
	for (uint32_t i = 0; fgets(row, sizeof(row), in) && c->nr_kernel < KERNEL_PLACES; i++)
		if (i % 5 == 0 && sscanf(row, "%" SCNx64 " %c", &address, &type) == 2 && address &&
		    (type == 't' || type == 'T'))
			c->kernel[c->nr_kernel++] = address;
	fclose(in);
}

static uint64_t place_of(const struct addresses *c, uint32_t number, bool is_kernel)
{
	uint64_t mixed = (uint64_t)number * 0x9e3779b97f4a7c15ULL;
	const struct range *r;

	if (is_kernel && c->nr_kernel)
		return c->kernel[number % c->nr_kernel] + mixed % 8 * 4;
	r = &c->user[mixed % c->nr_user];
	return r->start + (mixed >> 8) % (r->end - r->start);
}

struct result {
	double seconds;
	uint64_t nr_named, nr;
};

/* Of this process and of those that read files for it and have ended. */
static uint64_t cpu_ns(void)
{
	struct rusage own, children;

	if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
		exit(1);
	return (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
	                  children.ru_stime.tv_sec) *
	               1000000000 +
	       (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
	                  children.ru_stime.tv_usec) *
	               1000;
}

static struct result run(const struct addresses *c, bool is_distinct, bool wants_lines)
{
	const struct symbolizer_cfg cfg = { .wants_lines = wants_lines };
	struct symbol_frame f[SYMBOL_FRAMES_MAX];
	uint32_t me = (uint32_t)getpid(), depth = is_distinct ? 1 : DEPTH;
	uint64_t start = clock_boot_ns(), cpu_start = cpu_ns();
	struct result r = { 0 };
	struct symbolizer *s = NULL;
	struct diag d = { 0 };

	seed = 1;
	if (symbolizer_new(&cfg, &d, &s)) {
		fprintf(stderr, "%s\n", d.what);
		exit(1);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		for (uint32_t at = 0; at < depth; at++) {
			uint32_t number = is_distinct ? i : random_number() % PLACES;
			bool is_kernel = is_distinct ? i % 4 == 0 : at < KERNEL_DEPTH;

			symbolizer_frames(s, is_kernel ? 0 : me, start,
			                  place_of(c, number, is_kernel), f);
			r.nr_named += f[0].name != NULL;
			r.nr++;
		}
	}
	symbolizer_free(s);
	r.seconds = (double)(cpu_ns() - cpu_start) / 1e9;
	return r;
}

static int verdict(const char *name, const struct addresses *c, bool is_distinct, bool wants_lines)
{
	struct result best = { .seconds = 1e9 };
	double bar = wants_lines ? LINES_BAR_S : BAR_S;

	for (int round = 0; round < ROUNDS; round++) {
		struct result r = run(c, is_distinct, wants_lines);

		if (r.seconds < best.seconds)
			best = r;
	}
	fprintf(stderr, "%s: %" PRIu64 " frames, %.0f %% with a name, %.0f ns each\n", name,
	        best.nr, 100.0 * (double)best.nr_named / (double)best.nr,
	        best.seconds * 1e9 / (double)best.nr);
	printf("%s %.3f %.3g %s\n", name, best.seconds, bar, best.seconds <= bar ? "pass" : "fail");
	return best.seconds > bar;
}

int main(void)
{
	static struct addresses c;
	int failed;

	read_user(&c);
	read_kernel(&c);
	failed = verdict("symbolize-stacks-s", &c, false, false);
	failed |= verdict("symbolize-distinct-s", &c, true, false);
	failed |= verdict("symbolize-lines-s", &c, false, true);
	return failed;
}
