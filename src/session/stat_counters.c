#include "session/stat_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/perf_counter.h"
#include "sys/pmu.h"

#define PMUS_MAX 8 /* core PMUs of one hybrid CPU */

struct slot {
	struct perf_counter *parts[PMUS_MAX]; /* one per PMU */
	size_t nr_parts;
};

struct stat_counters {
	uint32_t nr_cpus;
	uint32_t nr;
	bool has_ipc;
	struct slot slots[STAT_COUNTERS];
	char titles[STAT_COUNTERS][PMU_NAME_MAX];
	struct stat_counter_in shown[STAT_EVENTS_MAX];
	size_t nr_shown;
	int *fds;
};

/* One slot of one event; leader is the slot that it counts together with, or NULL. */
static int add_slot(struct stat_counters *c, const struct cpulist *online, const char *name,
                    enum perf_counter_mode mode, const struct slot *leader, struct diag *d)
{
	SCOPED(scoped_pmu_events) struct pmu_events events = { 0 };
	struct slot *slot = &c->slots[c->nr];
	int err = pmu_resolve(&pmu_paths_default, name, true, d, &events);

	if (err)
		return err;
	for (size_t i = 0; i < events.nr && i < PMUS_MAX; i++) {
		struct perf_counter_cfg cfg = {
			.event = &events.items[i],
			.online = online,
			.leader = leader && i < leader->nr_parts ? leader->parts[i] : NULL,
			.mode = mode,
		};

		if (!events.items[i].is_per_task)
			return diag_set(d, -EINVAL,
			                "see 'schedscope stat --perf-list' for events that can",
			                "'%s' counts for a whole package or device, not for tasks",
			                name);
		err = perf_counter_open(&cfg, d, &slot->parts[i]);
		if (err)
			return err;
		slot->nr_parts++;
	}
	text_printable(c->titles[c->nr], sizeof(c->titles[0]), events.items[0].title,
	               sizeof(events.items[0].title));
	c->nr++;
	return 0;
}

static int add_ipc(struct stat_counters *c, const struct cpulist *online, struct diag *d)
{
	int err = add_slot(c, online, "cycles", PERF_COUNT_USER, NULL, d);

	if (!err)
		err = add_slot(c, online, "cycles", PERF_COUNT_KERNEL, NULL, d);
	if (!err)
		err = add_slot(c, online, "instructions", PERF_COUNT_USER,
		               &c->slots[STAT_IPC_USER_CYCLES], d);
	if (!err)
		err = add_slot(c, online, "instructions", PERF_COUNT_KERNEL,
		               &c->slots[STAT_IPC_KERNEL_CYCLES], d);
	c->has_ipc = !err;
	return err;
}

static void drop_slots(struct stat_counters *c)
{
	for (size_t i = 0; i < STAT_COUNTERS; i++) {
		/* Members before their leaders: IPC's instructions stand behind its cycles. */
		struct slot *slot = &c->slots[STAT_COUNTERS - 1 - i];

		for (size_t k = 0; k < PMUS_MAX; k++)
			perf_counter_close(slot->parts[k]);
		memset(slot, 0, sizeof(*slot));
	}
	c->nr = 0;
}

static int open_all(struct stat_counters *c, const struct stat_groups *groups,
                    const struct cpulist *online, struct diag *d)
{
	int err = groups->has_ipc ? add_ipc(c, online, d) : 0;

	for (size_t i = 0; !err && i < groups->nr_events; i++) {
		c->shown[c->nr_shown].index = c->nr;
		err = add_slot(c, online, groups->events[i], PERF_COUNT_ALL, NULL, d);
		c->shown[c->nr_shown].name = c->titles[c->shown[c->nr_shown].index];
		c->nr_shown += !err;
	}
	return err;
}

static int fill_fds(struct stat_counters *c)
{
	size_t nr = (size_t)c->nr * c->nr_cpus;

	c->fds = calloc(nr ? nr : 1, sizeof(*c->fds));
	if (!c->fds)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr; i++) {
		for (uint32_t cpu = 0; cpu < c->nr_cpus; cpu++) {
			int fd = -1;

			for (size_t k = 0; fd < 0 && k < c->slots[i].nr_parts; k++)
				fd = perf_counter_fd(c->slots[i].parts[k], cpu);
			c->fds[(size_t)i * c->nr_cpus + cpu] = fd;
		}
	}
	return 0;
}

int stat_counters_open(const struct stat_groups *groups, const struct cpulist *online,
                       uint32_t nr_cpus, struct diag *d, struct stat_counters **out)
{
	struct stat_counters *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->nr_cpus = nr_cpus;
	err = open_all(c, groups, online, d);
	if (err) {
		drop_slots(c);
		c->nr_shown = 0;
	}
	if (err && (groups->asked & STAT_GROUP_PERF)) {
		stat_counters_close(c);
		return err;
	}
	err = fill_fds(c);
	if (err) {
		stat_counters_close(c);
		return diag_set(d, err, NULL, "out of memory");
	}
	*out = c;
	return 0;
}

void stat_counters_close(struct stat_counters *c)
{
	if (!c)
		return;
	drop_slots(c);
	free(c->fds);
	free(c);
}

uint32_t stat_counters_nr(const struct stat_counters *c)
{
	return c->nr;
}

const int *stat_counters_fds(const struct stat_counters *c)
{
	return c->fds;
}

int stat_counters_start(const struct stat_counters *c)
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

void stat_counters_describe(const struct stat_counters *c, struct stat_report_in *in)
{
	in->has_ipc = c->has_ipc;
	for (int i = 0; i < STAT_IPC_COUNTERS; i++)
		in->ipc[i] = c->has_ipc ? i : -1;
	in->counters = c->shown;
	in->nr_counters = c->nr_shown;
}
