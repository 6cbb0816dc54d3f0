/*
 * base/arena — many objects, one lifetime.
 *
 * The cap bounds what hostile input can make us allocate. One thread at a time.
 */
#pragma once

#include <stddef.h>

#include "base/cleanup.h"

struct arena;

struct arena *arena_new(size_t cap_bytes);
void arena_free(struct arena *a);  /* NULL is fine */
void arena_reset(struct arena *a); /* forgets all objects, keeps memory for the next ones */
DEFINE_SCOPED(arena, arena_free)

/* Zeroed memory, or NULL once the cap is reached or count * size overflows. */
void *arena_alloc(struct arena *a, size_t count, size_t size, size_t align);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc((a), (n), sizeof(type), _Alignof(type)))
