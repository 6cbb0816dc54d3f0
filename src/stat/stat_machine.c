#include "stat/stat_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sys/cgroup_quota.h"

void stat_machine_done(struct stat_machine *m)
{
	sys_stats_done(&m->now);
	cgroup_quota_close(m->quota);
	m->quota = NULL;
}

static void sum_times(const struct sys_stats *s, struct stat_machine_times *to)
{
	to->busy_ns = to->steal_ns = to->all_ns = 0;
	for (size_t i = 0; i < s->nr_cpus; i++) {
		const uint64_t *ns = s->cpus[i].ns;

		for (int kind = 0; kind < SYS_TIMES; kind++)
			to->all_ns += ns[kind];
		to->steal_ns += ns[SYS_STEAL];
		to->busy_ns += ns[SYS_USER] + ns[SYS_NICE] + ns[SYS_SYSTEM] + ns[SYS_IRQ] +
		               ns[SYS_SOFTIRQ];
	}
}

static bool read_pressure(const struct sys_stats *s, uint64_t *out)
{
	for (size_t i = 0; i < s->pressure.nr; i++)
		if (strcmp(s->pressure.items[i].name, "cpu.some") == 0) {
			*out = s->pressure.items[i].value;
			return true;
		}
	return false;
}

/* A CPU that went offline takes its times with it. */
static double share(uint64_t before, uint64_t now, uint64_t of)
{
	if (!of || now < before)
		return -1;
	return now - before > of ? 1 : (double)(now - before) / (double)of;
}

static void look_at_quotas(struct stat_machine *m, bool is_total, struct stat_machine_shares *out)
{
	struct cgroup_throttled most;

	if (!m->is_open)
		m->quota = cgroup_quota_open(NULL);
	m->is_open = true;
	if (!m->quota)
		return;
	cgroup_quota_look(m->quota, is_total, &most);
	(void)snprintf(out->throttled, sizeof(out->throttled), "%s", most.path);
	out->nr_periods = most.nr_periods;
	out->nr_throttled = most.nr_throttled;
}

void stat_machine_look(struct stat_machine *m, bool is_total, struct stat_machine_shares *out)
{
	struct stat_machine_times old = is_total ? m->first : m->last;
	struct stat_machine_times now = { .at_ns = clock_boot_ns() };
	bool has_pressure;
	uint64_t all;

	*out = (struct stat_machine_shares){ .busy = -1, .steal = -1, .pressure = -1 };
	look_at_quotas(m, is_total, out);
	if (sys_stats_read_parts("", SYS_PART_TIMES | SYS_PART_PRESSURE, 0, &m->now))
		return;
	sum_times(&m->now, &now);
	has_pressure = read_pressure(&m->now, &now.pressure_ns);
	out->nr_cpus = (uint32_t)m->now.nr_cpus;
	m->last = now;
	if (!m->first.at_ns)
		m->first = now;
	if (!old.at_ns)
		return;
	all = now.all_ns > old.all_ns ? now.all_ns - old.all_ns : 0;
	out->busy = share(old.busy_ns, now.busy_ns, all);
	out->steal = share(old.steal_ns, now.steal_ns, all);
	if (has_pressure)
		out->pressure = share(old.pressure_ns, now.pressure_ns, now.at_ns - old.at_ns);
}
