/* base/clock — clocks in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

uint64_t clock_read_ns(clockid_t clock);
uint64_t clock_boot_ns(void); /* that of all records */
