#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sys/proc/schedstat.h"

/* Counters of the kernel's type unsigned int; the others are 64 bits wide on 64-bit kernels. */
#define CPU_FIELDS_OF_64_BITS \
	(1U << SCHEDSTAT_RQ_CPU_TIME | 1U << SCHEDSTAT_RUN_DELAY | 1U << SCHEDSTAT_PCOUNT)

#define MAX_NAMES 64 /* kernels know fewer than ten */

/* False where the values say nothing about what happened between them. */
static bool subtract(uint64_t from, uint64_t to, bool is_64_bits, uint64_t *out)
{
	uint32_t wrapped;

	if (to >= from) {
		*out = to - from;
		return true;
	}
	if (is_64_bits || from > UINT32_MAX)
		return false;
	wrapped = (uint32_t)to - (uint32_t)from;
	*out = wrapped <= INT32_MAX ? wrapped : to;
	return true;
}

static void subtract_cpu(const struct schedstat_cpu *from, const struct schedstat_cpu *to,
                         struct schedstat_cpu *out)
{
	for (uint32_t i = 0; i < SCHEDSTAT_CPU_FIELDS; i++) {
		uint32_t bit = 1U << i;

		if (from->present & to->present & bit &&
		    subtract(from->values[i], to->values[i], CPU_FIELDS_OF_64_BITS & bit,
		             &out->values[i]))
			out->present |= bit;
	}
}

static void subtract_domain(const struct schedstat_domain *from, const struct schedstat_domain *to,
                            struct schedstat_domain *out)
{
	for (uint32_t i = 0; i < SCHEDSTAT_DOMAIN_FIELDS; i++) {
		uint64_t bit = 1ULL << i;

		if (from->present & to->present & bit &&
		    subtract(from->values[i], to->values[i], false, &out->values[i]))
			out->present |= bit;
	}
}

/* A domain is the same one if its level and its name are. */
static const struct schedstat_domain *find_domain(const struct schedstat *s,
                                                  const struct schedstat_cpu *cpu,
                                                  const struct schedstat_domain *like)
{
	for (uint32_t i = 0; i < cpu->nr_domains; i++) {
		const struct schedstat_domain *domain = &s->domains[cpu->first_domain + i];

		if (domain->level == like->level && !strcmp(domain->name, like->name))
			return domain;
	}
	return NULL;
}

static void delta_of_cpu(const struct schedstat *from, const struct schedstat_cpu *old,
                         const struct schedstat *to, const struct schedstat_cpu *new,
                         struct schedstat *out)
{
	struct schedstat_cpu *cpu = &out->cpus[out->nr_cpus++];
	uint32_t nr_paired = 0;

	cpu->cpu = new->cpu;
	cpu->first_domain = out->nr_domains;
	subtract_cpu(old, new, cpu);
	for (uint32_t i = 0; i < new->nr_domains; i++) {
		const struct schedstat_domain *domain = &to->domains[new->first_domain + i];
		const struct schedstat_domain *before = find_domain(from, old, domain);
		struct schedstat_domain *result = &out->domains[out->nr_domains];

		if (!before) {
			out->nr_skipped++;
			continue;
		}
		result->level = domain->level;
		memcpy(result->name, domain->name, sizeof(result->name));
		subtract_domain(before, domain, result);
		out->nr_domains++;
		nr_paired++;
	}
	cpu->nr_domains = nr_paired;
	if (old->nr_domains > nr_paired)
		out->nr_skipped += old->nr_domains - nr_paired;
}

static int new_table(uint32_t nr_cpus, uint32_t nr_domains, struct schedstat **out)
{
	SCOPED(scoped_schedstat) struct schedstat *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cpus = calloc(nr_cpus + 1, sizeof(*s->cpus));
	s->domains = calloc(nr_domains + 1, sizeof(*s->domains));
	if (!s->cpus || !s->domains)
		return -ENOMEM;
	*out = TAKE_PTR(s);
	return 0;
}

int schedstat_delta(const struct schedstat *from, const struct schedstat *to, struct diag *d,
                    struct schedstat **out)
{
	SCOPED(scoped_schedstat) struct schedstat *s = NULL;
	uint32_t a = 0, b = 0;

	if (from->version != to->version)
		return diag_set(d, -EINVAL, NULL,
		                "scheduler statistics of versions %d and %d cannot be compared",
		                from->version, to->version);
	if (new_table(to->nr_cpus, to->nr_domains, &s))
		return diag_set(d, -ENOMEM, NULL, "cannot hold the scheduler statistics");
	s->version = to->version;
	while (a < from->nr_cpus && b < to->nr_cpus) {
		const struct schedstat_cpu *old = &from->cpus[a], *new = &to->cpus[b];

		if (old->cpu == new->cpu)
			delta_of_cpu(from, old, to, new, s);
		else
			s->nr_skipped++;
		a += old->cpu <= new->cpu;
		b += new->cpu <= old->cpu;
	}
	s->nr_skipped += from->nr_cpus - a + to->nr_cpus - b;
	*out = TAKE_PTR(s);
	return 0;
}

static void add_values(uint64_t *into, const uint64_t *values, uint64_t present, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (present >> i & 1)
			into[i] += values[i];
}

/* NULL for one name too many. Kept in the order of levels; equal ones as they came. */
static struct schedstat_domain *find_total(struct schedstat_totals *t,
                                           const struct schedstat_domain *domain)
{
	uint32_t at = t->nr_names;

	for (uint32_t i = 0; i < t->nr_names; i++)
		if (!strcmp(t->by_name[i].name, domain->name))
			return &t->by_name[i];
	if (t->nr_names == MAX_NAMES)
		return NULL;
	while (at > 0 && t->by_name[at - 1].level > domain->level) {
		t->by_name[at] = t->by_name[at - 1];
		at--;
	}
	t->by_name[at] = (struct schedstat_domain){ .level = domain->level };
	memcpy(t->by_name[at].name, domain->name, sizeof(domain->name));
	t->nr_names++;
	return &t->by_name[at];
}

static void add_domain(struct schedstat_domain *into, const struct schedstat_domain *domain)
{
	into->present |= domain->present;
	add_values(into->values, domain->values, domain->present, SCHEDSTAT_DOMAIN_FIELDS);
}

int schedstat_sum(const struct schedstat *s, struct schedstat_totals *out)
{
	struct schedstat_totals t = { .by_name = calloc(MAX_NAMES, sizeof(*t.by_name)) };

	if (!t.by_name)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		t.cpu.present |= s->cpus[i].present;
		add_values(t.cpu.values, s->cpus[i].values, s->cpus[i].present,
		           SCHEDSTAT_CPU_FIELDS);
	}
	for (uint32_t i = 0; i < s->nr_domains; i++) {
		struct schedstat_domain *named = find_total(&t, &s->domains[i]);

		add_domain(&t.all, &s->domains[i]);
		if (named)
			add_domain(named, &s->domains[i]);
	}
	*out = t;
	return 0;
}

void schedstat_totals_done(struct schedstat_totals *t)
{
	free(t->by_name);
	*t = (struct schedstat_totals){ 0 };
}
