/* Options of a trace.dat file: the same in both versions but for buffers. */
#include <errno.h>
#include <stdlib.h>

#include "trace/tracedat/dat.h"

#define NUMBER_CHARS 32U
#define CPU_BYTES    20U /* of a CPU in an option BUFFER */

/* "0x12ab", "-5": what is not a number is 0. */
static int64_t read_number(struct bytes_in in)
{
	char text[NUMBER_CHARS] = { 0 };
	size_t len = (size_t)bytes_left(&in);

	memcpy(text, in.at, len < sizeof(text) ? len : sizeof(text) - 1);
	return strtoll(text, NULL, 0);
}

static const char *text_of(struct dat *dat, struct bytes_in in)
{
	return info_text(dat->r, in.at, strnlen((const char *)in.at, (size_t)bytes_left(&in)));
}

/* "Linux NODE RELEASE MACHINE" */
static void read_uname(struct dat *dat, struct bytes_in in)
{
	struct trace_info *info = &dat->r->info;
	const char **words[] = { &info->sysname, &info->machine_name, &info->release,
		                 &info->machine };
	const char *at = text_of(dat, in);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && *at; i++) {
		size_t len = strcspn(at, " ");

		*words[i] = info_text(dat->r, at, len);
		at += len + (at[len] == ' ');
	}
}

struct dat_buffer *dat_buffer_add(struct dat *dat, const char *name)
{
	struct dat_buffer *b;

	if (dat->nr_buffers == DAT_BUFFERS_MAX) {
		dat->r->tally.damage[DAMAGE_OVER_CAP]++;
		return NULL;
	}
	if (!grow_counted(dat->r, &dat->buffers, dat->nr_buffers, &dat->cap_buffers,
	                  sizeof(*dat->buffers))) {
		dat->err = -ENOMEM;
		return NULL;
	}
	b = &dat->buffers[dat->nr_buffers++];
	*b = (struct dat_buffer){ .name = info_text(dat->r, name, strlen(name)), .clock = "" };
	return b;
}

static int read_cpus(struct dat *dat, struct dat_buffer *b, struct bytes_in in)
{
	uint32_t nr;

	b->page_bytes = bytes_u32(&in);
	nr = bytes_u32(&in);
	if (in.is_bad || nr > bytes_left(&in) / CPU_BYTES)
		return -EBADMSG;
	b->cpus = ARENA_ARRAY(dat->r->mem, struct dat_cpu, nr + 1);
	if (!b->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		b->cpus[i].cpu = bytes_u32(&in);
		b->cpus[i].offset = bytes_u64(&in);
		b->cpus[i].size = bytes_u64(&in);
	}
	b->nr_cpus = nr;
	return 0;
}

static int read_buffer(struct dat *dat, struct bytes_in in, bool is_text)
{
	uint64_t offset = bytes_u64(&in);
	const char *name = bytes_text(&in),
		   *clock = dat->version > 6 && name ? bytes_text(&in) : "";
	struct dat_buffer *b;

	if (!name || !clock)
		return -EBADMSG;
	b = dat_buffer_add(dat, name);
	if (!b)
		return dat->err;
	b->offset = offset;
	b->is_text = is_text;
	b->clock = info_text(dat->r, clock, strlen(clock));
	return dat->version > 6 && !is_text ? read_cpus(dat, b, in) : 0;
}

static int read_tsc(struct dat *dat, struct bytes_in in)
{
	uint32_t mult = bytes_u32(&in), shift = bytes_u32(&in);

	if (in.is_bad || shift > 63)
		return -EBADMSG;
	dat->clock.mult = mult;
	dat->clock.shift = shift;
	return 0;
}

static int read_count(struct dat *dat, struct bytes_in in)
{
	uint32_t nr = bytes_u32(&in);

	if (in.is_bad || !nr || nr > READER_CPUS_MAX)
		return -EBADMSG;
	dat->r->info.nr_cpus_reported = nr;
	return 0;
}

static int read_section(struct dat *dat, uint32_t id, struct bytes_in in)
{
	dat->sections[id] = bytes_u64(&in);
	return in.is_bad ? -EBADMSG : 0;
}

int dat_option(struct dat *dat, uint32_t id, struct bytes_in body)
{
	struct bytes_in in = body;

	switch (id) {
	case DAT_OFFSET:
		dat->clock.offset_ns += (uint64_t)read_number(in);
		return 0;
	case DAT_TRACECLOCK:
		dat_clock_name(&dat->clock, (const char *)in.at, (size_t)bytes_left(&in));
		return 0;
	case DAT_UNAME:
		read_uname(dat, in);
		return 0;
	case DAT_VERSION:
		dat->r->info.producer_version = text_of(dat, in);
		return 0;
	case DAT_CPUCOUNT:
		return read_count(dat, in);
	case DAT_TIME_SHIFT:
		return dat_clock_shifts(&dat->clock, dat->r, in);
	case DAT_TSC2NSEC:
		return read_tsc(dat, in);
	case DAT_BUFFER:
	case DAT_BUFFER_TEXT:
		return read_buffer(dat, in, id == DAT_BUFFER_TEXT);
	case DAT_HEADER_INFO:
	case DAT_FTRACE_EVENTS:
	case DAT_EVENT_FORMATS:
	case DAT_KALLSYMS:
	case DAT_CMDLINES:
		return dat->version > 6 ? read_section(dat, id, in) : 0;
	default:
		return 0; /* of dates, hooks, guests, mapped files and the like we make no use */
	}
}
