/*
 * collect/stat/stat_changed — reading the lists of changed tasks (struct stat_changed) while programs
 * write them.
 *
 * A list is taken twice: when its epoch is over, and once more at the end of the next one, for what late programs have
 * written meanwhile; then it is reset, and the epoch after that fills it again. What was taken is removed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"

#define STAT_CHANGED_ROOM (2 * (size_t)STAT_CHANGED_MAX) /* both lists */

/* Returns how many; room for STAT_CHANGED_MAX of them. */
size_t stat_changed_take(struct stat_changed *list, uint32_t *tids);
/* Some tasks found no room: only a walk over all finds them. */
bool stat_changed_is_full(const struct stat_changed *list);
void stat_changed_reset(struct stat_changed *list);
