#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/topology.h"
#include "sys/topology_json.h"
#include "tree.h"

static struct topology *parse(const char *text)
{
	struct topology *t = NULL;
	struct diag d = { 0 };

	expect_eq(topology_json_parse(text, strlen(text), "x.json", &d, &t), 0);
	return t;
}

static char *print(const struct topology *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	expect_eq(topology_json_write(t, f), 0);
	expect_eq(fclose(f), 0);
	return text;
}

static void rsched_files_are_read(void **state)
{
	struct topology *t = parse("{ \"cpus\": { \"0\": { \"die\": 0, \"numa\": 0 },"
	                           " \"10\": { \"die\": 4, \"numa\": 1 },"
	                           " \"2\": { \"die\": -1, \"numa\": -1 } } }");

	(void)state;
	expect_eq(topology_counts(t)->nr_possible, 3);
	expect_eq(topology_counts(t)->nr_cpu_ids, 11);
	expect_eq(topology_counts(t)->nr_llcs, 2);
	expect_eq(topology_counts(t)->nr_nodes, 2);
	expect_eq(topology_cpu(t, 0)->llc, 0);
	expect_eq(topology_cpu(t, 10)->llc, 1);
	expect_eq(topology_cpu(t, 10)->node, 1);
	expect_eq(topology_cpu(t, 2)->llc, -1);
	expect_eq(topology_cpu(t, 2)->node, -1);
	assert_null(topology_cpu(t, 1));
	expect_eq(topology_llc_source(t), TOPOLOGY_LLC_DIE);
	topology_free(t);
}

static void caches_win_over_dies(void **state)
{
	struct topology *t = parse("{\"cpus\":{\"0\":{\"die\":0,\"llc\":0,\"numa\":0},"
	                           "\"1\":{\"llc\":1,\"numa\":0,\"comment\":\"ignored\"}}}");

	(void)state;
	expect_eq(topology_cpu(t, 1)->llc, 1);
	expect_eq(topology_cpu(t, 0)->die, 0);
	expect_eq(topology_cpu(t, 1)->die, -1);
	expect_eq(topology_llc_source(t), TOPOLOGY_LLC_FILE);
	assert_null(topology_llc_note(t));
	topology_free(t);
}

static void what_is_written_reads_back_the_same(void **state)
{
	struct tree tree;
	struct topology *t = NULL, *again;
	char *text, *text_again;

	(void)state;
	tree_init(&tree);
	tree_unpack(&tree, "topology/epyc.txt");
	expect_eq(topology_read(tree.root, NULL, &t), 0);
	tree_done(&tree);
	text = print(t);
	again = parse(text);
	text_again = print(again);
	assert_string_equal(text, text_again);
	for (uint32_t i = 0; i < 16; i++) {
		expect_eq(topology_cpu(again, i)->llc, topology_cpu(t, i)->llc);
		expect_eq(topology_cpu(again, i)->die, topology_cpu(t, i)->die);
		expect_eq(topology_cpu(again, i)->node, topology_cpu(t, i)->node);
	}
	free(text);
	free(text_again);
	topology_free(t);
	topology_free(again);
}

static void the_form_is_rscheds_with_a_cache_more(void **state)
{
	struct topology *t = parse(
		"{\"cpus\":{\"0\":{\"die\":0,\"numa\":0},\"3\":{\"die\":-1,\"numa\":-1}}}");
	char *text = print(t);

	(void)state;
	assert_string_equal(text, "{\n"
	                          "  \"cpus\": {\n"
	                          "    \"0\": {\n"
	                          "      \"die\": 0,\n"
	                          "      \"llc\": 0,\n"
	                          "      \"numa\": 0\n"
	                          "    }\n"
	                          "  }\n"
	                          "}\n");
	free(text);
	topology_free(t);
}

static void cores_are_written_where_they_are_known(void **state)
{
	struct topology *t = parse("{\"cpus\":{\"0\":{\"die\":0,\"core\":3,\"numa\":0},"
	                           "\"1\":{\"die\":0,\"numa\":0}}}");
	char *text = print(t);

	(void)state;
	assert_non_null(strstr(text, "\"core\""));
	assert_null(strstr(strstr(text, "\"core\"") + 1, "\"core\""));
	free(text);
	topology_free(t);
}

static void each_kind_of_bad_file_has_its_sentence(void **state)
{
	static const struct {
		const char *text, *what;
	} bad[] = {
		{ "", "'x.json' is not valid JSON (line 1" },
		{ "{", "'x.json' is not valid JSON (line 1" },
		{ "{\"cpus\":{}} trailing", "'x.json' is not valid JSON" },
		{ "{\"cpus\":{\"0\":{},\"0\":{}}}",
		  "'x.json' is not valid JSON (line 1: duplicate" },
		{ "[]", "'x.json' has no object 'cpus'" },
		{ "3", "'x.json' has no object 'cpus'" },
		{ "{}", "'x.json' has no object 'cpus'" },
		{ "{\"cpus\":[]}", "'x.json' has no object 'cpus'" },
		{ "{\"cpus\":{}}", "'x.json' names no CPU" },
		{ "{\"cpus\":{\"a\":{}}}", "'a' in 'x.json' is not a CPU number below 65536" },
		{ "{\"cpus\":{\"01\":{}}}", "'01' in 'x.json' is not a CPU number" },
		{ "{\"cpus\":{\"-1\":{}}}", "'-1' in 'x.json' is not a CPU number" },
		{ "{\"cpus\":{\"65536\":{}}}", "'65536' in 'x.json' is not a CPU number" },
		{ "{\"cpus\":{\"\\u001b[2J\":{}}}", "'?[2J' in 'x.json' is not a CPU number" },
		{ "{\"cpus\":{\"0\":1}}", "CPU 0 in 'x.json' is not an object" },
		{ "{\"cpus\":{\"0\":{\"numa\":0}}}",
		  "CPU 0 in 'x.json' has neither 'llc' nor 'die'" },
		{ "{\"cpus\":{\"0\":{\"die\":0}}}", "CPU 0 in 'x.json' has no 'numa'" },
		{ "{\"cpus\":{\"0\":{\"die\":\"0\",\"numa\":0}}}",
		  "'die' of CPU 0 in 'x.json' is not a whole number from -1 to 65535" },
		{ "{\"cpus\":{\"0\":{\"llc\":1.5,\"numa\":0}}}",
		  "'llc' of CPU 0 in 'x.json' is not" },
		{ "{\"cpus\":{\"0\":{\"die\":-2,\"numa\":0}}}",
		  "'die' of CPU 0 in 'x.json' is not" },
		{ "{\"cpus\":{\"0\":{\"die\":65536,\"numa\":0}}}",
		  "'die' of CPU 0 in 'x.json' is not" },
		{ "{\"cpus\":{\"0\":{\"die\":0,\"numa\":1024}}}",
		  "'numa' of CPU 0 in 'x.json' is not a whole number from -1 to 1023" },
		{ "{\"cpus\":{\"0\":{\"die\":0,\"numa\":0},\"1\":{\"llc\":0,\"numa\":0}}}",
		  "only 1 of the 2 CPUs in 'x.json' have 'llc'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct topology *t = NULL;
		struct diag d = { 0 };

		expect_eq(topology_json_parse(bad[i].text, strlen(bad[i].text), "x.json", &d, &t),
		          -EINVAL);
		assert_null(t);
		if (strncmp(d.what, bad[i].what, strlen(bad[i].what)) != 0)
			assert_string_equal(d.what, bad[i].what);
		assert_true(d.hint[0]);
	}
}

static void files_are_read_by_their_path(void **state)
{
	struct tree tree;
	struct topology *t = NULL;
	struct diag d = { 0 };
	char path[128];

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "t.json", "{\"cpus\":{\"0\":{\"die\":0,\"numa\":0}}}");
	snprintf(path, sizeof(path), "%s/t.json", tree.root);
	expect_eq(topology_json_read(path, &d, &t), 0);
	expect_eq(topology_counts(t)->nr_possible, 1);
	topology_free(t);
	tree_done(&tree);
	expect_eq(topology_json_read(path, &d, &t), -ENOENT);
	assert_non_null(strstr(d.what, path));
}

static void a_full_disk_is_noticed(void **state)
{
	struct topology *t = parse("{\"cpus\":{\"0\":{\"die\":0,\"numa\":0}}}");
	FILE *f = fopen("/dev/full", "we");

	(void)state;
	if (f) {
		expect_eq(topology_json_write(t, f), -ENOSPC);
		fclose(f);
	}
	topology_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rsched_files_are_read),
		cmocka_unit_test(caches_win_over_dies),
		cmocka_unit_test(what_is_written_reads_back_the_same),
		cmocka_unit_test(the_form_is_rscheds_with_a_cache_more),
		cmocka_unit_test(cores_are_written_where_they_are_known),
		cmocka_unit_test(each_kind_of_bad_file_has_its_sentence),
		cmocka_unit_test(files_are_read_by_their_path),
		cmocka_unit_test(a_full_disk_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
