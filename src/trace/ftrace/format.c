#include "trace/ftrace/format.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define FORMATS_MAX 65536U
#define TYPE_OFFSET 0U /* of common_type, everywhere */
#define TYPE_BYTES  2U

/* A part of the description. */
struct span {
	const char *at, *end;
};

/* One line of it. */
struct field_line {
	struct span type, name;
	struct format_field field; /* without its number */
};

void ftrace_formats_done(struct ftrace_formats *f)
{
	free(f->all);
	map_free(f->ids);
	*f = (struct ftrace_formats){ 0 };
}

static bool span_find(struct span in, const char *word, struct span *after)
{
	size_t len = strlen(word);
	const char *hit = (size_t)(in.end - in.at) >= len
	                          ? memmem(in.at, (size_t)(in.end - in.at), word, len)
	                          : NULL;

	if (!hit)
		return false;
	*after = (struct span){ hit + len, in.end };
	return true;
}

static struct span line_of(struct span in)
{
	const char *end = memchr(in.at, '\n', (size_t)(in.end - in.at));

	return (struct span){ in.at, end ? end : in.end };
}

/* A decimal number behind a word; false without one, or if it is above max. */
static bool number_after(struct span in, const char *word, uint32_t max, uint32_t *out)
{
	uint64_t value = 0;

	if (!span_find(in, word, &in))
		return false;
	while (in.at < in.end && (*in.at == ' ' || *in.at == '\t'))
		in.at++;
	if (in.at == in.end || *in.at < '0' || *in.at > '9')
		return false;
	for (; in.at < in.end && *in.at >= '0' && *in.at <= '9' && value <= max; in.at++)
		value = value * 10 + (uint64_t)(*in.at - '0');
	*out = (uint32_t)value;
	return value <= max;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* "unsigned short common_type", "char comm[16]", "__data_loc char[] name": the last word that is no array's length. */
static bool split_declaration(struct span in, struct field_line *line)
{
	const char *end = in.end;

	if (end > in.at && end[-1] == ']') {
		while (end > in.at && *end != '[')
			end--;
	}
	line->name.end = end;
	while (end > in.at && is_word(end[-1]))
		end--;
	line->name.at = end;
	line->type = (struct span){ in.at, end };
	return line->name.at < line->name.end;
}

static enum format_kind kind_of(const struct field_line *line, struct span declaration)
{
	struct span rest;

	if (span_find(line->type, "__data_loc", &rest))
		return FORMAT_LOC;
	if (span_find(line->type, "__rel_loc", &rest))
		return FORMAT_REL_LOC;
	if (span_find(line->type, "char", &rest) &&
	    memchr(declaration.at, '[', (size_t)(declaration.end - declaration.at)))
		return FORMAT_TEXT;
	return FORMAT_NUMBER;
}

/* "field:TYPE NAME;	offset:8;	size:16;	signed:0;" */
static bool read_line(struct span in, struct field_line *line)
{
	uint32_t offset, size, is_signed = 0;
	struct span declaration;
	const char *end;

	*line = (struct field_line){ 0 };
	if (!span_find(in, "field:", &declaration) ||
	    !number_after(in, "offset:", UINT16_MAX, &offset) ||
	    !number_after(in, "size:", UINT16_MAX, &size))
		return false;
	end = memchr(declaration.at, ';', (size_t)(declaration.end - declaration.at));
	if (!end)
		return false;
	declaration.end = end;
	(void)number_after(in, "signed:", 1, &is_signed);
	if (!split_declaration(declaration, line))
		return false;
	line->field = (struct format_field){ .offset = (uint16_t)offset,
		                             .size = (uint16_t)size,
		                             .kind = (uint8_t)kind_of(line, declaration),
		                             .is_signed = is_signed != 0 };
	return true;
}

static bool is_named(const struct field_line *line, const char *name)
{
	size_t len = strlen(name);

	return (size_t)(line->name.end - line->name.at) == len &&
	       memcmp(line->name.at, name, len) == 0;
}

/* The text of print has no size: it is the rest of its event. */
static bool is_usable(const struct format_field *f, bool is_print)
{
	if (f->kind == FORMAT_TEXT)
		return f->size > 0 || is_print;
	if (f->kind != FORMAT_NUMBER)
		return f->size == 4;
	return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
}

/* "unsigned long args[6]": the first two of them. */
static void take_arguments(struct ftrace_format *format, struct format_field field)
{
	field.size = 8;
	field.kind = FORMAT_NUMBER;
	for (uint8_t nr = CALL_ARG0; nr <= CALL_ARG1 && format->nr_fields < FORMAT_FIELDS; nr++) {
		field.nr = nr;
		format->fields[format->nr_fields++] = field;
		field.offset = (uint16_t)(field.offset + field.size);
	}
}

static void take_field(struct ftrace_format *format, const struct field_line *line)
{
	uint32_t nr = ftrace_field(format->member, line->name.at,
	                           (size_t)(line->name.end - line->name.at));
	uint32_t end = (uint32_t)line->field.offset + line->field.size;

	if (nr == CALL_ARG0 && format->member == FTRACE_SYS_ENTER && line->field.size == 6 * 8 &&
	    end <= UINT16_MAX) {
		take_arguments(format, line->field);
		format->size = end > format->size ? end : format->size;
		return;
	}
	if (!is_usable(&line->field, format->member == FTRACE_PRINT))
		return;
	if (is_named(line, "common_pid")) {
		format->pid = line->field;
	} else if (is_named(line, "common_flags")) {
		format->flags = line->field;
	} else if (nr && format->nr_fields < FORMAT_FIELDS) {
		format->fields[format->nr_fields] = line->field;
		format->fields[format->nr_fields++].nr = (uint8_t)nr;
	} else {
		return;
	}
	if (end > format->size)
		format->size = end;
}

static int keep(struct ftrace_formats *f, const struct ftrace_format *format)
{
	uint32_t at;

	if (!f->ids && map_new(sizeof(uint32_t), FORMATS_MAX, &f->ids) < 0)
		return -ENOMEM;
	if (map_find(f->ids, &format->id, &at)) {
		f->all[at] = *format;
		return 0;
	}
	if (GROW(f->all, f->cap, f->nr) || map_insert(f->ids, &format->id, (uint32_t)f->nr) < 0)
		return -ENOMEM;
	f->all[f->nr++] = *format;
	return 0;
}

int ftrace_formats_add(struct ftrace_formats *f, struct reader *r, const char *text, size_t len)
{
	struct span in = { text, text + len }, name, line;
	struct ftrace_format format = { 0 };
	struct field_line field;

	r->tally.totals[OF_FORMATS]++;
	if (f->nr >= FORMATS_MAX || !span_find(in, "name:", &name) ||
	    !number_after(in, "\nID:", UINT16_MAX, &format.id))
		return -EBADMSG;
	name = line_of(name);
	while (name.at < name.end && *name.at == ' ')
		name.at++;
	format.member = ftrace_member(name.at, (size_t)(name.end - name.at));
	if (format.member >= FTRACE_OURS) /* a probe may have such a name */
		format.member = 0;
	if (intern_add(r->texts, name.at, (size_t)(name.end - name.at), &format.name) < 0)
		format.name = 0;
	while (in.at < in.end) {
		line = line_of(in);
		in.at = line.end < in.end ? line.end + 1 : in.end;
		if (span_find(line, "print fmt:", &name))
			break;
		if (read_line(line, &field))
			take_field(&format, &field);
	}
	return keep(f, &format);
}

const struct ftrace_format *ftrace_formats_find(const struct ftrace_formats *f, uint32_t id)
{
	uint32_t at;

	return f->ids && map_find(f->ids, &id, &at) ? &f->all[at] : NULL;
}

static uint64_t number(const struct ftrace_formats *f, const struct format_field *field,
                       const uint8_t *raw)
{
	const uint8_t *at = raw + field->offset;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (field->size) {
	case 1:
		return field->is_signed ? (uint64_t)(int8_t)*at : *at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		u16 = f->is_swapped ? __builtin_bswap16(u16) : u16;
		return field->is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		u32 = f->is_swapped ? __builtin_bswap32(u32) : u32;
		return field->is_signed ? (uint64_t)(int32_t)u32 : u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return f->is_swapped ? __builtin_bswap64(u64) : u64;
	}
}

bool ftrace_formats_id(const struct ftrace_formats *f, const uint8_t *raw, size_t len,
                       uint32_t *out)
{
	const struct format_field type = { .offset = TYPE_OFFSET, .size = TYPE_BYTES };

	if (len < TYPE_OFFSET + TYPE_BYTES)
		return false;
	*out = (uint32_t)number(f, &type, raw);
	return true;
}

/* Where a text of its own place is: offset in the low half, length with its NUL in the high one. */
static bool find_text(const struct ftrace_formats *f, const struct format_field *field,
                      const uint8_t *raw, size_t len, const uint8_t **at, size_t *text_len)
{
	uint64_t where = number(f, field, raw);
	size_t offset = where & 0xffff, size = where >> 16 & 0xffff;

	if (field->kind == FORMAT_REL_LOC)
		offset += (size_t)field->offset + field->size;
	if (offset > len || size > len - offset)
		return false;
	*at = raw + offset;
	*text_len = strnlen((const char *)*at, size);
	return true;
}

static void read_field(const struct ftrace_formats *f, const struct format_field *field,
                       const uint8_t *raw, size_t len, struct ftrace_event_in *e)
{
	size_t text_len;

	if (field->kind == FORMAT_NUMBER) {
		e->values[field->nr] = number(f, field, raw);
		e->has |= 1U << field->nr;
		return;
	}
	if (field->kind == FORMAT_TEXT) {
		e->bytes[field->nr] = raw + field->offset;
		text_len = strnlen((const char *)raw + field->offset,
		                   field->size ? field->size : len - field->offset);
	} else if (!find_text(f, field, raw, len, &e->bytes[field->nr], &text_len)) {
		return;
	}
	e->values[field->nr] = text_len;
	e->has |= 1U << field->nr;
	e->texts |= 1U << field->nr;
}

bool ftrace_format_read(const struct ftrace_formats *f, const struct ftrace_format *format,
                        const uint8_t *raw, size_t len, struct ftrace_event_in *e)
{
	uint64_t pid;

	if (len < format->size)
		return false;
	e->member = format->member;
	e->flags = format->flags.size ? flags_of(number(f, &format->flags, raw)) : 0;
	e->has_pid = format->pid.size != 0;
	pid = e->has_pid ? number(f, &format->pid, raw) : 0;
	e->pid = tid_of(pid);
	e->by = format->flags.size ? ABI_BY_UNKNOWN : ABI_BY_NOT_RECORDED;
	e->ours = 0;
	e->has = e->texts = 0;
	e->body = pb_in_of(raw, len);
	for (uint32_t i = 0; i < format->nr_fields; i++)
		read_field(f, &format->fields[i], raw, len, e);
	return true;
}
