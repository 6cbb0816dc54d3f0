#include "../unit.h"

#include "stat_fixture.h"

#include <stdio.h>
#include <string.h>

#define US 1000ULL

void stat_fixture_init(struct stat_fixture *f, enum tally_by by, uint32_t groups)
{
	memset(f, 0, sizeof(*f));
	f->mem = arena_new(64 << 20);
	assert_non_null(f->mem);
	for (uint32_t i = 0; i < FIXTURE_CPUS; i++)
		f->cpu_ptrs[i] = &f->cpus[i];
	f->in = (struct stat_report_in){
		.rows = f->row_ptrs,
		.cpus = f->cpu_ptrs,
		.nr_cpus = FIXTURE_CPUS,
		.by = by,
		.display = by,
		.groups = groups,
		.nr_llcs = 1,
		.nr_nodes = 1,
		.time_ns = FIXTURE_NOW,
		.wall_ns = FIXTURE_WALL,
		.interval_s = 1.0,
		.elapsed_s = 12.0,
		.ipc = { -1, -1, -1, -1 },
	};
}

void stat_fixture_done(struct stat_fixture *f)
{
	for (size_t i = 0; i < f->in.nr_rows; i++) {
		struct tally_row *row = &f->rows[i];

		for (uint32_t k = 0; row->migration_rates && k < 3; k++)
			rates_done(&row->migration_rates[k]);
		for (uint32_t k = 0; row->counter_rates && k < STAT_COUNTERS; k++)
			rates_done(&row->counter_rates[k]);
	}
	arena_free(f->mem);
}

static void *must(void *p)
{
	assert_non_null(p);
	return p;
}

struct tally_row *fixture_row(struct stat_fixture *f, const char *comm, uint32_t tid)
{
	struct tally_row *row = &f->rows[f->in.nr_rows];

	assert_true(f->in.nr_rows < FIXTURE_ROWS);
	f->row_ptrs[f->in.nr_rows++] = row;
	memcpy(row->comm, comm, strnlen(comm, sizeof(row->comm)));
	memcpy(row->process, row->comm, sizeof(row->comm));
	row->tid = tid;
	row->tgid = tid;
	for (uint32_t v = 0; v < TALLY_VIEWS; v++)
		row->view[v].members = (struct tally_members){ 1, 1, { tid } };
	return row;
}

static void add_sample(struct stat_fixture *f, struct tally_view *view, uint32_t metric,
                       uint64_t us, uint64_t count)
{
	if (!view->hist[metric])
		view->hist[metric] = must(ARENA_ARRAY(f->mem, struct hist, 1));
	view->metric_members[metric] = view->members;
	for (uint64_t i = 0; i < count; i++)
		hist_add(view->hist[metric], us * US, FIXTURE_NOW - us * US, 3);
}

void fixture_total_sample(struct stat_fixture *f, struct tally_row *row, uint32_t metric,
                          uint64_t us, uint64_t count)
{
	add_sample(f, &row->view[TALLY_TOTAL], metric, us, count);
}

void fixture_sample(struct stat_fixture *f, struct tally_row *row, uint32_t metric, uint64_t us,
                    uint64_t count)
{
	add_sample(f, &row->view[TALLY_TOTAL], metric, us, count);
	add_sample(f, &row->view[TALLY_INTERVAL], metric, us, count);
	if (metric == STAT_SLICE_VOLUNTARY || metric == STAT_SLICE_INVOLUNTARY) {
		row->view[TALLY_TOTAL].run_ns += us * US * count;
		row->view[TALLY_INTERVAL].run_ns += us * US * count;
	}
}

void fixture_depth(struct stat_fixture *f, struct tally_row *row, uint32_t depth, uint64_t count)
{
	for (uint32_t v = 0; v < TALLY_VIEWS; v++) {
		struct tally_view *view = &row->view[v];
		uint32_t slot = depth < STAT_DEPTH_SLOTS ? depth : STAT_DEPTH_SLOTS - 1;

		if (!view->depth)
			view->depth = must(ARENA_ARRAY(f->mem, struct tally_depth, 1));
		view->depth->count += count;
		view->depth->sum += depth * count;
		view->depth->slots[slot] += count;
		if (depth > view->depth->max) {
			view->depth->max = depth;
			view->depth->max_at_ns = FIXTURE_NOW - depth * US;
			view->depth->max_cpu = 1;
		}
	}
}

void fixture_migrations(struct stat_fixture *f, struct tally_row *row, uint32_t which,
                        uint64_t per_s, uint64_t count)
{
	if (!row->migration_rates)
		row->migration_rates = must(ARENA_ARRAY(f->mem, struct rates, 3));
	assert_int_equal(rates_add(&row->migration_rates[which], per_s, count), 0);
	for (uint32_t v = 0; v < TALLY_VIEWS; v++) {
		struct stat_migrations *m = &row->view[v].migrations;

		if (which == 0)
			m->all += per_s * count;
		else if (which == 1)
			m->cross_llc += per_s * count;
		else
			m->cross_node += per_s * count;
	}
}

void fixture_counter(struct stat_fixture *f, struct tally_row *row, uint32_t index, uint64_t per_s,
                     uint64_t count)
{
	if (!row->counter_rates)
		row->counter_rates = must(ARENA_ARRAY(f->mem, struct rates, STAT_COUNTERS));
	assert_int_equal(rates_add(&row->counter_rates[index], per_s, count), 0);
	for (uint32_t v = 0; v < TALLY_VIEWS; v++) {
		row->view[v].counters[index] += per_s * count;
		row->view[v].counter_slices += count;
	}
}

void fixture_cpu(struct stat_fixture *f, uint32_t cpu, uint64_t delay_us, uint64_t idle_us,
                 uint64_t count)
{
	f->cpus[cpu].is_known = true;
	for (uint32_t v = 0; v < TALLY_VIEWS; v++)
		for (uint64_t i = 0; i < count; i++) {
			hist_add(&f->cpus[cpu].delay[v], delay_us * US, FIXTURE_NOW, cpu);
			hist_add(&f->cpus[cpu].idle[v], idle_us * US, FIXTURE_NOW, cpu);
		}
}

void fixture_build(struct stat_fixture *f)
{
	int err = stat_report_build(&f->in, f->mem, &f->diag, &f->report);

	if (err)
		fail_msg("%d: %s", err, f->diag.what);
}

const struct stat_table *fixture_table(const struct stat_fixture *f, enum stat_table_id id)
{
	for (size_t i = 0; i < f->report.nr_tables; i++)
		if (f->report.tables[i].id == id)
			return &f->report.tables[i];
	return NULL;
}

static void add_threads(struct stat_fixture *f)
{
	for (uint32_t i = 0; i < 12; i++) {
		struct tally_row *row = fixture_row(f, "dbserver", 2101 + i);

		row->tgid = 2101;
		row->cgroup_id = 42;
		fixture_sample(f, row, STAT_DELAY_WOKEN, 4, 100);
		fixture_sample(f, row, STAT_DELAY_PREEMPTED, 38, 20 + i);
		fixture_sample(f, row, STAT_DELAY_PREEMPTED, 1500, 1);
		fixture_sample(f, row, TALLY_DELAY_NEW, 7, 1);
		fixture_sample(f, row, STAT_WAKING, 6, 100);
		fixture_sample(f, row, STAT_SLICE_VOLUNTARY, 41 + i, 100);
		fixture_sample(f, row, STAT_SLICE_INVOLUNTARY, 210, 1);
		fixture_sample(f, row, STAT_SLEEP_S, 900, 90);
		fixture_sample(f, row, STAT_SLEEP_D, 12000, 10);
		fixture_depth(f, row, 1 + i % 3, 100);
		fixture_migrations(f, row, 0, 3 + i, 2);
		fixture_migrations(f, row, 1, i % 2, 2);
		fixture_migrations(f, row, 2, i % 3, 2);
		fixture_counter(f, row, 0, 200000000, 1);
		fixture_counter(f, row, 1, 10000000, 1);
		fixture_counter(f, row, 2, 480000000, 1);
		fixture_counter(f, row, 3, 9000000, 1);
		fixture_counter(f, row, 4, 8400 * (1 + i), 4);
	}
}

static void add_singles(struct stat_fixture *f)
{
	struct tally_row *logger = fixture_row(f, "logger", 2188);
	struct tally_row *encoder = fixture_row(f, "encoder", 2301);
	struct tally_row *spinner = fixture_row(f, "bad\033[2Jname", 2400);

	logger->cgroup_id = 42;
	fixture_sample(f, logger, STAT_DELAY_WOKEN, 6, 220);
	fixture_sample(f, logger, STAT_SLEEP_S, 120000, 200);
	fixture_sample(f, logger, STAT_SLICE_VOLUNTARY, 12, 220);
	fixture_depth(f, logger, 1, 220);
	fixture_counter(f, logger, 0, 500000, 1);

	encoder->cgroup_id = 77;
	fixture_sample(f, encoder, STAT_DELAY_PREEMPTED, 15000, 40);
	fixture_sample(f, encoder, STAT_SLICE_INVOLUNTARY, 2870, 900);
	fixture_sample(f, encoder, STAT_SLICE_INVOLUNTARY, 3901, 20);
	fixture_counter(f, encoder, 0, 3000000000, 1);
	fixture_counter(f, encoder, 2, 7000000000, 1);

	spinner->cgroup_id = 99;
	spinner->open_slice_ns = 12000000 * US;
	spinner->open_slice_tid = 2400;
}

static void add_schedstat(struct stat_fixture *f)
{
	static const struct stat_pair smt[] = {
		{ .name = "lb_count_idle", .value = 5000 },
		{ .name = "lb_failed_idle", .value = 10 },
		{ .name = "alb_count", .value = 0 },
		{ .name = "sbe_cnt", .value = 0 },
		{ .name = "ttwu_wake_remote", .value = 7 },
	};
	static const struct stat_pair mc[] = {
		{ .name = "lb_count_idle", .value = 120 },
		{ .name = "lb_failed_idle", .value = 2 },
		{ .name = "alb_count", .value = 3 },
		{ .name = "sbe_cnt", .value = 0 },
		{ .name = "ttwu_wake_remote", .value = 1 },
	};
	static const struct stat_domain domains[] = { { "SMT", { smt, 5 } }, { "MC", { mc, 5 } } };
	static const struct stat_schedstat_in in = {
		.domains = domains,
		.nr_domains = 2,
		.cpu = { 12, 20000, 9120, 4411, 5090, 3120000000, 88000000, 18000, 0 },
	};

	f->in.schedstat = &in;
}

static void add_outliers(struct stat_fixture *f)
{
	static const struct outlier waits[] = {
		{
			.at_ns = FIXTURE_NOW - 500000000,
			.wait_ns = 5000000,
			.cause = STAT_CAUSE_WOKEN,
			.cpu = 3,
			.wait_cpu = 3,
			.tid = 2101,
			.tgid = 2101,
			.comm = "dbserver",
			.nr_holders = 2,
			.holders = { { 4100000, 2301, 2301, 2, "encoder" },
		                     { 500000, 2188, 2188, 1, "logger" } },
			.idle_ns = 150000,
			.unexplained_ns = 250000,
		},
		{
			.at_ns = FIXTURE_NOW - 400000000,
			.wait_ns = 15000000,
			.cause = STAT_CAUSE_PREEMPTED,
			.cpu = 1,
			.wait_cpu = 0,
			.tid = 2301,
			.tgid = 2301,
			.comm = "encoder",
			.unexplained_ns = 15000000,
		},
	};
	static const struct outlier *const items[] = { &waits[0], &waits[1] };

	f->in.outliers = (struct stat_outliers){ true, 1000, 0, items, 2 };
}

static const char *cgroup_name(void *ctx, uint64_t id)
{
	(void)ctx;
	if (id == 42)
		return "/system.slice/db.service";
	return id == 77 ? "/user.slice/μservice" : NULL;
}

void fixture_machine(struct stat_fixture *f, enum tally_by display, uint32_t groups)
{
	static const struct stat_counter_in counters[] = { { "L2 Cache Misses", 4 } };
	static const struct stat_pair events[] = { { .name = "switch", .value = 5000 },
		                                   { .name = "wakeup", .value = 4000 } };
	static const struct stat_pair lost[] = { { .name = "storage", .value = 0 },
		                                 { .name = "ring", .value = 3 } };

	stat_fixture_init(f, TALLY_BY_TID, groups);
	f->in.display = display;
	f->in.nr_llcs = 2;
	f->in.nr_nodes = 2;
	f->in.has_ipc = true;
	for (int i = 0; i < STAT_IPC_COUNTERS; i++)
		f->in.ipc[i] = i;
	f->in.counters = counters;
	f->in.nr_counters = 1;
	f->in.cgroup_name = cgroup_name;
	f->in.own = (struct stat_own){
		.events = { events, 2 },
		.lost = { lost, 2 },
		.has_bpf_ns = true,
		.bpf_ns_per_event = 85.4,
		.has_cpu_pct = true,
		.cpu_pct = 0.42,
		.has_bpf_pct = true,
		.bpf_pct = 1.18,
	};
	add_threads(f);
	add_singles(f);
	add_schedstat(f);
	add_outliers(f);
	for (uint32_t cpu = 0; cpu < 4; cpu++)
		fixture_cpu(f, cpu, cpu == 2 ? 2500 : 20, 300, 50);
	fixture_cpu(f, 6, 5, 20000, 10);
	f->cpus[7].is_known = true;
	f->cpus[7].open_idle_ns = 12000000 * US;
}

static void fill_dsq(struct dsq_view *v, uint64_t us, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		hist_add(&v->latency, us * 1000, FIXTURE_NOW - i, 1);
		hist_add(&v->given, 20000000, FIXTURE_NOW, 1);
		hist_add(&v->used, 5000000, FIXTURE_NOW, 1);
	}
	v->latency_max_tid = 2400;
	v->inserts = count + 2;
	v->runs = count;
	v->moved_out = 1;
	v->depth = (struct tally_depth){ .count = count, .sum = 3 * count, .max = 3 };
	v->depth.slots[3] = count;
}

void fixture_dsqs(struct stat_fixture *f)
{
	static const uint64_t ids[3] = { 0x64, 0x65, STAT_DSQ_LOCAL };
	struct tally_row *row;

	for (int i = 0; i < 3; i++) {
		f->dsqs[i] = (struct dsq_row){ .id = ids[i], .nr_now = (uint64_t)i };
		f->dsq_ptrs[i] = &f->dsqs[i];
		for (int v = 0; v < TALLY_VIEWS; v++)
			fill_dsq(&f->dsqs[i].view[v], 100U >> i, 10 * ((uint64_t)i + 1));
	}
	for (int v = 0; v < TALLY_VIEWS; v++)
		f->dsqs[0].view[v].vtime = (struct dsq_vtime){ 4, -2000, 3, 500, 1500 };
	f->in.dsqs = f->dsq_ptrs;
	f->in.nr_dsqs = 3;
	f->in.scx = (struct stat_scx){ true, "enabled", "vm_vtime", true, 3 };
	row = fixture_row(f, "queued", 2400);
	fixture_sample(f, row, STAT_DSQ_LATENCY, 70, 10);
	row->has_dsq = true;
	row->dsq_id = 0x64;
	for (int v = 0; v < TALLY_VIEWS; v++)
		row->view[v].runs = (struct tally_runs){ 10, 8, 8 * 20000000ULL, 9,
			                                 9 * 5000000ULL };
	row = fixture_row(f, "endless", 2401);
	fixture_sample(f, row, STAT_DSQ_LATENCY, 5, 2);
	row->has_dsq = true;
	row->dsq_id = STAT_DSQ_LOCAL;
}
