/* tests/trace/counted — how often something of that name was counted in the info of a trace; 0 if never. */
#pragma once

#include <string.h>

#include "trace/reader.h"

static inline uint64_t counted(const struct trace_count *counts, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(counts[i].name, name) == 0)
			return counts[i].count;
	return 0;
}

static inline uint64_t counted_damage(const struct trace_info *info, const char *name)
{
	return counted(info->damage, info->nr_damage, name);
}

static inline uint64_t counted_events(const struct trace_info *info, const char *name)
{
	return counted(info->events, info->nr_events, name);
}
