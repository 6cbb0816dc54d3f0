#include "sys/sensors/rapl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FOLDER       "/sys/class/powercap"
#define CONSTRAINTS  4
#define VENDOR_BYTES (4U << 20)
#define MICRO        1e6

/* By name: "package-1", "package-1-die-0". */
static int32_t package_of(const char *name)
{
	char number[SENSOR_TEXT];
	size_t len = strlen("package-");

	if (strncmp(name, "package-", len) != 0)
		return -1;
	(void)snprintf(number, sizeof(number), "%.*s", (int)strcspn(name + len, "-"), name + len);
	return sensor_number(number, "");
}

static enum rapl_kind kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum rapl_kind kind;
	} kinds[] = {
		{ "core", RAPL_CORES },
		{ "dram", RAPL_DRAM },
		{ "uncore", RAPL_UNCORE },
		{ "psys", RAPL_PLATFORM },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	return package_of(name) >= 0 ? RAPL_PACKAGE : RAPL_OTHER;
}

static double watts_in(const struct sensor_files *f, const char *id, int nr, const char *file)
{
	uint64_t uw;

	return sensor_u64(f, &uw, FOLDER "/%s/constraint_%d_%s", id, nr, file) ? NAN
	                                                                       : (double)uw / MICRO;
}

static void read_limits(const struct sensor_files *f, struct rapl_zone *z)
{
	z->limit_watts = z->short_limit_watts = z->most_watts = NAN;
	for (int i = 0; i < CONSTRAINTS; i++) {
		char name[SENSOR_TEXT];

		if (sensor_text(f, name, FOLDER "/%s/constraint_%d_name", z->id, i))
			return;
		if (strcmp(name, "long_term") == 0) {
			z->limit_watts = watts_in(f, z->id, i, "power_limit_uw");
			z->most_watts = watts_in(f, z->id, i, "max_power_uw");
		} else if (strcmp(name, "short_term") == 0) {
			z->short_limit_watts = watts_in(f, z->id, i, "power_limit_uw");
		}
	}
}

/* "intel-rapl:0:1" is within "intel-rapl:0". */
static const struct rapl_zone *find_parent(const struct rapl *r, const char *id)
{
	const char *colon = strrchr(id, ':');
	char parent[SENSOR_TEXT];

	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(colon - id), id);
	return rapl_find(r, parent);
}

static bool is_known(const struct rapl *r, const char *name)
{
	for (size_t i = 0; i < r->nr; i++)
		if (strcmp(r->zones[i].name, name) == 0)
			return true;
	return false;
}

static void read_zone(const struct sensor_files *f, const char *id, struct rapl *out)
{
	bool is_part = strchr(id, ':') != strrchr(id, ':');
	struct rapl_zone *z = &out->zones[out->nr];
	const struct rapl_zone *parent = is_part ? find_parent(out, id) : NULL;

	*z = (struct rapl_zone){ .package = -1 };
	if ((is_part && !parent) || sensor_text(f, z->name, FOLDER "/%s/name", id) ||
	    (!is_part && is_known(out, z->name)))
		return;
	(void)snprintf(z->id, sizeof(z->id), "%s", id);
	z->kind = kind_of(z->name);
	z->package = parent ? parent->package : package_of(z->name);
	z->energy_err = sensor_u64(f, &z->energy_uj, FOLDER "/%s/energy_uj", id);
	if (sensor_u64(f, &z->range_uj, FOLDER "/%s/max_energy_range_uj", id))
		z->range_uj = 0;
	read_limits(f, z);
	out->nr++;
}

static bool is_amd(const struct sensor_files *f)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[SENSOR_PATH];

	(void)snprintf(path, sizeof(path), "%s/proc/cpuinfo", f->root);
	return !text_read_file(path, VENDOR_BYTES, &text) &&
	       (strstr(text, "AuthenticAMD") || strstr(text, "HygonGenuine"));
}

void rapl_read(const struct sensor_files *f, struct rapl *out)
{
	/* The first one that has a package is used. */
	static const char *const ways[] = { "intel-rapl:", "intel-rapl-tpmi:", "intel-rapl-mmio:" };

	out->nr = 0;
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		SCOPED(scoped_sensor_names) struct sensor_names names;

		sensor_list(f, FOLDER, ways[w], &names);
		for (size_t i = 0; i < names.nr && out->nr < RAPL_ZONES_MAX; i++)
			read_zone(f, names.names[i], out);
	}
	out->has_single_cores = out->nr && is_amd(f);
}

const struct rapl_zone *rapl_find(const struct rapl *r, const char *id)
{
	for (size_t i = 0; i < r->nr; i++)
		if (strcmp(r->zones[i].id, id) == 0)
			return &r->zones[i];
	return NULL;
}

double rapl_watts(const struct rapl_zone *before, const struct rapl_zone *now, double seconds)
{
	uint64_t used;

	if (!before || before->energy_err || now->energy_err || !(seconds > 0))
		return NAN;
	if (now->energy_uj >= before->energy_uj)
		used = now->energy_uj - before->energy_uj;
	else if (now->range_uj >= before->energy_uj)
		used = now->range_uj - before->energy_uj + now->energy_uj;
	else
		return NAN;
	return (double)used / MICRO / seconds;
}
