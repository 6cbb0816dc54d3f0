#include "machine/machine_past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (2 * (size_t)MACHINE_HISTORY)

int machine_past_add(struct machine_past *p, double value)
{
	if (!p->values)
		p->values = calloc(ROOM, sizeof(*p->values));
	if (!p->values)
		return -ENOMEM;
	if (p->nr == MACHINE_HISTORY) {
		p->first++;
		p->nr--;
	}
	if (p->first + p->nr == ROOM) {
		memmove(p->values, p->values + p->first, p->nr * sizeof(*p->values));
		p->first = 0;
	}
	p->values[p->first + p->nr++] = value;
	return 0;
}

void machine_past_done(struct machine_past *p)
{
	free(p->values);
	*p = (struct machine_past){ 0 };
}

struct machine_history machine_past_show(const struct machine_past *p)
{
	struct machine_history h = { .values = p->values ? p->values + p->first : NULL,
		                     .nr = p->nr };

	return h;
}
