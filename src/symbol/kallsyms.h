/*
 * symbol/kallsyms — the functions of the running kernel, of its modules and of BPF programs.
 *
 * The list has no sizes: a function ends where the next one starts. Names without addresses (kptr_restrict, or no
 * CAP_SYSLOG) are an error of one sentence. Data is left out. Blocks on /proc only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

struct kallsyms;

struct kallsyms_hit {
	const char *name;
	const char *module; /* "kernel", "bpf", or the module */
	uint64_t start;
};

/* -EPERM when the addresses are hidden, -ENODATA when there is no function, -E2BIG, -ENOMEM. */
MUST_USE int kallsyms_parse(const char *text, size_t len, struct diag *d, struct kallsyms **out);
MUST_USE int kallsyms_read(const char *path, struct diag *d, struct kallsyms **out);
void kallsyms_free(struct kallsyms *k); /* NULL is fine */
DEFINE_SCOPED(kallsyms, kallsyms_free)

/* Texts live as long as the list. */
bool kallsyms_find(const struct kallsyms *k, uint64_t address, struct kallsyms_hit *out);
