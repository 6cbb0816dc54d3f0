#include "synthetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEN   24
#define US         1000ULL
#define HEAT_LOOKS 64U
#define NR_NETS    2U
#define NR_BPF     3U

struct synthetic {
	struct synthetic_cfg cfg;
	struct machine machine;
	struct machine_cpu *cpus;
	struct machine_task *threads, *processes;
	struct machine_dsq *dsqs;
	struct machine_net nets[NR_NETS];
	struct machine_bpf programs[NR_BPF];
	char (*names)[NAME_LEN];         /* of threads, then of processes */
	double (*past)[MACHINE_HISTORY]; /* of CPUs, then one that all tasks share */
	uint32_t heat[HEAT_LOOKS][MACHINE_HEAT_ROWS];
	const char *log[2];
};

static void *must(size_t nr, size_t size)
{
	void *p = calloc(nr ? nr : 1, size);

	if (!p)
		abort();
	return p;
}

double synthetic_run(unsigned int thread, unsigned int look)
{
	return (thread * 7 + look) % 101 / 100.0;
}

double synthetic_wait(unsigned int thread)
{
	return thread * 3 % 50 / 100.0;
}

double synthetic_busy(unsigned int cpu, unsigned int look)
{
	return (cpu * 13 + look * 5) % 101 / 100.0;
}

static unsigned int nr_processes(const struct synthetic_cfg *cfg)
{
	return (cfg->nr_threads + SYNTHETIC_PER_PROCESS - 1) / SYNTHETIC_PER_PROCESS;
}

static struct machine_dist dist_of(uint64_t count, uint64_t p50_us)
{
	struct machine_dist d = { .count = count };

	if (count) {
		d.p50_ns = p50_us * US;
		d.p99_ns = p50_us * 10 * US;
		d.max_ns = p50_us * 100 * US;
		d.mean_ns = (double)p50_us * 2 * (double)US;
	}
	return d;
}

static void name_thread(const struct synthetic *s, unsigned int i)
{
	static const char *const hostile[] = { "\033[31mred", "a\nb\tc", "\xff\xfe\x80" };

	if (s->cfg.has_hostile_names && i % 3 == 0)
		(void)snprintf(s->names[i], NAME_LEN, "%s", hostile[i / 3 % 3]);
	else
		(void)snprintf(s->names[i], NAME_LEN, "thread-%u", i);
}

struct synthetic *synthetic_new(const struct synthetic_cfg *cfg)
{
	struct synthetic *s = must(1, sizeof(*s));
	unsigned int nr = nr_processes(cfg);

	s->cfg = *cfg;
	s->cpus = must(cfg->nr_cpus, sizeof(*s->cpus));
	s->threads = must(cfg->nr_threads, sizeof(*s->threads));
	s->processes = must(nr, sizeof(*s->processes));
	s->dsqs = must(cfg->nr_dsqs, sizeof(*s->dsqs));
	s->names = must(cfg->nr_threads + nr, sizeof(*s->names));
	s->past = must(cfg->nr_cpus + 1, sizeof(*s->past));
	for (unsigned int i = 0; i < cfg->nr_threads; i++)
		name_thread(s, i);
	for (unsigned int i = 0; i < nr; i++)
		(void)snprintf(s->names[cfg->nr_threads + i], NAME_LEN, "process-%u", i);
	return s;
}

void synthetic_free(struct synthetic *s)
{
	if (!s)
		return;
	free(s->cpus);
	free(s->threads);
	free(s->processes);
	free(s->dsqs);
	free(s->names);
	free(s->past);
	free(s);
}

static struct machine_history past_of(double *values, unsigned int look,
                                      double (*value)(unsigned int, unsigned int), unsigned int i)
{
	unsigned int nr = look + 1 < MACHINE_HISTORY ? look + 1 : MACHINE_HISTORY;

	for (unsigned int k = 0; k < nr; k++)
		values[k] = value(i, look + 1 - nr + k);
	return (struct machine_history){ values, nr };
}

static void fill_cpu(struct synthetic *s, unsigned int i, unsigned int look)
{
	double busy = synthetic_busy(i, look);
	bool has_bpf = !s->cfg.is_proc;

	s->cpus[i] = (struct machine_cpu){
		.cpu = i,
		.core = (int32_t)(i / 2),
		.llc = (int32_t)(i / SYNTHETIC_PER_LLC),
		.node = (int32_t)(i / SYNTHETIC_PER_NODE),
		.is_online = true,
		.busy = busy,
		.user = busy * 0.6,
		.system = busy * 0.4,
		.mhz = 1000.0 + i,
		.switches_per_s = has_bpf ? 100.0 * i : NAN,
		.wakeups_per_s = has_bpf ? 50.0 * i : NAN,
		.migrations_per_s = has_bpf ? 1.0 * i : NAN,
		.wait = has_bpf ? dist_of(i + 1, i + 1) : (struct machine_dist){ 0 },
		.busy_history = past_of(s->past[i], look, synthetic_busy, i),
		.tid = has_bpf && s->cfg.nr_threads
		               ? (int64_t)SYNTHETIC_FIRST_TID + i % s->cfg.nr_threads
		               : -1,
	};
	if (s->cpus[i].tid >= 0)
		s->cpus[i].comm = s->names[i % s->cfg.nr_threads];
}

static void fill_bpf(struct machine_task *t, unsigned int i)
{
	uint64_t n = i % 1000 + 1;

	t->latency = dist_of(n, n);
	t->preempted = dist_of(n / 2, n);
	t->slice = dist_of(n, 2 * n);
	t->sleep = dist_of(n, 100 * n);
	t->migrations_per_s = i % 10;
	t->llc_migrations_per_s = i % 5;
	t->node_migrations_per_s = i % 2;
}

static void fill_thread(struct synthetic *s, unsigned int i, unsigned int look)
{
	static const char *const classes[] = { "fair", "fair", "fair", "rt", "dl" };
	unsigned int first = i / SYNTHETIC_PER_PROCESS * SYNTHETIC_PER_PROCESS;
	struct machine_task *t = &s->threads[i];
	bool is_ext = s->cfg.nr_dsqs;

	*t = (struct machine_task){
		.tid = SYNTHETIC_FIRST_TID + i,
		.tgid = SYNTHETIC_FIRST_TID + first,
		.nr_threads = 1,
		.comm = s->names[i],
		.cmdline = "/usr/bin/synthetic --of nothing",
		.cgroup = i % 2 ? "/user.slice" : "/system.slice",
		.class_name = is_ext && i % 5 < 3 ? "ext" : classes[i % 5],
		.state = i % 7 == 0 ? 'S' : 'R',
		.last_cpu = (int32_t)(i % s->cfg.nr_cpus),
		.prio = 120,
		.run = synthetic_run(i, look),
		.wait = synthetic_wait(i),
		.voluntary_per_s = i % 100,
		.involuntary_per_s = i % 30,
		.migrations_per_s = NAN,
		.llc_migrations_per_s = NAN,
		.node_migrations_per_s = NAN,
		.layer = -1,
		.has_dsq = is_ext,
		.dsq = is_ext ? i % s->cfg.nr_dsqs : 0,
	};
	if (!s->cfg.is_proc)
		fill_bpf(t, i);
	if (i == 0)
		(void)past_of(s->past[s->cfg.nr_cpus], look, synthetic_run, 0);
	t->run_history = (struct machine_history){ s->past[s->cfg.nr_cpus],
		                                   look + 1 < MACHINE_HISTORY ? look + 1
		                                                              : MACHINE_HISTORY };
}

/* Counts and rates are sums; the other numbers of distributions are those of its first thread. */
static void fill_process(struct synthetic *s, unsigned int i)
{
	unsigned int first = i * SYNTHETIC_PER_PROCESS, end = first + SYNTHETIC_PER_PROCESS;
	struct machine_task *p = &s->processes[i];

	*p = s->threads[first];
	p->tid = p->tgid;
	p->comm = s->names[s->cfg.nr_threads + i];
	for (unsigned int k = first + 1; k < end && k < s->cfg.nr_threads; k++) {
		const struct machine_task *t = &s->threads[k];

		p->nr_threads++;
		p->run += t->run;
		p->wait += t->wait;
		p->latency.count += t->latency.count;
		p->preempted.count += t->preempted.count;
		p->slice.count += t->slice.count;
		p->sleep.count += t->sleep.count;
		p->voluntary_per_s += t->voluntary_per_s;
		p->involuntary_per_s += t->involuntary_per_s;
		p->migrations_per_s += t->migrations_per_s;
		p->llc_migrations_per_s += t->llc_migrations_per_s;
		p->node_migrations_per_s += t->node_migrations_per_s;
		if (t->state == 'R')
			p->state = 'R';
	}
}

static void fill_dsq(struct synthetic *s, unsigned int i)
{
	s->dsqs[i] = (struct machine_dsq){
		.id = i,
		.latency = dist_of(i + 1, i + 1),
		.depth = i,
		.slice_ns = 20e6,
		.used_ns = 1e6 * i,
		.vtime_delta = i % 2 ? NAN : 1e3 * i,
		.dispatches_per_s = 10.0 * i,
	};
}

static void fill_others(struct synthetic *s, unsigned int look)
{
	static const char *const names[NR_BPF] = { "on_switch", "on_wakeup", "idle_one" };

	s->machine.memory = (struct machine_memory){
		.total_kib = 16777216,
		.free_kib = 4194304,
		.available_kib = 8388608,
		.buffers_kib = 524288,
		.cached_kib = 3145728,
		.active_kib = 2097152,
		.inactive_kib = 1048576,
		.swap_total_kib = 2097152,
		.swap_free_kib = 1048576,
		.swap_cached_kib = 1024,
		.minor_faults_per_s = 1000,
		.major_faults_per_s = 10,
		.swap_in_per_s = 1,
		.swap_out_per_s = 2,
		.cpu_some = 0.25,
		.memory_some = 0.05,
		.memory_full = 0.01,
		.io_some = 0.1,
		.io_full = NAN,
	};
	for (unsigned int i = 0; i < NR_NETS; i++)
		s->nets[i] = (struct machine_net){
			.name = i ? "eth0" : "lo",
			.rx_bytes_per_s = 1e6 * (i + 1),
			.tx_bytes_per_s = 5e5 * (i + 1),
			.rx_packets_per_s = 1000.0 * (i + 1),
			.tx_packets_per_s = 500.0 * (i + 1),
			.errors_per_s = 0,
			.drops_per_s = i,
			.rx_bytes = 1000000ULL * (look + 1),
			.tx_bytes = 500000ULL * (look + 1),
		};
	for (unsigned int i = 0; i < NR_BPF; i++)
		s->programs[i] = (struct machine_bpf){
			.id = 10 + i,
			.type = "tracing",
			.name = names[i],
			.cpu = i < 2 ? 0.01 * (i + 1) : NAN,
			.ns_per_run = i < 2 ? 500.0 * (i + 1) : NAN,
			.runs_per_s = i < 2 ? 20000 : 0,
			.insns = 100 * (i + 1),
		};
}

static void fill_heat(struct synthetic *s, unsigned int look)
{
	unsigned int nr = look + 1 < HEAT_LOOKS ? look + 1 : HEAT_LOOKS;
	struct machine_heat *h = &s->machine.heat;

	*h = (struct machine_heat){ (const uint32_t(*)[MACHINE_HEAT_ROWS])s->heat, nr, 0 };
	if (s->cfg.is_proc) {
		h->nr = 0;
		return;
	}
	for (unsigned int c = 0; c < nr; c++)
		for (unsigned int row = 0; row < MACHINE_HEAT_ROWS; row++) {
			s->heat[c][row] = (look + 1 - nr + c + row * row) % 97;
			h->max = s->heat[c][row] > h->max ? s->heat[c][row] : h->max;
		}
}

static void fill_head(struct synthetic *s, unsigned int look)
{
	struct machine *m = &s->machine;

	s->log[0] = "attached";
	s->log[1] = "nothing was lost";
	m->host = "nowhere";
	m->release = "6.18.0";
	m->scheduler = s->cfg.nr_dsqs ? "scx_synthetic" : NULL;
	m->scx_state = s->cfg.nr_dsqs ? "enabled" : NULL;
	m->source = "synthetic";
	m->notice = s->cfg.is_proc ? "from /proc, without latencies: BPF needs root" : NULL;
	m->boot_ns = 1000000000ULL * (look + 1);
	m->interval_s = 1;
	m->lost = 0;
	m->own_cpu = 0.01;
	for (int i = 0; i < 3; i++)
		m->load[i] = 1.5 * (i + 1);
	m->wait = s->cfg.is_proc ? (struct machine_dist){ 0 } : dist_of(1000, 5);
	m->log = s->log;
	m->nr_log = 2;
}

const struct machine *synthetic_look(struct synthetic *s, unsigned int look)
{
	struct machine *m = &s->machine;

	for (unsigned int i = 0; i < s->cfg.nr_cpus; i++)
		fill_cpu(s, i, look);
	for (unsigned int i = 0; i < s->cfg.nr_threads; i++)
		fill_thread(s, i, look);
	for (unsigned int i = 0; i < nr_processes(&s->cfg); i++)
		fill_process(s, i);
	for (unsigned int i = 0; i < s->cfg.nr_dsqs; i++)
		fill_dsq(s, i);
	fill_head(s, look);
	fill_others(s, look);
	fill_heat(s, look);
	m->cpus = s->cpus;
	m->nr_cpus = s->cfg.nr_cpus;
	m->threads = s->threads;
	m->nr_threads = s->cfg.nr_threads;
	m->processes = s->processes;
	m->nr_processes = nr_processes(&s->cfg);
	m->dsqs = s->dsqs;
	m->nr_dsqs = s->cfg.nr_dsqs;
	m->nets = s->nets;
	m->nr_nets = NR_NETS;
	m->programs = s->programs;
	m->nr_programs = s->cfg.is_proc ? 0 : NR_BPF;
	return m;
}
