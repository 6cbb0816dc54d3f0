#include <errno.h>
#include <string.h>

#include "trace/perfetto/tracks/tracks_in.h"

#define PROBE_NAME_MAX 255U

static uint32_t type_of(uint8_t category)
{
	switch (category) {
	case CATEGORY_kprobe:
		return EV_PROBE_KPROBE;
	case CATEGORY_uprobe:
		return EV_PROBE_UPROBE;
	case CATEGORY_uretprobe:
		return EV_PROBE_URETPROBE;
	case CATEGORY_tracepoint:
		return EV_PROBE_TRACEPOINT;
	default: /* one that was not described to the writer */
		return 0;
	}
}

static void introduce(struct track_at *at, uint32_t probe, uint32_t type, struct track_text name)
{
	size_t room = (name.len + 8) & ~(size_t)7; /* at least one NUL */
	struct ev_probe_info *rec = track_rec(at, EV_PROBE_INFO, sizeof(*rec) + room, at->cpu,
	                                      at->ts_ns);

	rec->probe = probe;
	rec->type = type;
	memcpy(rec + 1, name.s, name.len);
}

/* A probe is its type and name; the first hit introduces it. */
static bool probe_of(struct track_at *at, uint32_t *out)
{
	struct track_text name = track_event_name(&at->e);
	uint32_t type = type_of(at->category), id, nr = intern_nr(at->t->probes);
	char key[PROBE_NAME_MAX + 1];

	if (!name.s || !name.len)
		return false;
	name.len = name.len < PROBE_NAME_MAX ? name.len : PROBE_NAME_MAX;
	/* A NUL would end it in a record. */
	name.len = strnlen(name.s, name.len);
	if (!name.len)
		return false;
	key[0] = (char)type;
	memcpy(key + 1, name.s, name.len);
	if (intern_add(at->t->probes, key, name.len + 1, &id) < 0)
		return false;
	*out = READER_PROBES_NAMED + id;
	if (id >= nr)
		introduce(at, *out, type, name);
	return true;
}

void track_probe(struct track_at *at)
{
	struct ev_probe *rec;
	uint32_t probe;
	int64_t ip = 0;

	if (!probe_of(at, &probe))
		return;
	if (at->tid)
		decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	(void)track_arg_int(&at->e, KEY_IP, &ip);
	rec = track_rec(at, EV_PROBE, sizeof(*rec), at->cpu, at->ts_ns);
	rec->probe = probe;
	rec->tid = at->tid;
	rec->ip = (uint64_t)ip;
}
