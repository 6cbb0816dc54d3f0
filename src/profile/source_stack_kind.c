#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profile/source_profile.h"

#define WALL "wall"

static const char *const names[] = {
	[SOURCE_STACK_CPU] = "cpu", [SOURCE_STACK_OFF_CPU] = "off-cpu", [SOURCE_STACK_WAKER] = "waker"
};

uint64_t source_stack_nr(const struct source *s, enum source_stack_kind kind)
{
	size_t event = (size_t)kind - SOURCE_STACK_OTHER;

	if (!s->stacks)
		return 0;
	if (kind == SOURCE_STACK_WALL)
		return s->stacks->nr_of[SOURCE_STACK_CPU];
	if (kind < SOURCE_STACK_OTHER)
		return s->stacks->nr_of[kind];
	return event < s->stacks->nr_events ? s->stacks->events[event].count : 0;
}

const char *source_stack_name(const struct source *s, enum source_stack_kind kind)
{
	size_t event = (size_t)kind - SOURCE_STACK_OTHER;

	if (kind < SOURCE_STACK_OTHER)
		return names[kind];
	if (kind == SOURCE_STACK_WALL)
		return WALL;
	return s->stacks && event < s->stacks->nr_events ? s->stacks->events[event].name : "other";
}

/* The available stacks, for an error message about others. */
static void list_kinds(const struct source *s, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "write cpu, off-cpu, waker, wall");

	for (size_t i = 0; s->stacks && i < s->stacks->nr_events && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, ", %s", s->stacks->events[i].name);
}

int source_stack_kind(const struct source *s, const char *word, struct diag *d,
                      enum source_stack_kind *out)
{
	size_t nr = SOURCE_STACK_OTHER + (s->stacks ? s->stacks->nr_events : 0);
	char hint[128];

	for (size_t i = 0; word && i < nr; i++) {
		if (strcmp(source_stack_name(s, (enum source_stack_kind)i), word) == 0) {
			*out = (enum source_stack_kind)i;
			return 0;
		}
	}
	if (word && strcmp(word, WALL) == 0) {
		*out = SOURCE_STACK_WALL;
		return 0;
	}
	if (word) {
		list_kinds(s, hint, sizeof(hint));
		return diag_set(d, -EINVAL, hint, "'%.40s' is not a category of stacks", word);
	}
	*out = source_stack_nr(s, SOURCE_STACK_CPU)     ? SOURCE_STACK_CPU
	       : s->facts->kinds[EV_SWITCH]             ? SOURCE_STACK_OFF_CPU
	       : source_stack_nr(s, SOURCE_STACK_WAKER) ? SOURCE_STACK_WAKER
	                                                : SOURCE_STACK_CPU;
	return 0;
}
