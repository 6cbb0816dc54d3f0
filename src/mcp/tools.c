#include "mcp/tools.h"

const struct tool *const tools[] = {
	&tool_get_topology,
};

const size_t nr_tools = sizeof(tools) / sizeof(tools[0]);
