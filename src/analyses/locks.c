/* Locks of user space on which tasks sleep (analyses/lock_sums): those whose waiters were held up longest first. */
#include <errno.h>
#include <stddef.h>

#include "analyses/lock_sums.h"
#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define MAX_HOLDERS 5 /* of one lock */

struct locks {
	struct scope sc;
	struct lock_sums sums;
};

static void done(void *work)
{
	struct locks *x = work;

	lock_sums_done(&x->sums);
}

static int collect(void *work)
{
	struct locks *x = work;

	return lock_sums_collect(&x->sums, &x->sc);
}

static void show_waiters(const struct locks *x, uint32_t lock, struct report *r)
{
	const struct edge *at;
	uint32_t nr = lock_sums_waiters(&x->sums, lock, &at);

	report_u64(r, "waiters", nr);
	report_begin_object(r, "longest_waiter");
	task_report(x->sc.s, r, nr ? at->to : TASKS_NONE);
	report_end_object(r);
}

/* pid and comm are null for the time after which no task released it. */
static void show_holders(const struct locks *x, uint32_t lock, struct report *r)
{
	const struct edge *at;
	uint32_t nr = lock_sums_holders(&x->sums, lock, &at);

	report_begin_array(r, "held_by");
	for (uint32_t i = 0; i < nr && i < MAX_HOLDERS; i++) {
		report_begin_object(r, NULL);
		task_report(x->sc.s, r, at[i].to);
		report_u64(r, "releases", at[i].to == TASKS_NONE ? 0 : at[i].count);
		report_u64(r, "sleep_ns", at[i].sum_ns);
		report_percent(r, "percent", at[i].sum_ns, x->sums.locks[lock].ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_lock(const struct locks *x, uint32_t at, struct report *r)
{
	const struct lock *lock = &x->sums.locks[at];

	report_u64(r, "tgid", lock->key.process);
	report_string(r, "futex",
	              report_printf(r, "0x%llx", (unsigned long long)lock->key.address));
	report_u64(r, "sleeps", lock->nr);
	report_u64(r, "sleep_ns", lock->ns);
	report_u64(r, "held_ns", lock->held_ns);
	report_u64(r, "max_sleep_ns", lock->max_ns);
	report_u64(r, "timeouts", lock->nr_timeouts);
	report_u64(r, "still_waiting", lock->nr_open);
	show_waiters(x, at, r);
	show_holders(x, at, r);
}

static int show(void *work, struct report *r)
{
	struct locks *x = work;
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_locks, x->sc.args) };
	uint64_t all_ns = 0, held_ns = 0;

	for (uint32_t i = 0; i < x->sums.nr; i++) {
		all_ns += x->sums.locks[i].ns;
		held_ns += x->sums.locks[i].held_ns;
		/* A wait that only a timer ends is for the time, and not for another task. */
		top_add(&top, x->sums.locks[i].held_ns, i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	report_u64(r, "sleep_ns", all_ns);
	report_u64(r, "held_ns", held_ns);
	report_u64(r, "total_locks", x->sums.nr);
	for (uint32_t i = 0; top_row(&top, i, r, "locks"); i++)
		show_lock(x, (uint32_t)top.entries[i].id, r);
	return 0;
}

const struct pass pass_locks = {
	.id = "locks",
	.name = "Locks",
	.category = "scheduling",
	.what = "futexes on which tasks sleep: who waits for each, and who held it",
	.needs = EV_BIT(EV_SWITCH) | EV_BIT(EV_SLEEP),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 2,
	.work = { .size = sizeof(struct locks), .collect = collect, .show = show, .done = done },
};
