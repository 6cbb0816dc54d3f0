/*
 * unwind_dump PID [KEY=VALUE]... — samples a process and prints its user stacks as addresses, for tests and benches.
 *
 * Keys: how (fp, table, dwarf, or both: each sample is walked by tables and, from a copy of the same moment, by libdw),
 * freq, ms, cpu (only this one), kernel (1: the kernel's part is walked, too), rows (0 = without). One line of JSON per row, leaf first, and a last one: samples by where they ended, what
 * was lost, BPF run time per sample, the tables' use of room; of both, how many were equal, and some that were not.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/text.h"
#include "collect/bpf_cost.h"
#include "collect/sample/sampler.h"
#include "collect/sample/unwind_maps.h"
#include "profile/profiler/unwinder.h"
#include "symbol/symbolizer.h"
#include "sys/cpulist.h"
#include "sys/stack_copy.h"

#define MS_NS    1000000ULL
#define SHOWN    8U
#define STEP_US  20000U
#define TABLE_NS (20000 * MS_NS)

/* Samples that were walked both ways. */
struct compared {
	uint64_t all, table_whole, dwarf_whole, both_whole, equal;
	struct prof_stack shown[SHOWN][2];
	uint32_t nr_shown;
};

struct dump {
	int argc;
	char **argv;
	uint32_t pid;
	struct symbolizer *symbols;
	struct sampler *sampler;
	struct json_writer w;
	uint64_t ends[PROF_NR_ENDS];
	struct compared compared;
	uint64_t tables_ns;
};

static const char *text_of(const struct dump *u, const char *key, const char *fallback)
{
	size_t len = strlen(key);

	for (int i = 2; i < u->argc; i++)
		if (strncmp(u->argv[i], key, len) == 0 && u->argv[i][len] == '=')
			return u->argv[i] + len + 1;
	return fallback;
}

static uint64_t number_of(const struct dump *u, const char *key, uint64_t fallback)
{
	const char *text = text_of(u, key, NULL);
	uint64_t v;

	return text && text_to_u64(text, &v) ? v : fallback;
}

static bool is_how(const struct dump *u, const char *how)
{
	return strcmp(text_of(u, "how", "table"), how) == 0;
}

static int nothing(void *ctx)
{
	(void)ctx;
	return 0;
}

static void compare(struct compared *c, const struct prof_stack *table,
                    const struct prof_stack *dwarf)
{
	bool is_equal = table->nr == dwarf->nr &&
	                memcmp(table->ips, dwarf->ips, table->nr * sizeof(table->ips[0])) == 0;
	bool is_table_whole = table->end == PROF_END_WHOLE;
	bool is_dwarf_whole = dwarf->end == PROF_END_WHOLE;

	c->all++;
	c->table_whole += is_table_whole;
	c->dwarf_whole += is_dwarf_whole;
	if (is_table_whole && is_dwarf_whole) {
		c->both_whole++;
		c->equal += is_equal;
	}
	if (!is_equal && is_table_whole && is_dwarf_whole && c->nr_shown < SHOWN) {
		c->shown[c->nr_shown][0] = *table;
		c->shown[c->nr_shown++][1] = *dwarf;
	}
}

static int walk(void *ctx, const struct stack_copy *copy, struct prof_stack *out)
{
	struct dump *u = ctx;
	int err = symbolizer_walk(u->symbols, copy, out);

	if (!err && copy->walked)
		compare(&u->compared, copy->walked, out);
	return err;
}

static void print_stack(struct json_writer *w, const char *key, const uint64_t *ips, uint32_t nr)
{
	jw_begin_array(w, key);
	for (uint32_t i = 0; i < nr; i++)
		jw_u64(w, NULL, ips[i]);
	jw_end_array(w);
}

static int take_row(void *ctx, const struct sampler_row *r)
{
	struct dump *u = ctx;

	if (!r->nr_user)
		return 0;
	u->ends[r->user_end] += r->count;
	if (!number_of(u, "rows", 1))
		return 0;
	jw_begin_object(&u->w, NULL);
	jw_u64(&u->w, "count", r->count);
	jw_u64(&u->w, "end", r->user_end);
	print_stack(&u->w, "user", r->user, r->nr_user);
	jw_end_object(&u->w);
	return jw_finish(&u->w);
}

/* All tables are there before the first sample. */
static int make_tables(struct dump *u, struct unwinder **out)
{
	uint64_t now = clock_boot_ns();
	int err = symbolizer_read_process(u->symbols, u->pid, now);

	if (!err && sampler_unwind(u->sampler)) {
		err = unwinder_new(u->symbols, sampler_unwind(u->sampler), u->pid, out);
		if (!err)
			err = unwinder_mapped(*out, u->pid);
		now = clock_boot_ns();
		if (!err)
			err = unwinder_flush(*out, now, now + TABLE_NS);
		u->tables_ns = clock_boot_ns() - now;
	}
	return err;
}

static int sample(struct dump *u, struct bpf_cost *cost, struct diag *d)
{
	uint64_t until = clock_boot_ns() + number_of(u, "ms", 1000) * MS_NS;
	int fds[4], err;

	bpf_cost_init(cost, fds, sampler_program_fds(u->sampler, fds, 4));
	err = sampler_start(u->sampler, d);
	if (!err && bpf_cost_begin(cost))
		err = diag_set(d, -1, NULL, "no BPF statistics");
	while (!err && clock_boot_ns() < until) {
		usleep(STEP_US);
		err = sampler_take_copies(u->sampler);
	}
	sampler_stop(u->sampler);
	bpf_cost_end(cost);
	return err ? err : sampler_read(u->sampler, take_row, u, d);
}

static void print_compared(struct dump *u)
{
	const struct compared *c = &u->compared;

	jw_u64(&u->w, "compared", c->all);
	jw_u64(&u->w, "table_whole", c->table_whole);
	jw_u64(&u->w, "dwarf_whole", c->dwarf_whole);
	jw_u64(&u->w, "both_whole", c->both_whole);
	jw_u64(&u->w, "equal", c->equal);
	jw_begin_array(&u->w, "different");
	for (uint32_t i = 0; i < c->nr_shown; i++) {
		jw_begin_object(&u->w, NULL);
		jw_u64(&u->w, "table_end", c->shown[i][0].end);
		print_stack(&u->w, "table", (const uint64_t *)c->shown[i][0].ips,
		            c->shown[i][0].nr);
		jw_u64(&u->w, "dwarf_end", c->shown[i][1].end);
		print_stack(&u->w, "dwarf", (const uint64_t *)c->shown[i][1].ips,
		            c->shown[i][1].nr);
		jw_end_object(&u->w);
	}
	jw_end_array(&u->w);
}

static int print_last(struct dump *u, const struct bpf_cost *cost)
{
	struct unwind_maps_use use = { 0 };
	struct sampler_totals totals;
	double ns = 0;

	sampler_totals(u->sampler, &totals);
	if (sampler_unwind(u->sampler))
		unwind_maps_use(sampler_unwind(u->sampler), &use);
	jw_begin_object(&u->w, NULL);
	jw_u64(&u->w, "samples", totals.kept);
	jw_u64(&u->w, "lost", totals.lost);
	jw_begin_array(&u->w, "ends");
	for (int i = 0; i < PROF_NR_ENDS; i++)
		jw_u64(&u->w, NULL, u->ends[i]);
	jw_end_array(&u->w);
	print_compared(u);
	jw_bool(&u->w, "has_cost", bpf_cost_ns_per_run(cost, &ns));
	jw_double(&u->w, "ns_per_run", ns, 1);
	jw_u64(&u->w, "runs", cost->runs);
	jw_u64(&u->w, "tables_ns", u->tables_ns);
	jw_u64(&u->w, "pages", use.nr_pages);
	jw_u64(&u->w, "left_out", use.left_out);
	jw_end_object(&u->w);
	return jw_finish(&u->w);
}

static int run(struct dump *u, const struct cpulist *online, struct diag *d)
{
	SCOPED(sample_event_done) struct sample_event event = { 0 };
	SCOPED(scoped_unwinder) struct unwinder *unwinder = NULL;
	struct bpf_cost cost = { .stats_fd = -1 };
	struct sampler_cfg cfg = {
		.event = &event,
		.frequency = number_of(u, "freq", 999),
		.online = online,
		.cpu = (uint32_t)number_of(u, "cpu", SAMPLER_ANY_CPU),
		.tgid = u->pid,
		.by_tables = is_how(u, "table") || is_how(u, "both"),
		.copies = is_how(u, "dwarf") || is_how(u, "both") ? PROF_COPIES_ALL
		                                                  : PROF_COPIES_NONE,
		.walker = { u, nothing, walk },
		.no_kernel = !number_of(u, "kernel", 0),
	};
	int err = sample_event_parse("cpu-clock", &event, d);

	if (!err)
		err = sampler_open(&cfg, d, &u->sampler);
	if (!err)
		err = symbolizer_new(&(struct symbolizer_cfg){ 0 }, d, &u->symbols);
	if (!err)
		err = make_tables(u, &unwinder);
	if (!err)
		err = sample(u, &cost, d);
	if (!err)
		err = print_last(u, &cost);
	return err;
}

int main(int argc, char **argv)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	SCOPED(scoped_free) char *text = NULL;
	static struct dump u;
	struct diag d = { 0 };
	char line[600];
	uint64_t pid = 0;
	int err;

	if (argc < 2 || !text_to_u64(argv[1], &pid) ||
	    text_read_file("/sys/devices/system/cpu/online", 4096, &text) ||
	    cpulist_parse(text, &online))
		return 2;
	u.argc = argc;
	u.argv = argv;
	u.pid = (uint32_t)pid;
	jw_init(&u.w, stdout, false);
	err = run(&u, &online, &d);
	sampler_close(u.sampler);
	symbolizer_free(u.symbols);
	if (!err)
		return 0;
	diag_format(&d, line, sizeof(line));
	fprintf(stderr, "%s (%d)\n", line, err);
	return 1;
}
