#include "session/counter_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/pmu.h"

#define PMUS_MAX 8 /* core PMUs of one hybrid CPU */

struct slot {
	struct perf_counter *parts[PMUS_MAX]; /* one per PMU */
	size_t nr_parts;
	char title[PMU_NAME_MAX];
};

struct counter_set {
	uint32_t nr_cpus;
	uint32_t nr;
	struct slot slots[COUNTER_SET_MAX];
	int *fds;
};

int counter_set_new(uint32_t nr_cpus, struct counter_set **out)
{
	struct counter_set *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->nr_cpus = nr_cpus;
	*out = c;
	return 0;
}

static void close_slot(struct slot *slot)
{
	for (size_t k = 0; k < PMUS_MAX; k++)
		perf_counter_close(slot->parts[k]);
	memset(slot, 0, sizeof(*slot));
}

void counter_set_clear(struct counter_set *c)
{
	/* Members before their leaders, which stand in front of them. */
	while (c->nr)
		close_slot(&c->slots[--c->nr]);
}

void counter_set_free(struct counter_set *c)
{
	if (!c)
		return;
	counter_set_clear(c);
	free(c->fds);
	free(c);
}

static int open_slot(struct slot *slot, const struct slot *leader, const struct pmu_events *events,
                     struct perf_counter_cfg *cfg, struct diag *d)
{
	for (size_t i = 0; i < events->nr && i < PMUS_MAX; i++) {
		int err;

		cfg->event = &events->items[i];
		cfg->leader = leader && i < leader->nr_parts ? leader->parts[i] : NULL;
		if (!cfg->event->is_per_task)
			return diag_set(d, -EINVAL,
			                "see 'schedscope stat --perf-list' for events that can",
			                "'%s' counts for a whole package or device, not for tasks",
			                cfg->event->name);
		err = perf_counter_open(cfg, d, &slot->parts[i]);
		if (err)
			return err;
		slot->nr_parts++;
	}
	text_printable(slot->title, sizeof(slot->title), events->items[0].title,
	               sizeof(events->items[0].title));
	return 0;
}

int counter_set_add(struct counter_set *c, const struct cpulist *online,
                    const struct counter_slot_cfg *slot, struct diag *d)
{
	SCOPED(scoped_pmu_events) struct pmu_events events = { 0 };
	struct perf_counter_cfg cfg = { .online = online, .mode = slot->mode };
	int err;

	if (c->nr == COUNTER_SET_MAX)
		return diag_set(d, -E2BIG, NULL, "'%s' is one event too many", slot->name);
	err = pmu_resolve(&pmu_paths_default, slot->name, true, d, &events);
	if (!err)
		err = open_slot(&c->slots[c->nr],
		                slot->leader >= 0 ? &c->slots[slot->leader] : NULL, &events, &cfg,
		                d);
	if (err)
		close_slot(&c->slots[c->nr]);
	else
		c->nr++;
	return err;
}

uint32_t counter_set_nr(const struct counter_set *c)
{
	return c->nr;
}

const char *counter_set_title(const struct counter_set *c, uint32_t slot)
{
	return c->slots[slot].title;
}

const int *counter_set_fds(struct counter_set *c)
{
	size_t nr = (size_t)c->nr * c->nr_cpus;

	free(c->fds);
	c->fds = calloc(nr ? nr : 1, sizeof(*c->fds));
	for (uint32_t i = 0; c->fds && i < c->nr; i++) {
		for (uint32_t cpu = 0; cpu < c->nr_cpus; cpu++) {
			int fd = -1;

			for (size_t k = 0; fd < 0 && k < c->slots[i].nr_parts; k++)
				fd = perf_counter_fd(c->slots[i].parts[k], cpu);
			c->fds[(size_t)i * c->nr_cpus + cpu] = fd;
		}
	}
	return c->fds;
}

int counter_set_start(const struct counter_set *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		for (size_t k = 0; k < c->slots[i].nr_parts; k++) {
			int err = perf_counter_enable(c->slots[i].parts[k]);

			if (err)
				return err;
		}
	}
	return 0;
}
