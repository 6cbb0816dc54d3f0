/*
 * symbol/demangle — names as their authors wrote them: C++, and both manglings of Rust. Others stay as they are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_NAME_MAX 1024 /* longer results are cut and end with "..." */

/* Whether it may be more than a plain name. */
bool demangle_is_needed(const char *name);
/* Into buf, of DEMANGLE_NAME_MAX bytes; returns it. The name may have been cut, so that only a part is left. */
const char *demangle(const char *name, char buf[DEMANGLE_NAME_MAX]);
