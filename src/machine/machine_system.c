#include "machine/machine_system.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "machine/machine_past.h"
#include "machine/machine_source.h"
#include "machine/machine_usage.h"
#include "sys/proc/sys_stats.h"
#include "sys/scx/scx_state.h"
#include "sys/sensors/freq_reading.h"
#include "sys/sensors/sensor_reader.h"
#include "sys/topology.h"

#define SECOND_NS 1000000000ULL

/* The values of one CPU at the last refresh. */
struct cpu_before {
	bool is_known;
	uint64_t ns[SYS_TIMES];
	struct machine_past busy, user, system, irq, waiting;
};

struct machine_system {
	char root[256];
	struct sys_stats now;
	struct machine_cpu *cpus;
	struct cpu_before *before;
	size_t nr_cpus;
	uint64_t slow_ns;            /* when frequencies were asked for and sched_ext was read */
	struct sensor_reader *freqs; /* NULL = never requested, or there is no thread for it */
	struct machine_usage usage;
	struct scx_state scx;
};

static void blank_cpu(struct machine_cpu *c, uint32_t cpu, const struct topology_cpu *at)
{
	*c = (struct machine_cpu){
		.cpu = cpu,
		.core = at ? at->core : -1,
		.llc = at ? at->llc : -1,
		.node = at ? at->node : -1,
		.busy = NAN,
		.user = NAN,
		.system = NAN,
		.irq = NAN,
		.iowait = NAN,
		.steal = NAN,
		.mhz = NAN,
		.waiting = NAN,
		.switches_per_s = NAN,
		.wakeups_per_s = NAN,
		.migrations_per_s = NAN,
		.tid = -1,
	};
}

/* The possible CPUs, or, where these are unknown, the online ones. */
static int list_cpus(struct machine_system *s, const struct topology *topology)
{
	size_t nr = topology ? topology_counts(topology)->nr_cpu_ids : 0;
	SCOPED(scoped_free) uint32_t *possible = calloc(nr + 1, sizeof(*possible));

	if (!possible)
		return -ENOMEM;
	nr = topology ? topology_possible(topology, possible) : s->now.nr_cpus;
	s->cpus = calloc(nr + 1, sizeof(*s->cpus));
	s->before = calloc(nr + 1, sizeof(*s->before));
	if (!s->cpus || !s->before)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t cpu = topology ? possible[i] : s->now.cpus[i].cpu;

		blank_cpu(&s->cpus[i], cpu, topology ? topology_cpu(topology, cpu) : NULL);
	}
	s->nr_cpus = nr;
	return 0;
}

DEFINE_SCOPED(machine_system, machine_system_free)

int machine_system_new(const char *root, struct diag *d, struct machine_system **out)
{
	SCOPED(scoped_machine_system) struct machine_system *s = calloc(1, sizeof(*s));
	SCOPED(scoped_topology) struct topology *topology = NULL;
	struct diag why = { 0 };
	char path[300];
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	(void)snprintf(s->root, sizeof(s->root), "%s", root);
	(void)snprintf(path, sizeof(path), "%s/sys", root);
	err = sys_stats_read_parts(root, SYS_PART_TIMES, 0, &s->now);
	/* Without it the topology is unknown; everything else works. */
	if (!err && topology_read(path, &why, &topology))
		topology = NULL;
	if (!err)
		err = list_cpus(s, topology);
	if (err)
		return diag_set(d, err, NULL, "cannot allocate the table of CPUs");
	*out = TAKE_PTR(s);
	return 0;
}

static void forget_past(struct cpu_before *before)
{
	machine_past_done(&before->busy);
	machine_past_done(&before->user);
	machine_past_done(&before->system);
	machine_past_done(&before->irq);
	machine_past_done(&before->waiting);
}

void machine_system_free(struct machine_system *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_cpus; i++)
		forget_past(&s->before[i]);
	sensor_reader_close(s->freqs);
	machine_usage_done(&s->usage);
	sys_stats_done(&s->now);
	free(s->cpus);
	free(s->before);
	free(s);
}

static const struct sys_cpu *find_times(const struct sys_stats *now, size_t *at, uint32_t cpu)
{
	while (*at < now->nr_cpus && now->cpus[*at].cpu < cpu)
		(*at)++;
	return *at < now->nr_cpus && now->cpus[*at].cpu == cpu ? &now->cpus[*at] : NULL;
}

/* Nothing new leaves what was: the kernel's clock ticks a hundred times a second only. */
static void take_times(struct machine_cpu *c, struct cpu_before *before, const struct sys_cpu *now)
{
	double part[SYS_TIMES], sum = 0;

	for (int i = 0; i < SYS_TIMES; i++) {
		/* iowait may go backwards. */
		part[i] = now->ns[i] > before->ns[i] ? (double)(now->ns[i] - before->ns[i]) : 0;
		sum += part[i];
	}
	if (before->is_known && sum <= 0)
		return;
	if (before->is_known) {
		c->user = (part[SYS_USER] + part[SYS_NICE]) / sum;
		c->system = part[SYS_SYSTEM] / sum;
		c->irq = (part[SYS_IRQ] + part[SYS_SOFTIRQ]) / sum;
		c->iowait = part[SYS_IOWAIT] / sum;
		c->steal = part[SYS_STEAL] / sum;
		c->busy = 1 - (part[SYS_IDLE] + part[SYS_IOWAIT]) / sum;
	}
	memcpy(before->ns, now->ns, sizeof(before->ns));
	before->is_known = true;
}

static void go_offline(struct machine_cpu *c, struct cpu_before *before)
{
	c->busy = c->user = c->system = c->irq = c->iowait = c->steal = NAN;
	c->mhz = NAN;
	before->is_known = false;
}

/* Nearly always in its place. */
static struct machine_cpu *find_cpu(struct machine_system *s, uint32_t cpu)
{
	if (cpu < s->nr_cpus && s->cpus[cpu].cpu == cpu)
		return &s->cpus[cpu];
	for (size_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].cpu == cpu)
			return &s->cpus[i];
	return NULL;
}

static int remember(struct machine_cpu *c, struct cpu_before *before)
{
	int err = 0;

	if (!isnan(c->busy)) {
		err = machine_past_add(&before->busy, c->busy);
		err = err ? err : machine_past_add(&before->user, c->user);
		err = err ? err : machine_past_add(&before->system, c->system);
		err = err ? err : machine_past_add(&before->irq, c->irq);
	}
	c->busy_history = machine_past_show(&before->busy);
	c->user_history = machine_past_show(&before->user);
	c->system_history = machine_past_show(&before->system);
	c->irq_history = machine_past_show(&before->irq);
	return err;
}

int machine_system_show_waiting(struct machine_system *s, const struct machine_task *threads,
                                const struct machine_order *order)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_cpus; i++)
		s->cpus[i].waiting = order ? 0 : NAN;
	for (size_t i = 0; order && i < order->nr_active; i++) {
		const struct machine_task *t = &threads[order->active[i]];
		struct machine_cpu *c = t->last_cpu >= 0 ? find_cpu(s, (uint32_t)t->last_cpu)
		                                         : NULL;

		if (c && t->wait > 0)
			c->waiting += t->wait;
	}
	for (size_t i = 0; i < s->nr_cpus && !err; i++) {
		struct machine_past *past = &s->before[i].waiting;

		if (!isnan(s->cpus[i].busy))
			err = machine_past_add(past, s->cpus[i].waiting);
		s->cpus[i].waiting_history = machine_past_show(past);
	}
	return err;
}

static int take_cpus(struct machine_system *s)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < s->nr_cpus && !err; i++) {
		struct machine_cpu *c = &s->cpus[i];
		const struct sys_cpu *times = find_times(&s->now, &at, c->cpu);

		c->is_online = times != NULL;
		if (times)
			take_times(c, &s->before[i], times);
		else
			go_offline(c, &s->before[i]);
		err = remember(c, &s->before[i]);
	}
	return err;
}

/* Those of the last reading; a new one is asked for where it is time. */
static void take_freqs(struct machine_system *s, bool is_time)
{
	const struct sensor_reader_cfg cfg = { .root = s->root,
		                               .read = freq_reading_new,
		                               .free = free };
	struct freq_reading *r;

	if (is_time && !s->freqs && sensor_reader_open(&cfg, &s->freqs))
		return;
	if (!s->freqs || !s->nr_cpus)
		return;
	r = sensor_reader_take(s->freqs);
	for (size_t i = 0; r && i < s->nr_cpus; i++) {
		uint32_t cpu = s->cpus[i].cpu;
		uint64_t khz = cpu < r->nr && s->cpus[i].is_online ? r->khz[cpu] : 0;

		s->cpus[i].mhz = khz ? (double)khz / 1000 : NAN;
	}
	free(r);
	if (is_time)
		sensor_reader_ask(s->freqs, s->cpus[s->nr_cpus - 1].cpu + 1);
}

int machine_system_refresh(struct machine_system *s, uint32_t needs, uint64_t now_ns)
{
	bool is_slow = !s->slow_ns || now_ns >= s->slow_ns + SECOND_NS;
	uint32_t parts = needs & MACHINE_CPUS ? SYS_PART_TIMES : 0;
	int err;

	if (needs & MACHINE_MEMORY)
		parts |= SYS_PART_MEMORY | SYS_PART_PRESSURE;
	if (needs & MACHINE_STANDSTILL)
		parts |= SYS_PART_PRESSURE;
	if (needs & MACHINE_NET)
		parts |= SYS_PART_NETS;
	err = sys_stats_read_parts(s->root, parts, 0, &s->now);
	if (!err && (parts & SYS_PART_TIMES)) {
		err = take_cpus(s);
		take_freqs(s, is_slow);
	}
	if (!err)
		err = machine_usage_take(&s->usage, &s->now, parts, now_ns);
	if (is_slow || (needs & MACHINE_DSQS))
		scx_state_read(s->root, &s->scx);
	if (is_slow)
		s->slow_ns = now_ns;
	return err;
}

struct machine_cpu *machine_system_cpus(struct machine_system *s, size_t *nr)
{
	*nr = s->nr_cpus;
	return s->cpus;
}

const struct machine_memory *machine_system_memory(const struct machine_system *s)
{
	return &s->usage.memory;
}

const struct machine_net *machine_system_nets(const struct machine_system *s, size_t *nr)
{
	*nr = s->usage.nr_nets;
	return s->usage.nets;
}

const char *machine_system_scx_state(const struct machine_system *s)
{
	return s->scx.is_supported ? s->scx.state : NULL;
}

const char *machine_system_scheduler(const struct machine_system *s)
{
	return s->scx.ops[0] ? s->scx.ops : NULL;
}

enum machine_ext machine_system_ext(const struct machine_system *s)
{
	if (!s->scx.is_enabled)
		return MACHINE_EXT_NONE;
	return s->scx.switch_all == 1 ? MACHINE_EXT_ALL : MACHINE_EXT_ASKED;
}
