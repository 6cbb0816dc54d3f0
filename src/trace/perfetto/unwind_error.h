/* trace/perfetto/unwind_error — why a user stack is not whole, in Perfetto's numbers and in ours. */
#pragma once

#include <stdint.h>

/* Of enum prof_end; 0 for a stack that is whole, or of which that is not known. */
uint32_t unwind_error_of(uint32_t end);
/* enum prof_end; of other recorders' reasons the nearest. */
uint8_t unwind_error_end(uint64_t error);
