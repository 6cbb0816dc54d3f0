/*
 * sys/stack_copy — a thread at one moment: its registers, and its stack from the stack pointer on, to be walked later.
 *
 * Registers are in the order in which DWARF counts them: on arm64 x0 to x30 and sp, on x86-64 rax, rdx, rcx, rbx, rsi,
 * rdi, rbp, rsp, r8 to r15.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define STACK_COPY_REGISTERS 16U
#define STACK_COPY_SP        7U
#else
#define STACK_COPY_REGISTERS 32U
#define STACK_COPY_SP        31U
#endif

#define STACK_COPY_BYTES 65528U /* the most that the kernel copies */

struct prof_stack;

struct stack_copy {
	uint32_t tgid;
	bool is_64;     /* else only pc is of use */
	uint64_t ts_ns; /* boot time */
	uint64_t pc;
	uint64_t registers[STACK_COPY_REGISTERS];
	const uint8_t *stack; /* lent; what is at registers[STACK_COPY_SP] */
	uint32_t bytes;
	const struct prof_stack *walked; /* by tables, at the same moment; NULL = was not. Lent */
};
