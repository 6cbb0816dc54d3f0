#include "cli/stat_lists.h"

#include <stdio.h>

#include "cli/command.h"
#include "sys/pmu/perf_counter.h"
#include "sys/pmu/pmu.h"
#include "sys/topology.h"
#include "sys/topology_json.h"

static int print_event(void *ctx, const struct pmu_row *row)
{
	(void)ctx;
	return printf("%-40s %-9s %s\n", row->name, row->kind, row->description) < 0 ? -1 : 0;
}

int stat_list_events(void)
{
	struct pmu_lister lister = { .is_usable = perf_counter_can_open, .row = print_event };
	struct diag d = { 0 };

	printf("%-40s %-9s %s\n", "EVENT (after perf=)", "KIND", "DESCRIPTION");
	return pmu_list(&pmu_paths_default, &lister, &d) ? cli_fail(&d) : CLI_OK;
}

int stat_list_topology(void)
{
	struct topology *t = NULL;
	struct diag d = { 0 };
	int err = topology_read("/sys", &d, &t);

	if (!err) {
		err = topology_json_write(t, stdout);
		if (err)
			diag_set(&d, err, NULL, "cannot write the topology");
	}
	topology_free(t);
	return err ? cli_fail(&d) : CLI_OK;
}
