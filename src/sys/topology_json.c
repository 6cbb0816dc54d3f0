#include "sys/topology_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/topology.h"

#define FILE_CAP (16UL << 20)
#define HINT     "'schedscope stat --gen-topology' prints a file of the right form"

int topology_json_write(const struct topology *t, FILE *out)
{
	struct json_writer w;

	jw_init(&w, out, true);
	jw_begin_object(&w, NULL);
	jw_begin_object(&w, "cpus");
	for (uint32_t i = 0; i < topology_counts(t)->nr_cpu_ids; i++) {
		const struct topology_cpu *cpu = topology_cpu(t, i);
		char key[16];

		if (!cpu || (cpu->die < 0 && cpu->llc < 0 && cpu->node < 0))
			continue;
		snprintf(key, sizeof(key), "%u", i);
		jw_begin_object(&w, key);
		jw_i64(&w, "die", cpu->die);
		jw_i64(&w, "llc", cpu->llc);
		if (cpu->core >= 0)
			jw_i64(&w, "core", cpu->core);
		jw_i64(&w, "numa", cpu->node);
		if (cpu->is_isolated)
			jw_i64(&w, "isolated", 1);
		jw_end_object(&w);
	}
	jw_end_object(&w);
	jw_end_object(&w);
	return jw_finish(&w);
}

static void scoped_json(json_t *const *j)
{
	json_decref(*j);
}

/* What one file says, while it is being checked. */
struct json_file {
	const char *name;
	struct diag *d;
	struct topology_cpu *cpus;
	uint32_t nr_cpus;
	uint32_t nr_llcs; /* CPUs that have the key */
	uint32_t nr;
};

static void scoped_file(struct json_file *f)
{
	free(f->cpus);
}

/* Plain decimal without leading zeros, so that no CPU can be named twice. */
static bool to_cpu(const char *key, uint32_t *out)
{
	char canonical[16];
	uint64_t value;

	if (!text_to_u64(key, &value) || value >= CPULIST_MAX)
		return false;
	snprintf(canonical, sizeof(canonical), "%u", (uint32_t)value);
	*out = (uint32_t)value;
	return !strcmp(key, canonical);
}

/* *out stays untouched where the key is absent. */
static int take_number(const struct json_file *f, uint32_t cpu, const json_t *obj, const char *key,
                       int32_t limit, int32_t *out)
{
	const json_t *value = json_object_get(obj, key);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < -1 ||
	    json_integer_value(value) >= limit)
		return diag_set(f->d, -EINVAL, HINT,
		                "'%s' of CPU %u in '%s' is not a whole number from -1 to %d", key,
		                cpu, f->name, limit - 1);
	*out = (int32_t)json_integer_value(value);
	return 0;
}

static int take_cpu(struct json_file *f, const char *key, const json_t *value)
{
	struct topology_cpu cpu = topology_cpu_unknown;
	char shown[64];
	uint32_t nr;

	if (!to_cpu(key, &nr))
		return diag_set(f->d, -EINVAL, HINT, "'%s' in '%s' is not a CPU number below %d",
		                text_printable(shown, sizeof(shown), key, strlen(key)), f->name,
		                CPULIST_MAX);
	if (!json_is_object(value))
		return diag_set(f->d, -EINVAL, HINT, "CPU %u in '%s' is not an object", nr,
		                f->name);
	if (!json_object_get(value, "die") && !json_object_get(value, "llc"))
		return diag_set(f->d, -EINVAL, HINT, "CPU %u in '%s' has neither 'llc' nor 'die'",
		                nr, f->name);
	if (!json_object_get(value, "numa"))
		return diag_set(f->d, -EINVAL, HINT, "CPU %u in '%s' has no 'numa'", nr, f->name);
	if (take_number(f, nr, value, "die", CPULIST_MAX, &cpu.die) ||
	    take_number(f, nr, value, "llc", CPULIST_MAX, &cpu.llc) ||
	    take_number(f, nr, value, "core", CPULIST_MAX, &cpu.core) ||
	    take_number(f, nr, value, "numa", TOPOLOGY_MAX_NODES, &cpu.node))
		return -EINVAL;
	cpu.is_possible = cpu.is_present = cpu.is_online = true;
	f->cpus[nr] = cpu;
	f->nr++;
	f->nr_llcs += json_object_get(value, "llc") != NULL;
	if (nr >= f->nr_cpus)
		f->nr_cpus = nr + 1;
	return 0;
}

static int take_cpus(struct json_file *f, json_t *cpus)
{
	const char *key;
	json_t *value;

	f->cpus = malloc(CPULIST_MAX * sizeof(*f->cpus));
	if (!f->cpus)
		return diag_set(f->d, -ENOMEM, NULL, "cannot hold the CPUs of '%s'", f->name);
	for (uint32_t i = 0; i < CPULIST_MAX; i++)
		f->cpus[i] = topology_cpu_unknown;
	json_object_foreach(cpus, key, value)
	{
		int err = take_cpu(f, key, value);

		if (err)
			return err;
	}
	if (!f->nr)
		return diag_set(f->d, -EINVAL, HINT, "'%s' names no CPU", f->name);
	if (f->nr_llcs && f->nr_llcs < f->nr)
		return diag_set(f->d, -EINVAL, "give it for all CPUs or for none",
		                "only %u of the %u CPUs in '%s' have 'llc'", f->nr_llcs, f->nr,
		                f->name);
	for (uint32_t i = 0; i < f->nr_cpus && !f->nr_llcs; i++)
		f->cpus[i].llc = f->cpus[i].die;
	return 0;
}

int topology_json_parse(const char *text, size_t len, const char *name, struct diag *d,
                        struct topology **out)
{
	SCOPED(scoped_json) json_t *root = NULL;
	SCOPED(scoped_file) struct json_file f = { .name = name, .d = d };
	struct topology_table table = { 0 };
	json_error_t error;
	json_t *cpus;
	int err;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!root) {
		char why[JSON_ERROR_TEXT_LENGTH];

		text_printable(why, sizeof(why), error.text, strlen(error.text));
		return diag_set(d, -EINVAL, HINT, "'%s' is not valid JSON (line %d: %s)", name,
		                error.line, why);
	}
	cpus = json_object_get(root, "cpus");
	if (!json_is_object(cpus))
		return diag_set(d, -EINVAL, HINT, "'%s' has no object 'cpus'", name);
	err = take_cpus(&f, cpus);
	if (err)
		return err;
	table.cpus = f.cpus;
	table.nr_cpus = f.nr_cpus;
	table.llc_source = f.nr_llcs ? TOPOLOGY_LLC_FILE : TOPOLOGY_LLC_DIE;
	return topology_new(&table, d, out);
}

int topology_json_read(const char *path, struct diag *d, struct topology **out)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = text_read_file(path, FILE_CAP, &text);

	if (err == -EFBIG)
		return diag_set(d, err, HINT, "'%s' is not a topology", path);
	if (err)
		return diag_set(d, err, "check the path and its permissions",
		                "cannot read the topology '%s'", path);
	return topology_json_parse(text, strlen(text), path, d, out);
}
