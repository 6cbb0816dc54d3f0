/* tests/unit — cmocka with the headers that it needs first. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#define IS_SANITIZED __has_feature(address_sanitizer)
#else
#define IS_SANITIZED 0
#endif

/*
 * How many random worlds a test makes. Under sanitizers a fifth: what they look for shows in the first ones, and numbers are held
 * where programs run at their usual speed.
 */
#define RANDOM_WORLDS(nr) (IS_SANITIZED ? (nr) / 5 : (nr))

/* Wide enough for every integer, so that a value never changes on its way into a comparison. */
#define expect_eq(a, b) assert_int_equal((uintmax_t)(a), (uintmax_t)(b))

/*
 * A case that this machine may not be able to run; why is a literal. cmocka's own skip() is a failure to
 * meson ("not ok # SKIP"), so the name carries the directive of TAP and an empty function stands in.
 */
#define unit_test_if(condition, f, why)                                                       \
	{                                                                                     \
		(condition) ? #f : #f " # SKIP " why, (condition) ? (f) : unit_skipped, NULL, \
			NULL, NULL                                                            \
	}

static inline void unit_skipped(void **state)
{
	(void)state;
}
