/* mcp/tools — every tool, by the file that holds it; the table in tools.c gives the order. */
#pragma once

#include "mcp/tool.h"

/* tools_system.c */
extern const struct tool tool_get_topology;
