#include "analyze/dsq_name.h"

#include <inttypes.h>
#include <stdio.h>

/* Bits of ids that the kernel makes (SCX_DSQ_FLAG_BUILTIN and SCX_DSQ_FLAG_LOCAL_ON). */
#define BUILTIN  (1ULL << 63)
#define LOCAL_ON (1ULL << 62)

char *dsq_name(uint64_t id, char out[DSQ_NAME])
{
	static const char *const names[] = { NULL, "global", "local", "bypass" };

	if ((id & BUILTIN) && (id & LOCAL_ON))
		(void)snprintf(out, DSQ_NAME, "local cpu %" PRIu64, id & UINT32_MAX);
	else if (id > BUILTIN && id - BUILTIN < sizeof(names) / sizeof(names[0]))
		(void)snprintf(out, DSQ_NAME, "%s", names[id - BUILTIN]);
	else
		(void)snprintf(out, DSQ_NAME, "0x%" PRIx64, id);
	return out;
}
