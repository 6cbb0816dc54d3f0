/* Version 7: sections that options point to; options are sections, too, in a chain. */
#include <errno.h>

#include "trace/tracedat/dat.h"

#define CHAIN_MAX 256U /* sections of options */
#define IS_PACKED 1U

struct section {
	struct bytes_in body;
	struct inflated plain; /* what body is of, if it was compressed */
	uint32_t id;
	bool is_packed;
};

/* Its head: id, flags, a description, its size in the file. */
static bool section_head(struct dat *dat, uint64_t offset, struct section *s)
{
	struct bytes_in in = dat_at(dat, offset);
	uint64_t size;

	*s = (struct section){ .id = bytes_u16(&in) };
	s->is_packed = bytes_u16(&in) & IS_PACKED;
	(void)bytes_u32(&in);
	size = bytes_u64(&in);
	s->body = bytes_sub(&in, size < bytes_left(&in) ? size : bytes_left(&in));
	return !in.is_bad;
}

struct bytes_in dat_section_body(struct dat *dat, uint64_t offset)
{
	struct section s;

	if (!section_head(dat, offset, &s))
		s.body = (struct bytes_in){ .at = dat->all.end, .end = dat->all.end };
	return s.body;
}

/* Whole, unpacked where it was compressed. 0, -EBADMSG, -ENOMEM, -E2BIG; to be freed in any case. */
static int section_open(struct dat *dat, uint64_t offset, uint32_t id, struct section *s)
{
	uint32_t packed_bytes, plain_bytes;
	struct bytes_in block;
	int err;

	if (!section_head(dat, offset, s) || s->id != id)
		return -EBADMSG;
	if (!s->is_packed)
		return 0;
	packed_bytes = bytes_u32(&s->body);
	plain_bytes = bytes_u32(&s->body);
	block = bytes_sub(&s->body, packed_bytes);
	if (s->body.is_bad)
		return -EBADMSG;
	err = dat_unpack(dat, block, plain_bytes, &s->plain);
	if (err)
		return err;
	s->body = (struct bytes_in){ .at = s->plain.bytes,
		                     .end = s->plain.bytes + s->plain.len,
		                     .is_swapped = dat->all.is_swapped };
	return 0;
}

static void section_done(struct dat *dat, struct section *s)
{
	dat_inflated_done(dat, &s->plain);
}

/* All options of a section; *next is where the next section of them is, 0 = nowhere. */
static int read_options(struct dat *dat, struct bytes_in in, uint64_t *next)
{
	struct bytes_in body;
	uint32_t id;
	int err = 0;

	*next = 0;
	while (!err && bytes_left(&in)) {
		id = bytes_u16(&in);
		body = bytes_sub(&in, bytes_u32(&in));
		if (in.is_bad)
			return -EBADMSG;
		if (id == DAT_DONE) {
			*next = bytes_left(&body) >= sizeof(uint64_t) ? bytes_u64(&body) : 0;
			return 0;
		}
		err = dat_option(dat, id, body);
		if (err == -EBADMSG) {
			dat->r->tally.damage[DAMAGE_OPTION_BAD]++;
			err = 0;
		}
	}
	return err;
}

/* Each section of the chain once: it may be a ring. What overlaps is bounded by left_bytes. */
static int read_chain(struct dat *dat, uint64_t offset)
{
	uint64_t seen[CHAIN_MAX];
	struct section s;
	size_t nr = 0;
	int err = 0;

	while (offset && !err) {
		for (size_t i = 0; i < nr; i++)
			if (seen[i] == offset)
				return -EBADMSG;
		if (nr == CHAIN_MAX)
			return -EBADMSG;
		seen[nr++] = offset;
		err = section_open(dat, offset, DAT_DONE, &s);
		if (!err && bytes_left(&s.body) > dat->left_bytes)
			err = -EBADMSG;
		if (!err) {
			dat->left_bytes -= bytes_left(&s.body);
			err = read_options(dat, s.body, &offset);
		}
		section_done(dat, &s);
	}
	return err;
}

/* Names of functions are kept, as they are read later. */
static int read_kallsyms(struct dat *dat, struct section *s)
{
	struct bytes_in text = bytes_sub(&s->body, bytes_u32(&s->body));

	if (s->body.is_bad)
		return -EBADMSG;
	dat->symbols.text = (const char *)text.at;
	dat->symbols.len = (size_t)bytes_left(&text);
	dat->kept = s->plain;
	s->plain = (struct inflated){ 0 };
	return 0;
}

static int read_section(struct dat *dat, uint32_t id, struct section *s)
{
	switch (id) {
	case DAT_HEADER_INFO:
		return dat_header_info(dat, &s->body);
	case DAT_FTRACE_EVENTS:
		return ftrace_formats_read(&dat->formats, dat->r, &s->body);
	case DAT_EVENT_FORMATS:
		return ftrace_systems_read(&dat->formats, dat->r, &s->body);
	case DAT_KALLSYMS:
		return read_kallsyms(dat, s);
	default:
		return dat_cmdlines(dat, &s->body);
	}
}

static int read_sections(struct dat *dat)
{
	static const uint32_t ids[] = { DAT_HEADER_INFO, DAT_FTRACE_EVENTS, DAT_EVENT_FORMATS,
		                        DAT_KALLSYMS, DAT_CMDLINES };
	struct section s;
	int err = 0;

	ring_layout_read(&dat->layout, "", 0, dat->long_bytes); /* if it says nothing */
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && !err; i++) {
		if (!dat->sections[ids[i]])
			continue;
		err = section_open(dat, dat->sections[ids[i]], ids[i], &s);
		if (!err)
			err = read_section(dat, ids[i], &s);
		section_done(dat, &s);
		if (err == -EBADMSG) {
			dat->r->tally.damage[DAMAGE_SECTION_BAD]++;
			err = 0;
		}
	}
	return err;
}

/* Whether the data of a buffer is compressed says the head of its section. */
static void read_heads(struct dat *dat)
{
	struct section s;

	for (size_t i = 0; i < dat->nr_buffers; i++) {
		struct dat_buffer *b = &dat->buffers[i];

		if (section_head(dat, b->offset, &s))
			b->is_packed = s.is_packed;
		else
			dat->r->tally.damage[DAMAGE_SECTION_BAD]++;
	}
}

int dat_read_v7(struct dat *dat, struct bytes_in in, struct diag *d)
{
	const char *name = bytes_text(&in), *version = name ? bytes_text(&in) : NULL;
	uint64_t offset = version ? bytes_u64(&in) : 0;
	int err = in.is_bad || !version ? -EBADMSG : 0;

	if (!err && strcmp(name, "zstd") == 0)
		dat->packing = INFLATE_ZSTD;
	else if (!err && strcmp(name, "zlib") == 0)
		dat->packing = INFLATE_ZLIB;
	else if (!err && strcmp(name, "none") != 0)
		return diag_set(d, -EINVAL, "make one that can be read: trace-cmd convert -c zstd",
		                "'%s' is compressed by '%.32s', which is not known", dat->in->name,
		                name);
	if (!err)
		err = read_chain(dat, offset);
	/* The last options are at the end of the file: where they are missing, others may be there. */
	if (err == -EBADMSG)
		dat->r->tally.damage[DAMAGE_OPTION_BAD]++;
	if (!err || err == -EBADMSG)
		err = read_sections(dat);
	if (err)
		return err;
	if (!dat->nr_buffers)
		return diag_set(
			d, -EBADMSG, "was the recording interrupted, or the file not copied whole?",
			"'%s' ends before the list of its buffers: the data of its CPUs cannot be found",
			dat->in->name);
	read_heads(dat);
	return 0;
}
