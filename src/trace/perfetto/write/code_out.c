#include "trace/perfetto/write/code_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "trace/perfetto/schema.h"

#define ADDRESSES_MAX  65536U
#define TEXTS_MAX      65536U
#define TEXT_BYTES     512U         /* longer ones are cut */
#define INTERNED_BYTES (112U << 10) /* of one packet */
#define INLINED        " (inlined)"

struct address_key {
	uint64_t address;
	uint32_t tgid; /* 0 = kernel */
	uint32_t image;
};

struct text_key {
	uint64_t hash[2];
};

int code_init(struct code_out *c)
{
	*c = (struct code_out){ .interned.cap = INTERNED_BYTES };
	if (map_new(sizeof(struct address_key), ADDRESSES_MAX, &c->addresses) < 0)
		return -ENOMEM;
	for (int i = 0; i < CODE_TEXTS; i++)
		if (map_new(sizeof(struct text_key), TEXTS_MAX, &c->texts[i]) < 0)
			return -ENOMEM;
	return 0;
}

void code_done(struct code_out *c)
{
	map_free(c->addresses);
	for (int i = 0; i < CODE_TEXTS; i++)
		map_free(c->texts[i]);
	free(c->runs);
	pb_done(&c->interned);
}

void code_clear(struct code_out *c)
{
	map_clear(c->addresses);
	for (int i = 0; i < CODE_TEXTS; i++)
		map_clear(c->texts[i]);
	pb_clear(&c->interned);
	c->nr_frames = 0;
}

/* The iid of something with these bytes; *is_new if it has not been written yet. */
static int text_iid(struct code_out *c, enum code_text table, const void *bytes, size_t len,
                    uint32_t *iid, bool *is_new)
{
	struct text_key key = { { hash_bytes(bytes, len, 1),
		                  hash_bytes(bytes, len, 0x5bd1e995U) } };

	*is_new = !map_find(c->texts[table], &key, iid);
	if (!*is_new)
		return 0;
	*iid = map_nr(c->texts[table]) + 1;
	return map_insert(c->texts[table], &key, *iid);
}

/* 0 for a text that is not there. */
static int put_text(struct code_out *c, enum code_text table, const void *text, size_t len,
                    uint32_t *iid)
{
	static const uint32_t fields[] = { [CODE_FUNCTION] = INTERNED_FUNCTION_NAMES,
		                           [CODE_SOURCE] = INTERNED_SOURCE_PATHS,
		                           [CODE_PATH] = INTERNED_MAPPING_PATHS,
		                           [CODE_BUILD_ID] = INTERNED_BUILD_IDS };
	struct pb *w = &c->interned;
	struct pb_mark mark;
	bool is_new;
	int err;

	*iid = 0;
	if (!len)
		return 0;
	err = text_iid(c, table, text, len, iid, &is_new);
	if (err || !is_new)
		return err;
	mark = pb_begin(w, fields[table]);
	pb_uint(w, ENTRY_IID, *iid);
	if (table == CODE_BUILD_ID)
		pb_bytes(w, ENTRY_STRING, text, len);
	else
		pb_text(w, ENTRY_STRING, text, len);
	pb_end(w, mark);
	return 0;
}

static int put_string(struct code_out *c, enum code_text table, const char *text, uint32_t *iid)
{
	return put_text(c, table, text, text ? strnlen(text, TEXT_BYTES) : 0, iid);
}

static int put_mapping(struct code_out *c, const struct trace_place *p, uint32_t *iid)
{
	uint64_t key[5] = { p->start, p->end, p->offset };
	struct pb *w = &c->interned;
	uint32_t path, build_id;
	struct pb_mark mark;
	bool is_new;
	int err = put_string(c, CODE_PATH, p->path, &path);

	if (!err)
		err = put_text(c, CODE_BUILD_ID, p->build_id, p->nr_build_id, &build_id);
	if (err)
		return err;
	key[3] = path;
	key[4] = build_id;
	err = text_iid(c, CODE_MAPPING, key, sizeof(key), iid, &is_new);
	if (err || !is_new)
		return err;
	mark = pb_begin(w, INTERNED_MAPPINGS);
	pb_uint(w, ENTRY_IID, *iid);
	if (build_id)
		pb_uint(w, MAPPING_BUILD_ID, build_id);
	if (p->end) {
		pb_uint(w, MAPPING_START_OFFSET, p->offset);
		pb_uint(w, MAPPING_START, p->start);
		pb_uint(w, MAPPING_END, p->end);
		pb_uint(w, MAPPING_EXACT_OFFSET, p->offset);
	}
	if (path)
		pb_uint(w, MAPPING_PATH_IDS, path);
	pb_end(w, mark);
	return 0;
}

static int put_name(struct code_out *c, const char *name, bool is_inlined, uint32_t *iid)
{
	char text[TEXT_BYTES];

	if (!name || !is_inlined)
		return put_string(c, CODE_FUNCTION, name, iid);
	(void)snprintf(text, sizeof(text), "%.*s" INLINED, (int)(sizeof(text) - sizeof(INLINED)),
	               name);
	return put_string(c, CODE_FUNCTION, text, iid);
}

static int put_frame(struct code_out *c, const struct code_where *where,
                     const struct trace_place *p, uint32_t nr, uint32_t mapping)
{
	const struct trace_code *code = &p->code[nr];
	struct pb *w = &c->interned;
	uint32_t name, source;
	struct pb_mark mark;
	int err = put_name(c, code->name, nr + 1 < p->nr_code, &name);

	if (!err)
		err = put_string(c, CODE_SOURCE, code->file, &source);
	if (err)
		return err;
	mark = pb_begin(w, INTERNED_FRAMES);
	pb_uint(w, ENTRY_IID, ++c->nr_frames);
	if (name)
		pb_uint(w, FRAME_FUNCTION_NAME_ID, name);
	pb_uint(w, FRAME_MAPPING_ID, mapping);
	pb_uint(w, FRAME_REL_PC, p->rel_pc);
	if (source)
		pb_uint(w, FRAME_SOURCE_PATH_IID, source);
	if (source && code->line)
		pb_uint(w, FRAME_LINE_NUMBER, code->line);
	pb_uint(w, FRAME_KIND, where->tgid ? FRAME_KIND_NATIVE : FRAME_KIND_KERNEL);
	pb_end(w, mark);
	return 0;
}

/* Whatever is known, and at least one frame. */
static void resolve(const struct code_out *c, const struct code_where *where, uint64_t address,
                    struct trace_place *p, char name[TEXT_BYTES])
{
	*p = (struct trace_place){ .rel_pc = address };
	if (c->place && !c->place(c->ctx, where->tgid, where->ts_ns, address, p))
		*p = (struct trace_place){ .rel_pc = address };
	if (p->nr_code > TRACE_CODE_MAX)
		p->nr_code = TRACE_CODE_MAX;
	if (p->nr_build_id > TRACE_BUILD_ID_MAX)
		p->nr_build_id = TRACE_BUILD_ID_MAX;
	if (p->nr_code)
		return;
	p->nr_code = 1;
	if (c->symbol && c->symbol(c->ctx, where->tgid, address, name, TEXT_BYTES))
		p->code[0].name = name;
}

/* Between the function that is traced and the program that takes the stack. */
static bool is_tracing(const struct code_where *where, const struct trace_place *p)
{
	static const char *const beginnings[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_" };
	const char *name = p->code[p->nr_code - 1].name;

	for (size_t i = 0; !where->tgid && name && i < 3; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static int put_run(struct code_out *c, const struct code_where *where, uint64_t address,
                   struct code_run *out)
{
	char name[TEXT_BYTES];
	struct trace_place place;
	uint32_t mapping;
	int err;

	resolve(c, where, address, &place, name);
	err = put_mapping(c, &place, &mapping);
	*out = (struct code_run){ .first = c->nr_frames + 1,
		                  .nr = (uint16_t)place.nr_code,
		                  .is_tracing = is_tracing(where, &place) };
	for (uint32_t i = 0; !err && i < place.nr_code; i++)
		err = put_frame(c, where, &place, i, mapping);
	return err;
}

static int keep_run(struct code_out *c, const struct address_key *key, const struct code_run *run)
{
	uint32_t nr = map_nr(c->addresses);

	if (GROW(c->runs, c->cap_runs, nr))
		return -ENOMEM;
	c->runs[nr] = *run;
	return map_insert(c->addresses, key, nr);
}

int code_at(struct code_out *c, const struct code_where *where, uint64_t address,
            struct code_run *out)
{
	struct address_key key = { .address = address, .tgid = where->tgid, .image = where->image };
	uint32_t idx;
	int err;

	if (map_find(c->addresses, &key, &idx)) {
		*out = c->runs[idx];
		return 0;
	}
	err = put_run(c, where, address, out);
	return err ? err : keep_run(c, &key, out);
}

int code_frame(struct code_out *c, uint32_t number, const struct trace_frame *frame, uint32_t *iid)
{
	struct code_where where = { .tgid = !frame->is_kernel };
	struct address_key key = { .address = number, .tgid = where.tgid };
	/* All but the last are inlined. */
	struct trace_place place = { .nr_code = frame->is_inlined ? 2 : 1,
		                     .path = frame->mapping,
		                     .rel_pc = frame->rel_pc };
	struct code_run run = { .nr = 1 };
	uint32_t idx, mapping;
	int err;

	if (map_find(c->addresses, &key, &idx)) {
		*iid = c->runs[idx].first;
		return 0;
	}
	place.code[0] = (struct trace_code){ .name = frame->name,
		                             .file = frame->file,
		                             .line = frame->line };
	err = put_mapping(c, &place, &mapping);
	if (!err)
		err = put_frame(c, &where, &place, 0, mapping);
	run.first = *iid = c->nr_frames;
	return err ? err : keep_run(c, &key, &run);
}
