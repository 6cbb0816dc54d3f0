#include "stat/stat_counters.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/counter_set.h"
#include "sys/cpulist.h"

_Static_assert(STAT_COUNTERS <= COUNTER_SET_MAX, "all slots fit into one set");

struct stat_counters {
	struct counter_set *set;
	bool has_ipc;
	struct stat_counter_in shown[STAT_EVENTS_MAX];
	size_t nr_shown;
	const int *fds;
};

/* Instructions count in the same windows as their cycles. */
static int add_ipc(struct stat_counters *c, const struct cpulist *online, struct diag *d)
{
	static const struct counter_slot_cfg slots[] = {
		{ "cycles", PERF_COUNT_USER, -1 },
		{ "cycles", PERF_COUNT_KERNEL, -1 },
		{ "instructions", PERF_COUNT_USER, STAT_IPC_USER_CYCLES },
		{ "instructions", PERF_COUNT_KERNEL, STAT_IPC_KERNEL_CYCLES },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(slots) / sizeof(slots[0]); i++)
		err = counter_set_add(c->set, online, &slots[i], d);
	c->has_ipc = !err;
	return err;
}

static int open_all(struct stat_counters *c, const struct stat_groups *groups,
                    const struct cpulist *online, struct diag *d)
{
	int err = groups->has_ipc ? add_ipc(c, online, d) : 0;

	for (size_t i = 0; !err && i < groups->nr_events; i++) {
		struct counter_slot_cfg slot = { groups->events[i], PERF_COUNT_ALL, -1 };
		struct stat_counter_in *shown = &c->shown[c->nr_shown];

		shown->index = counter_set_nr(c->set);
		err = counter_set_add(c->set, online, &slot, d);
		shown->name = err ? NULL : counter_set_title(c->set, shown->index);
		c->nr_shown += !err;
	}
	return err;
}

int stat_counters_open(const struct stat_groups *groups, const struct cpulist *online,
                       uint32_t nr_cpus, struct diag *d, struct stat_counters **out)
{
	struct stat_counters *c = calloc(1, sizeof(*c));
	int err;

	if (!c || counter_set_new(nr_cpus, &c->set)) {
		free(c);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	err = open_all(c, groups, online, d);
	if (err) {
		counter_set_clear(c->set);
		c->has_ipc = false;
		c->nr_shown = 0;
	}
	if (err && (groups->asked & STAT_GROUP_PERF)) {
		stat_counters_close(c);
		return err;
	}
	c->fds = counter_set_fds(c->set);
	if (!c->fds) {
		stat_counters_close(c);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	*out = c;
	return 0;
}

void stat_counters_close(struct stat_counters *c)
{
	if (!c)
		return;
	counter_set_free(c->set);
	free(c);
}

uint32_t stat_counters_nr(const struct stat_counters *c)
{
	return counter_set_nr(c->set);
}

const int *stat_counters_fds(const struct stat_counters *c)
{
	return c->fds;
}

int stat_counters_follow(struct stat_counters *c, const struct cpulist *online, struct diag *d)
{
	int err = counter_set_follow(c->set, online, d);

	c->fds = counter_set_fds(c->set);
	return c->fds ? err : diag_set(d, -ENOMEM, NULL, "out of memory");
}

int stat_counters_start(const struct stat_counters *c)
{
	return counter_set_start(c->set);
}

void stat_counters_describe(const struct stat_counters *c, struct stat_report_in *in)
{
	in->has_ipc = c->has_ipc;
	for (int i = 0; i < STAT_IPC_COUNTERS; i++)
		in->ipc[i] = c->has_ipc ? i : -1;
	in->counters = c->shown;
	in->nr_counters = c->nr_shown;
}
