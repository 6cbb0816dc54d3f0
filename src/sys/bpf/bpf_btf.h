/* sys/bpf/bpf_btf — types of programs and maps in the kernel, by their id. */
#pragma once

#include <stdint.h>

struct btf;

/* The caller's, by btf__free(); NULL if there are none, or no right to read them. */
struct btf *bpf_btf_read(uint32_t id);
