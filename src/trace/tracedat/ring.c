#include "trace/tracedat/ring.h"

#include <stdlib.h>
#include <string.h>

#include "trace/bytes_in.h"

#define LOST        (1U << 31) /* flags of commit */
#define LOST_STORED (1U << 30) /* how many stands behind the last event, as a long */
#define COMMIT_MASK ((1U << 27) - 1)
#define TIME_BYTES  8U
#define HEAD_BYTES  4U
#define DELTA_BITS  27U
#define DELTA_MASK  ((1U << DELTA_BITS) - 1)
#define TYPE_MASK   31U
/* Of an absolute time, the highest 5 bits are those of the time before. */
#define STAMP_BITS 59U
#define STAMP_HIGH (~0ULL << STAMP_BITS)
#define PAGE_BYTES 4096U

enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

/* "	field: local_t commit;	offset:8;	size:8;	signed:1;": a number of the line of a field. */
static bool find_number(const char *text, size_t len, const char *field, const char *word,
                        uint32_t *out)
{
	const char *at = memmem(text, len, field, strlen(field)), *end;
	char digits[8] = { 0 };

	if (!at)
		return false;
	end = memchr(at, '\n', (size_t)(text + len - at));
	end = end ? end : text + len;
	at = memmem(at, (size_t)(end - at), word, strlen(word));
	if (!at)
		return false;
	at += strlen(word);
	for (size_t i = 0; i < sizeof(digits) - 1 && at < end && *at >= '0' && *at <= '9'; i++)
		digits[i] = *at++;
	if (!digits[0])
		return false;
	*out = (uint32_t)strtoul(digits, NULL, 10);
	return true;
}

void ring_layout_read(struct ring_layout *l, const char *text, size_t len, uint32_t long_bytes)
{
	uint32_t at, size, data;

	l->commit_at = TIME_BYTES;
	l->commit_bytes = long_bytes == 4 ? 4 : 8;
	if (find_number(text, len, " commit;", "offset:", &at) &&
	    find_number(text, len, " commit;", "size:", &size) && (size == 4 || size == 8) &&
	    at >= TIME_BYTES && at < PAGE_BYTES / 2) {
		l->commit_at = at;
		l->commit_bytes = size;
	}
	l->data_at = l->commit_at + l->commit_bytes;
	if (find_number(text, len, " data;", "offset:", &data) && data >= l->data_at &&
	    data < PAGE_BYTES / 2)
		l->data_at = data;
}

static uint64_t long_at(const struct ring_layout *l, const uint8_t *at)
{
	return l->commit_bytes == 4 ? bytes_u32_at(at, l->is_swapped)
	                            : bytes_u64_at(at, l->is_swapped);
}

bool ring_page_open(struct ring_page *p, const struct ring_layout *l, const uint8_t *bytes,
                    size_t len)
{
	uint64_t commit;
	size_t used;

	if (len < l->data_at || l->data_at > l->page_bytes)
		return false;
	commit = long_at(l, bytes + l->commit_at);
	used = commit & COMMIT_MASK;
	if (used > l->page_bytes - l->data_at)
		return false;
	*p = (struct ring_page){ .layout = l,
		                 .at = bytes + l->data_at,
		                 .ts = bytes_u64_at(bytes, l->is_swapped),
		                 .is_lost = commit & LOST };
	p->is_cut = used > len - l->data_at;
	p->end = p->at + (p->is_cut ? len - l->data_at : used);
	if (p->is_lost && commit & LOST_STORED && len - l->data_at - used >= l->commit_bytes &&
	    !p->is_cut)
		p->nr_lost = long_at(l, p->end);
	return true;
}

/* Of a discarded event: where its time was 0 the kernel made it 1, as 0 ends a page. */
static uint64_t padding_time(uint32_t delta)
{
	return delta == 1 ? 0 : delta;
}

static uint64_t full_stamp(uint64_t stamp, uint64_t before)
{
	stamp |= before & STAMP_HIGH;
	if (before & STAMP_HIGH && stamp < before)
		stamp += 1ULL << STAMP_BITS;
	return stamp;
}

/* An event is longer than what is left. */
static bool stop(struct ring_page *p)
{
	p->is_bad = !p->is_cut;
	p->at = p->end;
	return false;
}

bool ring_page_next(struct ring_page *p, struct ring_event *out)
{
	const bool is_swapped = p->layout->is_swapped, is_big = p->layout->is_big_endian;
	uint32_t head, type, delta, len, word;

	while (p->end - p->at >= (ptrdiff_t)HEAD_BYTES) {
		head = bytes_u32_at(p->at, is_swapped);
		type = is_big ? head >> DELTA_BITS : head & TYPE_MASK;
		delta = is_big ? head & DELTA_MASK : head >> 5;
		p->at += HEAD_BYTES;
		if (type > TYPE_LONG && type < TYPE_PADDING) {
			len = type * 4;
			if (len > p->end - p->at)
				return stop(p);
			p->ts += delta;
			*out = (struct ring_event){ p->ts, p->at, len };
			p->at += len;
			return true;
		}
		if (type == TYPE_PADDING && !delta) {
			p->at = p->end; /* the rest of the page is empty */
			return false;
		}
		if (p->end - p->at < (ptrdiff_t)sizeof(word))
			return stop(p);
		word = bytes_u32_at(p->at, is_swapped);
		if (type == TYPE_TIME_EXTEND) {
			p->ts += ((uint64_t)word << DELTA_BITS) + delta;
			p->at += sizeof(word);
		} else if (type == TYPE_TIME_STAMP) {
			p->ts = full_stamp(((uint64_t)word << DELTA_BITS) + delta, p->ts);
			p->at += sizeof(word);
		} else if (word < sizeof(word) || word > p->end - p->at) {
			return stop(p); /* its length includes itself */
		} else if (type == TYPE_PADDING) {
			p->ts += padding_time(delta);
			p->at += word;
		} else {
			p->ts += delta;
			*out = (struct ring_event){ p->ts, p->at + sizeof(word),
				                    word - (uint32_t)sizeof(word) };
			p->at += word;
			return true;
		}
	}
	return p->at == p->end ? false : stop(p);
}

/* Events that follow each other to the end of what is used. */
static bool is_page(const struct ring_layout *l, const uint8_t *bytes)
{
	struct ring_event event;
	struct ring_page p;
	size_t nr = 0;

	if (!ring_page_open(&p, l, bytes, PAGE_BYTES) || !p.ts)
		return false;
	while (ring_page_next(&p, &event))
		nr++;
	return nr && !p.is_bad;
}

bool ring_is_raw(const uint8_t *bytes, size_t len)
{
	const bool is_host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (len < PAGE_BYTES)
		return false;
	for (uint32_t i = 0; i < 4; i++) {
		struct ring_layout l = { .page_bytes = PAGE_BYTES,
			                 .is_big_endian = i & 1,
			                 .is_swapped = (i & 1) != is_host_big };

		ring_layout_read(&l, "", 0, i & 2 ? 4 : 8);
		if (is_page(&l, bytes))
			return true;
	}
	return false;
}
