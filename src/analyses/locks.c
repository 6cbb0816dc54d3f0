/* Futexes and locks of the kernel on which tasks sleep (analyses/lock_sums): those whose waiters were held up longest first. */
#include <errno.h>
#include <stddef.h>

#include "abi/event_check.h"
#include "analyses/lock_sums.h"
#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define MAX_HOLDERS 5 /* of one lock */

struct locks {
	struct scope sc;
	struct lock_sums futexes, kernel;
};

static void done(void *work)
{
	struct locks *x = work;

	lock_sums_done(&x->futexes);
	lock_sums_done(&x->kernel);
}

static int collect(void *work)
{
	struct locks *x = work;
	int err = lock_sums_collect(&x->futexes, &x->sc);

	return err ? err : lock_sums_collect_kernel(&x->kernel, &x->sc);
}

static void show_waiters(const struct lock_sums *x, uint32_t lock, struct report *r)
{
	const struct edge *at;
	uint32_t nr = lock_sums_waiters(x, lock, &at);

	report_u64(r, "waiters", nr);
	report_begin_object(r, "longest_waiter");
	task_report(x->sc->s, r, nr ? at->to : TASKS_NONE);
	report_end_object(r);
}

/* pid and comm are null for the time after which no task released it. */
static void show_holders(const struct lock_sums *x, uint32_t lock, struct report *r)
{
	const struct edge *at;
	uint32_t nr = lock_sums_holders(x, lock, &at);

	report_begin_array(r, "held_by");
	for (uint32_t i = 0; i < nr && i < MAX_HOLDERS; i++) {
		report_begin_object(r, NULL);
		task_report(x->sc->s, r, at[i].to);
		report_u64(r, "releases", at[i].to == TASKS_NONE ? 0 : at[i].count);
		report_u64(r, "sleep_ns", at[i].sum_ns);
		report_percent(r, "percent", at[i].sum_ns, x->locks[lock].ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_futex(const struct lock_sums *x, uint32_t at, struct report *r)
{
	const struct lock *lock = &x->locks[at];

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

static int show_futexes(const struct lock_sums *x, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_locks, x->sc->args) };
	uint64_t all_ns = 0, held_ns = 0;

	if (!x->sc->s->facts->kinds[EV_SLEEP])
		return 0;
	for (uint32_t i = 0; i < x->nr; i++) {
		all_ns += x->locks[i].ns;
		held_ns += x->locks[i].held_ns;
		/* A wait that only a timer ends is for the time, and not for another task. */
		top_add(&top, x->locks[i].held_ns, i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "sleep_ns", all_ns);
	report_u64(r, "held_ns", held_ns);
	report_u64(r, "total_locks", x->nr);
	for (uint32_t i = 0; top_row(&top, i, r, "locks"); i++)
		show_futex(x, (uint32_t)top.entries[i].id, r);
	return 0;
}

static void show_kernel_lock(const struct lock_sums *x, uint32_t at, struct report *r)
{
	const struct lock *lock = &x->locks[at];

	report_string(r, "lock", report_printf(r, "0x%llx", (unsigned long long)lock->key.address));
	report_string(r, "type", ev_lock_name(lock->type));
	report_u64(r, "waits", lock->nr);
	report_u64(r, "wait_ns", lock->ns);
	report_u64(r, "held_ns", lock->held_ns);
	report_u64(r, "max_wait_ns", lock->max_ns);
	show_waiters(x, at, r);
	show_holders(x, at, r);
}

/* Those with the most time, where waits for them were recorded. */
static int show_kernel_locks(const struct lock_sums *x, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_locks, x->sc->args) };
	uint64_t ns = 0;

	if (!x->sc->s->facts->kinds[EV_LOCK])
		return 0;
	for (uint32_t i = 0; i < x->nr; i++) {
		ns += x->locks[i].ns;
		top_add(&top, x->locks[i].ns, i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_kernel_locks", x->nr);
	report_u64(r, "kernel_wait_ns", ns);
	for (uint32_t i = 0; top_row(&top, i, r, "kernel_locks"); i++)
		show_kernel_lock(x, (uint32_t)top.entries[i].id, r);
	return 0;
}

static int show(void *work, struct report *r)
{
	struct locks *x = work;
	int err;

	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	err = show_futexes(&x->futexes, r);
	return err ? err : show_kernel_locks(&x->kernel, r);
}

const struct pass pass_locks = {
	.id = "locks",
	.name = "Locks",
	.category = "scheduling",
	.what = "futexes and locks of the kernel: who waits for each, and who held it",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_SLEEP) | EV_BIT(EV_LOCK),
	.cost = 2,
	.work = { .size = sizeof(struct locks), .collect = collect, .show = show, .done = done },
};
