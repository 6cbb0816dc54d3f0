/* collect/stat_skel — the generated skeleton, whose code does not care about sign conversions. */
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "stat.skel.h"
#pragma GCC diagnostic pop
