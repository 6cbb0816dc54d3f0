/*
 * fuzz/fuzz_json_write — a program of calls: each byte says what is written next, the bytes after it are its
 * key and value. The calls are in order, the contents are anything: another reader must take the document.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "fuzz.h"

#define TEXT_MAX 255

enum { OBJECT, ARRAY, END, STRING, BYTES, U64, I64, DOUBLE, BOOL, NIL, STEPS };

/* Each opened level: whether it is an object. The last one is never used: it is too deep. */
struct levels {
	bool is_object[JSON_MAX_DEPTH + 1];
	int depth;
};

/* A text of the length that the next byte says; shorter where the input or, for a key, a NUL ends it. */
static size_t take_text(struct fuzz_input *in, char text[TEXT_MAX + 1])
{
	size_t len = fuzz_take(in, 1);

	if (len > in->left)
		len = in->left;
	memcpy(text, in->at, len);
	text[len] = '\0';
	in->at += len;
	in->left -= len;
	return len;
}

static double take_double(struct fuzz_input *in)
{
	uint64_t bits = fuzz_take(in, 8);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void begin(struct json_writer *w, struct levels *l, const char *key, bool is_object)
{
	if (is_object)
		jw_begin_object(w, key);
	else
		jw_begin_array(w, key);
	if (l->depth < JSON_MAX_DEPTH)
		l->is_object[++l->depth] = is_object;
}

static void end(struct json_writer *w, struct levels *l)
{
	if (l->is_object[l->depth--])
		jw_end_object(w);
	else
		jw_end_array(w);
}

static void write_scalar(struct json_writer *w, const char *key, int what, struct fuzz_input *in)
{
	char text[TEXT_MAX + 1];
	size_t len;

	switch (what) {
	case STRING:
		take_text(in, text);
		jw_string(w, key, text);
		break;
	case BYTES:
		len = take_text(in, text);
		jw_bytes(w, key, text, len);
		break;
	case U64:
		jw_u64(w, key, fuzz_take(in, 8));
		break;
	case I64:
		jw_i64(w, key, (int64_t)fuzz_take(in, 8));
		break;
	case DOUBLE:
		jw_double(w, key, take_double(in), (int8_t)fuzz_take(in, 1));
		break;
	case BOOL:
		jw_bool(w, key, fuzz_take(in, 1) & 1);
		break;
	default:
		jw_null(w, key);
		break;
	}
}

/* The document is an object, so that it can hold any number of steps. */
static int write_document(struct fuzz_input in, FILE *out)
{
	char buf[TEXT_MAX + 1];
	struct levels l = { .depth = 0 };
	struct json_writer w;

	jw_init(&w, out, fuzz_take(&in, 1) & 1);
	begin(&w, &l, NULL, true);
	while (in.left) {
		int what = (int)(fuzz_take(&in, 1) % STEPS);
		const char *key = l.is_object[l.depth] && what != END ? buf : NULL;

		if (key)
			take_text(&in, buf);
		if (what == OBJECT || what == ARRAY)
			begin(&w, &l, key, what == OBJECT);
		else if (what != END)
			write_scalar(&w, key, what, &in);
		else if (l.depth > 1)
			end(&w, &l);
	}
	while (l.depth)
		end(&w, &l);
	return jw_finish(&w);
}

static void check_document(const char *text, size_t len)
{
	/* Integers beyond 63 bits are no failure of the document. */
	json_t *root = json_loadb(text, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);

	fuzz_check(root);
	json_decref(root);
	/* What a terminal would obey never comes out. */
	for (size_t i = 0; i < len; i++)
		fuzz_check((unsigned char)text[i] >= 0x20 || text[i] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err;

	fuzz_check(out);
	err = write_document((struct fuzz_input){ data, size }, out);
	fclose(out);
	if (err)
		fuzz_check(err == -EINVAL); /* too deep */
	else
		check_document(text, len);
	free(text);
	return 0;
}
