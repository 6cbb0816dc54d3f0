#include "profile/profile_join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map.h"

struct join_key {
	uint32_t symbol;
	uint32_t module;
	uint32_t is_kernel;
	uint32_t file;
	uint32_t line;
};

struct profile_join {
	bool merges_unknown, is_by_line;
	bool is_by_name; /* one side has no modules */
	struct intern *texts;
	struct map *ids;
	uint32_t *functions[PROFILE_SIDES]; /* by frame */
};

bool profile_is_unnamed(const struct profile_frame *frame)
{
	return frame->symbol[0] == '0' && frame->symbol[1] == 'x';
}

const char *profile_frame_name(const struct profile_frame *frame,
                               char buf[static PROFILE_NAME_BYTES])
{
	if (!profile_is_unnamed(frame))
		return frame->symbol;
	snprintf(buf, PROFILE_NAME_BYTES, "[%s]", frame->module);
	return buf;
}

static int add_text(struct profile_join *j, const char *text, uint32_t *out)
{
	return intern_add(j->texts, text, strlen(text), out);
}

static int number_of(struct profile_join *j, const struct profile_frame *frame, uint32_t *out)
{
	char module[PROFILE_NAME_BYTES];
	struct join_key key = { 0 };
	const char *name = frame->symbol;
	int err;

	if (j->merges_unknown)
		name = profile_frame_name(frame, module);
	err = add_text(j, name, &key.symbol);

	if (!err && !j->is_by_name) {
		key.is_kernel = frame->is_kernel;
		err = add_text(j, frame->module, &key.module);
	}
	if (!err && j->is_by_line && frame->file) {
		key.line = frame->line;
		err = add_text(j, frame->file, &key.file);
	}
	if (err || map_find(j->ids, &key, out))
		return err;
	*out = map_nr(j->ids);
	return map_insert(j->ids, &key, *out);
}

static int add_side(struct profile_join *j, enum profile_side side, const struct profile *p)
{
	uint32_t nr = p ? (uint32_t)profile_nr_frames(p) : 0;

	j->functions[side] = calloc((size_t)nr + 1, sizeof(uint32_t));
	if (!j->functions[side])
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		int err = number_of(j, profile_frame_at(p, i), &j->functions[side][i]);

		if (err)
			return err;
	}
	return 0;
}

DEFINE_SCOPED(profile_join, profile_join_free)

int profile_join_new(const struct profile_join_cfg *cfg, struct profile_join **out)
{
	const struct profile *now = cfg->sides[PROFILE_NOW], *before = cfg->sides[PROFILE_BEFORE];
	SCOPED(scoped_profile_join) struct profile_join *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return -ENOMEM;
	j->merges_unknown = cfg->merges_unknown;
	j->is_by_name = before && profile_has_modules(now) != profile_has_modules(before);
	j->is_by_line = cfg->is_by_line && !j->is_by_name; /* folded text has no lines either */
	j->texts = intern_new(INTERN_MAX_COUNT, SIZE_MAX);
	if (!j->texts)
		return -ENOMEM;
	/* As many as both profiles may hold. */
	err = map_new(sizeof(struct join_key), MAP_MAX_CAP, &j->ids);
	if (!err)
		err = add_side(j, PROFILE_NOW, now);
	if (!err)
		err = add_side(j, PROFILE_BEFORE, before);
	if (!err)
		*out = TAKE_PTR(j);
	return err;
}

void profile_join_free(struct profile_join *j)
{
	if (!j)
		return;
	intern_free(j->texts);
	map_free(j->ids);
	for (int side = 0; side < PROFILE_SIDES; side++)
		free(j->functions[side]);
	free(j);
}

uint32_t profile_join_nr(const struct profile_join *j)
{
	return map_nr(j->ids);
}

uint32_t profile_join_function(const struct profile_join *j, enum profile_side side, uint32_t frame)
{
	return j->functions[side][frame];
}
