/* fuzz/fuzz_sys_stats — any text as each of the files about the whole machine. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sys/proc/sys_stats.h"

static void check_pairs(const struct sys_pairs *p)
{
	fuzz_check(p->nr <= SYS_PAIRS_MAX);
	for (size_t i = 0; i < p->nr; i++) {
		size_t len = strnlen(p->items[i].name, SYS_PAIR_NAME);

		fuzz_check(len > 0 && len < SYS_PAIR_NAME);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sys_pairs pairs;
	struct sys_cpu cpus[4];
	struct sys_net nets[4];
	char *text = malloc(size + 1);
	uint64_t forks;
	size_t nr;

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	pairs.nr = 0;
	sys_pairs_parse(text, &pairs);
	sys_pressure_parse(text, "memory", &pairs);
	check_pairs(&pairs);
	nr = sys_cpus_parse(text, 100, cpus, 4);
	fuzz_check(nr <= 4);
	for (size_t i = 0; i < nr; i++)
		fuzz_check(cpus[i].cpu < SYS_CPUS_MAX);
	nr = sys_nets_parse(text, nets, 4);
	fuzz_check(nr <= 4);
	for (size_t i = 0; i < nr; i++)
		fuzz_check(strnlen(nets[i].name, SYS_NET_NAME) < SYS_NET_NAME);
	(void)!sys_forks_parse(text, &forks);
	free(text);
	return 0;
}
