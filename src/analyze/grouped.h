/*
 * analyze/grouped — numbers that belong to tasks or CPUs: collected in any order, then the samples of each.
 *
 * As much memory as numbers, however many keys there are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/samples.h"
#include "base/attr.h"

struct grouped {
	uint32_t *keys;
	uint64_t *values;
	size_t nr;
	size_t capacity;
	size_t *starts; /* by key, once put in order */
	uint32_t nr_keys;
	bool has_failed; /* without memory */
};

/* A zeroed struct is empty. Keys must be below the number passed to grouped_order(). */
void grouped_add(struct grouped *g, uint32_t key, uint64_t value);
/* Numbers of each key next to each other. -ENOMEM, also for what could not be added. */
MUST_USE int grouped_order(struct grouped *g, uint32_t nr_keys);
/* Lent: not to be freed, valid as long as g; its sorting stays within. Empty for other keys. */
struct samples grouped_at(const struct grouped *g, uint32_t key);
void grouped_done(struct grouped *g);
