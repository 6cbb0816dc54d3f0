/*
 * trace/ftrace/functions — names of the kernel's functions, from the copy of /proc/kallsyms in a file.
 *
 * The text stays the caller's. It is sorted at the first question, because most files have no event that asks one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct function {
	uint64_t address;
	uint32_t at; /* of its name in the text */
	uint32_t len;
};

struct functions {
	const char *text;
	size_t len;
	struct budget *budget;
	bool is_ready;
	struct function *all; /* by address */
	size_t nr, cap;
};

void functions_done(struct functions *s);
/* The name of the function that an address is in; NULL = unknown. */
const char *functions_find(struct functions *s, uint64_t address, size_t *len);
