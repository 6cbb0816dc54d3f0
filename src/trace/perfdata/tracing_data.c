/*
 * What perf.data says about kernel events: files of tracefs as they were, of which the descriptions of events are
 * read, and the symbols of the kernel in files of old versions of perf (newer ones leave them empty).
 */
#include "trace/perfdata/perfdata.h"

#include <errno.h>

/* Behind its beginning, which says the byte order. */
static int read_files(struct perfdata *d, struct bytes_in *in)
{
	struct bytes_in page, text;
	int err = ftrace_headers_read(in, &page);

	if (!err)
		err = ftrace_formats_read(&d->formats, d->r, in); /* of ftrace itself */
	if (!err)
		err = ftrace_systems_read(&d->formats, d->r, in);
	if (err)
		return err;
	text = bytes_sub(in, bytes_u32(in));
	d->kallsyms.text = (const char *)text.at;
	d->kallsyms.len = (size_t)bytes_left(&text);
	return in->is_bad ? -EBADMSG : 0;
}

void pd_tracing_data(struct perfdata *d, struct bytes_in in)
{
	static const char magic[] = "\027\010\104tracing";
	const uint8_t *begin = bytes_take(&in, sizeof(magic) - 1), *order = NULL;
	int err = -EBADMSG;

	if (begin && memcmp(begin, magic, sizeof(magic) - 1) == 0 && bytes_text(&in)) /* version */
		order = bytes_take(&in, 2); /* byte order, size of a long */
	(void)bytes_u32(&in);               /* size of a page */
	if (order) {
		in.is_swapped = (order[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		d->formats.is_swapped = in.is_swapped;
		err = read_files(d, &in);
	}
	if (err == -EBADMSG)
		pd_damage(d, DAMAGE_SECTION_BAD);
	else
		pd_fail(d, err);
}
