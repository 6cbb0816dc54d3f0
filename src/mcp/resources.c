/* Every resource, in the order of the list. */
#include "mcp/resource.h"

const struct resource *const resources[] = {
	NULL,
};

const size_t nr_resources = 0;

const struct resource_template resource_templates[] = {
	{ "events://stream{?types,cpu,pid,comm,max_rate}", "event-stream", "Filtered event stream",
	  "scheduler events as they happen; subscribe, and read what came since the last read" },
};

const size_t nr_resource_templates = sizeof(resource_templates) / sizeof(resource_templates[0]);
