#pragma once

#include "mcp/resource.h"

extern const struct resource resource_profile_status;
extern const struct resource resource_profile_results;
