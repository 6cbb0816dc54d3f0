/* Resources about the machine: its scheduler, CPUs, memory, network. All of them work without --daemon. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"
#include "mcp/live_service.h"
#include "mcp/resources/resources.h"
#include "mcp/world.h"
#include "sys/proc/sys_stats.h"
#include "sys/rights/broker.h"
#include "sys/scx/scx_counters.h"
#include "sys/scx/scx_state.h"
#include "sys/scx/scx_stats.h"
#include "sys/topology.h"

#define SCX_DEBUG     "/sys/kernel/debug/sched/ext"
#define SCX_DEBUG_MAX 4000U
#define SCX_TIMEOUT   300U /* ms, for both questions together twice that */
#define RAW_DEFAULT   2200U
#define RAW_MAX       (1U << 20)
#define CPUS_DEFAULT  64U
#define NETS_DEFAULT  20U
#define MAX_ROWS      8192U
#define NS_PER_S      1000000000ULL

static int read_scheduler(struct mcp_world *w, const char *query, struct json_writer *out,
                          struct diag *d)
{
	struct scx_state s;

	(void)w;
	(void)query;
	(void)d;
	scx_state_read("", &s);
	jw_string(out, "name", s.is_enabled && s.ops[0] ? s.ops : "unknown");
	jw_string(out, "class", s.is_enabled ? "sched_ext" : "other");
	jw_bool(out, "active", s.is_enabled);
	jw_string(out, "state", s.state[0] ? s.state : NULL);
	jw_bool(out, "sched_ext_supported", s.is_supported);
	if (!s.is_enabled)
		jw_string(
			out, "note",
			s.is_supported
				? "no sched_ext scheduler is active: the kernel's own classes schedule"
				: "this kernel has no sched_ext: its own classes schedule");
	return 0;
}

const struct resource resource_scheduler = {
	.uri = "scheduler://current",
	.name = "current-scheduler",
	.title = "Current scheduler",
	.description = "whether a sched_ext scheduler is active, and which; changes only with it",
	.set = TOOLSET_LIVE,
	.read = read_scheduler,
};

static void put_known(struct json_writer *w, const char *key, int64_t value)
{
	jw_i64_if(w, key, value >= 0, value);
}

static int read_page(const char *query, uint64_t *limit, uint64_t *offset, struct diag *d)
{
	int err = resource_query_u64(query, "limit", 1, MAX_ROWS, limit, d);

	return err ? err : resource_query_u64(query, "offset", 0, MAX_ROWS, offset, d);
}

static void put_next(struct json_writer *w, uint64_t next, uint64_t total)
{
	jw_bool(w, "truncated", next < total);
	jw_u64_if(w, "next_offset", next < total, next);
}

static int read_topology(struct mcp_world *w, const char *query, struct json_writer *out,
                         struct diag *d)
{
	SCOPED(scoped_topology) struct topology *t = NULL;
	uint64_t limit = CPUS_DEFAULT, offset = 0, at = 0;
	const struct topology_counts *n;
	int err = read_page(query, &limit, &offset, d);

	(void)w;
	if (!err)
		err = topology_read("/sys", d, &t);
	if (err)
		return err;
	n = topology_counts(t);
	jw_u64(out, "nr_cpus", n->nr_online);
	jw_u64(out, "nr_cores", n->nr_cores);
	jw_u64(out, "nr_llcs", n->nr_llcs);
	jw_u64(out, "nr_nodes", n->nr_nodes);
	jw_begin_array(out, "cpus");
	for (uint32_t cpu = 0; cpu < n->nr_cpu_ids; cpu++) {
		const struct topology_cpu *c = topology_cpu(t, cpu);

		if (!c || !c->is_online || at++ < offset || at - offset > limit)
			continue;
		jw_begin_object(out, NULL);
		jw_u64(out, "id", cpu);
		put_known(out, "core_id", c->core);
		put_known(out, "llc_id", c->llc);
		put_known(out, "node_id", c->node);
		jw_end_object(out);
	}
	jw_end_array(out);
	put_next(out, offset + limit, n->nr_online);
	return 0;
}

const struct resource resource_topology = {
	.uri = "topology://info",
	.name = "topology",
	.title = "CPU topology",
	.description =
		"which CPUs share a core, a last-level cache, a NUMA node; changes only as CPUs come and go; ?limit, ?offset",
	.set = TOOLSET_LIVE,
	.read = read_topology,
	.poll_ms = 5000, /* some files of every CPU */
};

/* What the scheduler answers to one request, or why it does not. */
static void put_scheduler_answer(const struct mcp_world *w, const char *request, uint64_t max_bytes,
                                 struct json_writer *out)
{
	const char *path = w->cfg.stats_socket ? w->cfg.stats_socket : SCX_STATS_PATH;
	SCOPED(scoped_free) char *text = NULL;
	char message[sizeof(((struct diag *)0)->what) + sizeof(((struct diag *)0)->hint) + 128];
	struct diag d = { 0 };
	int err = scx_stats_ask(path, request, SCX_TIMEOUT, &d, &text);

	if (!err && strlen(text) <= max_bytes) {
		jw_raw(out, request, text, strlen(text));
		return;
	}
	diag_format(&d, message, sizeof(message));
	jw_begin_object(out, request);
	if (!err) {
		jw_string(out, "error", "too_large");
		jw_u64(out, "bytes", strlen(text));
		jw_string(out, "message", "read it with ?max_bytes of that size");
	} else {
		jw_string(out, "error", err == -ENOTCONN ? "not_connected" : "request_failed");
		jw_string(out, "message", message);
	}
	jw_end_object(out);
}

static int read_raw(struct mcp_world *w, const char *query, struct json_writer *out, struct diag *d)
{
	uint64_t max_bytes = RAW_DEFAULT;
	int err = resource_query_u64(query, "max_bytes", 1, RAW_MAX, &max_bytes, d);

	if (err)
		return err;
	put_scheduler_answer(w, "stats", max_bytes, out);
	put_scheduler_answer(w, "stats_meta", max_bytes, out);
	jw_string(out, "socket", w->cfg.stats_socket ? w->cfg.stats_socket : SCX_STATS_PATH);
	jw_string(out, "note", "as the scheduler itself reports; names and units are its own");
	return 0;
}

const struct resource resource_scheduler_raw = {
	.uri = "stats://scheduler/raw",
	.name = "scheduler-raw",
	.title = "The scheduler's own statistics",
	.description =
		"what a sched_ext scheduler reports on its statistics socket; without one, changes only when it comes; ?max_bytes for long answers",
	.set = TOOLSET_LIVE,
	.read = read_raw,
	.poll_ms = 1000,
};

/* The debug file that some kernels had; others say the same elsewhere. */
static void put_debug_text(struct json_writer *out)
{
	SCOPED(scoped_free) char *text = NULL;
	size_t len;

	if (broker_read(SCX_DEBUG, RAW_MAX, &text))
		return;
	len = strlen(text);
	jw_string(out, "path", SCX_DEBUG);
	jw_bytes(out, "content", text, len < SCX_DEBUG_MAX ? len : SCX_DEBUG_MAX);
	jw_bool(out, "truncated", len > SCX_DEBUG_MAX);
}

static void put_counters(struct json_writer *out, const struct scx_state *s)
{
	struct scx_counters counters;

	if (scx_counters_read("", &counters)) {
		jw_null(out, "events");
		jw_string(out, "note",
		          s->is_enabled
		                  ? "this kernel does not count events: Linux 6.15 and newer do"
		                  : "no scheduler is active: no events are counted");
		return;
	}
	jw_begin_object(out, "events");
	for (size_t i = 0; i < counters.nr; i++)
		jw_i64(out, counters.items[i].name, counters.items[i].value);
	jw_end_object(out);
	jw_string(out, "note", "counted since this scheduler was loaded; bypass_duration is in ns");
}

static int read_scx(struct mcp_world *w, const char *query, struct json_writer *out, struct diag *d)
{
	struct scx_state s;

	(void)w;
	(void)query;
	(void)d;
	scx_state_read("", &s);
	if (!s.is_supported) {
		jw_string(out, "error", "cannot_read");
		jw_string(out, "message", "this kernel has no sched_ext");
		jw_string(out, "note", "needs Linux 6.12 or newer with CONFIG_SCHED_CLASS_EXT");
		return 0;
	}
	jw_string(out, "state", s.state);
	jw_string(out, "ops", s.ops[0] ? s.ops : NULL);
	put_known(out, "switch_all", s.switch_all);
	put_known(out, "nr_rejected", s.nr_rejected);
	put_known(out, "hotplug_seq", s.hotplug_seq);
	put_known(out, "enable_seq", s.enable_seq);
	put_counters(out, &s);
	put_debug_text(out);
	return 0;
}

const struct resource resource_scheduler_scx = {
	.uri = "stats://scheduler/scx",
	.name = "scheduler-scx",
	.title = "sched_ext state of the kernel",
	.description =
		"what the kernel reports on sched_ext: its state, and its counters; without a scheduler, changes only when one comes",
	.set = TOOLSET_LIVE,
	.read = read_scx,
	.poll_ms = 1000,
};

struct cpu_sum {
	uint64_t active_ns;
	uint64_t total_ns;
	uint64_t idle_ns; /* with iowait */
};

static const struct sys_cpu *find_cpu(const struct sys_stats *s, uint32_t cpu)
{
	for (size_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].cpu == cpu)
			return &s->cpus[i];
	return NULL;
}

/* Of one CPU between both reads; a counter that went back counts nothing. */
static void add_cpu(struct cpu_sum *sum, const struct sys_cpu *now, const struct sys_cpu *before)
{
	for (int i = 0; i < SYS_TIMES; i++) {
		uint64_t was = before ? before->ns[i] : 0;
		uint64_t ns = now->ns[i] > was ? now->ns[i] - was : 0;

		sum->total_ns += ns;
		if (i == SYS_IDLE || i == SYS_IOWAIT)
			sum->idle_ns += ns;
		else
			sum->active_ns += ns;
	}
}

static void put_percent(struct json_writer *w, const char *key, uint64_t part, uint64_t whole)
{
	jw_double(w, key, whole ? 100.0 * (double)part / (double)whole : NAN, 2);
}

static void put_cpus(struct json_writer *w, const struct cpu_times *t, struct cpu_sum *all)
{
	jw_begin_array(w, "cpus");
	for (size_t i = 0; i < t->now.nr_cpus; i++) {
		const struct sys_cpu *now = &t->now.cpus[i];
		struct cpu_sum one = { 0 };

		add_cpu(&one, now, t->has_before ? find_cpu(&t->before, now->cpu) : NULL);
		all->active_ns += one.active_ns;
		all->total_ns += one.total_ns;
		all->idle_ns += one.idle_ns;
		if (i >= CPUS_DEFAULT)
			continue;
		jw_begin_object(w, NULL);
		jw_u64(w, "cpu", now->cpu);
		put_percent(w, "busy_pct", one.active_ns, one.total_ns);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static int read_cpu(struct mcp_world *w, const char *query, struct json_writer *out, struct diag *d)
{
	uint64_t tick_ns = NS_PER_S /
	                   (uint64_t)(sysconf(_SC_CLK_TCK) > 0 ? sysconf(_SC_CLK_TCK) : 100);
	struct cpu_sum all = { 0 };
	struct cpu_times t;
	int err = live_service_cpu_times(w->service, &t, d);

	(void)query;
	if (err)
		return err;
	put_cpus(out, &t, &all);
	jw_u64(out, "active_util", all.active_ns / tick_ns);
	jw_u64(out, "total_util", all.total_ns / tick_ns);
	put_percent(out, "idle_pct", all.idle_ns, all.total_ns);
	put_percent(out, "busy_pct", all.active_ns, all.total_ns);
	jw_string(out, "since", t.has_before ? "last_read" : "boot");
	jw_u64_if(out, "interval_ms", t.has_before, t.elapsed_ns / 1000000);
	jw_u64(out, "total_cpus", t.now.nr_cpus);
	jw_string(out, "note",
	          t.has_before
	                  ? "clock ticks of all CPUs since the last read of this resource"
	                  : "clock ticks of all CPUs since boot: read again for the current rate");
	cpu_times_done(&t);
	return 0;
}

/* Reading the resource would change what its next reader gets. */
static uint64_t cpu_revision(struct mcp_world *w, const char *query)
{
	struct sys_stats now = { 0 };
	uint64_t hash = 0;

	(void)w;
	(void)query;
	if (sys_stats_read_parts("", SYS_PART_TIMES, 0, &now) == 0)
		for (size_t i = 0; i < now.nr_cpus; i++)
			hash = hash_bytes(now.cpus[i].ns, sizeof(now.cpus[i].ns), hash);
	sys_stats_done(&now);
	return hash;
}

const struct resource resource_system_cpu = {
	.uri = "stats://system/cpu",
	.name = "system-cpu",
	.title = "CPU use",
	.description =
		"how busy the CPUs were since the last read of this resource (the first read: "
		"since boot)",
	.set = TOOLSET_LIVE,
	.read = read_cpu,
	.revision = cpu_revision,
};

static bool find_memory(const struct sys_stats *s, const char *name, uint64_t *out)
{
	for (size_t i = 0; i < s->memory.nr; i++) {
		if (strcmp(s->memory.items[i].name, name) != 0)
			continue;
		*out = s->memory.items[i].value;
		return true;
	}
	return false;
}

static void put_ratio(struct json_writer *w, const char *key, const struct sys_stats *s,
                      const char *part, const char *whole)
{
	uint64_t a, b;
	bool is_known = find_memory(s, part, &a) && find_memory(s, whole, &b) && b;

	jw_double(w, key, is_known ? (double)a / (double)b : NAN, 4);
}

static int read_memory(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	static const char *const names[][2] = {
		{ "total_kb", "MemTotal" },         { "free_kb", "MemFree" },
		{ "available_kb", "MemAvailable" }, { "buffers_kb", "Buffers" },
		{ "cached_kb", "Cached" },          { "swap_total_kb", "SwapTotal" },
		{ "swap_free_kb", "SwapFree" },
	};
	struct sys_stats s = { 0 };
	uint64_t value = 0;

	(void)w;
	(void)query;
	if (sys_stats_read("", 0, &s))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool is_known = find_memory(&s, names[i][1], &value);

		jw_u64_if(out, names[i][0], is_known, value);
	}
	put_ratio(out, "free_ratio", &s, "MemFree", "MemTotal");
	put_ratio(out, "swap_ratio", &s, "SwapFree", "SwapTotal");
	sys_stats_done(&s);
	return 0;
}

const struct resource resource_system_memory = {
	.uri = "stats://system/memory",
	.name = "system-memory",
	.title = "Memory",
	.description = "memory and swap, total and free",
	.set = TOOLSET_LIVE,
	.read = read_memory,
};

static void put_net(struct json_writer *w, const struct sys_net *net)
{
	jw_begin_object(w, NULL);
	jw_string(w, "name", net->name);
	jw_u64(w, "recv_bytes", net->rx_bytes);
	jw_u64(w, "sent_bytes", net->tx_bytes);
	jw_u64(w, "recv_packets", net->rx_packets);
	jw_u64(w, "sent_packets", net->tx_packets);
	jw_end_object(w);
}

static int read_network(struct mcp_world *w, const char *query, struct json_writer *out,
                        struct diag *d)
{
	uint64_t limit = NETS_DEFAULT, offset = 0, received = 0, sent = 0;
	struct sys_stats s = { 0 };
	int err = read_page(query, &limit, &offset, d);

	(void)w;
	if (!err && sys_stats_read("", 0, &s))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err)
		return err;
	jw_begin_array(out, "interfaces");
	for (size_t i = 0; i < s.nr_nets; i++) {
		received += s.nets[i].rx_bytes;
		sent += s.nets[i].tx_bytes;
		if (i >= offset && i - offset < limit)
			put_net(out, &s.nets[i]);
	}
	jw_end_array(out);
	jw_u64(out, "total_recv_bytes", received);
	jw_u64(out, "total_sent_bytes", sent);
	jw_u64(out, "total_interfaces", s.nr_nets);
	put_next(out, offset + limit, s.nr_nets);
	sys_stats_done(&s);
	return 0;
}

const struct resource resource_system_network = {
	.uri = "stats://system/network",
	.name = "system-network",
	.title = "Network",
	.description = "bytes and packets of each interface since it came up; ?limit, ?offset",
	.set = TOOLSET_LIVE,
	.read = read_network,
};
