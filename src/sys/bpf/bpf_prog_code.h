/*
 * sys/bpf/bpf_prog_code — where the code of one BPF program is in memory, and which line of its source each place came from.
 *
 * Functions and lines are as of the moment of reading; they do not change while the program is loaded. Needs what showing
 * kernel addresses needs (kernel.kptr_restrict, CAP_SYSLOG). One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct bpf_prog_code;

/* Texts are lent until bpf_prog_code_free(). */
struct bpf_prog_place {
	const char *function; /* NULL = unknown */
	const char *file;     /* NULL = unknown, then text is, too */
	const char *text;     /* the line itself */
	uint32_t line;        /* 0 = unknown */
	uint32_t number; /* of the line, below bpf_prog_code_nr(); places of one line share it */
};

/* -ENOENT (it is gone), -ENOTSUP (it has no machine code), -EPERM (addresses are hidden), or another -errno. */
MUST_USE int bpf_prog_code_read(uint32_t id, struct diag *d, struct bpf_prog_code **out);
/* For the broker: the kernel shows a program's code only to a process with CAP_BPF. A descriptor to read it from, or -errno. */
MUST_USE int bpf_prog_code_pack(uint32_t id);
/* Of such a descriptor: -EIO if it was cut off, -E2BIG if it claims too much, else as bpf_prog_code_read(). */
MUST_USE int bpf_prog_code_unpack(int fd, struct diag *d, struct bpf_prog_code **out);
void bpf_prog_code_free(struct bpf_prog_code *c); /* NULL is fine */

size_t bpf_prog_code_nr(const struct bpf_prog_code *c); /* numbers of lines */
bool bpf_prog_code_has_lines(const struct bpf_prog_code *c);
/* False: the address is not in the program. */
bool bpf_prog_code_find(const struct bpf_prog_code *c, uint64_t address,
                        struct bpf_prog_place *out);

/* For tests: a program made by hand. Arrays are copied, functions in any order, lines by address. */
struct bpf_prog_range {
	uint64_t start;
	uint32_t bytes;
	const char *name; /* NULL = unknown; lent */
};
struct bpf_prog_line {
	uint64_t address; /* of its first instruction; the line extends to the next one's */
	const char *file, *text;
	uint32_t line;
};
MUST_USE int bpf_prog_code_make(const struct bpf_prog_range *ranges, size_t nr_ranges,
                                const struct bpf_prog_line *lines, size_t nr_lines,
                                struct bpf_prog_code **out);
