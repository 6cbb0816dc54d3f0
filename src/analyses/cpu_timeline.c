/* What happened on one CPU, event by event in the order of time: switches and softirqs. */
#include <errno.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "base/cleanup.h"
#include "model/event_log.h"
#include "query/event_fields.h"

#define KINDS (EV_BIT(EV_SWITCH) | EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT))

static void show_comm(const struct source *s, const struct ev_hdr *rec, const char *key,
                      uint32_t tid, struct report *r)
{
	struct event_value v;

	if (!tid)
		report_string(r, key, report_printf(r, "swapper/%u", rec->cpu));
	else if (event_value(s, rec, key, &v))
		report_string(r, key, v.text);
	else
		report_null(r, key);
}

static void show_switch(const struct source *s, const struct ev_switch *ev, struct report *r)
{
	report_begin_object(r, "ContextSwitch");
	report_u64(r, "prev_pid", ev->prev_tid);
	report_u64(r, "next_pid", ev->next_tid);
	show_comm(s, &ev->hdr, "prev_comm", ev->prev_tid, r);
	show_comm(s, &ev->hdr, "next_comm", ev->next_tid, r);
	report_u64(r, "prev_state", ev->prev_state);
	report_end_object(r);
}

static void show_event(const struct source *s, const struct ev_hdr *rec, struct report *r)
{
	report_begin_object(r, NULL);
	report_u64(r, "timestamp", rec->ts_ns);
	report_begin_object(r, "event_type");
	if (rec->kind == EV_SWITCH) {
		show_switch(s, (const struct ev_switch *)rec, r);
	} else {
		report_begin_object(r, "Softirq");
		report_u64(r, "vec", ((const struct ev_softirq *)rec)->vector);
		report_bool(r, "entry", rec->kind == EV_SOFTIRQ_ENTRY);
		report_end_object(r);
	}
	report_end_object(r);
	report_end_object(r);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	uint64_t from = 0, to = UINT64_MAX, nr = 0;
	uint32_t limit = pass_limit(&pass_cpu_timeline, args);
	struct event_log_query q = { .kinds = KINDS, .cpu = args->cpu, .tid = EVENT_LOG_ANY };
	struct event_log_iter it;
	const struct ev_hdr *rec;

	if (args->cpu == PASS_ANY_CPU)
		return diag_set(d, -EINVAL, "name one with --cpu", "cpu_timeline needs a CPU");
	if (!s->log)
		return diag_set(d, -ENODATA, "record first, then analyze the file",
		                "single events are not kept here");
	(void)pass_cut(s, args, &from, &to);
	q.from_ns = from;
	q.to_ns = args->to_ns ? args->to_ns : UINT64_MAX; /* the last moment too */
	if (event_log_find(s->log, &q, &it))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_u64(r, "cpu", args->cpu);
	report_u64(r, "start_time_ns", from);
	report_u64(r, "end_time_ns", to);
	report_begin_array(r, "events");
	while ((rec = event_log_next(&it)))
		if (nr++ < limit)
			show_event(s, rec, r);
	report_end_array(r);
	report_u64(r, "total_events", nr);
	report_u64(r, "events_shown", nr < limit ? nr : limit);
	return 0;
}

const struct pass pass_cpu_timeline = {
	.id = "cpu_timeline",
	.name = "CPU Timeline",
	.category = "query",
	.what = "what happened on one CPU (--cpu), event by event",
	.needs_any = KINDS,
	.is_single = true,
	.cost = 1,
	.default_limit = 100,
	.run = run,
};
