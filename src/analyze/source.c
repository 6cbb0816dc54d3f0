#include "analyze/source.h"

#include "model/tasks.h"

static const struct live_place *place(const struct source *s, uint32_t cpu)
{
	return s->facts->places && cpu < s->facts->nr_places ? &s->facts->places[cpu] : NULL;
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

bool source_may_use(const struct source *s, uint32_t task, uint32_t cpu, uint64_t at_ns)
{
	const struct source_facts *f = s->facts;
	const struct source_affinity *last = NULL;
	uint32_t tid = source_tid(s, task);

	for (size_t i = 0; i < f->nr_affinity; i++)
		if (f->affinity[i].tid == tid && f->affinity[i].since_ns <= at_ns)
			last = &f->affinity[i];
	if (!last)
		return true;
	return cpu / 64 < f->nr_mask_words && (last->mask[cpu / 64] >> (cpu % 64) & 1);
}
