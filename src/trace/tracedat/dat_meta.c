/* What a trace.dat file describes: pages, events, names of tasks. */
#include <errno.h>

#include "base/budget.h"
#include "trace/tracedat/dat.h"

/* A word, then a text of so many bytes. */
static bool read_named(struct dat_in *in, const char *word, struct dat_in *out)
{
	const char *name = dat_text(in);

	if (!name || strcmp(name, word) != 0)
		return false;
	*out = dat_sub(in, dat_u64(in));
	return !in->is_bad;
}

int dat_header_info(struct dat *dat, struct dat_in *in)
{
	struct dat_in page, event;

	if (!read_named(in, "header_page", &page) || !read_named(in, "header_event", &event))
		return -EBADMSG;
	ring_layout_read(&dat->layout, (const char *)page.at, (size_t)dat_left(&page),
	                 dat->long_bytes);
	return 0;
}

/* One description; a damaged one is counted, and the file goes on behind it. */
static int read_format(struct dat *dat, struct dat_in *in)
{
	struct dat_in text = dat_sub(in, dat_u64(in));
	int err;

	if (in->is_bad)
		return -EBADMSG;
	err = ftrace_formats_add(&dat->formats, dat->r, (const char *)text.at,
	                         (size_t)dat_left(&text));
	if (err != -EBADMSG)
		return err;
	dat->r->tally.damage[DAMAGE_FORMAT_BAD]++;
	return 0;
}

int dat_ftrace_events(struct dat *dat, struct dat_in *in)
{
	uint32_t nr = dat_u32(in);
	int err = in->is_bad ? -EBADMSG : 0;

	for (uint32_t i = 0; i < nr && !err; i++)
		err = read_format(dat, in);
	return err;
}

int dat_event_formats(struct dat *dat, struct dat_in *in)
{
	uint32_t nr_systems = dat_u32(in);
	int err = in->is_bad ? -EBADMSG : 0;

	for (uint32_t i = 0; i < nr_systems && !err; i++) {
		if (!dat_text(in))
			return -EBADMSG;
		err = dat_ftrace_events(dat, in);
	}
	return err;
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

int dat_cmdlines(struct dat *dat, struct dat_in *in)
{
	struct dat_in text = dat_sub(in, dat_u64(in));
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
