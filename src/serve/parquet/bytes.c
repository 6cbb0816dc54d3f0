#include "serve/parquet/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

uint8_t *bytes_reserve(struct bytes *b, size_t nr)
{
	size_t room = b->room ? b->room : FIRST_ROOM;
	uint8_t *at;

	if (b->error)
		return NULL;
	if (nr <= b->room - b->nr)
		return b->at + b->nr;
	while (room - b->nr < nr && room <= SIZE_MAX / 2)
		room *= 2;
	at = room - b->nr < nr ? NULL : realloc(b->at, room);
	if (!at) {
		b->error = -ENOMEM;
		return NULL;
	}
	b->at = at;
	b->room = room;
	return at + b->nr;
}

void bytes_add(struct bytes *b, const void *from, size_t nr)
{
	uint8_t *to = bytes_reserve(b, nr);

	if (!to || !nr)
		return;
	memcpy(to, from, nr);
	b->nr += nr;
}

void bytes_u8(struct bytes *b, uint8_t value)
{
	bytes_add(b, &value, 1);
}

static void add_little_endian(struct bytes *b, uint64_t value, size_t size)
{
	uint8_t *to = bytes_reserve(b, size);

	if (!to)
		return;
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> (8 * i));
	b->nr += size;
}

void bytes_u32(struct bytes *b, uint32_t value)
{
	add_little_endian(b, value, sizeof(value));
}

void bytes_u64(struct bytes *b, uint64_t value)
{
	add_little_endian(b, value, sizeof(value));
}

void bytes_varint(struct bytes *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_u8(b, (uint8_t)(value | 0x80));
	bytes_u8(b, (uint8_t)value);
}

void bytes_zigzag(struct bytes *b, int64_t value)
{
	bytes_varint(b, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

int bytes_error(const struct bytes *b)
{
	return b->error;
}

void bytes_clear(struct bytes *b)
{
	b->nr = 0;
	b->error = 0;
}

void bytes_done(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){ 0 };
}
