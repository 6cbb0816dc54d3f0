/*
 * session/machine_layers — the layers of a layered scheduler, for the rows of tasks. A process has the layer of its first
 * thread. Three system calls per thread and look: only for those who ask for it. One thread.
 */
#pragma once

#include "base/attr.h"
#include "session/machine_log.h"
#include "session/machine_tasks.h"

struct machine_layers;

MUST_USE int machine_layers_new(struct machine_layers **out); /* 0 or -ENOMEM */
void machine_layers_free(struct machine_layers *l);           /* NULL is fine */
/* After the tasks were read; follows schedulers that come and go. */
void machine_layers_look(struct machine_layers *l, struct machine_tasks *t,
                         struct machine_log *log);
