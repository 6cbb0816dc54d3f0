/*
 * Where the time of one thread went while it waited for a CPU, the longest of those waits, and what it slept for. Of a wait or
 * a sleep the part within the time asked for counts, as in `blame` and `sleeps`; what the work takes depends on that time, not
 * on the recording.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi/event_check.h"
#include "analyses/explain/explain.h"
#include "analyses/sleep_ends.h"
#include "analyze/figures.h"
#include "base/grow.h"

#define SMALL_PART 100 /* less than a hundredth of the waits has no name of its own */

/* What it slept for: a system call, or a request to a disk. */
struct reason {
	uint64_t ns;
	uint32_t nr;
	uint32_t dev; /* 0 = not for a disk */
	uint16_t call;
};

struct thread {
	const struct source *s;
	uint32_t tid;
	uint64_t from_ns, to_ns;
	uint64_t ledger_ns; /* when the first of its waits began, or before */
	struct ledger *l;
	struct gathered_parts parts;
	uint64_t wait_ns, nr_waits;
	struct pair_wait longest;
	uint64_t longest_ns; /* of it, within the time */
	struct reason *reasons;
	uint32_t nr_reasons, room_reasons;
	uint64_t sleep_ns, nr_sleeps;
};

static uint64_t cut(const struct thread *x, uint64_t *start_ns, uint64_t *end_ns)
{
	if (*start_ns < x->from_ns)
		*start_ns = x->from_ns;
	if (*end_ns > x->to_ns)
		*end_ns = x->to_ns;
	return *start_ns < *end_ns ? *end_ns - *start_ns : 0;
}

static int see_wait(struct thread *x, const union timeline_row *row)
{
	uint64_t start_ns = pair_wait_woken_ns(&row->wait);

	if (start_ns < x->ledger_ns)
		x->ledger_ns = start_ns;
	return 0;
}

static int add_wait(struct thread *x, const union timeline_row *row)
{
	uint64_t start_ns = pair_wait_woken_ns(&row->wait), end_ns = row->wait.end_ns;
	uint64_t ns = cut(x, &start_ns, &end_ns);
	struct ledger_walk walk;
	struct ledger_part part;
	int err = ns ? ledger_begin(x->l, &row->wait, &walk) : 0;

	if (err || !ns)
		return err;
	x->wait_ns += ns;
	x->nr_waits++;
	if (ns > x->longest_ns) {
		x->longest_ns = ns;
		x->longest = row->wait;
	}
	while (!err && ledger_next(&walk, &part))
		if (cut(x, &part.start_ns, &part.end_ns))
			err = parts_add(&x->parts, &part);
	return err;
}

static int add_sleep(struct thread *x, const union timeline_row *row)
{
	uint64_t start_ns = row->sleep.start_ns, end_ns = row->sleep.end_ns;
	uint64_t ns = cut(x, &start_ns, &end_ns);
	struct reason one = { .dev = row->sleep.dev };
	uint32_t i = 0;

	if (!one.dev)
		one.call = sleep_call(x->s, &row->sleep);
	while (i < x->nr_reasons &&
	       (x->reasons[i].dev != one.dev || x->reasons[i].call != one.call))
		i++;
	if (i == x->nr_reasons) {
		if (GROW(x->reasons, x->room_reasons, x->nr_reasons))
			return -ENOMEM;
		x->reasons[x->nr_reasons++] = one;
	}
	x->reasons[i].ns += ns;
	x->reasons[i].nr++;
	x->sleep_ns += ns;
	x->nr_sleeps++;
	return 0;
}

/* The rows of the thread in a table; a tid may have been that of several tasks. */
static int each_row(struct thread *x, enum timeline_table table,
                    int (*take)(struct thread *x, const union timeline_row *row))
{
	struct timeline_query q = {
		.table = table, .cpu = TIMELINE_ANY_CPU, .from_ns = x->from_ns, .to_ns = x->to_ns
	};
	struct timeline_iter it;
	union timeline_row row;
	int err = 0;

	for (q.task = 0; q.task < tasks_nr(x->s->tasks) && !err; q.task++) {
		if (source_tid(x->s, q.task) != x->tid)
			continue;
		err = timeline_find(x->s->timeline, &q, &it);
		while (!err && timeline_next(&it, NULL, &row))
			err = take(x, &row);
	}
	return err;
}

/* The ledger is of the time that the waits cover. */
static int collect(struct thread *x)
{
	int err = each_row(x, TIMELINE_WAIT, see_wait);

	if (!err)
		err = explain_ledger(x->s, x->ledger_ns, x->to_ns, &x->l);
	if (!err)
		err = each_row(x, TIMELINE_WAIT, add_wait);
	if (!err && x->s->facts->kinds[EV_SLEEP])
		err = each_row(x, TIMELINE_SLEEP, add_sleep);
	return err;
}

/* Several that are less than a hundredth each are one, with those that found no room. */
static void join_small(const struct thread *x, struct explain_parts *all)
{
	struct explain_part others = { .cpu = PAIR_NO_CPU, .kind = LEDGER_KINDS };
	uint32_t kept = 0;

	while (kept < all->nr && all->at[kept].kind != LEDGER_KINDS &&
	       all->at[kept].ns >= x->wait_ns / SMALL_PART)
		kept++;
	if (all->nr - kept < 2)
		return;
	for (uint32_t i = kept; i < all->nr; i++) {
		others.ns += all->at[i].ns;
		all->nr_others += all->at[i].kind != LEDGER_KINDS;
	}
	all->at[kept] = others;
	all->nr = kept + 1;
}

static void show_parts(struct thread *x, struct report *r)
{
	struct explain_parts all;

	parts_keep(&x->parts, &all);
	join_small(x, &all);
	report_u64(r, "waits", x->nr_waits);
	report_u64(r, "wait_ns", x->wait_ns);
	report_begin_array(r, "parts");
	for (uint32_t i = 0; i < all.nr; i++) {
		report_begin_object(r, NULL);
		report_string(r, "kind", explain_kind(all.at[i].kind));
		report_string(r, "name", explain_part_name(x->s, &all, &all.at[i], r));
		report_u64(r, "ns", all.at[i].ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int by_time(const void *a, const void *b)
{
	const struct reason *left = a, *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

static const char *reason_text(const struct reason *x, struct report *r)
{
	const char *what = x->dev ? figure_device(r, x->dev) : sleep_for(x->call);

	if (x->dev)
		return report_printf(r, "block I/O on %s", what);
	if (what)
		return what;
	return x->call ? ev_call_name(x->call) : "unknown";
}

/* Null where it was not recorded. */
static void show_sleeps(struct thread *x, struct report *r)
{
	if (!x->s->facts->kinds[EV_SLEEP]) {
		report_null(r, "reasons");
		return;
	}
	if (x->nr_reasons)
		qsort(x->reasons, x->nr_reasons, sizeof(*x->reasons), by_time);
	report_u64(r, "sleeps", x->nr_sleeps);
	report_u64(r, "sleep_ns", x->sleep_ns);
	report_begin_array(r, "reasons");
	for (uint32_t i = 0; i < x->nr_reasons; i++) {
		report_begin_object(r, NULL);
		report_string(r, "for", reason_text(&x->reasons[i], r));
		report_u64(r, "sleeps", x->reasons[i].nr);
		report_u64(r, "sleep_ns", x->reasons[i].ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show(struct thread *x, struct report *r)
{
	int err;

	show_parts(x, r);
	report_begin_array(r, "longest");
	err = explain_show_waits(x->s, &x->longest, x->longest_ns ? 1 : 0, PASS_BY_DEFAULT, r);
	report_end_array(r);
	show_sleeps(x, r);
	return err;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	struct thread x = { .s = s, .tid = args->tid, .from_ns = s->start_ns, .to_ns = s->end_ns };
	int err = 0;

	if (!pass_cut(s, args, &x.from_ns, &x.to_ns))
		x.to_ns = x.from_ns;
	x.ledger_ns = x.from_ns;
	x.parts = (struct gathered_parts){ .s = s, .names_ns = x.to_ns, .is_anywhere = true };
	if (x.from_ns < x.to_ns)
		err = collect(&x);
	if (!err)
		err = show(&x, r);
	ledger_free(x.l);
	parts_done(&x.parts);
	free(x.reasons);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_thread = {
	.id = "thread",
	.name = "One Thread",
	.category = "extended",
	.what = "what one thread waited and slept for, and its longest wait",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 2,
	.is_single = true,
	.run = run,
};
