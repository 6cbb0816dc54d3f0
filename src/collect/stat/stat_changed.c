#include "collect/stat_news.h"

static uint32_t nr_of(const struct stat_news *list)
{
	return __atomic_load_n(&list->nr, __ATOMIC_ACQUIRE);
}

size_t stat_news_take(struct stat_news *list, uint32_t *tids)
{
	uint32_t nr = nr_of(list);
	size_t taken = 0;

	for (uint32_t i = 0; i < nr && i < STAT_NEWS; i++) {
		uint32_t tid = __atomic_exchange_n(&list->tids[i], 0, __ATOMIC_ACQ_REL);

		if (tid)
			tids[taken++] = tid;
	}
	return taken;
}

bool stat_news_is_full(const struct stat_news *list)
{
	return nr_of(list) > STAT_NEWS;
}

void stat_news_reset(struct stat_news *list)
{
	__atomic_store_n(&list->nr, 0, __ATOMIC_RELEASE);
}
