/* What a trace.dat file describes: pages, events, names of tasks. */
#include <errno.h>

#include "base/budget.h"
#include "trace/tracedat/dat.h"

int dat_header_info(struct dat *dat, struct bytes_in *in)
{
	struct bytes_in page;

	if (ftrace_headers_read(in, &page) < 0)
		return -EBADMSG;
	ring_layout_read(&dat->layout, (const char *)page.at, (size_t)bytes_left(&page),
	                 dat->long_bytes);
	return 0;
}

/* "1234 name", where the name may have spaces. */
static int read_cmdline(struct dat *dat, const char *at, const char *end)
{
	struct name_thread t = { 0 };
	uint64_t tid = 0;

	while (at < end && *at == ' ')
		at++;
	for (; at < end && *at >= '0' && *at <= '9' && tid <= INT32_MAX; at++)
		tid = tid * 10 + (uint64_t)(*at - '0');
	if (!tid || tid > INT32_MAX || end - at < 2 || *at != ' ')
		return 0;
	if (!budget_take(dat->r->cfg.budget, sizeof(t)))
		return -E2BIG;
	t.tid = (uint32_t)tid;
	return names_thread(&dat->r->names, &t, at + 1, (size_t)(end - at - 1));
}

int dat_cmdlines(struct dat *dat, struct bytes_in *in)
{
	struct bytes_in text = bytes_sub(in, bytes_u64(in));
	const char *at = (const char *)text.at, *end = (const char *)text.end, *line;
	int err = in->is_bad ? -EBADMSG : 0;

	while (at < end && !err) {
		line = at;
		at = memchr(line, '\n', (size_t)(end - line));
		at = at ? at : end;
		err = read_cmdline(dat, line, at);
		at += at < end;
	}
	return err;
}
