#include "symbol/frame_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

#define FRAMES_MAX (2U * FRAME_CACHE_MAX)
#define NR_BITS    5 /* an index holds where the frames begin, and how many there are */

_Static_assert(SYMBOL_FRAMES_MAX < 1U << NR_BITS && FRAMES_MAX <= UINT32_MAX >> NR_BITS,
               "an index has both");

/* Compared byte by byte: no padding. */
struct frame_cache_key {
	uint64_t address;
	uint64_t file;
};

struct frame_cache {
	struct map *by_key;
	struct symbol_frame *frames;
	uint32_t nr, room;
};

struct frame_cache *frame_cache_new(void)
{
	struct frame_cache *c = calloc(1, sizeof(*c));

	if (c && map_new(sizeof(struct frame_cache_key), FRAME_CACHE_MAX, &c->by_key)) {
		free(c);
		return NULL;
	}
	return c;
}

void frame_cache_free(struct frame_cache *c)
{
	if (!c)
		return;
	map_free(c->by_key);
	free(c->frames);
	free(c);
}

uint32_t frame_cache_get(const struct frame_cache *c, uint32_t file, uint64_t address,
                         struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
	const struct frame_cache_key key = { .address = address, .file = file };
	uint32_t at = 0, nr;

	if (!map_find(c->by_key, &key, &at))
		return 0;
	nr = at & ((1U << NR_BITS) - 1);
	memcpy(out, &c->frames[at >> NR_BITS], nr * sizeof(*out));
	return nr;
}

static bool reserve(struct frame_cache *c, uint32_t nr)
{
	return !GROW(c->frames, c->room, c->nr + nr);
}

void frame_cache_put(struct frame_cache *c, uint32_t file, uint64_t address,
                     const struct symbol_frame *frames, uint32_t nr)
{
	const struct frame_cache_key key = { .address = address, .file = file };

	if (map_nr(c->by_key) >= FRAME_CACHE_MAX || c->nr + nr > FRAMES_MAX) {
		map_clear(c->by_key);
		c->nr = 0;
	}
	if (nr == 0 || nr > SYMBOL_FRAMES_MAX || !reserve(c, nr) ||
	    map_insert(c->by_key, &key, c->nr << NR_BITS | nr))
		return;
	memcpy(&c->frames[c->nr], frames, nr * sizeof(*frames));
	c->nr += nr;
}
