/* sys/rights/own_dir — a directory for the server's own files, which it can still use once it has given up its rights. */
#pragma once

#include <limits.h>

#include "base/attr.h"

/* A new one of mode 0700 below $TMPDIR or /tmp, for the user who we are or will be (sys/rights/privilege). One thread, while there are rights. */
MUST_USE int own_dir_make(char path[PATH_MAX]);
