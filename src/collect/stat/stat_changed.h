/*
 * collect/stat_news — reading the lists of tasks with news (struct stat_news) while programs write them.
 *
 * A list is taken twice: when its epoch is over, and once more at the end of the next one, for what late programs have
 * written meanwhile; then it is reset, and the epoch after that fills it anew. What was taken is not there any more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"

#define STAT_NEWS_ROOM (2 * (size_t)STAT_NEWS) /* both lists */

/* Returns how many; room for STAT_NEWS of them. */
size_t stat_news_take(struct stat_news *list, uint32_t *tids);
/* Some tasks found no room: only a walk over all finds them. */
bool stat_news_is_full(const struct stat_news *list);
void stat_news_reset(struct stat_news *list);
