#include "trace/perfetto/unwind_error.h"

#include "abi/profile.h"
#include "trace/perfetto/schema.h"

uint32_t unwind_error_of(uint32_t end)
{
	static const uint8_t errors[PROF_NR_ENDS] = {
		[PROF_END_NO_TABLE] = UNWIND_ERROR_UNWIND_INFO,
		[PROF_END_READ] = UNWIND_ERROR_MEMORY_INVALID,
		[PROF_END_DEPTH] = UNWIND_ERROR_MAX_FRAMES,
		[PROF_END_RULE] = UNWIND_ERROR_UNSUPPORTED,
	};

	return end < PROF_NR_ENDS ? errors[end] : 0;
}

uint8_t unwind_error_end(uint64_t error)
{
	switch (error) {
	case 0: /* not known */
	case UNWIND_ERROR_NONE:
		return PROF_END_NOT_KNOWN;
	case UNWIND_ERROR_MEMORY_INVALID:
		return PROF_END_READ;
	case UNWIND_ERROR_UNSUPPORTED:
		return PROF_END_RULE;
	case UNWIND_ERROR_MAX_FRAMES:
		return PROF_END_DEPTH;
	default:
		return PROF_END_NO_TABLE;
	}
}
