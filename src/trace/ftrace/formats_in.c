/* Descriptions of events as perf and trace-cmd copy them into their files: those of tracefs, one after the other. */
#include <errno.h>

#include "trace/ftrace/format.h"

/* A word, then a text of so many bytes. */
static bool read_named(struct bytes_in *in, const char *word, struct bytes_in *out)
{
	const char *name = bytes_text(in);

	if (!name || strcmp(name, word) != 0)
		return false;
	*out = bytes_sub(in, bytes_u64(in));
	return !in->is_bad;
}

int ftrace_headers_read(struct bytes_in *in, struct bytes_in *page)
{
	struct bytes_in event;

	return read_named(in, "header_page", page) && read_named(in, "header_event", &event)
	               ? 0
	               : -EBADMSG;
}

/* One description; a damaged one is counted, and the file goes on behind it. */
static int read_format(struct ftrace_formats *f, struct reader *r, struct bytes_in *in)
{
	struct bytes_in text = bytes_sub(in, bytes_u64(in));
	int err;

	if (in->is_bad)
		return -EBADMSG;
	err = ftrace_formats_add(f, r, (const char *)text.at, (size_t)bytes_left(&text));
	if (err != -EBADMSG)
		return err;
	r->tally.damage[DAMAGE_FORMAT_BAD]++;
	return 0;
}

int ftrace_formats_read(struct ftrace_formats *f, struct reader *r, struct bytes_in *in)
{
	uint32_t nr = bytes_u32(in);
	int err = in->is_bad ? -EBADMSG : 0;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = read_format(f, r, in);
	return err;
}

int ftrace_systems_read(struct ftrace_formats *f, struct reader *r, struct bytes_in *in)
{
	uint32_t nr_systems = bytes_u32(in);
	int err = in->is_bad ? -EBADMSG : 0;

	for (uint32_t i = 0; i < nr_systems && !err; i++)
		err = bytes_text(in) ? ftrace_formats_read(f, r, in) : -EBADMSG;
	return err;
}
