/* collect/sample/profile_skel — the generated skeleton, compiled without warnings about sign conversions. */
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "profile.skel.h"
#pragma GCC diagnostic pop
