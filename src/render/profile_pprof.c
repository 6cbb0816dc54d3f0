#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/pb_write.h"
#include "base/version.h"
#include "render/profile_export.h"
#include "render/profile_words.h"

#define MAX_BYTES   ((size_t)1 << 30)
#define GZIP_WINDOW (15 + 16) /* zlib: the header of gzip */
#define GZIP_MEMORY 8
#define CHUNK_BYTES 65536
#define NAME_BYTES  512
#define STRINGS_CAP ((size_t)1 << 30)

/* Field numbers of pprof's profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum {
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4 };

/* Tables are interned as they are met; their ids, which begin with 1, are those of the file. */
struct pprof {
	const struct profile *p;
	struct pb pb;
	struct intern *strings;
	struct intern *mappings;  /* file names */
	struct intern *locations; /* frames: the inlined ones, and that which holds their code */
	uint64_t factor;          /* of the second value: 0 = values as they are */
	bool has_second;
	int error;
};

static void scoped_pprof(struct pprof *o)
{
	pb_done(&o->pb);
	intern_free(o->strings);
	intern_free(o->mappings);
	intern_free(o->locations);
}

static uint32_t id_of(struct pprof *o, struct intern *in, const void *bytes, size_t len)
{
	uint32_t id = 0;
	int err = intern_add(in, bytes, len, &id);

	if (err && !o->error)
		o->error = err;
	return id;
}

static uint32_t string_id(struct pprof *o, const char *text)
{
	return id_of(o, o->strings, text, strlen(text));
}

static void put_type(struct pprof *o, uint32_t field, const char *type, const char *unit)
{
	struct pb_mark mark = pb_begin(&o->pb, field);

	pb_uint(&o->pb, VALUE_TYPE_TYPE, string_id(o, type));
	pb_uint(&o->pb, VALUE_TYPE_UNIT, string_id(o, unit));
	pb_end(&o->pb, mark);
}

/* What is counted, besides samples: time where it is known, else the event. */
static void put_types(struct pprof *o)
{
	const struct profile_facts *f = profile_facts(o->p);
	uint64_t sample_ns = profile_sample_ns(o->p);
	const char *type = f->event, *unit = "count";

	put_type(o, PROFILE_SAMPLE_TYPE, "samples", "count");
	o->has_second = true;
	if (profile_is_time(o->p)) {
		unit = "nanoseconds";
	} else if (sample_ns) {
		type = "cpu";
		unit = "nanoseconds";
		o->factor = sample_ns;
	} else if (strcmp(f->unit, "samples") == 0) {
		o->has_second = false;
	}
	if (o->has_second) {
		put_type(o, PROFILE_SAMPLE_TYPE, type, unit);
		pb_uint(&o->pb, PROFILE_DEFAULT_SAMPLE_TYPE, string_id(o, type));
	}
	put_type(o, PROFILE_PERIOD_TYPE, type, unit);
	pb_uint(&o->pb, PROFILE_PERIOD, sample_ns ? sample_ns : f->period ? f->period : 1);
}

static const char *mapping_name(const struct profile_frame *frame, char buf[static NAME_BYTES])
{
	if (!frame->is_kernel)
		return frame->module;
	if (strcmp(frame->module, "kernel") == 0)
		return "[kernel.kallsyms]";
	snprintf(buf, NAME_BYTES, "[%s]", frame->module);
	return buf;
}

static uint32_t mapping_id(struct pprof *o, const struct profile_frame *frame)
{
	char buf[NAME_BYTES];
	const char *name = mapping_name(frame, buf);

	return id_of(o, o->mappings, name, strlen(name));
}

static int64_t to_i64(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static void put_label(struct pprof *o, const char *key, const char *text, uint32_t number)
{
	struct pb_mark mark = pb_begin(&o->pb, SAMPLE_LABEL);

	pb_uint(&o->pb, LABEL_KEY, string_id(o, key));
	if (text)
		pb_uint(&o->pb, LABEL_STR, string_id(o, text));
	else
		pb_uint(&o->pb, LABEL_NUM, number);
	pb_end(&o->pb, mark);
}

static void put_labels(struct pprof *o, const struct profile_task *task)
{
	put_label(o, "process", task->process ? task->process : task->comm, 0);
	put_label(o, "thread", task->comm, 0);
	if (task->tgid)
		put_label(o, "pid", NULL, task->tgid);
	if (task->tid)
		put_label(o, "tid", NULL, task->tid);
}

static void put_sample(struct pprof *o, size_t idx)
{
	struct profile_stack stack;
	struct pb_mark mark;

	profile_stack_at(o->p, idx, &stack);
	mark = pb_begin_large(&o->pb, PROFILE_SAMPLE);
	for (size_t from = 0, i = 0; i < stack.nr; i++) {
		/* Inlined frames belong to the next outer one that is not; the last one has no outer frame. */
		if (profile_frame_at(o->p, stack.frames[i])->is_inlined && i + 1 < stack.nr)
			continue;
		pb_uint(&o->pb, SAMPLE_LOCATION_ID,
		        id_of(o, o->locations, stack.frames + from,
		              (i + 1 - from) * sizeof(uint32_t)));
		from = i + 1;
	}
	pb_int(&o->pb, SAMPLE_VALUE, to_i64(stack.count));
	if (o->has_second)
		pb_int(&o->pb, SAMPLE_VALUE,
		       to_i64(o->factor ? profile_times(stack.count, o->factor) : stack.value));
	put_labels(o, profile_task_at(o->p, stack.task));
	pb_end(&o->pb, mark);
}

static void put_location(struct pprof *o, uint32_t id)
{
	const struct profile_frame *frame = NULL;
	struct pb_mark mark, line;
	const char *bytes;
	uint32_t number;
	size_t len;

	bytes = intern_string(o->locations, id, &len);
	mark = pb_begin_large(&o->pb, PROFILE_LOCATION);
	pb_uint(&o->pb, LOCATION_ID, id);
	for (size_t at = 0; at < len; at += sizeof(number)) {
		memcpy(&number, bytes + at, sizeof(number));
		frame = profile_frame_at(o->p, number);
		line = pb_begin(&o->pb, LOCATION_LINE);
		pb_uint(&o->pb, LINE_FUNCTION_ID, profile_function_of(o->p, number) + 1);
		pb_uint(&o->pb, LINE_LINE, frame->line);
		pb_end(&o->pb, line);
	}
	if (frame) {
		pb_uint(&o->pb, LOCATION_MAPPING_ID, mapping_id(o, frame));
		pb_uint(&o->pb, LOCATION_ADDRESS, frame->address);
	}
	pb_end(&o->pb, mark);
}

/* All functions, each with the first file that one of its frames knows. */
static int put_functions(struct pprof *o)
{
	uint32_t nr = (uint32_t)profile_nr_functions(o->p);
	SCOPED(scoped_free) uint32_t *frames = malloc(((size_t)nr + 1) * sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		frames[i] = PROFILE_NONE;
	for (uint32_t i = 0; i < (uint32_t)profile_nr_frames(o->p); i++) {
		uint32_t *at = &frames[profile_function_of(o->p, i)];

		if (*at == PROFILE_NONE || !profile_frame_at(o->p, *at)->file)
			*at = i;
	}
	for (uint32_t i = 0; i < nr; i++) {
		const struct profile_frame *frame = profile_frame_at(o->p, frames[i]);
		struct pb_mark mark = pb_begin(&o->pb, PROFILE_FUNCTION);

		pb_uint(&o->pb, FUNCTION_ID, i + 1);
		pb_uint(&o->pb, FUNCTION_NAME, string_id(o, frame->symbol));
		pb_uint(&o->pb, FUNCTION_SYSTEM_NAME, string_id(o, frame->symbol));
		if (frame->file)
			pb_uint(&o->pb, FUNCTION_FILENAME, string_id(o, frame->file));
		pb_end(&o->pb, mark);
	}
	return 0;
}

static void put_mappings(struct pprof *o)
{
	for (uint32_t id = 1; id < intern_nr(o->mappings); id++) {
		struct pb_mark mark = pb_begin(&o->pb, PROFILE_MAPPING);

		pb_uint(&o->pb, MAPPING_ID, id);
		pb_uint(&o->pb, MAPPING_FILENAME,
		        string_id(o, intern_string(o->mappings, id, NULL)));
		/* They tell the reader that nothing remains to be resolved. */
		pb_bool(&o->pb, MAPPING_HAS_FUNCTIONS, true);
		pb_bool(&o->pb, MAPPING_HAS_FILENAMES, true);
		pb_bool(&o->pb, MAPPING_HAS_LINE_NUMBERS, true);
		pb_bool(&o->pb, MAPPING_HAS_INLINE_FRAMES, true);
		pb_end(&o->pb, mark);
	}
}

static void put_strings(struct pprof *o)
{
	for (uint32_t id = 0; id < intern_nr(o->strings); id++)
		pb_string(&o->pb, PROFILE_STRING_TABLE, intern_string(o->strings, id, NULL));
}

/* The frame of a program that is innermost; NULL = all are the kernel's. */
static const struct profile_frame *user_frame(const struct profile *p,
                                              const struct profile_stack *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!profile_frame_at(p, s->frames[i])->is_kernel)
			return profile_frame_at(p, s->frames[i]);
	return NULL;
}

/* The first mapping is taken for the program: that in which, or for which, most was done. */
static int put_program_first(struct pprof *o)
{
	SCOPED(scoped_intern) struct intern *modules = intern_new(INTERN_MAX_COUNT, STRINGS_CAP);
	size_t nr = profile_nr_stacks(o->p);
	SCOPED(scoped_free) uint64_t *sums = calloc(nr + 1, sizeof(*sums));
	const struct profile_frame *best = NULL;
	uint64_t most = 0;

	if (!modules || !sums)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct profile_frame *frame;
		struct profile_stack stack;
		uint64_t *sum;

		profile_stack_at(o->p, i, &stack);
		frame = user_frame(o->p, &stack);
		if (!frame)
			continue;
		sum = &sums[id_of(o, modules, frame->module, strlen(frame->module))];
		*sum += stack.value;
		if (*sum > most) {
			most = *sum;
			best = frame;
		}
	}
	if (best)
		mapping_id(o, best);
	return 0;
}

static int put_all(struct pprof *o)
{
	const struct profile_facts *f = profile_facts(o->p);
	int err = put_program_first(o);

	if (err)
		return err;
	put_types(o);
	for (size_t i = 0; i < profile_nr_stacks(o->p); i++)
		put_sample(o, i);
	for (uint32_t id = 1; id < intern_nr(o->locations); id++)
		put_location(o, id);
	err = put_functions(o);
	put_mappings(o);
	pb_int(&o->pb, PROFILE_TIME_NANOS, to_i64(f->start_real_ns));
	pb_int(&o->pb, PROFILE_DURATION_NANOS, to_i64(f->duration_ns));
	pb_uint(&o->pb, PROFILE_COMMENT, string_id(o, schedscope_generator));
	put_strings(o);
	if (!err)
		err = o->error ? o->error : o->pb.error;
	return err;
}

static int write_gzip(struct pb *pb, FILE *out)
{
	z_stream z = { .next_in = pb->buf, .avail_in = (uInt)pb->len };
	unsigned char chunk[CHUNK_BYTES];
	int step;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		z.next_out = chunk;
		z.avail_out = sizeof(chunk);
		step = deflate(&z, Z_FINISH);
		fwrite(chunk, 1, sizeof(chunk) - z.avail_out, out);
	} while (step == Z_OK && !ferror(out));
	deflateEnd(&z);
	return profile_written(out);
}

int profile_pprof(const struct profile *p, FILE *out)
{
	SCOPED(scoped_pprof) struct pprof o = { .p = p, .pb = { .cap = MAX_BYTES } };
	int err;

	o.strings = intern_new(INTERN_MAX_COUNT, STRINGS_CAP);
	o.mappings = intern_new(INTERN_MAX_COUNT, STRINGS_CAP);
	o.locations = intern_new(INTERN_MAX_COUNT, STRINGS_CAP);
	if (!o.strings || !o.mappings || !o.locations)
		return -ENOMEM;
	err = put_all(&o);
	return err ? err : write_gzip(&o.pb, out);
}
