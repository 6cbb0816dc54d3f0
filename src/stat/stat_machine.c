#include "stat/stat_machine.h"

#include <stdbool.h>
#include <string.h>

#include "base/clock.h"

void stat_machine_done(struct stat_machine *m)
{
	sys_stats_done(&m->now);
}

static void sum_times(const struct sys_stats *s, struct stat_machine *to)
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

void stat_machine_look(struct stat_machine *m, struct stat_machine_shares *out)
{
	struct stat_machine old = *m;
	uint64_t pressure = 0, all;
	bool has_pressure;
	int err = sys_stats_read_parts("", SYS_PART_TIMES | SYS_PART_PRESSURE, 0, &m->now);

	*out = (struct stat_machine_shares){ .busy = -1, .steal = -1, .pressure = -1 };
	if (err)
		return;
	m->at_ns = clock_boot_ns();
	sum_times(&m->now, m);
	has_pressure = read_pressure(&m->now, &pressure);
	m->pressure_ns = pressure;
	out->nr_cpus = (uint32_t)m->now.nr_cpus;
	if (!old.at_ns)
		return;
	all = m->all_ns > old.all_ns ? m->all_ns - old.all_ns : 0;
	out->busy = share(old.busy_ns, m->busy_ns, all);
	out->steal = share(old.steal_ns, m->steal_ns, all);
	if (has_pressure)
		out->pressure = share(old.pressure_ns, m->pressure_ns, m->at_ns - old.at_ns);
}
