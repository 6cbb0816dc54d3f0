#include "sys/cpu_limits.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FILE_BYTES_MAX 4096U
#define CACHES_MAX     16U

static int64_t read_number(const char *root, uint32_t cpu, const char *file)
{
	SCOPED(scoped_free) char *text = NULL;
	char path[256];
	uint64_t value;

	(void)snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/%s", root, cpu, file);
	if (text_read_file(path, FILE_BYTES_MAX, &text))
		return -1;
	text_chomp(text);
	return text_to_u64(text, &value) && value <= INT64_MAX ? (int64_t)value : -1;
}

static int64_t read_llc_id(const char *root, uint32_t cpu)
{
	int64_t highest = 0, id = -1;
	char file[64];

	for (unsigned int i = 0; i < CACHES_MAX; i++) {
		int64_t level;

		(void)snprintf(file, sizeof(file), "cache/index%u/level", i);
		level = read_number(root, cpu, file);
		if (level <= highest)
			continue;
		highest = level;
		(void)snprintf(file, sizeof(file), "cache/index%u/id", i);
		id = read_number(root, cpu, file);
	}
	return id;
}

void cpu_limits_read(const char *root, uint32_t cpu, struct cpu_limits *out)
{
	*out = (struct cpu_limits){
		.min_khz = read_number(root, cpu, "cpufreq/cpuinfo_min_freq"),
		.max_khz = read_number(root, cpu, "cpufreq/cpuinfo_max_freq"),
		.base_khz = read_number(root, cpu, "cpufreq/base_frequency"),
		.llc_id = read_llc_id(root, cpu),
	};
}
