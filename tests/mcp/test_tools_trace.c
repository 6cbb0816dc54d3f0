/* The table of tools on traces: every entry is whole, and every analysis has one. */
#include <string.h>

#include "../unit.h"
#include "analyses/passes.h"
#include "analyze/pass.h"
#include "mcp/tools/tools_analyze.h"

static bool has_pass(const char *id)
{
	for (size_t i = 0; i < NR_ANALYZE_TOOLS; i++)
		if (strcmp(analyze_tools[i].pass, id) == 0)
			return true;
	return false;
}

static void every_analysis_has_a_tool(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_passes; i++)
		if (!has_pass(passes[i]->id) && strcmp(passes[i]->id, "summary") != 0)
			fail_msg("no tool for %s", passes[i]->id);
	for (size_t i = 0; i < NR_ANALYZE_TOOLS; i++)
		if (!pass_find(analyze_tools[i].pass))
			fail_msg("%s has no analysis", analyze_tools[i].tool.name);
}

static void names_are_unique_and_entries_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_tools; i++) {
		const struct tool *t = tools[i];

		assert_non_null(t->title);
		assert_true(t->run || t->read);
		assert_true(t->output ||
		            t->set == TOOLSET_CORE); /* bytes that every client pays for */
		assert_true(strlen(t->description) > 40);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(tools[k]->name, t->name);
	}
}

static void defaults_pass_their_own_checks(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_tools; i++)
		for (const struct arg *a = tools[i]->args; a && a->name; a++) {
			struct arg one[2] = { *a, { 0 } };
			json_t *given = json_object(), *got = NULL;
			struct diag d = { 0 };

			if (a->fallback)
				json_object_set_new(given, a->name,
				                    json_loads(a->fallback, JSON_DECODE_ANY, NULL));
			one[0].is_required = false;
			if (schema_check(one, given, &d, &got))
				fail_msg("%s.%s: %s", tools[i]->name, a->name, d.what);
			json_decref(got);
			json_decref(given);
		}
}

static bool is_refused(const struct arg *a, json_t *value, const char *range)
{
	struct arg one[2] = { *a, { 0 } };
	json_t *given = json_object(), *got = NULL;
	struct diag d = { 0 };
	bool is_bad;

	json_object_set_new(given, a->name, value);
	is_bad = schema_check(one, given, &d, &got) && strstr(d.what, a->name) &&
	         strstr(d.what, range);
	json_decref(got);
	json_decref(given);
	return is_bad;
}

/* What lies outside is refused with what is allowed, whatever the tool would do with it. */
static void check_range_of(const struct tool *t, const struct arg *a)
{
	char range[64];

	if (a->min >= a->max)
		fail_msg("%s.%s has no range", t->name, a->name);
	snprintf(range, sizeof(range), a->max == INT64_MAX ? "%lld or more" : "from %lld to %lld",
	         (long long)a->min, (long long)a->max);
	if (!is_refused(a, json_integer(a->min - 1), range) ||
	    !is_refused(a, json_real(-1e9), range) || !is_refused(a, json_real(1e300), range) ||
	    !is_refused(a, json_string("1e300"), range) || !is_refused(a, json_true(), range))
		fail_msg("%s.%s takes anything", t->name, a->name);
	if (a->max != INT64_MAX && (!is_refused(a, json_integer(a->max + 1), range) ||
	                            !is_refused(a, json_real((double)a->max + 0.5), range)))
		fail_msg("%s.%s takes more than it says", t->name, a->name);
}

static void every_number_has_a_range_that_counts(void **state)
{
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < nr_tools; i++)
		for (const struct arg *a = tools[i]->args; a && a->name; a++) {
			if (a->type != ARG_INTEGER && a->type != ARG_NUMBER)
				continue;
			check_range_of(tools[i], a);
			nr++;
		}
	assert_true(nr > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_analysis_has_a_tool),
		cmocka_unit_test(names_are_unique_and_entries_whole),
		cmocka_unit_test(defaults_pass_their_own_checks),
		cmocka_unit_test(every_number_has_a_range_that_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
