/* Build ids of the files that have code in samples, by their paths. */
#include <errno.h>

#include "base/grow.h"
#include "trace/perfdata/stacks.h"

enum { ID = 12, ID_LEN = 32, PATH = 36, MISC_HAS_LEN = 1 << 15 };

void pd_build_id_set(struct perfdata *d, uint32_t path, const uint8_t *id, uint32_t len)
{
	struct pd_stacks *s = d->stacks;
	struct trace_frame_id *copy;

	if (!path || !len || len > TRACE_FRAME_ID_MAX || pd_build_id_of(s, path))
		return;
	copy = arena_alloc(d->r->mem, 1, sizeof(*copy), 1);
	if (!copy || GROW_ZEROED(s->build_ids, s->nr_build_ids, path)) {
		pd_fail(d, -ENOMEM);
		return;
	}
	memcpy(copy->bytes, id, len);
	copy->nr = (uint8_t)len;
	s->build_ids[path] = copy;
}

const struct trace_frame_id *pd_build_id_of(const struct pd_stacks *s, uint32_t path)
{
	return path < s->nr_build_ids ? s->build_ids[path] : NULL;
}

/* pid, 24 bytes of which the 21st may be the length, path. */
void pd_build_id(struct perfdata *d, const struct pd_record *rec)
{
	const char *path = (const char *)rec->bytes + PATH;
	uint32_t len = TRACE_FRAME_ID_MAX, text;

	if (rec->size <= PATH) {
		pd_damage(d, DAMAGE_SECTION_BAD);
		return;
	}
	if (rec->misc & MISC_HAS_LEN)
		len = rec->bytes[ID_LEN];
	if (intern_add(d->stacks->paths, path, strnlen(path, rec->size - PATH), &text) == 0)
		pd_build_id_set(d, text, rec->bytes + ID, len);
}

void pd_build_ids(struct perfdata *d, struct bytes_in in)
{
	struct pd_record rec;

	while (pd_record_next(d, &in, &rec))
		pd_build_id(d, &rec);
}
