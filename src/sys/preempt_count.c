#include "sys/preempt_count.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define PCPU_HOT_COUNT 8 /* behind the pointer to the current task */

int preempt_count_find(const char *kallsyms, struct preempt_count *out)
{
	SCOPED(scoped_fclose) FILE *file = fopen(kallsyms, "re");
	bool has_offsets = false, has_count = false;
	struct preempt_count found = { 0 };
	char line[256];

	if (!file)
		return -errno;
	while (!(has_offsets && has_count) && fgets(line, sizeof(line), file)) {
		uint64_t address;
		char name[64];

		if (sscanf(line, "%" SCNx64 " %*c %63s", &address, name) != 2)
			continue;
		if (strcmp(name, "__per_cpu_offset") == 0) {
			has_offsets = address != 0; /* hidden ones are 0 */
			found.offsets = address;
		} else if (strcmp(name, "__preempt_count") == 0) {
			has_count = true;
			found.address = address;
		} else if (strcmp(name, "pcpu_hot") == 0) {
			has_count = true;
			found.address = address + PCPU_HOT_COUNT;
		}
	}
	/* Addresses of variables of CPUs may well begin at 0, but none of them is one of ours. */
	if (!has_offsets || !has_count || !found.address)
		return -ENOENT;
	*out = found;
	return 0;
}
