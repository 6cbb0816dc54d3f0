/*
 * base/intern — strings to dense 32-bit ids and back.
 *
 * Ids count up from 0, which is the empty string; equal strings have equal ids. Strings are copied and
 * stay where they are until intern_free(), or until one is removed. Strings may hold any bytes, also NUL. The caps
 * bound what hostile input can make us allocate. A call that fails changes nothing. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"

#define INTERN_EMPTY     0U
#define INTERN_MAX_COUNT (1U << 30)

struct intern;

/* At most cap_count strings besides the empty one, of cap_bytes altogether. NULL without memory. */
struct intern *intern_new(uint32_t cap_count, size_t cap_bytes);
void intern_free(struct intern *in); /* NULL is fine */
DEFINE_SCOPED(intern, intern_free)
/*
 * The strings as they are now, for another thread to read; they are shared, only what finds them is copied. A copy takes no
 * new strings: -E2BIG. NULL without memory.
 */
struct intern *intern_copy(const struct intern *in);

/* The id of the string, new or not. -E2BIG when a new one exceeds a cap, or -ENOMEM. */
MUST_USE int intern_add(struct intern *in, const char *s, size_t len, uint32_t *out);
/* The id may be given to another string, and others may move. Copies keep theirs. */
void intern_remove(struct intern *in, uint32_t id);
bool intern_find(const struct intern *in, const char *s, size_t len, uint32_t *out);
/* Terminated by NUL; NULL for an id that was never given, or was removed. len may be NULL. */
const char *intern_string(const struct intern *in, uint32_t id, size_t *len);
uint32_t intern_nr(const struct intern *in); /* ids given, the empty string included */
