#include "report/pack.h"

#include <errno.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

#define MAX_VARINT 10
#define LEVEL      1     /* half of the time of 4, four percent larger; zlib takes twice as long */
#define LINE_BYTES 3072U /* encoded at a time; a multiple of 3 */

void pack_column(struct pack *p, const char *name, bool is_delta)
{
	p->columns[p->nr_columns++] = (struct pack_column){ .name = name, .is_delta = is_delta };
}

static uint64_t zigzag(uint64_t value, uint64_t before)
{
	uint64_t d = value - before;

	return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static void pack_value(struct pack *p, uint32_t column, uint64_t value)
{
	struct pack_column *c = &p->columns[column];
	uint64_t left = c->is_delta ? zigzag(value, c->last) : value;

	c->last = value;
	if (GROW(c->bytes, c->room, c->len + MAX_VARINT)) {
		p->has_failed = true;
		return;
	}
	for (; left >= 0x80; left >>= 7)
		c->bytes[c->len++] = (uint8_t)(left | 0x80);
	c->bytes[c->len++] = (uint8_t)left;
}

void pack_row(struct pack *p, const uint64_t *values)
{
	for (uint32_t i = 0; i < p->nr_columns; i++)
		pack_value(p, i, values[i]);
	p->nr_rows++;
}

static void drop_columns(struct pack *p)
{
	for (uint32_t i = 0; i < p->nr_columns; i++) {
		free(p->columns[i].bytes);
		p->columns[i].bytes = NULL;
		p->columns[i].len = 0;
		p->columns[i].room = 0;
	}
}

/* All columns, one behind the other. */
static uint8_t *join_columns(const struct pack *p)
{
	uint8_t *raw = malloc(p->nr_raw + 1);
	size_t len = 0;

	for (uint32_t i = 0; raw && i < p->nr_columns; i++) {
		if (p->columns[i].len)
			memcpy(raw + len, p->columns[i].bytes, p->columns[i].len);
		len += p->columns[i].len;
	}
	return raw;
}

static int compress_columns(struct pack *p, struct libdeflate_compressor *c)
{
	SCOPED(scoped_free) uint8_t *raw = join_columns(p);
	size_t room = libdeflate_zlib_compress_bound(c, p->nr_raw);

	p->deflated = malloc(room);
	if (!raw || !p->deflated)
		return -ENOMEM;
	p->nr_deflated = libdeflate_zlib_compress(c, raw, p->nr_raw, p->deflated, room);
	return p->nr_deflated ? 0 : -ENOMEM;
}

int pack_close(struct pack *p)
{
	struct libdeflate_compressor *c;
	int err;

	for (uint32_t i = 0; i < p->nr_columns; i++)
		p->nr_raw += p->columns[i].len;
	if (p->has_failed || p->nr_raw > UINT32_MAX / 2)
		return -ENOMEM;
	if (!p->nr_rows)
		return 0;
	c = libdeflate_alloc_compressor(LEVEL);
	err = c ? compress_columns(p, c) : -ENOMEM;
	libdeflate_free_compressor(c);
	drop_columns(p);
	return err;
}

static size_t encode(const uint8_t *from, size_t nr, char *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = 0;

	for (size_t i = 0; i < nr; i += 3) {
		uint32_t left = (uint32_t)(nr - i);
		uint32_t bits = (uint32_t)from[i] << 16 |
		                (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
		                (left > 2 ? from[i + 2] : 0);

		to[len++] = digits[bits >> 18];
		to[len++] = digits[bits >> 12 & 63];
		to[len++] = left > 1 ? digits[bits >> 6 & 63] : '=';
		to[len++] = left > 2 ? digits[bits & 63] : '=';
	}
	return len;
}

static void write_data(const struct pack *p, FILE *out)
{
	char text[LINE_BYTES / 3 * 4];

	for (size_t at = 0; at < p->nr_deflated; at += LINE_BYTES) {
		size_t left = p->nr_deflated - at;
		size_t len = encode(p->deflated + at, left < LINE_BYTES ? left : LINE_BYTES, text);

		(void)fwrite(text, 1, len, out);
	}
}

int pack_write(const struct pack *p, FILE *out)
{
	if (!p->nr_rows)
		return 0;
	fprintf(out,
	        "<script type=\"application/json\" id=\"table-%s\">{\"table\":\"%s\",\"rows\":%" PRIu64
	        ",\"columns\":[",
	        p->table, p->table, p->nr_rows);
	for (uint32_t i = 0; i < p->nr_columns; i++)
		fprintf(out, "%s{\"name\":\"%s\",\"encoding\":\"%s\"}", i ? "," : "",
		        p->columns[i].name, p->columns[i].is_delta ? "delta" : "plain");
	fprintf(out, "],\"bytes\":%zu,\"data\":\"", p->nr_raw);
	write_data(p, out);
	fputs("\"}</script>\n", out);
	return ferror(out) ? -EIO : 0;
}

void pack_done(struct pack *p)
{
	drop_columns(p);
	free(p->deflated);
	*p = (struct pack){ 0 };
}
