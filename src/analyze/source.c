#include "analyze/source.h"

#include "model/allowed.h"
#include "model/tasks.h"

static const struct live_place *place(const struct source *s, uint32_t cpu)
{
	return s->facts->places && cpu < s->facts->nr_places ? &s->facts->places[cpu] : NULL;
}

const char *source_symbol(const struct source *s, uint64_t value)
{
	size_t low = 0, high = s->facts->nr_symbols;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->facts->symbols[mid].value < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->facts->nr_symbols && s->facts->symbols[low].value == value
	               ? s->facts->symbols[low].name
	               : NULL;
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

const char *source_comm(const struct source *s, uint32_t task)
{
	const char *comm = tasks_comm(s->tasks, task);

	return comm && *comm ? comm : "?";
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

bool source_is_bound(const struct source *s, uint32_t task)
{
	return s->affinity && allowed_is_bound(s->affinity, source_tid(s, task));
}

bool source_may_use(const struct source *s, uint32_t task, uint32_t cpu, uint64_t at_ns)
{
	return !s->affinity || allowed_cpu(s->affinity, source_tid(s, task), cpu, at_ns);
}
