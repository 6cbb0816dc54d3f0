/*
 * sys/bpf/bpf_struct_ops — which struct of operations a BPF program belongs to, and as which operation:
 * sched_ext_ops, enqueue.
 *
 * All of it comes from the kernel: the map of a struct that is in use holds the id of the program of each operation, and
 * the kernel's BTF names them. Names of programs, which anyone may choose, mean nothing. Structs that a module defines are
 * not known. Needs CAP_SYS_ADMIN and BTF; without, nothing is found. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define BPF_OPS_MAX  1024U
#define BPF_OPS_NAME 128U

struct btf;
struct bpf_struct_ops;

struct bpf_op {
	uint32_t prog_id;
	uint32_t map_id;         /* of the struct: the same for all that belong together */
	const char *struct_name; /* sched_ext_ops; lent until bpf_struct_ops_free() */
	const char *op;          /* enqueue; the same */
	char name[BPF_OPS_NAME]; /* what the struct calls itself; "" = nothing */
};

/* One value of such a map. */
struct bpf_ops_value {
	uint32_t map_id;
	uint32_t type_id; /* of the value, in the BTF */
	const void *bytes;
	size_t size;
};

MUST_USE int bpf_struct_ops_new(struct bpf_struct_ops **out); /* -ENOMEM */
void bpf_struct_ops_free(struct bpf_struct_ops *s);           /* NULL is fine */
/* Reads the maps again. The first time it reads the kernel's BTF, some 20 ms. */
void bpf_struct_ops_read(struct bpf_struct_ops *s);
/* NULL = the program belongs to no struct that is in use. Lent until the next refresh. */
const struct bpf_op *bpf_struct_ops_find(const struct bpf_struct_ops *s, uint32_t prog_id);
/* The struct that a program was loaded for, in use or not (bpf_prog.attach_btf_id); NULL = unknown. */
const char *bpf_struct_ops_struct(const struct bpf_struct_ops *s, uint32_t attach_btf_id);

/* For tests: the operations in a value, by that BTF; how many there are, of which out has at most cap. */
size_t bpf_ops_of_value(const struct btf *btf, const struct bpf_ops_value *value,
                        struct bpf_op *out, size_t cap);
