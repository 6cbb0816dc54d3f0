#include "tui/views/views.h"

#include <string.h>

const struct view *const views[] = {
	&view_default,    &view_llc,          &view_node,    &view_process,   &view_threads,
	&view_task,       &view_scheduler,    &view_memory,  &view_network,   &view_bpf,
	&view_heat,       &view_log,          &view_power,   &view_bandwidth, &view_game,
	&view_perf_event, &view_kprobe_event, &view_program, &view_perf_top,  &view_blame,
	&view_timeline,
};
const size_t nr_views = sizeof(views) / sizeof(views[0]);

const struct view *view_find(const char *id)
{
	for (size_t i = 0; i < nr_views; i++)
		if (strcmp(views[i]->id, id) == 0 || strcmp(views[i]->state, id) == 0)
			return views[i];
	return NULL;
}
