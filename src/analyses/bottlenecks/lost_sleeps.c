/*
 * Time lost asleep: behind locks of user space, and in uninterruptible sleeps.
 *
 * A futex may be a lock, or a condition for which an idle worker waits as it should. It is a lock for us, and lost time,
 * where it is waited for as mutexes are, and where tasks that waited for it pass it on: at least one release in four is by
 * a task that waits for it at other times. Other sleeps are lost only where the task could not even be interrupted: it
 * waits for a device, for the kernel, or for memory. Threads of the kernel sleep so when they have nothing to do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/call.h"
#include "abi/event_check.h"
#include "analyses/bottlenecks/findings.h"
#include "analyses/lock_sums.h"
#include "analyses/sleep_ends.h"
#include "base/cleanup.h"
#include "base/text.h"

#define TIME_BYTES  24
#define MAX_NAMED   2
#define SMALL_CAUSE 20 /* less than a 20th is not worth words */

/* The arguments that explain it. */
static const char *explain_sleep(const struct findings *f, const struct pair_sleep *s)
{
	return report_printf(f->r, "explain FILE --tid %" PRIu32 " --at @%" PRIu64,
	                     source_tid(f->sc->s, s->task),
	                     s->start_ns + (s->end_ns - s->start_ns) / 2);
}

static bool waits_for(const struct edge *waiters, uint32_t nr, uint32_t task)
{
	for (uint32_t i = 0; i < nr; i++)
		if (waiters[i].to == task)
			return true;
	return false;
}

static bool is_lock(const struct lock_sums *x, uint32_t lock)
{
	const struct edge *waiters, *holders;
	uint32_t nr_waiters = lock_sums_waiters(x, lock, &waiters);
	uint32_t nr_holders = lock_sums_holders(x, lock, &holders);
	uint64_t nr = 0, nr_own = 0;

	for (uint32_t i = 0; i < nr_holders; i++) {
		if (holders[i].to == TASKS_NONE)
			continue;
		nr += holders[i].count;
		if (waits_for(waiters, nr_waiters, holders[i].to))
			nr_own += holders[i].count;
	}
	return x->locks[lock].nr_for_lock * 2 > x->locks[lock].nr && nr_own && nr_own * 4 >= nr;
}

static const char *holders_text(const struct findings *f, const struct lock_sums *x, uint32_t lock)
{
	const struct edge *at;
	uint32_t nr = lock_sums_holders(x, lock, &at), nr_named = 0;
	const char *text = "";
	char t[TIME_BYTES];

	for (uint32_t i = 0; i < nr && nr_named < MAX_NAMED; i++) {
		if (at[i].to == TASKS_NONE || at[i].sum_ns < x->locks[lock].ns / SMALL_CAUSE)
			continue;
		text = report_printf(f->r, "%s%s %s (%" PRIu32 ") for %s", text,
		                     nr_named++ ? "," : " while it was held by",
		                     source_comm(f->sc->s, at[i].to),
		                     source_tid(f->sc->s, at[i].to),
		                     text_duration(t, sizeof(t), at[i].sum_ns));
	}
	return text;
}

static int add_lock(struct findings *f, const struct lock_sums *x, uint32_t at)
{
	const struct lock *lock = &x->locks[at];
	const struct edge *waiters;
	uint32_t nr = lock_sums_waiters(x, at, &waiters), tid = source_tid(f->sc->s, waiters->to);
	char t[TIME_BYTES], more[24] = "";

	if (nr > 1)
		snprintf(more, sizeof(more), " and %u others", nr - 1);
	text_duration(t, sizeof(t), lock->held_ns);
	return findings_add(
		f, &(struct finding){
			   .kind = "lock",
			   .cause = "lock",
			   .confidence = CONFIDENCE_LIKELY, /* that it is a lock */
			   .task = waiters->to,
			   .lost_ns = lock->held_ns,
			   .first_ns = lock->longest.start_ns,
			   .last_ns = lock->longest.end_ns,
			   .description = report_printf(
				   f->r, "%s (%" PRIu32 ")%s slept %s for the lock at 0x%llx%s",
				   source_comm(f->sc->s, waiters->to), tid, more, t,
				   (unsigned long long)lock->key.address, holders_text(f, x, at)),
			   .remedy = "hold the lock for less time, or split what it protects",
			   .next = explain_sleep(f, &lock->longest) });
}

int find_locks(struct findings *f)
{
	struct lock_sums x = { 0 };
	int err;

	if (!f->sc->s->facts->kinds[EV_SLEEP])
		return 0; /* no sleep says in which call it is */
	err = lock_sums_collect(&x, f->sc);
	for (uint32_t i = 0; !err && i < x.nr; i++)
		if (findings_count(f, x.locks[i].held_ns) && is_lock(&x, i))
			err = add_lock(f, &x, i);
	lock_sums_done(&x);
	return err;
}

struct blocked {
	uint64_t ns;
	uint64_t nr;
	uint64_t max_ns;
	struct pair_sleep longest;
	uint32_t nr_tasks;
};

struct blocked_work {
	struct blocked *units;
	uint8_t *is_seen;   /* by task */
	struct edges calls; /* by unit, to the call */
};

/* A parent that waits for its own child to execute a program is not held up by the machine. */
static bool is_blocked(const struct findings *f, const struct pair_sleep *s)
{
	const struct task *t = tasks_at(f->sc->s->tasks, s->task);

	return s->state == PAIR_SLEEP_D && t && t->tid && !t->is_kthread &&
	       s->call != ABI_CALL_vfork;
}

static int take(struct blocked_work *x, const struct findings *f, const struct pair_sleep *s)
{
	uint32_t unit = units_of(f->units, s->task);
	struct blocked *b = &x->units[unit];
	uint64_t ns = scope_cut(f->sc, s->start_ns, s->end_ns);

	b->ns += ns;
	b->nr++;
	b->nr_tasks += !x->is_seen[s->task];
	x->is_seen[s->task] = 1;
	if (ns > b->max_ns || !b->max_ns) {
		b->max_ns = ns;
		b->longest = *s;
	}
	return edges_add(&x->calls, unit, s->call, ns);
}

static const char *calls_text(const struct findings *f, const struct blocked_work *x, uint32_t unit)
{
	const struct edge *at;
	uint32_t nr_calls = edges_of(&x->calls, unit, &at), nr = 0;
	const char *text = "";
	char t[TIME_BYTES];

	for (uint32_t i = 0; i < nr_calls && nr < MAX_NAMED; i++) {
		uint16_t call = (uint16_t)at[i].to;
		const char *name = ev_call_name(call), *what = sleep_for(call);

		if (!call || (nr && at[i].sum_ns < x->units[unit].ns / SMALL_CAUSE))
			continue;
		text = report_printf(f->r, "%s%s %s", text, nr++ ? "," : ":",
		                     text_duration(t, sizeof(t), at[i].sum_ns));
		if (call == ABI_CALL_NONE)
			text = report_printf(f->r, "%s in page faults or other exceptions", text);
		else if (name)
			text = report_printf(f->r, "%s in %s%s%s%s", text, name, what ? " (" : "",
			                     what ? what : "", what ? ")" : "");
		else
			text = report_printf(f->r, "%s in another system call", text);
	}
	return text;
}

/* The call in which most of the time was lost; 0 = unknown. */
static uint32_t main_call(const struct blocked_work *x, uint32_t unit)
{
	const struct edge *at;

	edges_of(&x->calls, unit, &at);
	return at->to;
}

static bool is_sync(uint32_t call)
{
	return call == ABI_CALL_fsync || call == ABI_CALL_fdatasync || call == ABI_CALL_sync ||
	       call == ABI_CALL_syncfs || call == ABI_CALL_sync_file_range ||
	       call == ABI_CALL_msync;
}

static const char *blocked_in(const struct blocked_work *x, uint32_t unit)
{
	uint32_t call = main_call(x, unit);

	if (!call)
		return "unknown";
	return call == ABI_CALL_NONE ? "page_faults" : is_sync(call) ? "disk_sync" : "blocked";
}

static const char *remedy(const struct blocked_work *x, uint32_t unit)
{
	uint32_t call = main_call(x, unit);

	if (is_sync(call))
		return "write out less often, in another thread, or to a faster disk";
	switch (call) {
	case 0:
		return "record with --events default,sleep to see what for";
	case ABI_CALL_NONE:
		return "keep what it touches in memory (mlock, more memory, read ahead)";
	default:
		return "record with --stacks=off-cpu to see where in the kernel it sleeps";
	}
}

static int add_blocked(struct findings *f, const struct blocked_work *x, uint32_t unit)
{
	const struct blocked *b = &x->units[unit];
	uint32_t task = b->longest.task;
	char t[TIME_BYTES], longest[TIME_BYTES];
	const char *who;

	if (b->nr_tasks > 1)
		who = report_printf(f->r, "%s (%u tasks)", source_comm(f->sc->s, task),
		                    b->nr_tasks);
	else
		who = report_printf(f->r, "%s (%" PRIu32 ")", source_comm(f->sc->s, task),
		                    source_tid(f->sc->s, task));
	return findings_add(f, &(struct finding){
				       .kind = "blocked",
				       .cause = blocked_in(x, unit),
				       .confidence = main_call(x, unit) ? CONFIDENCE_PROVED
	                                                                : CONFIDENCE_UNKNOWN,
				       .task = task,
				       .lost_ns = b->ns,
				       .first_ns = b->longest.start_ns,
				       .last_ns = b->longest.end_ns,
				       .description = report_printf(
					       f->r, "%s was blocked for %s%s; longest %s", who,
					       text_duration(t, sizeof(t), b->ns),
					       calls_text(f, x, unit),
					       text_duration(longest, sizeof(longest), b->max_ns)),
				       .remedy = remedy(x, unit),
				       .next = explain_sleep(f, &b->longest) });
}

static int collect_blocked(struct blocked_work *x, const struct findings *f)
{
	struct rows it = { .sc = f->sc };
	struct pair_sleep s;
	int err;

	x->units = calloc(f->units->nr ? f->units->nr : 1, sizeof(*x->units));
	x->is_seen = calloc(f->sc->nr_tasks ? f->sc->nr_tasks : 1, 1);
	err = x->units && x->is_seen ? edges_init(&x->calls) : -ENOMEM;
	while (!err && rows_sleep(&it, &s))
		if (s.task < f->sc->nr_tasks && is_blocked(f, &s))
			err = take(x, f, &s);
	edges_sort(&x->calls);
	return err;
}

int find_blocked(struct findings *f)
{
	struct blocked_work x = { 0 };
	int err = collect_blocked(&x, f);

	for (uint32_t i = 0; !err && i < f->units->nr; i++)
		if (findings_count(f, x.units[i].ns))
			err = add_blocked(f, &x, i);
	free(x.units);
	free(x.is_seen);
	edges_done(&x.calls);
	return err;
}
