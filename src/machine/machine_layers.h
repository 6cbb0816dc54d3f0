/*
 * machine/machine_layers — the layers of a layered scheduler, for the rows of tasks. A process has the layer of its first
 * thread. Three system calls per thread and refresh: only on request. One thread.
 */
#pragma once

#include "base/attr.h"
#include "machine/machine_log.h"
#include "machine/machine_tasks.h"

struct machine_layers;

MUST_USE int machine_layers_new(struct machine_layers **out); /* 0 or -ENOMEM */
void machine_layers_free(struct machine_layers *l);           /* NULL is fine */
/* After the tasks were read; follows schedulers that are loaded and unloaded. */
void machine_layers_refresh(struct machine_layers *l, struct machine_tasks *t,
                            struct machine_log *log);
