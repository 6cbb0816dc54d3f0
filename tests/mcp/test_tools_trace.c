/* The table of tools on traces: every entry is whole, and every analysis has one. */
#include <string.h>

#include "../unit.h"
#include "analyze/pass.h"
#include "mcp/tools_analyze.h"

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
		assert_non_null(t->run);
		assert_non_null(t->output);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_analysis_has_a_tool),
		cmocka_unit_test(names_are_unique_and_entries_whole),
		cmocka_unit_test(defaults_pass_their_own_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
