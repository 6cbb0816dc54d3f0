#include "collect/stat/stat_changed.h"

static uint32_t nr_of(const struct stat_changed *list)
{
	return __atomic_load_n(&list->nr, __ATOMIC_ACQUIRE);
}

size_t stat_changed_take(struct stat_changed *list, uint32_t *tids)
{
	uint32_t nr = nr_of(list);
	size_t taken = 0;

	for (uint32_t i = 0; i < nr && i < STAT_CHANGED_MAX; i++) {
		uint32_t tid = __atomic_exchange_n(&list->tids[i], 0, __ATOMIC_ACQ_REL);

		if (tid)
			tids[taken++] = tid;
	}
	return taken;
}

bool stat_changed_is_full(const struct stat_changed *list)
{
	return nr_of(list) > STAT_CHANGED_MAX;
}

void stat_changed_reset(struct stat_changed *list)
{
	__atomic_store_n(&list->nr, 0, __ATOMIC_RELEASE);
}
