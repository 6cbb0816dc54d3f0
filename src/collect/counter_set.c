#include "collect/counter_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/pmu/pmu.h"

#define PMUS_MAX 8 /* core PMUs of one hybrid CPU */

struct counter_slot {
	struct perf_counter *parts[PMUS_MAX]; /* one per PMU */
	size_t nr_parts;
	struct pmu_events events; /* of each part */
	enum perf_counter_mode mode;
	int leader; /* slot; -1 = none */
	char title[PMU_NAME_MAX];
};

struct counter_set {
	uint32_t nr_cpus;
	uint32_t nr;
	struct counter_slot slots[COUNTER_SET_MAX];
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

static void close_slot(struct counter_slot *slot)
{
	for (size_t k = 0; k < PMUS_MAX; k++)
		perf_counter_close(slot->parts[k]);
	pmu_events_done(&slot->events);
	memset(slot, 0, sizeof(*slot));
}

void counter_set_clear(struct counter_set *c)
{
	/* Members before their leaders, which precede them. */
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

static struct perf_counter_cfg part_cfg(const struct counter_set *c,
                                        const struct counter_slot *slot, size_t part,
                                        const struct cpulist *online)
{
	const struct counter_slot *leader = slot->leader >= 0 ? &c->slots[slot->leader] : NULL;

	return (struct perf_counter_cfg){
		.event = &slot->events.items[part],
		.online = online,
		.leader = leader && part < leader->nr_parts ? leader->parts[part] : NULL,
		.mode = slot->mode,
	};
}

static int open_slot(struct counter_set *c, struct counter_slot *slot, const struct cpulist *online,
                     struct diag *d)
{
	const struct pmu_event *events = slot->events.items;

	for (size_t i = 0; i < slot->events.nr && i < PMUS_MAX; i++) {
		struct perf_counter_cfg cfg = part_cfg(c, slot, i, online);
		int err;

		if (!events[i].is_per_task)
			return diag_set(d, -EINVAL,
			                "see 'schedscope stat --perf-list' for events that can",
			                "'%s' counts for a whole package or device, not for tasks",
			                events[i].name);
		err = perf_counter_open(&cfg, d, &slot->parts[i]);
		if (err)
			return err;
		slot->nr_parts++;
	}
	text_printable(slot->title, sizeof(slot->title), events[0].title, sizeof(events[0].title));
	return 0;
}

int counter_set_add(struct counter_set *c, const struct cpulist *online,
                    const struct counter_slot_cfg *cfg, struct diag *d)
{
	struct counter_slot *slot = &c->slots[c->nr];
	int err;

	if (c->nr == COUNTER_SET_MAX)
		return diag_set(d, -E2BIG, NULL, "'%s' is one event too many", cfg->name);
	slot->mode = cfg->mode;
	slot->leader = cfg->leader;
	err = pmu_resolve(&pmu_paths_default, cfg->name, true, d, &slot->events);
	if (!err)
		err = open_slot(c, slot, online, d);
	if (err)
		close_slot(slot);
	else
		c->nr++;
	return err;
}

/* Leaders precede their members. */
int counter_set_follow(struct counter_set *c, const struct cpulist *online, struct diag *d)
{
	int first = 0;

	for (uint32_t i = 0; i < c->nr; i++) {
		struct counter_slot *slot = &c->slots[i];

		for (size_t k = 0; k < slot->nr_parts; k++) {
			struct perf_counter_cfg cfg = part_cfg(c, slot, k, online);
			int err = perf_counter_follow(slot->parts[k], &cfg, first ? NULL : d);

			first = first ? first : err;
		}
	}
	return first;
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
