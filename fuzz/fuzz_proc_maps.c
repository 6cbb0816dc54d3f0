/* fuzz/fuzz_proc_maps — any text as /proc/PID/maps, into the memory of what processes had mapped. */
#include <string.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/proc_maps.h"
#include "symbol/spaces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spaces_cfg small = { .max_lives = 4, .max_mappings = 64, .max_per_life = 32 };
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&small);
	struct scan rest = { (const char *)data, (const char *)data + size };
	struct proc_maps_line line;
	struct space_mapping m;
	uint64_t ts = 0;

	fuzz_check(s);
	while (proc_maps_next(&rest, &line)) {
		m = (struct space_mapping){ .start = line.start, .end = line.end };
		fuzz_check(line.end > line.start && strlen(line.path) < sizeof(line.path));
		fuzz_check(spaces_map(s, 1 + line.dev_minor % 6, ++ts, &m) == 0);
		if (line.is_deleted)
			spaces_exit(s, 1 + line.dev_minor % 6, ts);
		if (spaces_find(s, 1 + line.dev_minor % 6, ts, line.start, &m))
			fuzz_check(m.start <= line.start && line.start < m.end);
		if (line.is_executable)
			fuzz_check(spaces_fork(s, 1 + line.dev_minor % 6, 1 + line.dev_major % 6,
			                       ts) == 0);
		fuzz_check(spaces_nr(s) <= small.max_lives);
	}
	return 0;
}
