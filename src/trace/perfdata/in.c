/* Values of a section of perf.data, one after the other. */
#include "trace/perfdata/perfdata.h"

const uint8_t *pd_in_bytes(struct pd_in *in, uint64_t len)
{
	const uint8_t *at = in->p;

	if (len > pd_left(in)) {
		in->is_bad = true;
		in->p = in->end;
		return NULL;
	}
	in->p += len;
	return at;
}

uint32_t pd_in_u32(struct pd_in *in)
{
	const uint8_t *at = pd_in_bytes(in, sizeof(uint32_t));
	uint32_t v = 0;

	if (at)
		memcpy(&v, at, sizeof(v));
	return in->is_swapped ? __builtin_bswap32(v) : v;
}

uint64_t pd_in_u64(struct pd_in *in)
{
	const uint8_t *at = pd_in_bytes(in, sizeof(uint64_t));
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, sizeof(v));
	return in->is_swapped ? __builtin_bswap64(v) : v;
}

const char *pd_in_text(struct pd_in *in, size_t *len)
{
	uint32_t room = pd_in_u32(in);
	const char *s = (const char *)pd_in_bytes(in, room);

	*len = s ? strnlen(s, room) : 0;
	return s ? s : "";
}
