#include "sys/sensors/resctrl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FOLDER         "/sys/fs/resctrl"
#define CACHE_INDICES  8
#define FEATURES_BYTES 4096U

static const char *const files[RESCTRL_COUNTS] = { "mbm_local_bytes", "mbm_total_bytes",
	                                           "llc_occupancy" };

static void read_row(const struct sensor_files *f, const char *folder, const char *domain,
                     struct resctrl *out)
{
	struct resctrl_row *row = &out->rows[out->nr];

	row->domain = sensor_number(domain, "mon_L3_");
	if (row->domain < 0)
		return;
	for (int i = 0; i < RESCTRL_COUNTS; i++) {
		if (!out->has[i])
			continue;
		row->is_known[i] = !sensor_u64(f, &row->bytes[i], "%s/%s/%s", folder, domain,
		                               files[i]);
		out->nr_absent += !row->is_known[i];
	}
	out->nr++;
}

static void read_group(const struct sensor_files *f, const char *group, struct resctrl *out)
{
	SCOPED(scoped_sensor_names) struct sensor_names domains = { 0 };
	char folder[SENSOR_PATH];

	(void)snprintf(folder, sizeof(folder), FOLDER "%s%s/mon_data", group[0] ? "/" : "", group);
	sensor_list(f, folder, "mon_L3_", &domains);
	out->nr_groups += domains.nr > 0;
	for (size_t i = 0; i < domains.nr && out->nr < RESCTRL_ROWS_MAX; i++) {
		memcpy(out->rows[out->nr].group, group, strlen(group) + 1);
		read_row(f, folder, domains.names[i], out);
	}
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == '\n') && (at[len] == '\n' || !at[len]))
			return true;
	return false;
}

static void read_features(const struct sensor_files *f, struct resctrl *out)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[SENSOR_PATH];

	(void)snprintf(path, sizeof(path), "%s" FOLDER "/info/L3_MON/mon_features", f->root);
	if (text_read_file(path, FEATURES_BYTES, &text))
		return;
	for (int i = 0; i < RESCTRL_COUNTS; i++)
		out->has[i] = has_word(text, files[i]);
}

int resctrl_read(const struct sensor_files *f, struct resctrl *out)
{
	/* What the mount contains besides control groups. */
	static const char *const others[] = { ".", "..", "info", "mon_data", "mon_groups" };
	SCOPED(scoped_sensor_names) struct sensor_names names = { 0 };

	*out = (struct resctrl){ 0 };
	sensor_list(f, FOLDER, "", &names);
	for (size_t i = 0; i < names.nr; i++)
		out->is_mounted = out->is_mounted || strcmp(names.names[i], "info") == 0;
	if (!out->is_mounted)
		return 0;
	out->rows = calloc(RESCTRL_ROWS_MAX, sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	read_features(f, out);
	read_group(f, "", out);
	for (size_t i = 0; i < names.nr; i++) {
		bool is_group = true;

		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			is_group = is_group && strcmp(names.names[i], others[k]) != 0;
		if (is_group)
			read_group(f, names.names[i], out);
	}
	return 0;
}

void resctrl_done(struct resctrl *r)
{
	free(r->rows);
	*r = (struct resctrl){ 0 };
}

const struct resctrl_row *resctrl_find(const struct resctrl *r, const char *group, int32_t domain)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->rows[i].domain == domain && strcmp(r->rows[i].group, group) == 0)
			return &r->rows[i];
	return NULL;
}

double resctrl_rate(uint64_t before, uint64_t now, double seconds)
{
	uint64_t bytes = now - before;

	return seconds > 0 && bytes <= INT64_MAX ? (double)bytes / seconds : NAN;
}

int32_t resctrl_domain_of(const struct sensor_files *f, uint32_t cpu)
{
	for (int i = 0; i < CACHE_INDICES; i++) {
		static const char folder[] = "/sys/devices/system/cpu";
		uint64_t level, id;

		if (sensor_u64(f, &level, "%s/cpu%u/cache/index%d/level", folder, cpu, i))
			return -1;
		if (level == 3)
			return sensor_u64(f, &id, "%s/cpu%u/cache/index%d/id", folder, cpu, i) ||
			                       id > INT32_MAX
			               ? -1
			               : (int32_t)id;
	}
	return -1;
}
