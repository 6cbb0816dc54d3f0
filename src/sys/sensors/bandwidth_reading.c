#include "sys/sensors/bandwidth_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"

#define FILE_BYTES 65536U

static char *slurp(const struct sensor_files *f, const char *path)
{
	char whole[2 * SENSOR_PATH], *text = NULL;

	(void)snprintf(whole, sizeof(whole), "%s%s", f->root, path);
	return text_read_file(whole, FILE_BYTES, &text) ? NULL : text;
}

static void read_places(const struct sensor_files *f, struct bandwidth_reading *r)
{
	SCOPED(scoped_free) char *text = slurp(f, "/sys/devices/system/cpu/online");
	SCOPED(cpulist_done) struct cpulist online = { 0 };

	if (!text || cpulist_parse(text, &online))
		return;
	r->places = calloc((size_t)online.nr + 1, sizeof(*r->places));
	if (!r->places)
		return;
	cpulist_for_each(cpu, &online) r->places[r->nr_places++] =
		(struct bandwidth_place){ (uint32_t)cpu, resctrl_domain_of(f, (uint32_t)cpu) };
}

void *bandwidth_reading_new(const struct sensor_files *f, uint64_t (*clock)(void), uint32_t what)
{
	struct bandwidth_reading *r = calloc(1, sizeof(*r));
	SCOPED(scoped_free) char *filesystems = slurp(f, "/proc/filesystems");

	if (!r)
		return NULL;
	if (what & BANDWIDTH_PLACES)
		read_places(f, r);
	r->is_supported = filesystems && strstr(filesystems, "\tresctrl");
	r->ns = clock();
	if (!resctrl_read(f, &r->counts))
		return r;
	bandwidth_reading_free(r);
	return NULL;
}

void bandwidth_reading_free(void *reading)
{
	struct bandwidth_reading *r = reading;

	if (!r)
		return;
	resctrl_done(&r->counts);
	free(r->places);
	free(r);
}
