/* cli/stat_lists — what `stat` lists instead of measuring: events and topology. Exit codes are returned. */
#pragma once

#include "base/attr.h"

MUST_USE int stat_list_events(void);
MUST_USE int stat_list_topology(void);
