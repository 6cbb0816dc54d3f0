/* Tools about the machine itself: what it is made of. */
#include <errno.h>

#include "mcp/tools.h"
#include "mcp/world.h"
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
	{ 0 },
};

static const struct out_field topology_output[] = {
	{ "summary", "object", "total_cpus, cores, llcs, numa_nodes, smt_enabled" },
	{ "hint", "string", "how to get more" },
	{ "cpus", "array", "full: id, core_id, llc_id, node_id, cpu_capacity, is_online of each" },
	{ 0 },
};

static void put_number(struct json_writer *w, const char *key, int32_t value)
{
	if (value < 0)
		jw_null(w, key);
	else
		jw_i64(w, key, value);
}

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

static void put_cpus(struct json_writer *w, const struct topology *t, bool wants_offline)
{
	jw_begin_array(w, "cpus");
	for (uint32_t cpu = 0; cpu < topology_counts(t)->nr_cpu_ids; cpu++) {
		const struct topology_cpu *c = topology_cpu(t, cpu);

		if (!c || (!c->is_online && !wants_offline))
			continue;
		jw_begin_object(w, NULL);
		jw_u64(w, "id", cpu);
		put_number(w, "core_id", c->core);
		put_number(w, "llc_id", c->llc);
		put_number(w, "node_id", c->node);
		put_number(w, "cpu_capacity", c->capacity);
		jw_bool(w, "is_online", c->is_online);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static int get_topology(struct tool_call *call)
{
	bool is_full = call_string(call, "detail_level")[0] == 'f';
	struct topology *t = NULL;
	int err = topology_read("/sys", call->d, &t);

	if (err)
		return err;
	put_summary(call->out, t);
	if (is_full)
		put_cpus(call->out, t, call_bool(call, "include_offline"));
	else
		jw_string(call->out, "hint",
		          "detail_level \"full\" lists every CPU with its core, cache and node");
	topology_free(t);
	return 0;
}

const struct tool tool_get_topology = {
	.name = "get_topology",
	.title = "CPU topology",
	.description =
		"How many CPUs, cores, last-level caches and NUMA nodes this machine has, and which CPUs share them. Use it before "
		"judging migrations or placement. Not for a recorded trace: get_trace_summary tells about its machine.",
	.set = TOOLSET_LIVE,
	.args = topology_args,
	.output = topology_output,
	.run = get_topology,
};
