/* Probes of ftrace have a name where others have a number, and may begin and end; so may marks of programs. */
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
static int begin(struct merge *m, struct open_key key, uint32_t name, uint64_t ts_ns)
{
	uint32_t below = UINT32_MAX;

	if (m->nr_opens == OPENS_MAX)
		return 0;
	(void)map_find(m->open_ids, &key, &below);
	if (GROW(m->opens, m->cap_opens, m->nr_opens) ||
	    map_insert(m->open_ids, &key, (uint32_t)m->nr_opens))
		return -ENOMEM;
	m->opens[m->nr_opens++] =
		(struct merge_open){ .start_ns = ts_ns, .name = name, .below = below };
	return 0;
}

static int put_span(struct merge *m, struct ev_span *span, uint32_t name)
{
	int err = merge_text(m, name, &span->name);

	span->hdr.size = sizeof(*span);
	span->hdr.kind = EV_SPAN;
	span->hdr.flags = 0;
	return err ? err : merge_push(m, &span->hdr);
}

/* The one that began last with that key, if there is one. */
static int end(struct merge *m, struct open_key key, struct ev_span *span)
{
	struct merge_open open;
	uint32_t at;

	if (!map_find(m->open_ids, &key, &at)) {
		m->r->tally.damage[DAMAGE_SLICE_END_MISPLACED]++;
		return 0;
	}
	open = m->opens[at];
	if (open.below == UINT32_MAX)
		(void)map_remove(m->open_ids, &key);
	else if (map_insert(m->open_ids, &key, open.below))
		return -ENOMEM;
	if (at + 1 == m->nr_opens)
		m->nr_opens--;
	span->start_ns = open.start_ns;
	return put_span(m, span, open.name);
}

static int end_probe(struct merge *m, const struct ev_probe *rec)
{
	struct ev_span span = { .hdr = rec->hdr, .tid = rec->tid };
	int err = merge_word(m, "kprobe", &m->kprobe_text);

	span.category = m->kprobe_text;
	return err ? err : end(m, (struct open_key){ rec->tid, rec->probe }, &span);
}

int merge_mark(struct merge *m, const struct in_mark *rec)
{
	const struct open_key key = { rec->tid, rec->key };
	struct ev_span span = { .hdr = rec->hdr, .tid = rec->tid, .start_ns = rec->hdr.ts_ns };
	int err = 0;

	if (rec->kind == 'B' || rec->kind == 'S')
		return begin(m, key, rec->name, rec->hdr.ts_ns);
	err = merge_word(m, "mark", &m->mark_text);
	span.category = m->mark_text;
	if (!err)
		err = rec->kind == 'I' ? put_span(m, &span, rec->name) : end(m, key, &span);
	return err;
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
		return end_probe(m, rec);
	if (type == KPROBE_TYPE_BEGIN)
		err = begin(m, (struct open_key){ rec->tid, rec->probe }, rec->probe,
		            rec->hdr.ts_ns);
	return err ? err : name_probe(m, rec);
}
