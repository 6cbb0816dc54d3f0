#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

#define CPUS_PER_PACKET 512U /* some 60 bytes each */

struct known_key {
	const char *name;
	uint32_t key; /* of Perfetto's enum */
};

static const struct known_key memory_keys[] = {
	{ "MemTotal", 1 },      { "MemFree", 2 },
	{ "MemAvailable", 3 },  { "Buffers", 4 },
	{ "Cached", 5 },        { "SwapCached", 6 },
	{ "Active", 7 },        { "Inactive", 8 },
	{ "Active(anon)", 9 },  { "Inactive(anon)", 10 },
	{ "Active(file)", 11 }, { "Inactive(file)", 12 },
	{ "Unevictable", 13 },  { "Mlocked", 14 },
	{ "SwapTotal", 15 },    { "SwapFree", 16 },
	{ "Dirty", 17 },        { "Writeback", 18 },
	{ "AnonPages", 19 },    { "Mapped", 20 },
	{ "Shmem", 21 },        { "Slab", 22 },
	{ "SReclaimable", 23 }, { "SUnreclaim", 24 },
	{ "KernelStack", 25 },  { "PageTables", 26 },
	{ "Committed_AS", 28 }, { NULL, 0 },
};

static const struct known_key paging_keys[] = {
	{ "pgpgin", 38 },  { "pgpgout", 39 },    { "pswpin", 41 }, { "pswpout", 42 },
	{ "pgfault", 49 }, { "pgmajfault", 50 }, { NULL, 0 },
};

static const struct known_key pressure_keys[] = {
	{ "cpu.some", 1 },    { "cpu.full", 2 },    { "io.some", 3 }, { "io.full", 4 },
	{ "memory.some", 5 }, { "memory.full", 6 }, { NULL, 0 },
};

static uint32_t key_of(const struct known_key *known, const char *name)
{
	while (known->name && strcmp(known->name, name) != 0)
		known++;
	return known->key;
}

static void put_pairs(struct pb *pb, uint32_t field, const struct known_key *known,
                      const struct trace_pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t key = key_of(known, pairs[i].name);
		struct pb_mark entry;

		if (!key)
			continue;
		entry = pb_begin(pb, field);
		pb_uint(pb, STATS_KEY, key);
		pb_uint(pb, STATS_VALUE, pairs[i].value);
		pb_end(pb, entry);
	}
}

static void put_cpu(struct pb *pb, const struct trace_cpu_times *cpu)
{
	struct pb_mark entry = pb_begin(pb, STATS_CPU);

	pb_uint(pb, STATS_CPU_ID, cpu->cpu);
	for (uint32_t i = 0; i < sizeof(cpu->ns) / sizeof(cpu->ns[0]); i++)
		pb_uint(pb, STATS_CPU_USER_NS + i, cpu->ns[i]);
	pb_end(pb, entry);
}

/* CPUs from this one on; everything else is in the first packet. */
static int put_packet(struct trace_writer *w, const struct trace_sys_stats *s, size_t from)
{
	struct pb *pb = &w->chunk.packets;
	struct packet_head head = { .has_ts = true, .ts_ns = s->ts_ns, .seq = SEQ_META };
	struct pb_mark packet = packet_begin(pb, &head);
	struct pb_mark stats = pb_begin_large(pb, PACKET_SYS_STATS);

	if (from == 0) {
		put_pairs(pb, STATS_MEMINFO, memory_keys, s->memory, s->nr_memory);
		put_pairs(pb, STATS_VMSTAT, paging_keys, s->paging, s->nr_paging);
		put_pairs(pb, STATS_PSI, pressure_keys, s->pressure, s->nr_pressure);
		if (s->forks)
			pb_uint(pb, STATS_FORKS, s->forks);
		for (size_t i = 0; i < s->nr_khz && i < FTRACE_CPUS_MAX; i++)
			pb_uint(pb, STATS_CPUFREQ_KHZ, s->khz[i]);
	}
	for (size_t i = from; i < s->nr_cpus && i < from + CPUS_PER_PACKET; i++)
		put_cpu(pb, &s->cpus[i]);
	pb_end(pb, stats);
	packet_end(pb, packet);
	return chunk_packet_done(&w->chunk);
}

static struct writer_net *find_net(struct trace_writer *w, const char *name)
{
	for (size_t i = 0; i < w->nr_nets; i++)
		if (strncmp(w->nets[i].name, name, sizeof(w->nets[i].name) - 1) == 0)
			return &w->nets[i];
	if (w->nr_nets == WRITER_NETS_MAX)
		return NULL;
	(void)snprintf(w->nets[w->nr_nets].name, sizeof(w->nets[0].name), "%s", name);
	return &w->nets[w->nr_nets++];
}

/* Only what has changed; interfaces beyond the cap are left out. */
static int put_net(struct trace_writer *w, uint64_t ts_ns, const struct trace_net *net)
{
	static const char *const what[] = { "rx bytes", "rx packets", "rx errors", "rx drops",
		                            "tx bytes", "tx packets", "tx errors", "tx drops" };
	struct writer_net *known = find_net(w, net->name);
	struct track_counter counter = { .folder = "network" };
	char name[64];
	int err = 0;

	for (uint32_t i = 0; known && !err && i < WRITER_NET_VALUES; i++) {
		if (known->has_values && known->values[i] == net->values[i])
			continue;
		(void)snprintf(name, sizeof(name), "%s %s", known->name, what[i]);
		counter.name = name;
		counter.id = (uint64_t)(known - w->nets) * WRITER_NET_VALUES + i;
		counter.is_new = !known->has_values;
		err = track_machine_counter(&w->tracks, ts_ns, &counter, net->values[i]);
		known->values[i] = net->values[i];
	}
	if (known)
		known->has_values = true;
	return err;
}

int trace_writer_sys_stats(struct trace_writer *w, const struct trace_sys_stats *stats)
{
	int err = w->chunk.diag.code;

	for (size_t from = 0; !err && (from == 0 || from < stats->nr_cpus); from += CPUS_PER_PACKET)
		err = put_packet(w, stats, from);
	for (size_t i = 0; !err && i < stats->nr_nets; i++)
		err = put_net(w, stats->ts_ns, &stats->nets[i]);
	return err ? writer_fail(w, err) : 0;
}
