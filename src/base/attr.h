/* base/attr — compiler attributes under names that say what a caller must know. */
#pragma once

#define MUST_USE          __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define UNUSED            __attribute__((unused))
#define ALWAYS_INLINE     inline __attribute__((always_inline))
