/*
 * collect/bpf_programs — all BPF programs of the machine, and what they cost.
 *
 * From opening to closing the kernel measures every program, which costs about 80 ns per run: open it only while somebody
 * looks. Needs CAP_SYS_ADMIN. Programs that come or go between two calls are listed or not. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define BPF_PROGRAMS_MAX 4096
#define BPF_PROGRAM_NAME 16

struct bpf_programs;

struct bpf_program_cost {
	uint32_t id;
	const char *type; /* "tracing"; NULL = newer than our library */
	char name[BPF_PROGRAM_NAME];
	uint32_t insns;        /* verified ones; 0 = unknown */
	bool is_measured;      /* was there at the last call */
	uint64_t run_ns, runs; /* since then */
};

MUST_USE int bpf_programs_open(struct diag *d, struct bpf_programs **out);
void bpf_programs_close(struct bpf_programs *p); /* NULL is fine */
/* Lent until the next call; ascending by id. */
MUST_USE int bpf_programs_read(struct bpf_programs *p, struct diag *d,
                               const struct bpf_program_cost **out, size_t *nr);
