#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trace/perfetto/meta_in.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"

#define TOPOLOGY_PREFIX "scxtop_topo:"
#define TOPOLOGY_BYTES  (4U << 20)

/* A number into one field of a CPU; what is none, or negative, is unknown. */
static void read_place(struct reader *r, const char *key, const json_t *value, size_t offset)
{
	struct trace_cpu_info *at;
	uint64_t cpu;
	int32_t place;

	if (!text_to_u64(key, &cpu) || cpu >= META_CPUS_MAX || !json_is_integer(value) ||
	    json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX)
		return;
	at = meta_cpu(r, (uint32_t)cpu);
	place = (int32_t)json_integer_value(value);
	if (at)
		memcpy((char *)at + offset, &place, sizeof(place));
}

/* scxtop's {"0": 3, ...} into one field of the CPUs; false if it is something else. */
static bool read_places(struct reader *r, json_t *map, size_t offset)
{
	const char *key;
	json_t *value;

	if (!json_is_object(map))
		return false;
	json_object_foreach(map, key, value) read_place(r, key, value, offset);
	return true;
}

/* Our own {"0": {"llc": 3, "core": 2, "numa": 1, "isolated": 1}, ...}; false if it is something else, or empty. */
static bool read_cpus(struct reader *r, json_t *map)
{
	const char *key;
	json_t *value;

	if (!json_object_size(map))
		return false;
	json_object_foreach(map, key, value)
	{
		read_place(r, key, json_object_get(value, "llc"),
		           offsetof(struct trace_cpu_info, llc));
		read_place(r, key, json_object_get(value, "numa"),
		           offsetof(struct trace_cpu_info, node));
		read_place(r, key, json_object_get(value, "core"),
		           offsetof(struct trace_cpu_info, core));
		read_place(r, key, json_object_get(value, "isolated"),
		           offsetof(struct trace_cpu_info, isolated));
	}
	return true;
}

void meta_topology(struct reader *r, const void *json, size_t len)
{
	json_t *root = len <= TOPOLOGY_BYTES ? json_loadb(json, len, 0, NULL) : NULL;
	bool has_llc, has_node, has_core, has_cpus;

	if (!root)
		return;
	has_llc = read_places(r, json_object_get(root, "cpu_to_llc"),
	                      offsetof(struct trace_cpu_info, llc));
	has_node = read_places(r, json_object_get(root, "cpu_to_numa"),
	                       offsetof(struct trace_cpu_info, node));
	has_core = read_places(r, json_object_get(root, "cpu_to_core"),
	                       offsetof(struct trace_cpu_info, core));
	has_cpus = read_cpus(r, json_object_get(root, "cpus"));
	r->info.has_topology |= has_llc || has_node || has_core || has_cpus;
	json_decref(root);
}

static bool starts_with(const struct pb_in *text, const char *prefix)
{
	return pb_left(text) >= strlen(prefix) && memcmp(text->p, prefix, strlen(prefix)) == 0;
}

static bool is_text(const struct pb_in *text, const char *other)
{
	return pb_left(text) == strlen(other) && starts_with(text, other);
}

/* Names that only one recorder gives to its tracks. */
static void check_name(struct reader *r, struct pb_in name)
{
	size_t prefix = strlen(TOPOLOGY_PREFIX);
	bool is_dsq = starts_with(&name, "DSQ ") &&
	              (memmem(name.p, pb_left(&name), " latency ns", 11) ||
	               memmem(name.p, pb_left(&name), " nr_queued", 10));

	if (starts_with(&name, TOPOLOGY_PREFIX))
		meta_topology(r, name.p + prefix, pb_left(&name) - prefix);
	r->meta->has_scxtop_track |= is_dsq || starts_with(&name, TOPOLOGY_PREFIX);
	r->meta->has_systing_track |= is_text(&name, "Systing") ||
	                              is_text(&name, "Network Packets");
}

static bool is_idle_process(struct pb_in in)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.nr == THREAD_DESC_PID && f.type == PB_VARINT && f.value == NAMES_PID_IDLE)
			return true;
	return false;
}

/* A process whose track, name and only argument are called the same: only systing writes it three times. */
static bool is_systing_process(struct pb_in track_name, struct pb_in process)
{
	struct pb_in cmdline = { 0 }, name = { 0 };
	struct pb_field f;

	while (pb_next(&process, &f)) {
		if (f.nr == PROCESS_DESC_CMDLINE && f.type == PB_BYTES)
			cmdline = pb_in_field(&f);
		else if (f.nr == PROCESS_DESC_NAME && f.type == PB_BYTES)
			name = pb_in_field(&f);
	}
	return pb_left(&name) && pb_left(&name) == pb_left(&cmdline) &&
	       pb_left(&name) == pb_left(&track_name) &&
	       memcmp(name.p, cmdline.p, pb_left(&name)) == 0 &&
	       memcmp(name.p, track_name.p, pb_left(&name)) == 0;
}

int meta_track(struct reader *r, struct pb_in body, struct name_when when)
{
	struct pb_in in = body, name = { 0 }, process = { 0 };
	struct pb_field f;
	int err = tracks_descriptor(r, body, when.ts_ns);

	while (!err && pb_next(&in, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr == TRACK_THREAD) {
			err = names_thread_desc(&r->names, pb_in_field(&f), when);
		} else if (f.nr == TRACK_PROCESS) {
			r->meta->has_idle_process |= is_idle_process(pb_in_field(&f));
			process = pb_in_field(&f);
			err = names_process_desc(&r->names, process, when);
		} else if (f.nr == TRACK_NAME || f.nr == TRACK_STATIC_NAME) {
			name = pb_in_field(&f);
			check_name(r, name);
		}
	}
	r->meta->has_systing_process |= is_systing_process(name, process);
	if (in.is_bad)
		r->tally.damage[DAMAGE_PACKET_BAD]++;
	return err;
}
