#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_sensors.h"

const struct fixture_cfg fixture_small = {
	.nr_cpus = 8,
	.cpus_per_llc = 4,
	.cpus_per_node = 8,
	.nr_threads = 40,
	.nr_dsqs = 6,
	.nr_nets = 3,
	.nr_programs = 5,
	.nr_symbols = 30,
};

/* Escape sequences, bells, C1 controls, broken UTF-8, text that turns around, wide and endless ones. */
const char *const fixture_hostile_names[] = {
	"\x1b[2J\x1b]0;owned\a",
	"a\nb\rc\td",
	"\xc2\x9b"
	"31m",
	"\xff\xfe\x80\xc3",
	"\xe2\x80\xae"
	"txt.exe",
	"\xe5\xb7\xa5\xe4\xbd\x9c\xe7\xba\xbf\xe7\xa8\x8b",
	"%s%n%s",
	"",
	"cafe\xcc\x81\xcc\x81\xcc\x81",
	"\xf0\x9f\x92\xa9",
};
const size_t fixture_nr_hostile_names = sizeof(fixture_hostile_names) /
                                        sizeof(fixture_hostile_names[0]);

static const char *const names[] = { "postgres", "nginx", "kworker/3:1-events", "schbench",
	                             "java",     "node",  "chromium-browse",    "systemd" };
static const char *const cgroups[] = { "/system.slice/postgresql.service",
	                               "/system.slice/nginx.service", "/",
	                               "/user.slice/user-1000.slice/session-2.scope" };
static const char *const classes[] = { "fair", "fair", "rt", "ext", "dl", "idle" };

double fixture_busy(uint32_t cpu)
{
	return (double)(cpu * 37 % 101) / 100;
}

double fixture_run(uint32_t thread)
{
	return (double)(thread * 7919 % 1000) / 1000 / (1 + thread % 5);
}

uint64_t fixture_p99_ns(uint32_t thread)
{
	return 1000ULL * (1 + (uint64_t)thread * 104729 % 9973);
}

static void *must(size_t nr, size_t size)
{
	void *mem = calloc(nr ? nr : 1, size);

	if (!mem)
		abort();
	return mem;
}

static struct machine_dist dist(uint64_t count, uint64_t p99_ns)
{
	return (struct machine_dist){ .count = count,
		                      .p50_ns = p99_ns / 4,
		                      .p90_ns = p99_ns / 2,
		                      .p99_ns = p99_ns,
		                      .max_ns = p99_ns * 3,
		                      .mean_ns = (double)p99_ns / 3 };
}

static void make_history(double *values, double now)
{
	for (uint32_t i = 0; i < MACHINE_HISTORY; i++)
		values[i] = now * (0.5 + 0.5 * sin((double)(MACHINE_HISTORY - 1 - i) / 9 + 1.5708));
}

static void make_cpu(struct fixture *f, const struct fixture_cfg *cfg, uint32_t cpu)
{
	double busy = fixture_busy(cpu), *values = f->history + (size_t)cpu * MACHINE_HISTORY;

	make_history(values, busy);
	f->cpus[cpu] = (struct machine_cpu){
		.cpu = cpu,
		.core = (int32_t)cpu / 2,
		.llc = cfg->cpus_per_llc ? (int32_t)(cpu / cfg->cpus_per_llc) : -1,
		.node = cfg->cpus_per_node ? (int32_t)(cpu / cfg->cpus_per_node) : -1,
		.is_online = true,
		.busy = busy,
		.user = busy * 0.7,
		.system = busy * 0.25,
		.irq = busy * 0.05,
		.iowait = 0,
		.steal = 0,
		.mhz = 1200 + 100.0 * (cpu % 24),
		.uncore_mhz = cfg->cpus_per_node ? 1500 + 500.0 * (cpu / cfg->cpus_per_node) : NAN,
		.hw_pressure = cpu % 4 == 3 ? NAN : 100.0 * (cpu % 4),
		.event_per_s = NAN,
		.switches_per_s = cfg->is_proc ? NAN : 100.0 * (cpu + 1),
		.wakeups_per_s = cfg->is_proc ? NAN : 60.0 * (cpu + 1),
		.migrations_per_s = cfg->is_proc ? NAN : 3.0 * cpu,
		.wait = cfg->is_proc ? (struct machine_dist){ 0 } : dist(50, 1000ULL * (cpu + 5)),
		.busy_history = { values, MACHINE_HISTORY },
		.tid = FIXTURE_TID + cpu,
		.comm = names[cpu % 8],
	};
}

static struct machine_task make_thread(const struct fixture_cfg *cfg, uint32_t i)
{
	uint32_t process = i / FIXTURE_THREADS;
	struct machine_task t = {
		.tid = FIXTURE_TID + i,
		.tgid = FIXTURE_TID + process * FIXTURE_THREADS,
		.nr_threads = 1,
		.comm = names[process % 8],
		.cmdline = "/usr/bin/program --with=some --arguments",
		.cgroup = cgroups[process % 4],
		.class_name = classes[process % 6],
		.state = "SRSDSI"[process % 6],
		.last_cpu = cfg->nr_cpus ? (int32_t)(i % cfg->nr_cpus) : -1,
		.prio = 120,
		.run = fixture_run(i),
		.wait = (double)(i % 10) / 50,
		.voluntary_per_s = 10.0 * (i % 97),
		.involuntary_per_s = i % 13,
		.migrations_per_s = (i % 7) * 1.5,
		.llc_migrations_per_s = NAN,
		.node_migrations_per_s = NAN,
		.layer = -1,
		.parent = process ? FIXTURE_TID + (process - 1) / 2 * FIXTURE_THREADS : 0,
		.memory_bytes = 1e6 * (1 + process * 37 % 101),
	};

	if (cfg->is_hostile)
		t.comm = t.cmdline = t.cgroup = t.class_name =
			fixture_hostile_names[process % fixture_nr_hostile_names];
	if (cfg->is_proc)
		return t;
	t.latency = dist(20 + i % 5, fixture_p99_ns(i));
	t.preempted = i % 3 ? dist(4, fixture_p99_ns(i) / 2) : (struct machine_dist){ 0 };
	t.slice = dist(25, 3000000);
	t.sleep = dist(20, 40000000);
	t.llc_migrations_per_s = (double)(i % 3);
	t.node_migrations_per_s = 0;
	t.layer = cfg->nr_dsqs ? (int64_t)(process % 3) : -1;
	t.has_dsq = cfg->nr_dsqs > 0;
	t.dsq = t.has_dsq ? i % cfg->nr_dsqs : 0;
	return t;
}

static void make_tasks(struct fixture *f, const struct fixture_cfg *cfg)
{
	double *values = f->history + (size_t)cfg->nr_cpus * MACHINE_HISTORY;

	make_history(values, 0.8);
	for (uint32_t i = 0; i < cfg->nr_threads; i++) {
		struct machine_task *p = &f->processes[i / FIXTURE_THREADS];
		struct machine_task *t = &f->threads[i];

		*t = make_thread(cfg, i);
		t->run_history = (struct machine_history){ values, MACHINE_HISTORY };
		if (t->wait > 0)
			t->wait_history = (struct machine_history){ values, MACHINE_HISTORY / 4 };
		if (i % FIXTURE_THREADS == 0) {
			*p = *t;
			continue;
		}
		p->nr_threads++;
		p->run += t->run;
		p->wait += t->wait;
		p->voluntary_per_s += t->voluntary_per_s;
		p->involuntary_per_s += t->involuntary_per_s;
		p->migrations_per_s += t->migrations_per_s;
	}
	f->m.threads = f->threads;
	f->m.nr_threads = cfg->nr_threads;
	f->m.processes = f->processes;
	f->m.nr_processes = (cfg->nr_threads + FIXTURE_THREADS - 1) / FIXTURE_THREADS;
}

const char fixture_stats[] =
	"{\n  \"nr_queued\": 17,\n  \"layers\": {\n"
	"    \"l1\": 1,\n    \"l2\": 2,\n    \"l3\": 3,\n    \"l4\": 4,\n"
	"    \"l5\": 5,\n    \"l6\": 6,\n    \"l7\": 7,\n    \"l8\": 8,\n"
	"    \"l9\": 9,\n    \"l10\": 10,\n    \"l11\": 11,\n    \"l12\": 12,\n"
	"    \"l13\": 13,\n    \"l14\": 14,\n    \"l15\": 15,\n    \"l16\": 16,\n"
	"    \"l17\": 17,\n    \"l18\": 18,\n    \"l19\": 19,\n    \"l20\": 20,\n"
	"    \"l21\": 21,\n    \"l22\": 22,\n    \"l23\": 23,\n    \"l24\": 24,\n"
	"    \"l25\": 25,\n    \"l26\": 26,\n    \"l27\": 27,\n    \"l28\": 28,\n"
	"    \"l29\": 29,\n    \"l30\": 30,\n    \"l31\": 31,\n    \"l32\": 32,\n"
	"    \"l33\": 33,\n    \"last\": 34\n  }\n}";

uint64_t fixture_dsq_p90_ns(uint32_t process)
{
	return fixture_p99_ns(process * 7 + 3) / 2;
}

static void make_scx_tasks(struct fixture *f, const struct fixture_cfg *cfg)
{
	for (uint32_t i = 0; i < f->m.nr_processes; i++) {
		struct machine_scx_task *t = &f->scx_tasks[i];

		*t = (struct machine_scx_task){
			.tid = f->processes[i].tid,
			.dsq = i % cfg->nr_dsqs ? i % cfg->nr_dsqs : 1ULL << 63 | 1,
			.last_cpu = i ? (int32_t)(i % 8) : -1,
			.latency = dist(10 + i, 2 * fixture_dsq_p90_ns(i)),
			.slice_ns = i % 4 ? 5e6 : NAN,
			.used_ns = 1e5 * (i + 1),
		};
		snprintf(t->comm, sizeof(t->comm), "%.15s", f->processes[i].comm);
	}
}

static void make_scx(struct fixture *f, const struct fixture_cfg *cfg)
{
	static const struct machine_scx_counter counters[] = {
		{ "select_cpu_fallback", 120, 3 },
		{ "dispatch_local_dsq_offline", 0, 0 },
		{ "dispatch_keep_last", 45, 0 },
	};

	for (uint32_t i = 0; i < cfg->nr_dsqs; i++) {
		double *values = f->dsq_history + (size_t)i * MACHINE_HISTORY;
		struct machine_dsq *d = &f->dsqs[i];

		/* One of four is unknown. */
		for (uint32_t k = 0; k < MACHINE_HISTORY; k++)
			values[k] = k % 4 == 1 ? NAN : 1000.0 * (1 + (k + i) % 8);
		d->latency_history = d->used_history = d->depth_history =
			(struct machine_history){ values, MACHINE_HISTORY };
		if (i % 2 == 0)
			d->vtime_history = d->latency_history;
	}
	make_scx_tasks(f, cfg);
	f->scx = (struct machine_scx){
		.is_counting = true,
		.enable_seq = 7,
		.nr_rejected = 2,
		.switch_all = 1,
		.last = cfg->is_hostile ? fixture_hostile_names[0] : "old: runnable task stall",
		.stats = cfg->is_hostile ? fixture_hostile_names[1] : fixture_stats,
		.stats_age_s = 0.5,
		.counters = counters,
		.nr_counters = 3,
		.tasks = f->scx_tasks,
		.nr_tasks = f->m.nr_processes,
	};
	f->m.scx = &f->scx;
}

static void make_rest(struct fixture *f, const struct fixture_cfg *cfg)
{
	static const char *const net_names[] = { "lo", "eth0", "wlan0" };

	for (uint32_t i = 0; i < cfg->nr_dsqs; i++)
		f->dsqs[i] = (struct machine_dsq){
			.id = i == 0 ? (1ULL << 63 | 1) : i,
			.latency = i == 1 ? (struct machine_dist){ 0 }
			                  : dist(100 * i, 2000ULL << (i % 16)),
			.used = i ? dist(90 * i, 3000ULL * i) : (struct machine_dist){ 0 },
			.depth = i,
			.depth_max = 3 * (uint64_t)i,
			.slice_ns = 5e6,
			.used_ns = 1e6 * i,
			.vtime_delta = i % 2 ? NAN : 1000.0 * i * (i % 4 ? -1 : 1),
			.behind = i % 2 ? NAN : 0.25,
			.inserts = 130 * (uint64_t)i,
			.inserts_per_s = 520.0 * i,
			.dispatches_per_s = 500.0 * i,
		};
	for (uint32_t i = 0; i < cfg->nr_nets; i++)
		f->nets[i] = (struct machine_net){
			.name = cfg->is_hostile
			                ? fixture_hostile_names[i % fixture_nr_hostile_names]
			                : net_names[i % 3],
			.rx_bytes_per_s = 1024.0 * 1024 * i,
			.tx_bytes_per_s = 2048.0 * i,
			.rx_packets_per_s = 900.0 * i,
			.tx_packets_per_s = 30.0 * i,
			.drops_per_s = i == 2 ? 1.5 : 0,
			.rx_bytes = 1ULL << (20 + i % 20),
			.tx_bytes = 1ULL << (15 + i % 20),
		};
	if (cfg->nr_dsqs)
		make_scx(f, cfg);
	f->m.dsqs = f->dsqs;
	f->m.nr_dsqs = cfg->nr_dsqs;
	f->m.nets = f->nets;
	f->m.nr_nets = cfg->nr_nets;
	f->m.programs = f->programs;
	f->m.nr_programs = cfg->nr_programs;
}

static void make_heat(struct fixture *f)
{
	uint32_t max = 0;

	for (uint32_t i = 0; i < 100; i++)
		for (uint32_t row = 2; row < 14; row++) {
			uint32_t peak = 5 + (i / 20) % 3;
			uint32_t far = row > peak ? row - peak : peak - row;
			uint32_t count = far > 5 ? 0 : 2000U >> (2 * far);

			f->heat[i][row] = count;
			max = count > max ? count : max;
		}
	f->m.heat = (struct machine_heat){ (const uint32_t(*)[MACHINE_HEAT_ROWS])f->heat, 100,
		                           max };
}

void fixture_init(struct fixture *f, const struct fixture_cfg *cfg)
{
	static const char *const lines[] = { "started", "attached 12 programs",
		                             "scheduler simple registered" };
	static const char *const hostile[] = { "\x1b[31mred\x1b[0m", "\a\a\a", "\xff" };

	*f = (struct fixture){ 0 };
	f->cpus = must(cfg->nr_cpus, sizeof(*f->cpus));
	f->threads = must(cfg->nr_threads, sizeof(*f->threads));
	f->processes = must(cfg->nr_threads, sizeof(*f->processes));
	f->dsqs = must(cfg->nr_dsqs, sizeof(*f->dsqs));
	f->scx_tasks = must(cfg->nr_threads, sizeof(*f->scx_tasks));
	f->dsq_history = must(cfg->nr_dsqs, MACHINE_HISTORY * sizeof(*f->dsq_history));
	f->nets = must(cfg->nr_nets, sizeof(*f->nets));
	f->programs = must(cfg->nr_programs, sizeof(*f->programs));
	f->heat = must(100, sizeof(*f->heat));
	f->history = must(cfg->nr_cpus + 1, MACHINE_HISTORY * sizeof(*f->history));
	f->m = (struct machine){
		.host = "host",
		.release = "6.12.0",
		.scheduler = cfg->nr_dsqs ? (cfg->is_hostile ? "\x1b[5m" : "simple") : NULL,
		.scx_state = cfg->nr_dsqs ? "enabled" : NULL,
		.source = cfg->is_proc ? "proc" : "synthetic",
		.notice = cfg->is_proc ? "latencies need BPF: run as root" : NULL,
		.interval_s = 0.25,
		.lost = cfg->is_hostile ? 7 : 0,
		.own_cpu = 0.011,
		.wait = cfg->is_proc ? (struct machine_dist){ 0 } : dist(1234, 90000),
		.memory = { .total_kib = 16U << 20,
		            .free_kib = 2U << 20,
		            .available_kib = 9U << 20,
		            .buffers_kib = 1U << 18,
		            .cached_kib = 6U << 20,
		            .active_kib = 5U << 20,
		            .inactive_kib = 4U << 20,
		            .swap_total_kib = 4U << 20,
		            .swap_free_kib = 3U << 20,
		            .swap_cached_kib = 1U << 10,
		            .slab_kib = 1U << 19,
		            .slab_reclaimable_kib = 1U << 18,
		            .nfs_unstable_kib = MACHINE_NO_KIB,
		            .minor_faults_per_s = 1200,
		            .major_faults_per_s = 3,
		            .swap_out_per_s = NAN,
		            .cpu_some = 0.031,
		            .memory_some = 0.002,
		            .io_some = 0.01,
		            .io_full = NAN },
		.log = cfg->is_hostile ? hostile : lines,
		.nr_log = 3,
	};
	for (uint32_t cpu = 0; cpu < cfg->nr_cpus; cpu++)
		make_cpu(f, cfg, cpu);
	f->m.cpus = f->cpus;
	f->m.nr_cpus = cfg->nr_cpus;
	make_tasks(f, cfg);
	make_rest(f, cfg);
	fixture_hot_init(f, cfg);
	if (!cfg->is_proc)
		make_heat(f);
	f->sensors = fixture_sensors_new(&f->m, cfg);
}

static void quieten(struct machine_task *t, bool has_latency)
{
	t->latency = t->preempted = t->slice = t->sleep = (struct machine_dist){ 0 };
	t->run = t->wait = t->voluntary_per_s = t->involuntary_per_s = t->migrations_per_s = 0;
	t->llc_migrations_per_s = t->node_migrations_per_s = has_latency ? 0 : NAN;
}

static const struct machine_task *ordered;

static int by_id(const void *a, const void *b)
{
	uint32_t first = ordered[*(const uint32_t *)a].tid,
		 second = ordered[*(const uint32_t *)b].tid;

	return (first > second) - (first < second);
}

static const struct machine_order *make_order(struct fixture_order *o, struct machine_task *tasks,
                                              size_t nr, uint32_t nth)
{
	o->by_id = must(nr, sizeof(*o->by_id));
	o->active = must(nr, sizeof(*o->active));
	for (size_t i = 0; i < nr; i++) {
		size_t other = (i * 7919 + 13) % nr;
		struct machine_task swap = tasks[i];

		tasks[i] = tasks[other];
		tasks[other] = swap;
	}
	for (size_t i = 0; i < nr; i++) {
		o->by_id[i] = (uint32_t)i;
		if (tasks[i].tid % nth == 0)
			o->active[o->pub.nr_active++] = (uint32_t)i;
		else
			quieten(&tasks[i], !isnan(tasks[i].llc_migrations_per_s));
	}
	ordered = tasks;
	qsort(o->by_id, nr, sizeof(*o->by_id), by_id);
	o->place_of = must(nr, sizeof(*o->place_of));
	for (size_t i = 0; i < nr; i++)
		o->place_of[o->by_id[i]] = (uint32_t)i;
	o->pub.place_of = o->place_of;
	o->pub.by_id = o->by_id;
	o->pub.active = o->active;
	o->pub.is_all_changed = true;
	return &o->pub;
}

void fixture_make_order(struct fixture *f, uint32_t nth)
{
	f->m.thread_order = make_order(&f->thread_order, f->threads, f->m.nr_threads, nth);
	f->m.process_order = make_order(&f->process_order, f->processes, f->m.nr_processes, nth);
	f->m.refresh_nr = 1;
}

void fixture_done(struct fixture *f)
{
	fixture_hot_done(f);
	free(f->thread_order.place_of);
	free(f->process_order.place_of);
	free(f->thread_order.by_id);
	free(f->thread_order.active);
	free(f->process_order.by_id);
	free(f->process_order.active);
	free(f->cpus);
	free(f->threads);
	free(f->processes);
	free(f->dsqs);
	free(f->scx_tasks);
	free(f->dsq_history);
	free(f->nets);
	free(f->programs);
	free(f->heat);
	free(f->history);
	fixture_sensors_free(f->sensors);
	*f = (struct fixture){ 0 };
}
