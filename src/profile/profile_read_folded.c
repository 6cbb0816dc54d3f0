#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/profile_read_priv.h"

#define COUNT_BYTES 24

/* The suffixes of kernel and inlined code, as other programs write them too; removed. */
static void take_mark(char *name, struct profile_frame *frame)
{
	size_t len = strlen(name);
	char mark;

	if (len < 5 || name[len - 4] != '_' || name[len - 3] != '[' || name[len - 1] != ']')
		return;
	mark = name[len - 2];
	if (mark != 'k' && mark != 'i' && mark != 'j')
		return;
	frame->is_kernel = mark == 'k';
	frame->is_inlined = mark == 'i';
	name[len - 4] = '\0';
}

/* Cuts the number off the end of a line. */
static bool take_count(char *line, uint64_t *out)
{
	char *at = strrchr(line, ' ');

	if (!at || at == line || strlen(at) > COUNT_BYTES || at[1] < '0' || at[1] > '9' ||
	    !text_to_u64(at + 1, out))
		return false;
	*at = '\0';
	return true;
}

/* Frames of the remainder of a line, outermost first in the text, innermost first in out. */
static int take_frames(struct profile_reader *r, char *rest, uint32_t *out, size_t *nr)
{
	char *name;

	*nr = 0;
	while ((name = strsep(&rest, ";"))) {
		struct profile_frame frame = { .symbol = name };
		int err;

		if (!*name)
			continue;
		if (*nr == PROFILE_MAX_DEPTH)
			return -E2BIG;
		take_mark(name, &frame);
		err = profile_add_frame(r->p, &frame, &out[(*nr)++]);
		if (err)
			return err;
	}
	for (size_t i = 0; i < *nr / 2; i++) {
		uint32_t other = out[i];

		out[i] = out[*nr - 1 - i];
		out[*nr - 1 - i] = other;
	}
	return 0;
}

static int take_line(struct profile_reader *r, char *line, uint32_t *frames)
{
	struct profile_task task = { .layer = PROFILE_NO_LAYER };
	struct profile_stack stack = { .frames = frames };
	int err;

	if (!take_count(line, &stack.count))
		return -EINVAL;
	stack.value = stack.count;
	task.comm = task.process = strsep(&line, ";");
	err = profile_add_task(r->p, &task, &stack.task);
	if (!err && line)
		err = take_frames(r, line, frames, &stack.nr);
	return err ? err : profile_add_stack(r->p, &stack);
}

int profile_read_folded(struct profile_reader *r, const char *text)
{
	SCOPED(scoped_free) uint32_t *frames = calloc(PROFILE_MAX_DEPTH, sizeof(*frames));
	SCOPED(scoped_free) char *copy = strdup(text);
	char *rest = copy, *line;
	unsigned long nr = 0;
	int err;

	if (!frames || !copy)
		return profile_read_failed(r, -ENOMEM);
	while ((line = strsep(&rest, "\n"))) {
		nr++;
		text_chomp(line);
		if (!*line)
			continue;
		err = take_line(r, line, frames);
		if (err == -EINVAL)
			return diag_set(r->d, err, PROFILE_READ_HINT,
			                "line %lu of '%s' is not a stack followed by a count", nr,
			                r->name);
		if (err)
			return profile_read_failed(r, err);
	}
	return 0;
}
