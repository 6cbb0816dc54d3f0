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

static inline struct trace_damage found_damage(const struct trace_info *info, const char *name)
{
	for (size_t i = 0; i < info->nr_damage; i++)
		if (strcmp(info->damage[i].name, name) == 0)
			return info->damage[i];
	return (struct trace_damage){ 0 };
}

static inline uint64_t counted_damage(const struct trace_info *info, const char *name)
{
	return found_damage(info, name).count;
}

/* Out of how many. */
static inline uint64_t counted_of(const struct trace_info *info, const char *name)
{
	return found_damage(info, name).of;
}

static inline uint64_t counted_events(const struct trace_info *info, const char *name)
{
	return counted(info->events, info->nr_events, name);
}
