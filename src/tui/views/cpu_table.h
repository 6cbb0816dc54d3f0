/* tui/views/cpu_table — CPUs, LLCs or nodes as rows of numbers. */
#pragma once

#include "tui/views/cpu_items.h"

void cpu_table_draw(const struct cpu_items *c, const struct screen *s, enum view_group group,
                    struct grid *g, struct area a);
