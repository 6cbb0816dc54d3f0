#include "cli/analyze_list.h"

#include <stdio.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/json_write.h"
#include "render/wrap.h"

static bool is_listed(const struct pass *p, const char *category)
{
	return !category || !strcmp(category, p->category);
}

static void list_one_json(const struct source *s, const struct pass *p, struct json_writer *jw)
{
	char missing[160];

	jw_begin_object(jw, NULL);
	jw_string(jw, "id", p->id);
	jw_string(jw, "name", p->name);
	jw_string(jw, "category", p->category);
	jw_string(jw, "description", p->what);
	if (s) {
		bool applies = pass_applies(p, s);

		jw_bool(jw, "applies", applies);
		jw_string(jw, "missing",
		          applies ? NULL : pass_missing(p, s, missing, sizeof(missing)));
	}
	jw_end_object(jw);
}

void analyze_list_json(const struct source *s, const char *category, struct json_writer *jw)
{
	jw_begin_object(jw, NULL);
	jw_begin_array(jw, "analyses");
	for (size_t i = 0; i < nr_passes; i++)
		if (is_listed(passes[i], category))
			list_one_json(s, passes[i], jw);
	jw_end_array(jw);
	jw_end_object(jw);
}

static void list_one(const struct source *s, const struct pass *p, size_t width)
{
	char missing[160], title[64], all[256];

	snprintf(title, sizeof(title), "  %-24s ", p->id);
	wrap_print(stdout, title, p->what, width);
	if (!s || pass_applies(p, s))
		return;
	snprintf(title, sizeof(title), "  %-24s - ", "");
	snprintf(all, sizeof(all), "%s, which the trace does not have",
	         pass_missing(p, s, missing, sizeof(missing)));
	wrap_print(stdout, title, all, width);
}

static bool is_first_of_category(size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(passes[i]->category, passes[index]->category))
			return false;
	return true;
}

void analyze_list_text(const struct source *s, const char *category, size_t width)
{
	const char *blank = "";

	for (size_t i = 0; i < nr_passes; i++) {
		if (!is_listed(passes[i], category) || !is_first_of_category(i))
			continue;
		printf("%s%s:\n", blank, passes[i]->category);
		for (size_t k = i; k < nr_passes; k++)
			if (!strcmp(passes[k]->category, passes[i]->category))
				list_one(s, passes[k], width);
		blank = "\n";
	}
}
