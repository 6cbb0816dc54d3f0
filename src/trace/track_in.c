#include "trace/decoder.h"
#include "trace/schema.h"

int tracks_new(struct reader *r)
{
	(void)r;
	return 0;
}

void tracks_free(struct tracks *t)
{
	(void)t;
}

int tracks_descriptor(struct reader *r, struct pb_in body, uint64_t raw_ts)
{
	(void)r;
	(void)body;
	(void)raw_ts;
	return 0;
}

int tracks_link(struct reader *r)
{
	(void)r;
	return 0;
}

/* The first category counts. */
void tracks_event(struct decoder *dec, const struct packet *pk, uint64_t ts_ns)
{
	enum { CATEGORIES = 22 };
	struct pb_in in = pb_in_of(pk->body, pk->len);
	const struct iid_entry *e = NULL;
	uint32_t text = 0;
	struct pb_field f;

	if (!(pk->flags & PACKET_HAS_SEQ))
		dec->tally->damage[DAMAGE_TRACK_NO_SEQ]++;
	while (!text && pb_next(&in, &f)) {
		if (f.nr == TRACK_EVENT_CATEGORY_IIDS && f.type == PB_VARINT) {
			e = state_find(dec->r, pk->state, INTERNED_EVENT_CATEGORIES, f.value);
			text = e ? e->text : 0;
		} else if (f.nr == CATEGORIES && f.type == PB_BYTES) {
			text = decoder_text(dec, (const char *)f.bytes, (size_t)f.value);
		}
	}
	if (in.is_bad)
		dec->tally->damage[DAMAGE_TRACK_BAD]++;
	tally_text(&dec->tally->categories, text, 1);
	if (ts_ns != NO_TS)
		tally_time(dec->tally, ts_ns);
}

void tracks_sample(struct decoder *dec, const struct packet *pk, uint64_t ts_ns)
{
	(void)pk;
	if (ts_ns != NO_TS)
		tally_time(dec->tally, ts_ns);
}

int tracks_resolve(struct merge *m, struct reader *r, struct ev_hdr *rec)
{
	(void)m;
	(void)r;
	(void)rec;
	return 0;
}

int tracks_finish(struct merge *m, struct reader *r)
{
	(void)m;
	(void)r;
	return 0;
}
