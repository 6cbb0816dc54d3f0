#include "../unit.h"

#include <string.h>

#include "symbol/demangle.h"

static void expect_name(const char *mangled, const char *want)
{
	char buf[DEMANGLE_NAME_MAX];

	assert_string_equal(demangle(mangled, buf), want);
}

static void cpp(void **state)
{
	(void)state;
	expect_name("_Z3fooi", "foo(int)");
	expect_name("_ZN2ns5Klass6methodEPKcS2_", "ns::Klass::method(char const*, char const*)");
	expect_name("_ZNSt6vectorIiSaIiEE9push_backEOi",
	            "std::vector<int, std::allocator<int> >::push_back(int&&)");
	expect_name("_Z3foov.cold", "foo() [clone .cold]");
}

static void rust_of_both_manglings(void **state)
{
	(void)state;
	expect_name("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	expect_name(
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h0123456789abcdefE",
		"<Test + 'static as foo::Bar<Test>>::bar");
	expect_name("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	expect_name("_RNvC6_123foo3bar", "123foo::bar");
}

static void c_names_stay(void **state)
{
	(void)state;
	expect_name("main", "main");
	expect_name("", "");
	expect_name("_start", "_start");
	expect_name("_Zebra", "_Zebra");
	expect_name("_Rabbit", "_Rabbit");
	expect_name("_ZN3foo", "_ZN3foo");
	expect_name("i", "i"); /* a type in C++'s eyes */
}

static void long_names_are_cut(void **state)
{
	char buf[DEMANGLE_NAME_MAX], name[5000];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	expect_eq(strlen(demangle(name, buf)), DEMANGLE_NAME_MAX - 1);
	assert_string_equal(buf + DEMANGLE_NAME_MAX - 4, "...");
	/* f(aaa..., aaa...), the second a reference to the first. */
	memcpy(name, "_Z1f600", 7);
	memcpy(name + 607, "S_", 3);
	expect_eq(strlen(demangle(name, buf)), DEMANGLE_NAME_MAX - 1);
	expect_eq(buf[0], 'f');
	assert_string_equal(buf + DEMANGLE_NAME_MAX - 4, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp),
		cmocka_unit_test(rust_of_both_manglings),
		cmocka_unit_test(c_names_stay),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
