/*
 * sys/rights/elf_function — where a function begins in a program or library.
 *
 * The file may be crafted: it is read in a child process that has no rights and is killed if it takes too long.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

/* Its place in the file. -ENOENT without such a function, or if the file is no program; or another -errno. */
MUST_USE int elf_function_find(int file, const char *name, uint64_t *out);
