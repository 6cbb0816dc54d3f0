/* What a file has in its header comes as records in a pipe. */
#include "trace/perfdata/perfdata.h"

enum { UPDATE_NAME = 2 };

/* An attribute has its own size; ids follow it. */
static void read_attr(struct perfdata *d, const struct pd_record *rec)
{
	const uint8_t *attr = rec->bytes + PD_HEADER_BYTES;
	uint32_t left = rec->size - PD_HEADER_BYTES, size = left >= 8 ? pd_u32(d, attr + 4) : 0;

	if (!size || size > left) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	pd_attr_add(d, attr, size, pd_in_of(d, attr + size, left - size));
}

static void read_update(struct perfdata *d, const struct pd_record *rec)
{
	struct bytes_in in = pd_in_of(d, rec->bytes + PD_HEADER_BYTES, rec->size - PD_HEADER_BYTES);
	uint64_t what = bytes_u64(&in);
	struct pd_attr *a = pd_attr_of_id(d, bytes_u64(&in));

	if (what == UPDATE_NAME && a)
		pd_attr_name(d, a, (const char *)in.at,
		             strnlen((const char *)in.at, bytes_left(&in)));
}

static void read_feature(struct perfdata *d, const struct pd_record *rec)
{
	struct bytes_in in = pd_in_of(d, rec->bytes + PD_HEADER_BYTES, rec->size - PD_HEADER_BYTES);
	uint64_t nr = bytes_u64(&in);

	if (!in.is_bad && nr < PD_FEATURES)
		pd_feature(d, (uint32_t)nr, in);
}

void pd_header_records(struct perfdata *d, struct bytes_in in)
{
	struct pd_record rec;

	while (!d->err && pd_record_next(d, &in, &rec)) {
		uint64_t tail = pd_record_tail(d, &rec);

		if (tail > bytes_left(&in))
			return; /* it is counted when the events are read */
		if (rec.type == PD_HEADER_ATTR)
			read_attr(d, &rec);
		else if (rec.type == PD_HEADER_TRACING_DATA)
			pd_tracing_data(d, pd_in_of(d, in.at, (size_t)tail));
		else if (rec.type == PD_EVENT_UPDATE)
			read_update(d, &rec);
		else if (rec.type == PD_HEADER_FEATURE)
			read_feature(d, &rec);
		else if (rec.type == PD_HEADER_BUILD_ID)
			pd_build_id(d, &rec);
		in.at += tail;
	}
}
