#include "base/budget.h"

#include <stddef.h>

void budget_init(struct budget *b, uint64_t limit_bytes)
{
	b->limit_bytes = limit_bytes;
	atomic_init(&b->used_bytes, 0);
	atomic_init(&b->is_exceeded, false);
}

bool budget_take(struct budget *b, uint64_t bytes)
{
	uint64_t used;

	if (!b)
		return true;
	used = atomic_load(&b->used_bytes);
	do {
		if (used > b->limit_bytes || bytes > b->limit_bytes - used) {
			atomic_store(&b->is_exceeded, true);
			return false;
		}
	} while (!atomic_compare_exchange_weak(&b->used_bytes, &used, used + bytes));
	return true;
}

void budget_give(struct budget *b, uint64_t bytes)
{
	if (b)
		atomic_fetch_sub(&b->used_bytes, bytes);
}

bool budget_hold(struct budget *b, uint64_t *held, uint64_t bytes)
{
	if (bytes > *held && !budget_take(b, bytes - *held))
		return false;
	if (bytes < *held)
		budget_give(b, *held - bytes);
	*held = bytes;
	return true;
}

bool budget_is_exceeded(const struct budget *b)
{
	return b && atomic_load(&b->is_exceeded);
}

uint64_t budget_limit(const struct budget *b)
{
	return b ? b->limit_bytes : UINT64_MAX;
}
