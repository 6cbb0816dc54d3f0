/* analyses/explain/explain_sleep — a sleep in plain sentences. */
#include <inttypes.h>
#include <stdio.h>

#include "abi/call.h"
#include "abi/event_check.h"
#include "analyses/explain/explain.h"
#include "analyses/explain/explain_sleep.h"
#include "analyses/sleep_ends.h"
#include "analyze/figures.h"
#include "base/text.h"
#include "model/interrupt.h"

#define TIME_BYTES    24
#define SMALL_PART    20 /* less than a 20th of the time is not worth words of its own */
#define MAX_LISTED    3  /* parts of a wait, calls */
#define MAX_SENTENCES 6  /* of tasks in the chain */

static const char *time_text(uint64_t ns, struct report *r)
{
	char buf[TIME_BYTES];

	return report_printf(r, "%s", text_duration(buf, sizeof(buf), ns));
}

/* "nginx (1234)", by the name that it had then. */
static const char *name_text(const struct source *s, uint32_t task, uint64_t ts_ns,
                             struct report *r)
{
	return report_printf(r, "%s (%" PRIu32 ")", source_comm_at(s, task, ts_ns),
	                     source_tid(s, task));
}

/* Calls whose first argument is a file that is open. */
static bool has_file(uint16_t call)
{
	switch (call) {
	case ABI_CALL_poll:
	case ABI_CALL_ppoll:
	case ABI_CALL_select:
	case ABI_CALL_pselect6:
		return false;
	case ABI_CALL_epoll_wait:
	case ABI_CALL_epoll_pwait:
	case ABI_CALL_epoll_pwait2:
	case ABI_CALL_fsync:
	case ABI_CALL_fdatasync:
	case ABI_CALL_syncfs:
	case ABI_CALL_sync_file_range:
	case ABI_CALL_flock:
	case ABI_CALL_io_uring_enter:
		return true;
	default:
		return call >= ABI_CALL_read && call <= ABI_CALL_connect;
	}
}

const char *explain_call_text(uint16_t call, uint64_t arg, struct report *r)
{
	const char *name = ev_call_name(call);

	if (!name)
		return NULL;
	if (call == ABI_CALL_futex)
		return report_printf(r, "futex(0x%" PRIx64 ")", arg);
	if (has_file(call))
		return report_printf(r, "%s(%" PRIu32 ")", name, (uint32_t)arg);
	return name;
}

/* " in fsync(3)"; "" where no more is known than that it slept. */
static const char *where_text(uint16_t call, const uint64_t *arg, struct report *r)
{
	switch (call) {
	case ABI_CALL_UNKNOWN:
		return "";
	case ABI_CALL_NONE:
		return " in no system call (a page fault or another exception)";
	case ABI_CALL_OTHER:
	case ABI_CALL_FOREIGN:
		return " in another system call";
	case ABI_CALL_KTHREAD:
		return " as a kernel thread";
	default:
		return report_printf(r, " in %s",
		                     arg ? explain_call_text(call, *arg, r) : ev_call_name(call));
	}
}

const char *explain_sleep_interrupt(const struct source *s, const struct pair_sleep *row,
                                    struct report *r)
{
	struct interrupt i = { .in = interrupt_context(row->flags, row->by), .by = row->by };
	char text[INTERRUPT_TEXT];

	if (row->is_open || !interrupt_is(i.in))
		return NULL;
	source_name_device(s, &i);
	if (row->dev)
		return report_printf(r, "%s (block I/O on %s was done)", interrupt_words(&i, text),
		                     figure_device(r, row->dev));
	return report_printf(r, "%s", interrupt_words(&i, text));
}

/* "the timer interrupt", "backup (99)"; NULL where it has not ended, or that is unknown. */
static const char *end_text(const struct source *s, const struct pair_sleep *row, struct report *r)
{
	const char *by = explain_sleep_interrupt(s, row, r);

	if (by || row->is_open || row->waker == TASKS_NONE)
		return by;
	by = name_text(s, row->waker, row->end_ns, r);
	if (explain_is_ended_by_task(row))
		return by;
	return report_printf(r, "%s or an interrupt during it (interrupts were not recorded)", by);
}

static void say(struct report *r, const char *sentence)
{
	report_string(r, NULL, sentence);
}

static void say_what(const struct source *s, const struct explain_sleep *e, struct report *r)
{
	const char *why = ev_call_name(e->call) ? sleep_for(e->call) : NULL;

	say(r, report_printf(r, "%s slept %s%s%s%s%s, from %s after the start%s.",
	                     name_text(s, e->sleep.task, e->from_ns, r),
	                     time_text(explain_sleep_ns(e), r),
	                     e->sleep.state == PAIR_SLEEP_D ? " uninterruptibly" : "",
	                     where_text(e->call, &e->sleep.arg, r), why ? ", for " : "",
	                     why ? why : "", time_text(e->sleep.start_ns - s->start_ns, r),
	                     e->sleep.is_open ? ", and still did at the end" : ""));
}

/* What it slept for, where no record says so. */
static void say_unknown(const struct source *s, const struct explain_sleep *e, struct report *r)
{
	if (e->call != ABI_CALL_UNKNOWN)
		return;
	say(r,
	    s->facts->kinds[EV_SLEEP]
	            ? "What it slept for is unknown: the record of it is missing."
	            : "What it slept for was not recorded: that takes record --events default,sleep.");
}

/* Which tasks had the futex, one after the other. */
static void say_holders(const struct source *s, const struct explain_sleep *e, struct report *r)
{
	const char *end = explain_is_ended_by_task(&e->sleep) ? ", and then released it" : "";
	const struct explain_holder *h = e->holders;
	const char *text;

	if (e->all_holders == 1 && e->held_ns == explain_sleep_ns(e)) {
		say(r, report_printf(r, "%s had it all that time%s.",
		                     name_text(s, h->task, h->to_ns, r), end));
		return;
	}
	text = report_printf(r, "%s had it for %s", name_text(s, h->task, h->to_ns, r),
	                     time_text(h->to_ns - h->from_ns, r));
	for (uint32_t i = 1; i < e->nr_holders; i++)
		text = report_printf(r, "%s, then %s for %s", text,
		                     name_text(s, h[i].task, h[i].to_ns, r),
		                     time_text(h[i].to_ns - h[i].from_ns, r));
	if (e->all_holders > e->nr_holders)
		say(r, report_printf(r, "%s; %u others had it for shorter times.", text,
		                     e->all_holders - e->nr_holders));
	else
		say(r, report_printf(r, "%s%s.", text, end));
}

static void say_end(const struct source *s, const struct explain_sleep *e, struct report *r)
{
	const char *interrupt = explain_sleep_interrupt(s, &e->sleep, r),
		   *by = end_text(s, &e->sleep, r);

	if (e->is_futex && e->nr_holders)
		say_holders(s, e, r);
	if (e->is_futex && e->sleep.is_open && !e->nr_holders)
		say(r, "No task was seen to release it.");
	if (e->sleep.is_open || (e->is_futex && explain_is_ended_by_task(&e->sleep)))
		return;
	if (e->is_futex && interrupt)
		say(r, report_printf(r, "It was ended by %s: a timeout, and not a release.",
		                     interrupt));
	else if (by)
		say(r, report_printf(r, "It was ended by %s.", by));
	else
		say(r, "What ended it is unknown.");
}

const char *explain_doing_part(const struct source *s, const struct explain_doing *d,
                               const struct explain_part *p, struct report *r)
{
	const char *text = explain_part_text(s, &d->parts, p, r);

	return p->kind == LEDGER_UNKNOWN ? report_printf(r, "for something %s", text) : text;
}

/* " (20.0ms behind hog (12) on CPU 0, 4.00ms throttled)", of the waits of a task. */
static const char *parts_text(const struct source *s, const struct explain_doing *d,
                              struct report *r)
{
	const struct explain_parts *parts = &d->parts;
	uint64_t wait = d->ns[DOING_WAIT];
	const char *text = "";

	for (uint32_t i = 0; i < parts->nr && i < MAX_LISTED; i++) {
		const struct explain_part *p = &parts->at[i];

		if (p->ns < wait / SMALL_PART)
			break;
		if (p->ns >= wait - wait / SMALL_PART)
			return report_printf(r, " (%s)", explain_doing_part(s, d, p, r));
		text = report_printf(r, "%s%s%s %s", text, i ? ", " : " (", time_text(p->ns, r),
		                     explain_doing_part(s, d, p, r));
	}
	return *text ? report_printf(r, "%s)", text) : "";
}

/* " in fsync(3), until the nvme0q1 interrupt"; only of one sleep it is known what ended it. */
static const char *one_call(const struct source *s, const struct explain_call *c, struct report *r)
{
	const char *by = c->nr == 1 ? explain_sleep_interrupt(s, &c->longest, r) : NULL;

	return report_printf(r, "%s%s%s",
	                     where_text(c->call, c->nr == 1 ? &c->longest.arg : NULL, r),
	                     by ? " until " : "", by ? by : "");
}

/* " in fsync(3)", or " (2.00ms in fsync(3), 1.00ms in read)". */
static const char *calls_text(const struct source *s, const struct explain_doing *d,
                              struct report *r)
{
	uint64_t all = d->ns[DOING_SLEEP];
	const char *text = "";

	for (uint32_t i = 0; i < d->nr_calls && i < MAX_LISTED; i++) {
		const struct explain_call *c = &d->calls[i];

		if (c->ns < all / SMALL_PART || c->call == ABI_CALL_UNKNOWN)
			break;
		if (c->ns >= all - all / SMALL_PART)
			return one_call(s, c, r);
		text = report_printf(r, "%s%s%s%s", text, i ? ", " : " (", time_text(c->ns, r),
		                     one_call(s, c, r));
	}
	return *text ? report_printf(r, "%s)", text) : "";
}

/* "waited 24.0ms (behind hog (12) on CPU 0), ran 5.00ms, slept 2.10ms in fsync(3)"; "" where nothing is known of it. */
static const char *doing_text(const struct source *s, const struct explain_doing *d,
                              struct report *r)
{
	static const char *const words[DOING_KINDS] = {
		[DOING_WAIT] = "waited", [DOING_RUN] = "ran", [DOING_SLEEP] = "slept"
	};
	static const uint8_t order[DOING_KINDS] = { DOING_WAIT, DOING_RUN, DOING_SLEEP };
	uint64_t all = d->to_ns - d->from_ns;
	const char *text = "";

	for (int i = 0; i < DOING_KINDS; i++) {
		uint8_t kind = order[i];
		const char *more = kind == DOING_WAIT    ? parts_text(s, d, r)
		                   : kind == DOING_SLEEP ? calls_text(s, d, r)
		                                         : "";

		if (!d->ns[kind] || d->ns[kind] < all / SMALL_PART)
			continue;
		text = report_printf(r, "%s%s%s %s%s%s", text, *text ? ", " : "", words[kind],
		                     d->ns[kind] == all ? "all that time"
		                                        : time_text(d->ns[kind], r),
		                     kind == DOING_WAIT ? " for a CPU" : "", more);
	}
	if (d->unknown_ns && d->unknown_ns >= all / SMALL_PART)
		text = report_printf(r, "%s%sdid for %s what was not recorded", text,
		                     *text ? ", " : "", time_text(d->unknown_ns, r));
	return text;
}

static void say_doing(const struct source *s, const struct explain_sleep *above,
                      const struct explain_node *n, struct report *r)
{
	const char *name = name_text(s, n->doing.task, n->doing.to_ns, r),
		   *how = doing_text(s, &n->doing, r),
		   *sleeper = name_text(s, above->sleep.task, above->from_ns, r),
		   *where = where_text(above->call, &above->sleep.arg, r);

	if (n->doing.is_born)
		name = report_printf(r, "%s, which was started then,", name);
	if (n->depth == 1)
		say(r, report_printf(r, "Meanwhile %s %s.", name, how));
	else if (n->kind == NODE_HOLDER)
		say(r,
		    report_printf(r, "While %s slept%s, %s had that for %s: it %s.", sleeper, where,
		                  name, time_text(n->doing.to_ns - n->doing.from_ns, r), how));
	else
		say(r, report_printf(r, "The sleep of %s%s was ended by %s, which meanwhile %s.",
		                     sleeper, where, name, how));
}

/* What the tasks did that the sleeper, and then they themselves, slept for. */
static void say_doings(const struct source *s, const struct explain_tree *t, struct report *r)
{
	const struct explain_sleep *above[EXPLAIN_MAX_DEPTH] = { 0 }; /* by depth */
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr && nr < MAX_SENTENCES; i++) {
		const struct explain_node *n = &t->nodes[i];

		if (n->kind == NODE_SLEEP) {
			above[n->depth] = &n->sleep;
			continue;
		}
		say_doing(s, above[n->depth - 1], n, r);
		nr++;
	}
}

void explain_sleep_sentences(const struct source *s, const struct explain_tree *t, struct report *r)
{
	const struct explain_sleep *e = &t->nodes[0].sleep;

	say_what(s, e, r);
	say_unknown(s, e, r);
	say_end(s, e, r);
	say_doings(s, t, r);
}

const char *explain_node_text(const struct source *s, const struct explain_node *n,
                              struct report *r)
{
	const struct explain_sleep *e = &n->sleep;
	const struct explain_doing *d = &n->doing;
	const char *text, *by;

	if (n->kind != NODE_SLEEP)
		return report_printf(r, "%s%s %s%s%s", name_text(s, d->task, d->to_ns, r),
		                     d->is_born ? ", started meanwhile," : "",
		                     n->kind == NODE_HOLDER ? "had it for " : "ended it",
		                     n->kind == NODE_HOLDER ? time_text(d->to_ns - d->from_ns, r)
		                                            : "",
		                     n->is_repeated ? " (it is above)" : "");
	by = explain_is_ended_by_task(&e->sleep) ? NULL : end_text(s, &e->sleep, r);
	text = report_printf(r, "%s slept %s%s", name_text(s, e->sleep.task, e->from_ns, r),
	                     time_text(n->sum_ns, r),
	                     where_text(e->call, n->nr_sleeps == 1 ? &e->sleep.arg : NULL, r));
	if (n->nr_sleeps > 1)
		text = report_printf(r, "%s, %u times; the longest %s", text, n->nr_sleeps,
		                     time_text(explain_sleep_ns(e), r));
	return by ? report_printf(r, "%s until %s", text, by) : text;
}
