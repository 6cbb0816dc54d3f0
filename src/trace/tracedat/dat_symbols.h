/*
 * trace/tracedat/dat_symbols — names of the kernel's functions, from the copy of /proc/kallsyms in the file.
 *
 * The text stays the caller's. It is sorted at the first question, because most files have no event that asks one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct dat_symbol {
	uint64_t address;
	uint32_t at; /* of its name in the text */
	uint32_t len;
};

struct dat_symbols {
	const char *text;
	size_t len;
	struct budget *budget;
	bool is_ready;
	struct dat_symbol *all; /* by address */
	size_t nr, cap;
};

void dat_symbols_done(struct dat_symbols *s);
/* The name of the function that an address is in; NULL = unknown. */
const char *dat_symbols_find(struct dat_symbols *s, uint64_t address, size_t *len);
