/*
 * What happened to a thread, or to all threads of a process, event by event in the order of time. Preempted is every
 * switch-out, as clients of scxtop know it; is_voluntary marks those that are not preemptions.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/walk.h"
#include "base/grow.h"

/* In the order in which they happen at one moment. */
enum happening { PREEMPTED, WOKEN, MIGRATED, SCHEDULED, FORKED, EXITED };

struct happened {
	uint64_t ts_ns;
	uint32_t task;
	uint32_t other; /* task: waker or child; CPU that it left; state of a switch-out */
	uint32_t cpu;
	uint16_t what; /* enum happening */
	bool is_voluntary;
};

struct happenings {
	struct scope sc;
	struct happened *at;
	size_t nr, capacity;
	bool has_failed;
};

static void done(void *work)
{
	struct happenings *x = work;

	free(x->at);
}

static void add(struct happenings *x, const struct happened *h)
{
	if (!scope_has(&x->sc, h->ts_ns))
		return;
	if (GROW(x->at, x->capacity, x->nr)) {
		x->has_failed = true;
		return;
	}
	x->at[x->nr++] = *h;
}

static void collect_slices(struct happenings *x)
{
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SLICE };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		const struct pair_slice *s = &row->slice;

		add(x, &(struct happened){ s->start_ns, s->task, 0, s->cpu, SCHEDULED, false });
		if (s->end != PAIR_END_OPEN)
			add(x, &(struct happened){ s->end_ns, s->task, s->state_bits, s->cpu,
			                           PREEMPTED, s->end != PAIR_END_RUNNABLE });
	}
}

static void collect_rest(struct happenings *x)
{
	struct walk wakeups = { .sc = &x->sc, .table = TIMELINE_WAKEUP };
	struct walk moves = { .sc = &x->sc, .table = TIMELINE_MIGRATION };
	struct walk marks = { .sc = &x->sc,
		              .table = TIMELINE_MARK,
		              .kinds = EV_BIT(EV_FORK) | EV_BIT(EV_EXIT) };
	const union timeline_row *row;

	while ((row = walk_next(&wakeups)))
		add(x, &(struct happened){ row->wakeup.ts_ns, row->wakeup.task, row->wakeup.waker,
		                           row->wakeup.cpu, WOKEN, false });
	while ((row = walk_next(&moves)))
		add(x, &(struct happened){ row->migration.ts_ns, row->migration.task,
		                           row->migration.from_cpu, row->migration.to_cpu, MIGRATED,
		                           false });
	while ((row = walk_next(&marks)))
		add(x, &(struct happened){ row->mark.ts_ns, row->mark.task,
		                           (uint32_t)row->mark.value, row->mark.cpu,
		                           row->mark.kind == EV_FORK ? FORKED : EXITED, false });
}

static int by_time(const void *a, const void *b)
{
	const struct happened *left = a, *right = b;

	if (left->ts_ns != right->ts_ns)
		return left->ts_ns < right->ts_ns ? -1 : 1;
	return (int)left->what - (int)right->what;
}

static void show_details(const struct source *s, const struct happened *h, struct report *r)
{
	switch ((enum happening)h->what) {
	case SCHEDULED:
		report_u64(r, "cpu", h->cpu);
		break;
	case PREEMPTED:
		report_u64(r, "cpu", h->cpu);
		report_u64(r, "state", h->other);
		report_bool(r, "is_voluntary", h->is_voluntary);
		break;
	case WOKEN:
		if (h->other == TASKS_NONE)
			report_null(r, "by_pid");
		else
			report_u64(r, "by_pid", source_tid(s, h->other));
		break;
	case MIGRATED:
		report_u64(r, "from_cpu", h->other);
		report_u64(r, "to_cpu", h->cpu);
		break;
	case FORKED:
		report_u64(r, "child_pid", source_tid(s, h->other));
		break;
	case EXITED:
		break;
	}
}

static void show_one(const struct source *s, const struct happened *h, struct report *r)
{
	static const char *const keys[] = { "Preempted", "Woken",  "Migrated",
		                            "Scheduled", "Forked", "Exited" };

	report_begin_object(r, NULL);
	report_begin_object(r, keys[h->what]);
	report_u64(r, "timestamp", h->ts_ns);
	report_u64(r, "pid", source_tid(s, h->task));
	show_details(s, h, r);
	report_end_object(r);
	report_end_object(r);
}

static int collect(void *work)
{
	struct happenings *x = work;

	collect_slices(x);
	collect_rest(x);
	return x->has_failed ? -ENOMEM : 0;
}

static int show(void *work, struct report *r)
{
	struct happenings *x = work;
	uint32_t limit = pass_limit(&pass_process_timeline, x->sc.args);

	if (x->nr)
		qsort(x->at, x->nr, sizeof(*x->at), by_time);
	scope_report_pid(&x->sc, r);
	report_string(r, "comm", x->nr ? source_comm(x->sc.s, x->at[0].task) : NULL);
	report_u64(r, "start_time_ns", x->sc.from_ns);
	report_u64(r, "end_time_ns", x->sc.to_ns);
	report_u64(r, "total_events", x->nr);
	report_u64(r, "events_shown", x->nr < limit ? x->nr : limit);
	report_begin_array(r, "events");
	for (size_t i = 0; i < x->nr && i < limit; i++)
		show_one(x->sc.s, &x->at[i], r);
	report_end_array(r);
	return 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	if (!args->pid && !args->tid)
		return diag_set(d, -EINVAL, "name one with --tid or --pid",
		                "process_timeline needs a thread or a process");
	return pass_run_with(&pass_process_timeline.work, s, args, r, d);
}

const struct pass pass_process_timeline = {
	.id = "process_timeline",
	.name = "Process Timeline",
	.category = "query",
	.what = "what happened to one thread or process (--tid, --pid), event by event",
	.needs_any = EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) |
	             EV_BIT(EV_MIGRATE) | EV_BIT(EV_FORK) | EV_BIT(EV_EXIT),
	.is_single = true,
	.cost = 1,
	.default_limit = 100,
	.run = run,
	.work = { .size = sizeof(struct happenings),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
