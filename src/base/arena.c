#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK_BYTES ((size_t)4096)
#define LAST_CHUNK_BYTES  ((size_t)1 << 20)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size; /* of data */
	size_t used;
	_Alignas(max_align_t) unsigned char data[];
};

struct arena {
	size_t cap_bytes;
	size_t held_bytes; /* data of all chunks, used or not: this is what the cap bounds */
	struct arena_chunk *newest;
};

struct arena *arena_new(size_t cap_bytes)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (a)
		a->cap_bytes = cap_bytes;
	return a;
}

static void drop_chunks(struct arena *a, struct arena_chunk *c)
{
	while (c) {
		struct arena_chunk *older = c->older;

		a->held_bytes -= c->size;
		free(c);
		c = older;
	}
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	drop_chunks(a, a->newest);
	free(a);
}

void arena_reset(struct arena *a)
{
	if (!a->newest)
		return;
	/* Chunks grow, so the newest one is worth keeping. */
	drop_chunks(a, a->newest->older);
	a->newest->older = NULL;
	a->newest->used = 0;
}

static size_t chunk_size(const struct arena *a, size_t need)
{
	size_t left = a->cap_bytes - a->held_bytes;
	size_t size = a->newest ? a->newest->size : FIRST_CHUNK_BYTES / 2;

	size = size > LAST_CHUNK_BYTES / 2 ? LAST_CHUNK_BYTES : size * 2;
	if (size < need)
		size = need;
	return size > left ? left : size;
}

static struct arena_chunk *add_chunk(struct arena *a, size_t need)
{
	struct arena_chunk *c;
	size_t size;

	/* Left by a reset and too small: it must not count against the cap. */
	if (a->newest && a->newest->used == 0) {
		c = a->newest;
		a->newest = c->older;
		c->older = NULL;
		drop_chunks(a, c);
	}
	size = chunk_size(a, need);
	if (size < need || size > SIZE_MAX - sizeof(*c))
		return NULL;
	c = malloc(sizeof(*c) + size);
	if (!c)
		return NULL;
	c->older = a->newest;
	c->size = size;
	c->used = 0;
	a->newest = c;
	a->held_bytes += size;
	return c;
}

/* Memory for bytes in the chunk, or NULL if it has too little left. */
static void *take(struct arena_chunk *c, size_t bytes, size_t align)
{
	size_t pad = -((uintptr_t)c->data + c->used) & (align - 1);
	size_t left = c->size - c->used;
	void *p;

	if (pad > left || bytes > left - pad)
		return NULL;
	p = c->data + c->used + pad;
	c->used += pad + bytes;
	return memset(p, 0, bytes);
}

void *arena_alloc(struct arena *a, size_t count, size_t size, size_t align)
{
	size_t bytes, need;
	struct arena_chunk *c;
	void *p;

	assert(align && (align & (align - 1)) == 0);
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	if (bytes == 0)
		bytes = 1; /* NULL means failure, so that nothing also has an address */
	p = a->newest ? take(a->newest, bytes, align) : NULL;
	if (p)
		return p;
	/* Chunks start aligned for any plain type; only more than that needs room to shift. */
	if (__builtin_add_overflow(bytes, align > _Alignof(max_align_t) ? align : 0, &need))
		return NULL;
	c = add_chunk(a, need);
	return c ? take(c, bytes, align) : NULL;
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t size = strlen(s) + 1;
	char *copy = arena_alloc(a, size, 1, 1);

	return copy ? memcpy(copy, s, size) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0)
		return NULL;
	text = arena_alloc(a, (size_t)len + 1, 1, 1);
	if (!text)
		return NULL;
	va_start(args, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, args);
	va_end(args);
	return text;
}
