#include "collect/events_part.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/loaded.h"

int events_part_share(const struct loaded *from, struct bpf_object *part)
{
	struct bpf_map *map, *shared;
	int err;

	bpf_object__for_each_map(map, part)
	{
		if (bpf_map__is_internal(map))
			continue;
		shared = bpf_object__find_map_by_name(loaded_object(from), bpf_map__name(map));
		err = shared ? bpf_map__reuse_fd(map, bpf_map__fd(shared)) : 0;
		if (err)
			return err;
	}
	return 0;
}

uint64_t events_part_missed(const struct loaded *part)
{
	struct bpf_program *prog;
	uint64_t missed = 0;
	int fd;

	for (uint32_t i = 0; loaded_each(part, i, &prog, &fd); i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			missed += info.recursion_misses;
	}
	return missed;
}

bool events_part_has_function(const char *name)
{
	SCOPED(scoped_fclose) FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256];
	bool is_empty = true;

	while (file && fgets(line, sizeof(line), file)) {
		is_empty = false;
		if (sscanf(line, "%*s %*c %255s", symbol) == 1 && strcmp(symbol, name) == 0)
			return true;
	}
	return is_empty;
}
