/*
 * symbol/frame_cache — the frames that were found at an address of a file, so that they are looked up once.
 *
 * By file (or kernel) and address in it, never by an address alone: processes share addresses, not
 * names. When it is full it is emptied. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "symbol/symbolizer.h"

#define FRAME_CACHE_KERNEL UINT32_MAX
#define FRAME_CACHE_MAX    (1U << 20) /* addresses; and as many frames again */

struct frame_cache;

struct frame_cache *frame_cache_new(void);    /* NULL without memory */
void frame_cache_free(struct frame_cache *c); /* NULL is fine */

/* How many; 0 = not there. */
uint32_t frame_cache_get(const struct frame_cache *c, uint32_t file, uint64_t address,
                         struct symbol_frame out[SYMBOL_FRAMES_MAX]);
/* Without memory it is simply not kept. */
void frame_cache_put(struct frame_cache *c, uint32_t file, uint64_t address,
                     const struct symbol_frame *frames, uint32_t nr);
