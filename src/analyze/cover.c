#include "analyze/cover.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

int cover_init(struct cover *c, uint32_t nr_cpus)
{
	*c = (struct cover){ .nr_cpus = nr_cpus };
	c->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*c->cpus));
	return c->cpus ? 0 : -ENOMEM;
}

void cover_add(struct cover *c, uint32_t cpu_nr, uint64_t start_ns, uint64_t end_ns)
{
	struct cover_cpu *cpu = cpu_nr < c->nr_cpus ? &c->cpus[cpu_nr] : NULL;

	if (!cpu || start_ns >= end_ns)
		return;
	while (cpu->nr && cpu->parts[cpu->nr - 1].end_ns > start_ns) {
		const struct cover_part *last = &cpu->parts[--cpu->nr];

		cpu->ns -= last->end_ns - last->start_ns;
		if (last->start_ns < start_ns)
			start_ns = last->start_ns;
		if (last->end_ns > end_ns)
			end_ns = last->end_ns;
	}
	if (GROW(cpu->parts, cpu->capacity, cpu->nr)) {
		c->has_failed = true;
		return;
	}
	cpu->parts[cpu->nr++] = (struct cover_part){ start_ns, end_ns };
	cpu->ns += end_ns - start_ns;
}

uint64_t cover_ns(const struct cover *c, uint32_t cpu)
{
	return cpu < c->nr_cpus ? c->cpus[cpu].ns : 0;
}

uint64_t cover_sum_ns(const struct cover *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->nr_cpus; i++)
		sum += c->cpus[i].ns;
	return sum;
}

void cover_done(struct cover *c)
{
	for (uint32_t i = 0; c->cpus && i < c->nr_cpus; i++)
		free(c->cpus[i].parts);
	free(c->cpus);
	*c = (struct cover){ 0 };
}
