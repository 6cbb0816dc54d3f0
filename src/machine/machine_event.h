/* machine/machine_event — what is counted on every CPU, and the lists from which it can be chosen. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct machine_event {
	const char *word; /* as requested: machine/event_word */
	const char *why;  /* why it cannot be counted, and what helps; NULL = it is */
};

struct machine_event_list {
	const char *const *names; /* what follows "perf:" or "kprobe:" in a word; untrusted */
	size_t nr;
	const char *source; /* tracefs, btf, kallsyms; NULL = it is not there yet, or never will be */
	const char *why;    /* why there is none, or why none of them can be counted; NULL */
	bool is_loading;
};
