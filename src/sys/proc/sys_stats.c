#include "sys/proc/sys_stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FILE_BYTES_MAX (4U << 20) /* /proc/stat has a number for every interrupt */

/* NULL if it is not there. */
static char *slurp(const char *root, const char *path)
{
	char whole[256], *text = NULL;

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	return text_read_file(whole, FILE_BYTES_MAX, &text) ? NULL : text;
}

static int read_stat(const char *root, struct sys_stats *s)
{
	SCOPED(scoped_free) char *text = slurp(root, "/proc/stat");
	long hz = sysconf(_SC_CLK_TCK);

	s->nr_cpus = 0;
	s->has_forks = text && sys_forks_parse(text, &s->forks);
	if (!text || hz <= 0)
		return 0;
	if (!s->cpus)
		s->cpus = calloc(SYS_CPUS_MAX, sizeof(*s->cpus));
	if (!s->cpus)
		return -ENOMEM;
	s->nr_cpus = sys_cpus_parse(text, (uint64_t)hz, s->cpus, SYS_CPUS_MAX);
	return 0;
}

static void read_pairs(const char *root, const char *path, struct sys_pairs *out)
{
	SCOPED(scoped_free) char *text = slurp(root, path);

	out->nr = 0;
	if (text)
		sys_pairs_parse(text, out);
}

static void read_pressure(const char *root, struct sys_pairs *out)
{
	static const char *const resources[] = { "cpu", "io", "memory" };

	out->nr = 0;
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		SCOPED(scoped_free) char *text = NULL;
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/pressure/%s", resources[i]);
		text = slurp(root, path);
		if (text)
			sys_pressure_parse(text, resources[i], out);
	}
}

static void read_nets(const char *root, struct sys_stats *s)
{
	SCOPED(scoped_free) char *text = slurp(root, "/proc/net/dev");

	s->nr_nets = text ? sys_nets_parse(text, s->nets, SYS_NETS_MAX) : 0;
}

static uint32_t read_khz(const char *root, uint32_t cpu)
{
	SCOPED(scoped_free) char *text = NULL;
	uint64_t khz;
	char path[96];

	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq",
	               cpu);
	text = slurp(root, path);
	if (!text)
		return 0;
	text_chomp(text);
	return text_to_u64(text, &khz) && khz <= UINT32_MAX ? (uint32_t)khz : 0;
}

static int read_all_khz(const char *root, uint32_t nr_cpus, struct sys_stats *s)
{
	if (nr_cpus > SYS_CPUS_MAX)
		nr_cpus = SYS_CPUS_MAX;
	if (!s->khz)
		s->khz = calloc(SYS_CPUS_MAX, sizeof(*s->khz));
	if (!s->khz)
		return -ENOMEM;
	s->nr_khz = 0;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		s->khz[cpu] = read_khz(root, cpu);
		if (s->khz[cpu])
			s->nr_khz = cpu + 1;
	}
	return 0;
}

int sys_stats_read_parts(const char *root, uint32_t parts, uint32_t nr_cpus, struct sys_stats *s)
{
	int err = parts & SYS_PART_TIMES ? read_stat(root, s) : 0;

	s->nr_khz = 0;
	if (!err && nr_cpus)
		err = read_all_khz(root, nr_cpus, s);
	if (err)
		return err;
	if (parts & SYS_PART_MEMORY) {
		read_pairs(root, "/proc/meminfo", &s->memory);
		read_pairs(root, "/proc/vmstat", &s->paging);
	}
	if (parts & SYS_PART_PRESSURE)
		read_pressure(root, &s->pressure);
	if (parts & SYS_PART_NETS)
		read_nets(root, s);
	return 0;
}

int sys_stats_read(const char *root, uint32_t nr_cpus, struct sys_stats *s)
{
	return sys_stats_read_parts(root, SYS_PART_ALL, nr_cpus, s);
}

void sys_stats_done(struct sys_stats *s)
{
	free(s->cpus);
	free(s->khz);
	memset(s, 0, sizeof(*s));
}
