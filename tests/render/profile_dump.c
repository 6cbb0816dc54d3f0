/*
 * profile_dump FORM [INPUT [OLDER]]: a profile in one form on stdout, for scripts to look at.
 *
 * FORM: svg, icicle, threads, html, folded, speedscope, pprof, json, top. INPUT: a file for profile_read, or one of the
 * stories "story", "older", "hostile", "empty" of profile_fixture.c; OLDER is compared with.
 */
#include <stdio.h>
#include <string.h>

#include "../profile/profile_fixture.h"
#include "profile/profile_read.h"
#include "render/flame.h"
#include "render/profile_export.h"

static int load(const char *name, struct profile **out)
{
	struct diag d = { 0 };
	char text[512];
	int err;

	if (profile_story(name, out))
		return 0;
	err = profile_read_file(name, &d, out);
	if (err) {
		diag_format(&d, text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	return err;
}

static int print_json(const struct profile *p)
{
	struct profile_results_cfg cfg = { .limit = UINT32_MAX,
		                           .wants_stacks = true,
		                           .collected = profile_count(p) };
	struct json_writer w;

	jw_init(&w, stdout, true);
	jw_begin_object(&w, NULL);
	profile_results(p, &cfg, &w);
	jw_end_object(&w);
	return jw_finish(&w);
}

static int print(const char *form, const struct profile *p, const struct profile *before)
{
	struct flame_cfg flame = { .before = before,
		                   .is_icicle = strcmp(form, "icicle") == 0,
		                   .is_by_thread = strcmp(form, "threads") == 0 };

	if (strcmp(form, "html") == 0)
		return flame_html(p, &flame, stdout);
	if (strcmp(form, "folded") == 0)
		return before ? profile_folded_diff(before, p, stdout) : profile_folded(p, stdout);
	if (strcmp(form, "speedscope") == 0)
		return profile_speedscope(p, NULL, stdout);
	if (strcmp(form, "pprof") == 0)
		return profile_pprof(p, stdout);
	if (strcmp(form, "json") == 0)
		return print_json(p);
	if (strcmp(form, "top") == 0)
		return profile_top(p, &(struct profile_top_cfg){ .before = before }, stdout);
	return flame_svg(p, &flame, stdout);
}

int main(int argc, char **argv)
{
	struct profile *p = NULL, *before = NULL;
	int err = argc < 2 ? -1 : load(argc > 2 ? argv[2] : "story", &p);

	if (!err && argc > 3)
		err = load(argv[3], &before);
	if (!err)
		err = print(argv[1], p, before);
	profile_free(p);
	profile_free(before);
	return err ? 1 : 0;
}
