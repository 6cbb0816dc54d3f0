#include "base/grow.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16U

int grow_size(void *array, size_t *room, size_t at, size_t size, bool is_zeroed)
{
	size_t wanted = *room ? *room : FIRST_ROOM;
	char *old, *more;

	if (at < *room)
		return 0;
	while (wanted <= at && wanted <= PTRDIFF_MAX / 2)
		wanted *= 2;
	if (wanted <= at || wanted > PTRDIFF_MAX / size)
		return -ENOMEM;
	memcpy(&old, array, sizeof(old));
	more = realloc(old, wanted * size);
	if (!more)
		return -ENOMEM;
	if (is_zeroed)
		memset(more + *room * size, 0, (wanted - *room) * size);
	memcpy(array, &more, sizeof(more));
	*room = wanted;
	return 0;
}

int grow_u32(void *array, uint32_t *room, size_t at, size_t size, bool is_zeroed)
{
	size_t wide = *room;
	int err = at > UINT32_MAX / 2 ? -ENOMEM : grow_size(array, &wide, at, size, is_zeroed);

	if (!err)
		*room = (uint32_t)wide;
	return err;
}
