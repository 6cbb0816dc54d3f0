#include "../unit.h"

#include "machine_files.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sys/cpulist.h"

/* Read by threads of the source, too. */
static _Atomic uint64_t now_ns;

static uint64_t fake_clock(void)
{
	return atomic_load(&now_ns);
}

static void put_stat(const struct tree *t, const char *cpus)
{
	char text[4096] = "cpu  0 0 0 0 0 0 0 0 0 0";
	struct cpulist list = { 0 };
	size_t at = strlen(text);

	expect_eq(cpulist_parse(cpus, &list), 0);
	cpulist_for_each(cpu, &list)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
	                               "\ncpu%d 100 0 100 1000 0 0 0 0 0 0", cpu);
	cpulist_done(&list);
	tree_write(t, "proc/stat", text);
}

void machine_files_init(struct machine_files *f, const char *cpus, const char *fixture)
{
	*f = (struct machine_files){ .cfg = { .is_proc_only = true, .clock = fake_clock } };
	atomic_store(&now_ns, 100 * MACHINE_FILES_S);
	tree_init(&f->t);
	tree_write(&f->t, "proc/loadavg", "1.00 2.00 3.00 1/1 10");
	put_stat(&f->t, cpus);
	if (fixture)
		tree_unpack(&f->t, fixture);
}

void machine_files_open(struct machine_files *f)
{
	struct diag d = { 0 };

	f->cfg.root = f->t.root;
	expect_eq(machine_source_open(&f->cfg, &d, &f->s), 0);
}

void machine_files_done(struct machine_files *f)
{
	machine_source_close(f->s);
	tree_done(&f->t);
}

void machine_files_pass(double seconds)
{
	atomic_fetch_add(&now_ns, (uint64_t)(seconds * 1e9));
}

const struct machine *machine_files_refresh(struct machine_files *f, uint32_t needs)
{
	const struct machine *m = NULL;
	struct diag d = { 0 };

	expect_eq(machine_source_refresh(f->s, &(struct machine_request){ .needs = needs }, &d, &m),
	          0);
	return m;
}

const struct machine *machine_files_until(struct machine_files *f, uint32_t needs,
                                          bool (*is_so)(const struct machine *m))
{
	const struct timespec nap = { 0, 1000000 };
	const struct machine *m;

	for (int i = 0; i < 10000; i++) {
		m = machine_files_refresh(f, needs);
		if (is_so(m))
			return m;
		nanosleep(&nap, NULL);
	}
	fail();
	return NULL;
}
