#include "record/system_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sys/proc/sys_stats.h"
#include "trace/perfetto/write/writer.h"

#define INTERVAL_NS 100000000ULL
#define KHZ_NS      1000000000ULL

struct system_stats {
	uint32_t nr_cpus;
	uint64_t next_ns;
	uint64_t next_khz_ns;
	struct sys_stats now;
	/* The same for the writer. */
	struct trace_pair memory[SYS_PAIRS_MAX], paging[SYS_PAIRS_MAX], pressure[SYS_PAIRS_MAX];
	struct trace_net nets[SYS_NETS_MAX];
	struct trace_cpu_times cpus[SYS_CPUS_MAX];
};

int system_stats_new(uint32_t nr_cpus, struct system_stats **out)
{
	struct system_stats *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->nr_cpus = nr_cpus;
	*out = s;
	return 0;
}

void system_stats_free(struct system_stats *s)
{
	if (!s)
		return;
	sys_stats_done(&s->now);
	free(s);
}

static size_t pairs(const struct sys_pairs *from, struct trace_pair *to)
{
	for (size_t i = 0; i < from->nr; i++)
		to[i] = (struct trace_pair){ from->items[i].name, from->items[i].value };
	return from->nr;
}

_Static_assert(sizeof(((struct trace_cpu_times *)0)->ns) == sizeof(((struct sys_cpu *)0)->ns),
               "the same times in the same order");

static void convert(struct system_stats *s, struct trace_sys_stats *out)
{
	out->nr_memory = pairs(&s->now.memory, s->memory);
	out->nr_paging = pairs(&s->now.paging, s->paging);
	out->nr_pressure = pairs(&s->now.pressure, s->pressure);
	for (size_t i = 0; i < s->now.nr_cpus; i++) {
		s->cpus[i].cpu = s->now.cpus[i].cpu;
		memcpy(s->cpus[i].ns, s->now.cpus[i].ns, sizeof(s->cpus[i].ns));
	}
	for (size_t i = 0; i < s->now.nr_nets; i++) {
		const struct sys_net *n = &s->now.nets[i];

		s->nets[i] = (struct trace_net){
			.name = n->name,
			.values = { n->rx_bytes, n->rx_packets, n->rx_errors, n->rx_drops,
			            n->tx_bytes, n->tx_packets, n->tx_errors, n->tx_drops },
		};
	}
}

static int put(struct system_stats *s, struct trace_writer *w)
{
	struct trace_sys_stats out = {
		.ts_ns = clock_boot_ns(),
		.cpus = s->cpus,
		.nr_cpus = s->now.nr_cpus,
		.memory = s->memory,
		.paging = s->paging,
		.pressure = s->pressure,
		.forks = s->now.has_forks ? s->now.forks : 0,
		.khz = s->now.khz,
		.nr_khz = s->now.nr_khz,
		.nets = s->nets,
		.nr_nets = s->now.nr_nets,
	};

	convert(s, &out);
	return trace_writer_sys_stats(w, &out);
}

int system_stats_tick(struct system_stats *s, uint64_t now_ns, struct trace_writer *w)
{
	bool wants_khz = now_ns >= s->next_khz_ns;
	int err;

	if (now_ns < s->next_ns)
		return 0;
	/* From the last one on, so that late rounds do not make it slower; but what was missed is missed. */
	s->next_ns = s->next_ns + INTERVAL_NS > now_ns ? s->next_ns + INTERVAL_NS
	                                               : now_ns + INTERVAL_NS;
	if (wants_khz)
		s->next_khz_ns = now_ns + KHZ_NS;
	err = sys_stats_read("", wants_khz ? s->nr_cpus : 0, &s->now);
	return err ? err : put(s, w);
}
