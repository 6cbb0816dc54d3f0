/* tests/unit — cmocka with the headers that it needs first. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Wide enough for every integer, so that a value never changes on its way into a comparison. */
#define expect_eq(a, b) assert_int_equal((uintmax_t)(a), (uintmax_t)(b))
