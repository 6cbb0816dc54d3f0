/* tests/trace/dat_loaded — a file that is built by hand, read, and what became of it. Included once by a test. */
#pragma once

#include "loaded.h"

#include "dat_build.h"

static struct loaded l;
static struct dat_build f;

enum { LOST = 1U << 31, STORED = 1U << 30 };
enum { OPT_BUFFER = 3, OPT_CLOCK = 4, OPT_UNAME = 5, OPT_OFFSET = 7, OPT_CPUCOUNT = 8 };
enum { OPT_VERSION = 9, OPT_SHIFT = 12, OPT_TSC = 14, OPT_TEXT = 22 };

static inline int setup(void **state)
{
	(void)state;
	f.is_big = false;
	f.nr_long = 8;
	f.packed = NULL;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	loaded_done(&l);
	return 0;
}

static inline void read_it(void)
{
	loaded_done(&l);
	load_cfg(&l, f.buf, f.len, NULL);
}

static inline void read_well(void)
{
	read_it();
	if (l.err)
		print_message("%s\n", l.d.what);
	expect_eq(l.err, 0);
}

static inline uint64_t damage(const char *name)
{
	return counted_damage(l.info, name);
}

static inline uint64_t events(const char *name)
{
	return counted_events(l.info, name);
}

/* The end of a header of version 6: where the data of its CPUs is stands at *table. */
static inline void flyrecord(uint32_t nr_cpus, size_t *table)
{
	dat_raw(&f, "flyrecord", 10);
	*table = f.len;
	for (uint32_t i = 0; i < 2 * nr_cpus; i++)
		dat_num(&f, 0, 8);
	dat_num(&f, 0, 8); /* the clock once more: nothing */
	dat_align(&f, DAT_PAGE);
}

static inline void begin(uint32_t nr_cpus, size_t *table)
{
	dat_v6(&f, nr_cpus);
	flyrecord(nr_cpus, table);
}

/* The data of a CPU is from there to the end of the file. */
static inline void put_cpu(size_t table, uint32_t cpu, size_t from)
{
	dat_put(&f, table + 16 * cpu, from, 8);
	dat_put(&f, table + 16 * cpu + 8, f.len - from, 8);
}
