#include <errno.h>
#include <limits.h>

#include "serve/parquet/parquet_priv.h"
#include "serve/parquet/thrift.h"

enum { PAGE_TYPE = 1, PAGE_RAW_BYTES = 2, PAGE_BYTES = 3, PAGE_DATA = 5, PAGE_DICTIONARY = 7 };
enum { HEADER_VALUES = 1, HEADER_ENCODING = 2, HEADER_DEF_LEVELS = 3, HEADER_REP_LEVELS = 4 };

static void put_header(const struct pq_page *page, size_t raw, size_t packed, struct bytes *out)
{
	struct thrift t = { .out = out };

	thrift_begin(&t, 0);
	thrift_i32(&t, PAGE_TYPE, page->type);
	thrift_i32(&t, PAGE_RAW_BYTES, (int32_t)raw);
	thrift_i32(&t, PAGE_BYTES, (int32_t)packed);
	thrift_begin(&t, page->type == PQ_DATA_PAGE ? PAGE_DATA : PAGE_DICTIONARY);
	thrift_i32(&t, HEADER_VALUES, (int32_t)page->nr_values);
	thrift_i32(&t, HEADER_ENCODING, (int32_t)page->encoding);
	if (page->type == PQ_DATA_PAGE) {
		thrift_i32(&t, HEADER_DEF_LEVELS, PQ_RLE);
		thrift_i32(&t, HEADER_REP_LEVELS, PQ_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
}

int pq_page_put(struct parquet *p, const struct pq_page *page, const struct bytes *raw,
                struct bytes *out, uint64_t *raw_bytes)
{
	size_t bound = ZSTD_compressBound(raw->nr), before = out->nr, packed;
	uint8_t *to;

	if (raw->error)
		return raw->error;
	if (bound > INT_MAX)
		return -E2BIG;
	bytes_clear(&p->packed);
	to = bytes_reserve(&p->packed, bound);
	if (!to)
		return -ENOMEM;
	packed = ZSTD_compress2(p->zstd, to, bound, raw->at, raw->nr);
	if (ZSTD_isError(packed))
		return -ENOMEM; /* there is room for the result: only memory of its own can be missing */
	put_header(page, raw->nr, packed, out);
	*raw_bytes += out->nr - before + raw->nr;
	bytes_add(out, to, packed);
	return bytes_error(out);
}
