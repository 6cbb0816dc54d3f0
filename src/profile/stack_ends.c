#include "profile/stack_ends.h"

#include <stddef.h>

const struct stack_end stack_ends[NR_STACK_ENDS] = {
	{ PROF_END_NO_TABLE, "no_table", "without a table",
	  "of JITs: switch their frame pointers on; of processes that have just begun: profile for longer" },
	{ PROF_END_READ, "not_read", "with memory that was not there",
	  "stacks that were paged out stay so; for others, try --unwind fp" },
	{ PROF_END_DEPTH, "too_deep", "too deep",
	  "a walk ends after 127 frames; its callers are left out" },
	{ PROF_END_RULE, "unknown_rule", "with a rule that is not known",
	  "code by hand, whose callers are left out; try --unwind fp" },
};

const char *stack_end_key(enum prof_end end)
{
	if (end == PROF_END_WHOLE)
		return "whole";
	for (uint32_t i = 0; i < NR_STACK_ENDS; i++)
		if (stack_ends[i].end == end)
			return stack_ends[i].key;
	return NULL;
}

uint64_t stack_ends_broken(const uint64_t ends[PROF_NR_ENDS])
{
	uint64_t broken = 0;

	for (uint32_t i = 0; i < NR_STACK_ENDS; i++)
		broken += ends[stack_ends[i].end];
	return broken;
}

const struct stack_end *stack_ends_worst(const uint64_t ends[PROF_NR_ENDS])
{
	const struct stack_end *worst = NULL;

	for (uint32_t i = 0; i < NR_STACK_ENDS; i++)
		if (ends[stack_ends[i].end] > (worst ? ends[worst->end] : 0))
			worst = &stack_ends[i];
	return worst;
}
