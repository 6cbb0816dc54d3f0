/* profile/stack_ends — why user stacks are not whole, and what to do about it: one table for all that shows stacks. */
#pragma once

#include <stdint.h>

#include "abi/profile.h"

struct stack_end {
	enum prof_end end;
	const char *key;  /* for programs: "no_table" */
	const char *name; /* of a share: "12 % without a table" */
	const char *what_to_do;
};

#define NR_STACK_ENDS 4U /* ends at which a stack is not whole */

extern const struct stack_end stack_ends[NR_STACK_ENDS];
/* For programs, by enum prof_end; NULL of PROF_END_NOT_KNOWN. */
const char *stack_end_key(enum prof_end end);
/* Of samples by enum prof_end, those that are not whole. */
uint64_t stack_ends_broken(const uint64_t ends[PROF_NR_ENDS]);
/* The reason of most of them; NULL = all are whole, or it is not known. */
const struct stack_end *stack_ends_worst(const uint64_t ends[PROF_NR_ENDS]);
