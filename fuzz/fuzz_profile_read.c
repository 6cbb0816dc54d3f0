/*
 * fuzz/fuzz_profile_read — any text as a profile. A failure has its sentence; what is read keeps its sums through every
 * form that it is written in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "profile/profile_read.h"
#include "render/flame.h"
#include "render/profile_export.h"

#define MAX_STORY_BYTES 4096 /* larger ones are only read: pictures of them take long */

static uint64_t sum_of(const char *folded)
{
	uint64_t sum = 0;

	for (const char *line = folded; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');

		fuzz_check(end && end > line);
		while (end[-1] != ' ')
			end--;
		sum += strtoull(end, NULL, 10);
	}
	return sum;
}

static void check_folded(const struct profile *p)
{
	struct profile *again = NULL;
	struct diag d = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	fuzz_check(out && profile_folded(p, out) == 0 && fclose(out) == 0);
	fuzz_check(sum_of(text) == profile_value(p));
	if (profile_value(p) > 0) {
		fuzz_check(profile_read_text(text, "again", &d, &again) == 0);
		fuzz_check(profile_value(again) == profile_value(p));
	}
	profile_free(again);
	free(text);
}

static void write_all(const struct profile *p)
{
	struct profile_results_cfg results = { .limit = 100, .wants_stacks = true };
	struct flame_cfg flame = { .before = p, .is_by_thread = true };
	struct json_writer w;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	fuzz_check(out);
	fuzz_check(flame_svg(p, &flame, out) == 0);
	fuzz_check(flame_html(p, &(struct flame_cfg){ 0 }, out) == 0);
	fuzz_check(profile_speedscope(p, NULL, out) == 0);
	fuzz_check(profile_pprof(p, out) == 0);
	fuzz_check(profile_top(p, &(struct profile_top_cfg){ .width = 80 }, out) == 0);
	jw_init(&w, out, false);
	jw_begin_object(&w, NULL);
	profile_results(p, &results, &w);
	jw_end_object(&w);
	fuzz_check(jw_finish(&w) == 0);
	fclose(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct profile *p = NULL;
	struct diag d = { 0 };

	if (profile_read_text(text, "input", &d, &p) != 0) {
		fuzz_check(d.code && d.what[0] && !p);
	} else {
		fuzz_check(profile_count(p) > 0);
		check_folded(p);
		if (size <= MAX_STORY_BYTES)
			write_all(p);
	}
	profile_free(p);
	free(text);
	return 0;
}
