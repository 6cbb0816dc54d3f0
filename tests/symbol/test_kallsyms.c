#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/kallsyms.h"

static const char LIST[] = "ffff800080010000 T _stext\n"
			   "ffff800080010000 t start_alias\n"
			   "ffff800080011000 t $x\n"
			   "ffff800080011000 t local_one\n"
			   "ffff800080012000 D some_data\n"
			   "ffff800080012000 T __pi_strcmp\n"
			   "ffff800080012000 W strcmp\n"
			   "ffff800080020000 D _etext\n"
			   "ffff800080090000 T late_init\n"
			   "ffff800081000000 t in_module\t[ext4]\n"
			   "ffff800081000100 T in_module_too\t[ext4]\n"
			   "ffff800082000000 t bpf_prog_0123456789abcdef_on_switch\t[bpf]\n"
			   "no line at all\n"
			   "ffff800083000000 t broken\text4]\n"
			   "ffff800084000000\n";

static struct kallsyms *parsed(const char *text)
{
	struct kallsyms *k = NULL;
	struct diag d = { 0 };

	expect_eq(kallsyms_parse(text, strlen(text), &d, &k), 0);
	return k;
}

static void expect_at(const struct kallsyms *k, uint64_t address, const char *name,
                      const char *module)
{
	struct kallsyms_hit hit = { .name = "-", .module = "-" };

	kallsyms_find(k, address, &hit);
	assert_string_equal(hit.name, name);
	assert_string_equal(hit.module, module);
}

static void functions_end_where_the_next_one_starts(void **state)
{
	SCOPED(scoped_kallsyms) struct kallsyms *k = parsed(LIST);

	(void)state;
	expect_at(k, 0xffff80008000ffff, "-", "-");
	expect_at(k, 0xffff800080010010, "_stext", "kernel");
	expect_at(k, 0xffff800080011fff, "local_one", "kernel");
	expect_at(k, 0xffff800080012000, "strcmp", "kernel");
}

static void data_has_no_functions(void **state)
{
	SCOPED(scoped_kallsyms) struct kallsyms *k = parsed(LIST);

	(void)state;
	expect_at(k, 0xffff80008001ffff, "strcmp", "kernel");
	expect_at(k, 0xffff800080020000, "-", "-");
	expect_at(k, 0xffff800080090004, "late_init", "kernel");
}

static void modules_and_bpf_programs_are_named(void **state)
{
	SCOPED(scoped_kallsyms) struct kallsyms *k = parsed(LIST);

	(void)state;
	expect_at(k, 0xffff8000810000ff, "in_module", "ext4");
	expect_at(k, 0xffff800081000180, "in_module_too", "ext4");
	expect_at(k, 0xffff800081900000, "-", "-");
	expect_at(k, 0xffff800082000040, "bpf_prog_0123456789abcdef_on_switch", "bpf");
	expect_at(k, 0xffff800083000000, "-", "-");
}

static void hidden_addresses_are_an_error_with_a_remedy(void **state)
{
	static const char hidden[] = "0000000000000000 T schedule\n0000000000000000 t x\t[bpf]\n";
	struct kallsyms *k = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(kallsyms_parse(hidden, strlen(hidden), &d, &k), -EPERM);
	assert_non_null(strstr(d.what, "hides"));
	assert_non_null(strstr(d.hint, "kptr_restrict"));
	assert_null(k);
}

static void an_empty_list_and_no_list_are_reported(void **state)
{
	struct kallsyms *k = NULL;
	struct diag d = { 0 }, missing = { 0 };

	(void)state;
	expect_eq(kallsyms_parse("", 0, &d, &k), -ENODATA);
	expect_eq(kallsyms_read("/proc/self/nowhere", &missing, &k), -ENOENT);
	assert_non_null(strstr(missing.what, "nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_end_where_the_next_one_starts),
		cmocka_unit_test(data_has_no_functions),
		cmocka_unit_test(modules_and_bpf_programs_are_named),
		cmocka_unit_test(hidden_addresses_are_an_error_with_a_remedy),
		cmocka_unit_test(an_empty_list_and_no_list_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
