#include "stat/stat_groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "sys/pmu/pmu.h"

const char *const stat_group_names[] = { "latency",   "slice",     "sleep",  "perf",
	                                 "schedstat", "migration", "waking", "dsq",
	                                 "most",      "all",       NULL };

#define NR_GROUPS 8 /* of stat_group_names: the others are sets of them */

#define GROUPS_ALL  ((1U << NR_GROUPS) - 1)
#define GROUPS_MOST (GROUPS_ALL & ~(uint32_t)(STAT_GROUP_WAKING | STAT_GROUP_DSQ))

static int add_event(struct stat_groups *g, const char *name, struct diag *d)
{
	g->asked |= STAT_GROUP_PERF;
	if (strcmp(name, "ipc") == 0) {
		g->has_ipc = true;
		g->is_ipc_implied = false;
		return 0;
	}
	for (size_t i = 0; i < g->nr_events; i++)
		if (strcmp(g->events[i], name) == 0)
			return 0;
	if (g->nr_events == STAT_EVENTS_MAX)
		return diag_set(d, -EINVAL, "measure the others in a second run",
		                "'%s' is one event too many: %d at a time", name, STAT_EVENTS_MAX);
	if (strlen(name) >= sizeof(g->events[0]))
		return diag_set(d, -EINVAL, NULL, "'%.60s...' is too long for an event", name);
	snprintf(g->events[g->nr_events++], sizeof(g->events[0]), "%s", name);
	return 0;
}

static void add_set(struct stat_groups *g, uint32_t groups)
{
	g->implied |= groups & ~g->asked;
	if (!g->nr_events && !g->has_ipc) {
		g->has_ipc = true;
		g->is_ipc_implied = true;
	}
}

static int unknown_word(const char *word, struct diag *d)
{
	const char *near = opt_nearest(word, stat_group_names);
	char hint[160];

	if (word[0] == 'r' && word[1] &&
	    word[strspn(word + 1, "0123456789abcdefABCDEF") + 1] == '\0')
		snprintf(hint, sizeof(hint), "for the raw event write perf=%.40s", word);
	else if (near)
		snprintf(hint, sizeof(hint), "did you mean '%s'?", near);
	else
		snprintf(hint, sizeof(hint),
		         "groups: latency slice sleep perf schedstat migration waking dsq most all; "
		         "events: schedscope stat --perf-list");
	return diag_set(d, -EINVAL, hint, "'%.60s' is neither a group nor an event", word);
}

static int add_word(struct stat_groups *g, const char *word, stat_is_event_fn *is_event, void *ctx,
                    struct diag *d)
{
	for (int i = 0; i < NR_GROUPS; i++) {
		if (strcmp(word, stat_group_names[i]) != 0)
			continue;
		if ((1U << i) == STAT_GROUP_PERF)
			return add_event(g, "ipc", d);
		g->asked |= 1U << i;
		return 0;
	}
	if (strcmp(word, "all") == 0 || strcmp(word, "most") == 0) {
		add_set(g, word[0] == 'a' ? GROUPS_ALL : GROUPS_MOST);
		return 0;
	}
	if (strncmp(word, "perf=", 5) == 0 && word[5])
		return add_event(g, word + 5, d);
	if (strncmp(word, "perf=", 5) != 0 && is_event(ctx, word))
		return add_event(g, word, d);
	return unknown_word(word, d);
}

int stat_groups_parse(const char *const *words, size_t nr, stat_is_event_fn *is_event, void *ctx,
                      struct diag *d, struct stat_groups *out)
{
	struct stat_groups g = { 0 };
	char word[256];

	if (nr == 0)
		g.asked = STAT_GROUP_LATENCY;
	for (size_t i = 0; i < nr; i++) {
		for (const char *at = words[i]; at;) {
			int err;

			at = pmu_next_name(at, word, sizeof(word));
			err = add_word(&g, word, is_event, ctx, d);
			if (err)
				return err;
		}
	}
	*out = g;
	return 0;
}
