/*
 * cli/top_analyses — what analyses add to the screen: who keeps whom waiting, and what one thread waits for. They run only while
 * a view shows them (cli/top_events).
 */
#pragma once

#include "analyze/pass.h"
#include "machine/machine.h"

struct source;
struct top_analyses;

/* Of a recording, lent; NULL = live. by: which tasks are one in the blame view. NULL without memory: then there is no data. */
struct top_analyses *top_analyses_new(const struct source *recording, enum pass_by by);
void top_analyses_free(struct top_analyses *a); /* NULL is fine */
/* Puts a machine with the data in the place of *m, if the request needs it; lent until the next call. a may be NULL. */
void top_analyses_show(struct top_analyses *a, const struct machine_request *request,
                       const struct machine **m);
