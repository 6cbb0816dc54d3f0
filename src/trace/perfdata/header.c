/* The beginning of perf.data: where its sections are. */
#include "trace/perfdata/perfdata.h"

#include <errno.h>

#define PIPE_HEADER_BYTES 16U
#define FILE_HEADER_BYTES 104U
#define SECTION_BYTES     16U

enum { /* offsets */
       AT_SIZE = 8,
       AT_ATTR_SIZE = 16,
       AT_ATTRS = 24,
       AT_DATA = 40,
       AT_FEATURES = 72,
};

/* The part of the file that a section names; cut where the file ends. */
static struct bytes_in section_at(struct perfdata *d, const struct trace_bytes *in, uint64_t at,
                                  bool *is_whole)
{
	const uint8_t *bytes = in->bytes;
	uint64_t offset = 0, size = 0;

	if (at <= in->len && in->len - at >= SECTION_BYTES) {
		offset = pd_u64(d, bytes + at);
		size = pd_u64(d, bytes + at + 8);
	}
	*is_whole = offset <= in->len && size <= in->len - offset;
	if (offset > in->len)
		offset = in->len;
	if (size > in->len - offset)
		size = in->len - offset;
	return pd_in_of(d, bytes + offset, (size_t)size);
}

static void read_attrs(struct perfdata *d, const struct trace_bytes *in)
{
	uint64_t attr_size = pd_u64(d, (const uint8_t *)in->bytes + AT_ATTR_SIZE);
	bool is_whole;
	struct bytes_in attrs = section_at(d, in, AT_ATTRS, &is_whole);

	if (!is_whole || attr_size <= SECTION_BYTES || attr_size > PD_RECORD_MAX) {
		pd_damage(d, DAMAGE_SECTION_BAD);
		return;
	}
	while (bytes_left(&attrs) >= attr_size && !d->err) {
		uint64_t at = (uint64_t)(attrs.at - (const uint8_t *)in->bytes);
		struct bytes_in ids = section_at(d, in, at + attr_size - SECTION_BYTES, &is_whole);

		pd_attr_add(d, attrs.at, (size_t)attr_size - SECTION_BYTES, ids);
		attrs.at += attr_size;
	}
}

/* A 32-bit machine of the other byte order has the halves of each word exchanged; the host's name is in every file. */
static void read_feature_bits(const struct perfdata *d, const uint8_t *p, uint64_t bits[4])
{
	for (unsigned int i = 0; i < 4; i++)
		bits[i] = pd_u64(d, p + 8 * (size_t)i);
	if (!d->is_swapped || bits[0] >> PD_FEATURE_HOSTNAME & 1 ||
	    !(bits[0] >> (PD_FEATURE_HOSTNAME + 32) & 1))
		return;
	for (unsigned int i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
}

/* Their table is behind the data. */
static void read_features(struct perfdata *d, const struct trace_bytes *in, uint64_t at)
{
	uint64_t bits[4];

	read_feature_bits(d, (const uint8_t *)in->bytes + AT_FEATURES, bits);
	for (uint32_t nr = 0; nr < PD_FEATURES && !d->err; nr++) {
		struct bytes_in section;
		bool is_whole;

		if (!(bits[nr / 64] >> nr % 64 & 1))
			continue;
		section = section_at(d, in, at, &is_whole);
		at += SECTION_BYTES;
		if (is_whole)
			pd_feature(d, nr, section);
		else
			pd_damage(d, DAMAGE_SECTION_BAD);
	}
}

/* A perf that was killed has not written how much there is, and nothing behind it. */
static struct bytes_in find_data(struct perfdata *d, const struct trace_bytes *in)
{
	bool is_whole;
	struct bytes_in data = section_at(d, in, AT_DATA, &is_whole);
	const uint8_t *end = (const uint8_t *)in->bytes + in->len;

	if (is_whole && bytes_left(&data))
		read_features(d, in, (uint64_t)(data.end - (const uint8_t *)in->bytes));
	else
		d->r->info.incomplete =
			is_whole ? "perf ended before it had written the descriptions of its events"
				 : "the end of the file is missing";
	if (!bytes_left(&data))
		data.end = end;
	return data;
}

static int bad_header(const struct trace_bytes *in, struct diag *diag)
{
	return diag_set(diag, -EBADMSG, "was the recording interrupted?",
	                "'%s' begins as a file of perf record, but its header is damaged or cut",
	                in->name);
}

int pd_header(struct perfdata *d, const struct trace_bytes *in, struct bytes_in *records,
              struct diag *diag)
{
	const uint8_t *bytes = in->bytes;
	uint64_t size;

	d->is_big = bytes[0] == '2';
	d->is_swapped = d->is_big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	d->formats.is_swapped = d->is_swapped;
	d->file_len = in->len;
	if (in->len < PIPE_HEADER_BYTES)
		return bad_header(in, diag);
	size = pd_u64(d, bytes + AT_SIZE);
	d->is_pipe = size == PIPE_HEADER_BYTES;
	if (d->is_pipe) {
		*records = pd_in_of(d, bytes + PIPE_HEADER_BYTES, in->len - PIPE_HEADER_BYTES);
		pd_header_records(d, *records);
	} else {
		if (in->len < FILE_HEADER_BYTES || size < FILE_HEADER_BYTES)
			return bad_header(in, diag);
		read_attrs(d, in);
		*records = find_data(d, in);
	}
	if (!d->err && !d->nr_attrs)
		return bad_header(in, diag);
	return d->err;
}
