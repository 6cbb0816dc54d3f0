/* A latency tracer leaves text in the file in place of events: what 'trace' of tracefs shows. */
#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "trace/formats.h"
#include "trace/tracedat/dat.h"

static int append(struct dat *dat, struct inflated *to, const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	while (to->size - to->len < len)
		if (!grow_counted(dat->r, &to->bytes, to->size, &to->size, 1))
			return -ENOMEM;
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
	return 0;
}

/* All chunks of it, one after the other; what comes after a damaged one is left out. */
static int unpack(struct dat *dat, struct bytes_in in, struct inflated *to)
{
	uint32_t nr = bytes_u32(&in), packed_bytes, plain_bytes;
	struct bytes_in block;
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++) {
		dat->r->tally.totals[OF_CHUNKS]++;
		packed_bytes = bytes_u32(&in);
		plain_bytes = bytes_u32(&in);
		block = bytes_sub(&in, packed_bytes);
		err = in.is_bad ? -EBADMSG : dat_unpack(dat, block, plain_bytes, &dat->chunk);
		if (!err)
			err = append(dat, to, dat->chunk.bytes, dat->chunk.len);
	}
	if (err != -EBADMSG)
		return err;
	dat->r->tally.damage[DAMAGE_CHUNK_BAD]++;
	return 0;
}

static int read_plain(struct dat *dat, struct bytes_in in, const struct ev_sink *sink,
                      struct diag *d)
{
	const struct trace_format *format;
	struct trace_bytes text = { .name = dat->in->name };
	int err;

	while (in.at < in.end && *in.at == '\n')
		in.at++;
	text.bytes = in.at;
	text.len = (size_t)bytes_left(&in);
	format = trace_format_of(text.bytes, text.len);
	if (!format || format->read == tracedat_read) /* never a file within a file within ... */
		return diag_set(d, -EINVAL,
		                "give its text instead: trace-cmd report FILE >trace.txt",
		                "'%s' holds the text of a latency tracer instead of events",
		                dat->in->name);
	err = format->read(dat->r, &text, sink, d);
	dat->r->info.producer_name = "trace-cmd";
	return err;
}

int dat_read_text(struct dat *dat, const struct dat_buffer *b, const struct ev_sink *sink,
                  struct diag *d)
{
	struct bytes_in in = dat_at(dat, b->offset);
	struct inflated plain = { 0 };
	int err = 0;

	if (dat->version > 6)
		in = dat_section_body(dat, b->offset);
	if (b->is_packed) {
		err = unpack(dat, in, &plain);
		in.at = plain.bytes;
		in.end = plain.bytes ? plain.bytes + plain.len : NULL;
	}
	if (!err)
		err = read_plain(dat, in, sink, d);
	dat_inflated_done(dat, &plain);
	return err;
}
