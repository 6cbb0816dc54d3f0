/*
 * report/blame_tables — who kept whom waiting, by cgroup, process and command: a row for each victim, a column for each of those that
 * caused most, and one for each other cause. The cells of a row add up to what it waited.
 */
#pragma once

#include <stdio.h>

#include "report/content.h"

/* The section "blame"; nothing without waits. */
void blame_tables_write(const struct content *c, FILE *out);
