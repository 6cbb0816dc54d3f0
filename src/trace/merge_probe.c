/* Probes of ftrace have a name where others have a number, and may begin and end. */
#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "trace/merge_priv.h"
#include "trace/perfetto/schema.h"

#define OPENS_MAX (1U << 20)

struct open_key {
	uint32_t tid;
	uint32_t text;
};

/* The number of the probe, which is introduced. */
static int name_probe(struct merge *m, struct ev_probe *rec)
{
	_Alignas(8) uint8_t bytes[sizeof(struct ev_probe_info) + 256] = { 0 };
	struct ev_probe_info *info = (struct ev_probe_info *)bytes;
	uint32_t text = rec->probe;
	const char *s;
	size_t len;
	int err;

	if (map_find(m->probe_ids, &text, &rec->probe))
		return 0;
	rec->probe = map_nr(m->probe_ids) + 1;
	s = reader_text(m->r, text, &len);
	len = len < 255 ? len : 255;
	memcpy(info + 1, len ? s : "?", len ? len : 1);
	info->hdr = (struct ev_hdr){ .size = (uint16_t)(sizeof(*info) + (len + 8) / 8 * 8),
		                     .kind = EV_PROBE_INFO,
		                     .cpu = rec->hdr.cpu,
		                     .ts_ns = rec->hdr.ts_ns };
	info->probe = rec->probe;
	info->type = EV_PROBE_KPROBE;
	err = map_insert(m->probe_ids, &text, rec->probe);
	return err ? err : merge_push(m, &info->hdr);
}

/* A function may call itself. */
static int begin(struct merge *m, const struct ev_probe *rec)
{
	const struct open_key key = { rec->tid, rec->probe };
	uint32_t below = UINT32_MAX;

	if (m->nr_opens == OPENS_MAX)
		return 0;
	(void)map_find(m->open_ids, &key, &below);
	if (GROW(m->opens, m->cap_opens, m->nr_opens) ||
	    map_insert(m->open_ids, &key, (uint32_t)m->nr_opens))
		return -ENOMEM;
	m->opens[m->nr_opens++] = (struct merge_open){ rec->hdr.ts_ns, below };
	return 0;
}

static int end(struct merge *m, const struct ev_probe *rec)
{
	const struct open_key key = { rec->tid, rec->probe };
	struct ev_span span = { .hdr = { .size = sizeof(span),
		                         .kind = EV_SPAN,
		                         .cpu = rec->hdr.cpu,
		                         .ts_ns = rec->hdr.ts_ns },
		                .tid = rec->tid };
	uint32_t at;
	int err;

	if (!map_find(m->open_ids, &key, &at)) {
		m->r->tally.damage[DAMAGE_SLICE_END_MISPLACED]++;
		return 0;
	}
	span.start_ns = m->opens[at].start_ns;
	if (m->opens[at].below == UINT32_MAX)
		(void)map_remove(m->open_ids, &key);
	else if (map_insert(m->open_ids, &key, m->opens[at].below))
		return -ENOMEM;
	if (at + 1 == m->nr_opens)
		m->nr_opens--;
	err = merge_word(m, "kprobe", &m->kprobe_text);
	if (!err)
		err = merge_text(m, rec->probe, &span.name);
	span.category = m->kprobe_text;
	return err ? err : merge_push(m, &span.hdr);
}

int merge_probe(struct merge *m, struct ev_probe *rec, bool *is_wanted)
{
	uint64_t type = rec->ip;
	int err = 0;

	if (rec->probe >= READER_PROBES_NAMED)
		return 0;
	rec->ip = 0;
	*is_wanted = type != KPROBE_TYPE_END;
	if (type == KPROBE_TYPE_END)
		return end(m, rec);
	if (type == KPROBE_TYPE_BEGIN)
		err = begin(m, rec);
	return err ? err : name_probe(m, rec);
}
