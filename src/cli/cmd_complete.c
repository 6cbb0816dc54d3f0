#include <stdio.h>
#include <string.h>

#include "abi/event.h"
#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "query/event_fields.h"
#include "sys/cgroup.h"
#include "sys/cgroup_mount.h"
#include "sys/pmu/pmu.h"

/* What completions ask for: one word per line, and silence where there is nothing. */

static void list_analyses(void)
{
	for (size_t i = 0; i < nr_passes; i++)
		puts(passes[i]->id);
}

static int put_cgroup(void *ctx, uint64_t id, const char *path)
{
	(void)ctx;
	(void)id;
	/* A name with a line break would be two words. */
	if (!strpbrk(path, "\n "))
		puts(path);
	return 0;
}

static void list_shells(void)
{
	for (const char *const *shell = opt_shells; *shell; shell++)
		puts(*shell);
}

static void list_cgroups(void)
{
	SCOPED(cgroup_hierarchy_done) struct cgroup_hierarchy h = { 0 };
	struct cgroup_tree *tree = NULL;
	struct diag d = { 0 };

	if (cgroup_find_cpu("/proc/self", &h) || !h.mount || cgroup_tree_read(h.mount, &d, &tree))
		return;
	(void)!cgroup_tree_each(tree, put_cgroup, NULL);
	cgroup_tree_free(tree);
}

static void list_events(void)
{
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (event_type_name(kind))
			puts(event_type_name(kind));
}

static int put_counter(void *ctx, const struct pmu_row *row)
{
	(void)ctx;
	puts(row->name);
	return 0;
}

static void list_counters(void)
{
	struct pmu_lister lister = { .row = put_counter };
	struct diag d = { 0 };

	(void)!pmu_list(&pmu_paths_default, &lister, &d);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} lists[] = {
		{ "analyses", list_analyses }, { "cgroups", list_cgroups },
		{ "counters", list_counters }, { "events", list_events },
		{ "shells", list_shells },
	};

	(void)self;
	for (size_t i = 0; argc == 2 && i < sizeof(lists) / sizeof(lists[0]); i++)
		if (strcmp(argv[1], lists[i].name) == 0) {
			lists[i].print();
			return CLI_OK;
		}
	return CLI_USAGE;
}

const struct opt_command cmd_complete = {
	.name = "complete",
	.summary = "print the words that a shell completes",
	.operands = "LIST",
	.is_hidden = true,
	.run = run,
};
