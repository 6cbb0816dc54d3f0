/* base/write_all — all bytes into a descriptor, in as many calls as it takes. Blocks as the descriptor does. */
#pragma once

#include <stddef.h>

#include "base/attr.h"

/* 0 or a negative errno; then some may have been written. */
MUST_USE int write_all(int fd, const void *bytes, size_t len);
