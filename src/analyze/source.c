#include "analyze/source.h"

#include <string.h>

#include "base/match.h"
#include "base/name_pattern.h"
#include "model/allowed.h"
#include "model/tasks.h"

static const struct live_place *place(const struct source *s, uint32_t cpu)
{
	return s->facts->places && cpu < s->facts->nr_places ? &s->facts->places[cpu] : NULL;
}

void source_name_device(const struct source *s, struct interrupt *i)
{
	uint32_t irq, name_id = 0;

	if (s->pair && i->in == ABI_IN_HARDIRQ && interrupt_irq(i->by, &irq))
		name_id = pair_irq_name(s->pair, irq);
	i->device = name_id ? tasks_string(s->tasks, name_id) : NULL;
}

static const char *find_symbol(const struct source_symbol *symbols, size_t nr, uint64_t value)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (symbols[mid].value < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr && symbols[low].value == value ? symbols[low].name : NULL;
}

const char *source_symbol(const struct source *s, uint64_t value)
{
	return find_symbol(s->facts->symbols, s->facts->nr_symbols, value);
}

const char *source_probe(const struct source *s, uint32_t probe)
{
	return find_symbol(s->facts->probes, s->facts->nr_probes, probe);
}

int32_t source_llc(const struct source *s, uint32_t cpu)
{
	const struct live_place *at = place(s, cpu);

	return at ? at->llc : -1;
}

int32_t source_node(const struct source *s, uint32_t cpu)
{
	const struct live_place *at = place(s, cpu);

	return at ? at->node : -1;
}

int32_t source_core(const struct source *s, uint32_t cpu)
{
	const struct live_place *at = place(s, cpu);

	return at ? at->core : -1;
}

bool source_is_isolated(const struct source *s, uint32_t cpu)
{
	const struct live_place *at = place(s, cpu);

	return at && at->is_isolated;
}

const char *source_comm(const struct source *s, uint32_t task)
{
	const char *comm = tasks_comm(s->tasks, task);

	return comm && *comm ? comm : "?";
}

const char *source_comm_at(const struct source *s, uint32_t task, uint64_t ts_ns)
{
	uint32_t id = tasks_comm_at(s->tasks, task, ts_ns);

	return id ? tasks_string(s->tasks, id) : source_comm(s, task);
}

bool source_has_name(const struct source *s, uint32_t task, const char *pattern)
{
	uint32_t id;

	for (uint32_t i = 0; (id = tasks_name(s->tasks, task, i)) != 0; i++)
		if (name_pattern_fits(pattern, tasks_string(s->tasks, id)))
			return true;
	return name_pattern_fits(pattern, source_comm(s, task));
}

bool source_matches_name(const struct source *s, uint32_t task, struct match *m)
{
	const char *name = source_comm(s, task);
	uint32_t id;

	for (uint32_t i = 0; (id = tasks_name(s->tasks, task, i)) != 0; i++)
		if (match_any(m, tasks_string(s->tasks, id), strlen(tasks_string(s->tasks, id))))
			return true;
	return match_any(m, name, strlen(name));
}

uint32_t source_tid(const struct source *s, uint32_t task)
{
	const struct task *t = tasks_at(s->tasks, task);

	return t ? t->tid : 0;
}

uint32_t source_tgid(const struct source *s, uint32_t task)
{
	const struct task *t = tasks_at(s->tasks, task);

	return t ? t->tgid : 0;
}

uint32_t source_bound_to(const struct source *s, uint32_t task, uint64_t at_ns)
{
	return s->affinity ? allowed_word(s->affinity, source_tid(s, task), at_ns) : 0;
}

bool source_knows_cpus(const struct source *s, uint32_t task)
{
	return s->affinity && allowed_is_known(s->affinity, source_tid(s, task));
}

bool source_may_use(const struct source *s, uint32_t task, uint32_t cpu, uint64_t at_ns)
{
	return !s->affinity || allowed_cpu(s->affinity, source_tid(s, task), cpu, at_ns);
}

const char *source_host(const struct source_facts *f)
{
	for (size_t i = 0; i < f->nr_labels; i++)
		if (strcmp(f->labels[i].key, "host") == 0 && f->labels[i].value[0])
			return f->labels[i].value;
	return f->host;
}
