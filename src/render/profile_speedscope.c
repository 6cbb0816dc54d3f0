#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "profile/profile_tree.h"
#include "render/profile_export.h"
#include "render/profile_words.h"

struct speedscope_sheet {
	const struct profile_tree *t;
	struct json_writer *w;
	uint32_t *frames; /* by node: its number among the frames */
	uint32_t *path;
};

static void scoped_sheet(struct speedscope_sheet *s)
{
	free(s->frames);
	free(s->path);
}

static void put_frame(struct json_writer *w, const struct profile_node *n)
{
	jw_begin_object(w, NULL);
	jw_string(w, "name", n->name);
	if (n->frame) {
		jw_string(w, "file", n->frame->file ? n->frame->file : n->frame->module);
		if (n->frame->line)
			jw_u64(w, "line", n->frame->line);
	}
	jw_end_object(w);
}

/* A frame per function, and one per process: what the viewer adds up. */
static int put_frames(struct speedscope_sheet *s)
{
	uint32_t nr_functions = profile_tree_nr_functions(s->t), nr = 0;
	SCOPED(scoped_free) uint32_t *known = calloc((size_t)nr_functions + 1, sizeof(*known));

	if (!known)
		return -ENOMEM;
	jw_begin_array(s->w, "frames");
	for (uint32_t i = 1; i < profile_tree_nr(s->t); i++) {
		const struct profile_node *n = profile_tree_at(s->t, i);

		if (n->function != PROFILE_NONE && known[n->function]) {
			s->frames[i] = known[n->function] - 1;
			continue;
		}
		put_frame(s->w, n);
		s->frames[i] = nr++;
		if (n->function != PROFILE_NONE)
			known[n->function] = nr;
	}
	jw_end_array(s->w);
	return 0;
}

static void put_samples(const struct speedscope_sheet *s)
{
	jw_begin_array(s->w, "samples");
	for (uint32_t i = 1; i < profile_tree_nr(s->t); i++) {
		uint32_t nr = 0;

		if (!profile_tree_at(s->t, i)->w[PROFILE_NOW].self_count)
			continue;
		for (uint32_t at = i; at != PROFILE_TREE_ROOT;
		     at = profile_tree_at(s->t, at)->parent)
			s->path[nr++] = s->frames[at];
		jw_begin_array(s->w, NULL);
		while (nr-- > 0)
			jw_u64(s->w, NULL, s->path[nr]);
		jw_end_array(s->w);
	}
	jw_end_array(s->w);
}

/* factor 0: values as they are; else samples times it. */
static void put_profile(const struct speedscope_sheet *s, const char *name, const char *unit,
                        uint64_t factor)
{
	uint64_t whole = 0;

	jw_begin_object(s->w, NULL);
	jw_string(s->w, "type", "sampled");
	jw_string(s->w, "name", name);
	jw_string(s->w, "unit", unit);
	jw_u64(s->w, "startValue", 0);
	put_samples(s);
	jw_begin_array(s->w, "weights");
	for (uint32_t i = 1; i < profile_tree_nr(s->t); i++) {
		const struct profile_weight *w = &profile_tree_at(s->t, i)->w[PROFILE_NOW];
		uint64_t weight = factor ? profile_times(w->self_count, factor) : w->self_value;

		if (!w->self_count)
			continue;
		jw_u64(s->w, NULL, weight);
		whole += weight;
	}
	jw_end_array(s->w);
	jw_u64(s->w, "endValue", whole);
	jw_end_object(s->w);
}

static void put_profiles(const struct speedscope_sheet *s, const struct profile *p)
{
	jw_begin_array(s->w, "profiles");
	if (profile_is_time(p))
		put_profile(s, profile_facts(p)->event, "nanoseconds", 0);
	else if (profile_sample_ns(p))
		put_profile(s, "CPU time", "nanoseconds", profile_sample_ns(p));
	put_profile(s, "samples", "none", 1);
	jw_end_array(s->w);
}

int profile_speedscope(const struct profile *p, const char *title, FILE *out)
{
	SCOPED(scoped_profile_tree) struct profile_tree *t = NULL;
	SCOPED(scoped_sheet) struct speedscope_sheet s = { 0 };
	char words[PROFILE_WORDS_BYTES];
	struct json_writer w;
	int err = profile_tree_new(p, &(struct profile_tree_cfg){ 0 }, &t);

	if (err)
		return err;
	s = (struct speedscope_sheet){ .t = t, .w = &w };
	s.frames = calloc(profile_tree_nr(t), sizeof(*s.frames));
	s.path = calloc((size_t)profile_tree_depth(t) + 1, sizeof(*s.path));
	if (!s.frames || !s.path)
		return -ENOMEM;
	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	jw_string(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	jw_string(&w, "exporter", schedscope_generator);
	jw_string(&w, "name", title ? title : profile_words(p, words));
	jw_u64(&w, "activeProfileIndex", 0);
	jw_begin_object(&w, "shared");
	err = put_frames(&s);
	jw_end_object(&w);
	put_profiles(&s, p);
	jw_end_object(&w);
	if (jw_finish(&w) != 0 && !err)
		err = -EIO;
	return err;
}
