#include "profile/profile_groups.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "profile/profile_join.h"
#include "profile/profile_list.h"
#include "render/profile_export.h"
#include "render/profile_words.h"
#include "render/table.h"

#define TABLE_BYTES   ((size_t)64 << 20)
#define DEFAULT_LIMIT 50U
#define MAX_NAME      1024U
#define NUMBER_BYTES  32

const char *const profile_by_names[] = {
	[PROFILE_GROUP_THREAD] = "thread", [PROFILE_GROUP_PROCESS] = "process",
	[PROFILE_GROUP_COMM] = "comm",     [PROFILE_GROUP_CGROUP] = "cgroup",
	[PROFILE_GROUP_WAIT] = "wait",     NULL,
};

static const char *const titles[] = {
	[PROFILE_GROUP_THREAD] = "THREAD",  [PROFILE_GROUP_PROCESS] = "PROCESS",
	[PROFILE_GROUP_COMM] = "NAME",      [PROFILE_GROUP_CGROUP] = "CGROUP",
	[PROFILE_GROUP_WAIT] = "WAITS FOR",
};

static const char *const plurals[] = {
	[PROFILE_GROUP_THREAD] = "threads", [PROFILE_GROUP_PROCESS] = "processes",
	[PROFILE_GROUP_COMM] = "names",     [PROFILE_GROUP_CGROUP] = "cgroups",
	[PROFILE_GROUP_WAIT] = "kinds",
};

static bool has_ids(enum profile_by by)
{
	return by == PROFILE_GROUP_THREAD || by == PROFILE_GROUP_PROCESS;
}

static void add_cols(const struct profile *p, enum profile_by by, struct table *t)
{
	table_col_right(t, "SHARE", 7);
	table_col_right(t, profile_is_time(p) ? "TIME" : "SAMPLES", 8);
	if (has_ids(by))
		table_col_right(t, by == PROFILE_GROUP_THREAD ? "TID" : "PID", 7);
	table_col(t, titles[by], 8);
	table_col(t, "MOST OF IT IN", 0);
}

static void add_text(struct table *t, const char *text)
{
	char safe[MAX_NAME];

	table_cell(t, "%s", text_printable(safe, sizeof(safe), text, strlen(text)));
}

static void add_most(const struct profile_group *g, struct table *t)
{
	char buf[PROFILE_NAME_BYTES], safe[MAX_NAME];
	const char *name = g->most ? profile_frame_name(g->most, buf) : NULL;

	if (!name) {
		table_cell(t, "%s", "");
		return;
	}
	table_cell(t, "%s %.0f%%", text_printable(safe, sizeof(safe), name, strlen(name)),
	           100 * profile_share(g->most_value, g->value));
}

static void add_row(const struct profile *p, enum profile_by by, const struct profile_group *g,
                    struct table *t)
{
	char text[PROFILE_AMOUNT_BYTES];

	table_cell(t, "%.2f%%", 100 * profile_share(g->value, profile_value(p)));
	if (profile_is_time(p))
		table_cell(t, "%s", text_duration(text, sizeof(text), g->value));
	else
		table_u64(t, g->value);
	if (has_ids(by))
		table_u64(t, g->id);
	add_text(t, g->name);
	add_most(g, t);
}

int profile_groups_table(const struct profile *p, enum profile_by by,
                         const struct profile_top_cfg *cfg, FILE *out)
{
	SCOPED(scoped_profile_groups) struct profile_groups *groups = NULL;
	SCOPED(scoped_arena) struct arena *mem = arena_new(TABLE_BYTES);
	char words[PROFILE_WORDS_BYTES];
	uint32_t nr;
	struct table t;
	int err = mem ? profile_groups_new(p, by, &groups) : -ENOMEM;

	if (err)
		return err;
	fprintf(out, "%s\n", profile_words(p, words));
	nr = profile_groups_nr(groups);
	if (nr == 0) {
		fputs("No samples.\n", out);
		return profile_written(out);
	}
	if (cfg->limit && cfg->limit < nr)
		nr = cfg->limit;
	table_init(&t, mem);
	add_cols(p, by, &t);
	for (uint32_t i = 0; i < nr; i++)
		add_row(p, by, profile_groups_at(groups, i), &t);
	if (cfg->width)
		table_fit(&t, cfg->width);
	err = table_print(&t, 0, nr, "", out);
	if (nr < profile_groups_nr(groups))
		fprintf(out, "%u more %s\n", profile_groups_nr(groups) - nr, plurals[by]);
	return err ? err : profile_written(out);
}

static void put_group(const struct profile *p, enum profile_by by, const struct profile_group *g,
                      struct json_writer *w)
{
	char text[NUMBER_BYTES];

	jw_begin_object(w, NULL);
	jw_string(w, profile_by_names[by], g->name);
	if (has_ids(by))
		jw_u64(w, by == PROFILE_GROUP_THREAD ? "tid" : "pid", g->id);
	jw_u64(w, "count", g->count);
	jw_u64(w, "value", g->value);
	snprintf(text, sizeof(text), "%.2f%%", 100 * profile_share(g->value, profile_value(p)));
	jw_string(w, "percentage", text);
	jw_string(w, "most_in", g->most ? g->most->symbol : NULL);
	jw_u64(w, "most_value", g->most_value);
	jw_end_object(w);
}

void profile_groups_json(const struct profile *p, enum profile_by by, uint32_t limit,
                         struct json_writer *w)
{
	SCOPED(scoped_profile_groups) struct profile_groups *groups = NULL;
	int err = profile_groups_new(p, by, &groups);
	uint32_t nr = err ? 0 : profile_groups_nr(groups);
	uint32_t shown = limit ? limit : DEFAULT_LIMIT;

	shown = shown < nr ? shown : nr;
	jw_string(w, "grouped_by", profile_by_names[by]);
	jw_begin_array(w, "groups");
	for (uint32_t i = 0; i < shown; i++)
		put_group(p, by, profile_groups_at(groups, i), w);
	jw_end_array(w);
	jw_u64(w, "groups_left_out", nr - shown);
	if (err && !w->error)
		w->error = err;
}
