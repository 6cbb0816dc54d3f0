/* Tools about the machine itself: what it is made of. */
#include <errno.h>

#include "analyze/report.h"
#include "base/cleanup.h"
#include "mcp/tools/tools.h"
#include "mcp/world.h"
#include "sys/cpu_limits.h"
#include "sys/topology.h"

static const char *const details[] = { "summary", "full", NULL };

static const struct arg topology_args[] = {
	{ .name = "detail_level",
	  .type = ARG_STRING,
	  .description = "summary: how many of each; full: every CPU, core, cache and node",
	  .choices = details,
	  .fallback = "\"summary\"" },
	{ .name = "include_offline",
	  .type = ARG_BOOL,
	  .description = "in full, CPUs that are offline too",
	  .fallback = "false" },
	{ .name = "limit",
	  .type = ARG_INTEGER,
	  .description = "in full, rows of each list; as many as fit a short answer if not given",
	  .min = 1,
	  .max = 8192 },
	{ .name = "offset",
	  .type = ARG_INTEGER,
	  .description = "in full, rows to skip",
	  .min = 0,
	  .max = 8192,
	  .fallback = "0" },
	{ 0 },
};

static const struct out_field topology_output[] = {
	{ "summary", "object",
	  "total_cpus, cores, llcs, numa_nodes, smt_enabled; in full nr_cpus, nr_cores, nr_llcs, nr_nodes" },
	{ "hint", "string", "how to get more" },
	{ "cpus", "array",
	  "full: id, core_id, llc_id, node_id, min_freq, max_freq, base_freq (kHz), cpu_capacity, is_online" },
	{ "cores", "array", "full: id, span (CPUs)" },
	{ "llcs", "array", "full: id, kernel_id, span" },
	{ "nodes", "array", "full: id, span, distance" },
	{ "truncated", "boolean", NULL },
	{ "page", "object", NULL },
	{ 0 },
};

static bool has_smt(const struct topology *t)
{
	const struct topology_counts *n = topology_counts(t);

	return n->nr_cores && n->nr_online > n->nr_cores;
}

static void put_summary(struct json_writer *w, const struct topology *t)
{
	const struct topology_counts *n = topology_counts(t);

	jw_begin_object(w, "summary");
	jw_u64(w, "total_cpus", n->nr_online);
	jw_u64(w, "cores", n->nr_cores);
	jw_u64(w, "llcs", n->nr_llcs);
	jw_u64(w, "numa_nodes", n->nr_nodes);
	jw_bool(w, "smt_enabled", has_smt(t));
	jw_end_object(w);
}

static void add_known(struct report *r, const char *key, int64_t value)
{
	report_i64_if(r, key, value >= 0, value);
}

static void add_summary(struct report *r, const struct topology *t)
{
	const struct topology_counts *n = topology_counts(t);

	report_begin_object(r, "summary");
	report_u64(r, "nr_cpus", n->nr_online);
	report_u64(r, "nr_cores", n->nr_cores);
	report_u64(r, "nr_llcs", n->nr_llcs);
	report_u64(r, "nr_nodes", n->nr_nodes);
	report_bool(r, "smt_enabled", has_smt(t));
	report_end_object(r);
}

static void add_cpus(struct report *r, const struct topology *t, bool wants_offline)
{
	report_begin_array(r, "cpus");
	for (uint32_t cpu = 0; cpu < topology_counts(t)->nr_cpu_ids; cpu++) {
		const struct topology_cpu *c = topology_cpu(t, cpu);
		struct cpu_limits limits;

		if (!c || (!c->is_online && !wants_offline))
			continue;
		cpu_limits_read("/sys", cpu, &limits);
		report_begin_object(r, NULL);
		report_u64(r, "id", cpu);
		add_known(r, "core_id", c->core);
		add_known(r, "llc_id", c->llc);
		add_known(r, "node_id", c->node);
		add_known(r, "min_freq", limits.min_khz);
		add_known(r, "max_freq", limits.max_khz);
		add_known(r, "base_freq", limits.base_khz);
		add_known(r, "cpu_capacity", c->capacity);
		report_bool(r, "is_online", c->is_online);
		report_end_object(r);
	}
	report_end_array(r);
}

/* What a CPU belongs to. */
typedef int32_t group_fn(const struct topology_cpu *c);

static int32_t core_of(const struct topology_cpu *c)
{
	return c->core;
}

static int32_t llc_of(const struct topology_cpu *c)
{
	return c->llc;
}

static int32_t node_of(const struct topology_cpu *c)
{
	return c->node;
}

/* The first of its CPUs that are online, or -1. */
static int64_t add_span(struct report *r, const struct topology *t, group_fn *group, int32_t id)
{
	int64_t first = -1;

	report_begin_array(r, "span");
	for (uint32_t cpu = 0; cpu < topology_counts(t)->nr_cpu_ids; cpu++) {
		const struct topology_cpu *c = topology_cpu(t, cpu);

		if (!c || !c->is_online || group(c) != id)
			continue;
		report_u64(r, NULL, cpu);
		if (first < 0)
			first = cpu;
	}
	report_end_array(r);
	return first;
}

static void add_groups(struct report *r, const struct topology *t)
{
	const struct topology_counts *n = topology_counts(t);
	struct cpu_limits limits;

	report_begin_array(r, "cores");
	for (uint32_t i = 0; i < n->nr_cores; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "id", i);
		(void)add_span(r, t, core_of, (int32_t)i);
		report_end_object(r);
	}
	report_end_array(r);
	report_begin_array(r, "llcs");
	for (uint32_t i = 0; i < n->nr_llcs; i++) {
		int64_t cpu;

		report_begin_object(r, NULL);
		report_u64(r, "id", i);
		cpu = add_span(r, t, llc_of, (int32_t)i);
		if (cpu >= 0)
			cpu_limits_read("/sys", (uint32_t)cpu, &limits);
		add_known(r, "kernel_id", cpu >= 0 ? limits.llc_id : -1);
		report_end_object(r);
	}
	report_end_array(r);
}

static void add_nodes(struct report *r, const struct topology *t)
{
	const struct topology_node *node, *other;

	report_begin_array(r, "nodes");
	for (uint32_t i = 0; (node = topology_node(t, i)); i++) {
		report_begin_object(r, NULL);
		report_i64(r, "id", node->id);
		(void)add_span(r, t, node_of, node->id);
		report_begin_array(r, "distance");
		for (uint32_t k = 0; (other = topology_node(t, k)); k++)
			add_known(r, NULL, topology_distance(t, node->id, other->id));
		report_end_array(r);
		report_end_object(r);
	}
	report_end_array(r);
}

static int put_full(struct tool_call *call, const struct topology *t)
{
	SCOPED(scoped_report) struct report *r = report_new(0);

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	add_summary(r, t);
	add_cpus(r, t, call_bool(call, "include_offline"));
	add_groups(r, t);
	add_nodes(r, t);
	report_end_object(r);
	return report_error(r) ? diag_set(call->d, -ENOMEM, NULL, "out of memory")
	                       : call_put_report(call, report_root(r));
}

static int get_topology(struct tool_call *call)
{
	SCOPED(scoped_topology) struct topology *t = NULL;
	int err = topology_read("/sys", call->d, &t);

	if (err)
		return err;
	if (call_string(call, "detail_level")[0] == 'f')
		return put_full(call, t);
	put_summary(call->out, t);
	jw_string(call->out, "hint",
	          "detail_level \"full\" lists every CPU with its core, cache and node");
	return 0;
}

const struct tool tool_get_topology = {
	.name = "get_topology",
	.title = "CPU topology",
	.description =
		"How many CPUs, cores, last-level caches and NUMA nodes this machine has, and "
		"which CPUs share them. Use it before judging migrations or placement. Not for a "
		"recorded trace: get_trace_summary describes its machine.",
	.set = TOOLSET_LIVE,
	.args = topology_args,
	.output = topology_output,
	.run = get_topology,
};
