/* Reads a file of trace-cmd: its beginning, then what its version has. */
#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "trace/formats.h"
#include "trace/tracedat/dat.h"

#define MAGIC         "\027\010\104tracing"
#define MAGIC_BYTES   10U
#define UNPACKED_MAX  256U          /* times the file */
#define UNPACKED_FREE (64ULL << 20) /* however small it is */

bool tracedat_is_format(const uint8_t *bytes, size_t len)
{
	return len >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

uint64_t dat_unpacked_max(uint64_t len)
{
	uint64_t max = len > UINT64_MAX / UNPACKED_MAX ? UINT64_MAX : len * UNPACKED_MAX;

	return max > UNPACKED_FREE ? max : UNPACKED_FREE;
}

struct bytes_in dat_at(struct dat *dat, uint64_t offset)
{
	struct bytes_in in = dat->all;

	(void)bytes_take(&in, offset);
	return in;
}

/* Byte order, sizes, version: the same in all versions. */
static int read_start(struct dat *dat, struct bytes_in *in, struct diag *d)
{
	const bool is_host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const char *version;
	const uint8_t *sizes;

	(void)bytes_take(in, MAGIC_BYTES);
	version = bytes_text(in);
	sizes = version ? bytes_take(in, 2) : NULL;
	if (!sizes)
		return diag_set(d, -EBADMSG, "was the recording interrupted?",
		                "'%s' ends within its header", dat->in->name);
	dat->layout.is_big_endian = sizes[0] != 0;
	dat->layout.is_swapped = dat->layout.is_big_endian != is_host_big;
	dat->all.is_swapped = in->is_swapped = dat->layout.is_swapped;
	dat->formats.is_swapped = dat->layout.is_swapped;
	dat->long_bytes = sizes[1];
	dat->page_bytes = bytes_u32(in);
	if (strcmp(version, "6") == 0)
		dat->version = 6;
	else if (strcmp(version, "7") == 0)
		dat->version = 7;
	else
		return diag_set(d, -EINVAL, "make one that can be read: trace-cmd convert",
		                "'%s' is version %.8s of trace-cmd's format; 6 and 7 can be read",
		                dat->in->name, version);
	return 0;
}

/* The clock of the first buffer is that of the file; those of another one cannot be compared with it. */
static void choose_clock(struct dat *dat)
{
	struct dat_buffer *first = NULL;

	for (size_t i = 0; i < dat->nr_buffers; i++)
		if (!dat->buffers[i].is_text &&
		    (!first || (*first->name && !*dat->buffers[i].name)))
			first = &dat->buffers[i];
	if (first && *first->clock)
		dat_clock_name(&dat->clock, first->clock, strlen(first->clock));
	for (size_t i = 0; i < dat->nr_buffers; i++) {
		struct dat_buffer *b = &dat->buffers[i];

		if (first && *first->clock && *b->clock && strcmp(first->clock, b->clock) != 0) {
			b->is_left_out = true;
			dat->r->tally.damage[DAMAGE_BUFFER_CLOCK]++;
		}
	}
}

/* A file whose times are none says nothing of when things happened. */
static int check_clock(const struct dat *dat, struct diag *d)
{
	const struct dat_clock *c = &dat->clock;

	if (c->mult || c->kind == DAT_CLOCK_NS)
		return 0;
	if (c->kind == DAT_CLOCK_COUNTER)
		return diag_set(
			d, -EINVAL, "record with another clock: trace-cmd record -C mono",
			"the clock of '%s' is 'counter', which numbers events and is not a time",
			dat->in->name);
	if (c->kind == DAT_CLOCK_TICKS)
		return diag_set(
			d, -EINVAL, "record with another clock: trace-cmd record -C mono",
			"the clock of '%s' is 'uptime', whose ticks of 10 ms are too long for scheduling",
			dat->in->name);
	return diag_set(d, -EINVAL, "record with another clock: trace-cmd record -C mono",
	                "times of '%s' are cycles ('%s'), and it does not say how long one is",
	                dat->in->name, c->name);
}

/* The text of a file that has no events; NULL if it has some. */
static const struct dat_buffer *only_text(const struct dat *dat)
{
	const struct dat_buffer *text = NULL;

	for (size_t i = 0; i < dat->nr_buffers; i++) {
		if (!dat->buffers[i].is_text)
			return NULL;
		text = text ? text : &dat->buffers[i];
	}
	return text;
}

static int read_all(struct dat *dat, struct bytes_in in, const struct ev_sink *sink, struct diag *d)
{
	struct trace_info *info = &dat->r->info;
	const struct dat_buffer *text;
	int err = read_start(dat, &in, d);
	uint32_t number;

	if (!err)
		err = dat->version == 6 ? dat_read_v6(dat, in, d) : dat_read_v7(dat, in, d);
	if (err)
		return err;
	info->producer_name = "trace-cmd";
	dat->r->fix.state_dialect = ftrace_state_dialect(info);
	text = only_text(dat);
	if (text)
		return dat_read_text(dat, text, sink, d);
	choose_clock(dat);
	err = check_clock(dat, d);
	if (err)
		return err;
	number = dat_clock_number(&dat->clock);
	if (number)
		dat->r->clocks.trace = clocks_get(&dat->r->clocks, number, 0);
	return dat_read_buffers(dat, sink);
}

int tracedat_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
                  struct diag *d)
{
	struct dat *dat = calloc(1, sizeof(*dat));
	int err;

	if (!dat)
		return -ENOMEM;
	dat->r = r;
	dat->in = in;
	dat->all = (struct bytes_in){ .at = in->bytes,
		                      .end = (const uint8_t *)in->bytes + in->len };
	dat->left_bytes = in->len;
	dat->left_unpacked = dat_unpacked_max(in->len);
	err = read_all(dat, dat->all, sink, d);
	ftrace_cpus_done(&dat->cpus);
	functions_done(&dat->symbols);
	dat_inflated_done(dat, &dat->kept);
	dat_inflated_done(dat, &dat->chunk);
	dat_unpack_done(dat);
	ftrace_formats_done(&dat->formats);
	free(dat->buffers);
	free(dat->owners);
	free(dat);
	return err;
}
