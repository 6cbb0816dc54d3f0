/* symbol/unxz — what was packed with xz, unpacked within bounds of memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* The caller frees *out. -EINVAL if it is damaged, -EFBIG beyond cap bytes, -ENOMEM. */
MUST_USE int unxz(const void *packed, size_t len, size_t cap, uint8_t **out, size_t *out_len);
