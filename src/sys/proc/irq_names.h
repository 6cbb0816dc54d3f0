/* sys/proc/irq_names — what the kernel calls the handlers of an interrupt: /sys/kernel/irq. Blocks on those files. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Below root, "" on a real machine. Names of a shared interrupt are parted by commas. 0, or -errno where it has none. */
MUST_USE int irq_name_read(const char *root, uint32_t irq, char *buf, size_t size);
/* The interrupt that a handler of exactly that name handles. 0, or -ENOENT. */
MUST_USE int irq_name_find(const char *root, const char *name, uint32_t *out);
