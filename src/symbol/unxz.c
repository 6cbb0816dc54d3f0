#include "symbol/unxz.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define DECODER_BYTES ((uint64_t)128 << 20)
#define FIRST_BYTES   ((size_t)64 << 10)

static int grow(uint8_t **buf, size_t *size, size_t cap)
{
	size_t bigger_size = *size ? *size * 2 : FIRST_BYTES;
	uint8_t *bigger;

	if (*size >= cap)
		return -EFBIG;
	if (bigger_size > cap)
		bigger_size = cap;
	bigger = realloc(*buf, bigger_size);
	if (!bigger)
		return -ENOMEM;
	*buf = bigger;
	*size = bigger_size;
	return 0;
}

static int decode(lzma_stream *s, size_t cap, uint8_t **buf, size_t *len)
{
	size_t size = 0;
	lzma_ret ret = LZMA_OK;
	int err;

	while (ret == LZMA_OK) {
		if (*len == size) {
			err = grow(buf, &size, cap);
			if (err)
				return err;
		}
		s->next_out = *buf + *len;
		s->avail_out = size - *len;
		ret = lzma_code(s, LZMA_FINISH);
		*len = size - s->avail_out;
	}
	return ret == LZMA_STREAM_END ? 0 : -EINVAL;
}

int unxz(const void *packed, size_t len, size_t cap, uint8_t **out, size_t *out_len)
{
	SCOPED(scoped_free) uint8_t *buf = NULL;
	lzma_stream s = LZMA_STREAM_INIT;
	size_t nr = 0;
	int err;

	if (lzma_stream_decoder(&s, DECODER_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	s.next_in = packed;
	s.avail_in = len;
	err = decode(&s, cap, &buf, &nr);
	lzma_end(&s);
	if (err)
		return err;
	*out = TAKE_PTR(buf);
	*out_len = nr;
	return 0;
}
