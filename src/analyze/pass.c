#include "analyze/pass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define DEFAULT_LIMIT 20

static uint64_t kinds_of(const struct source *s)
{
	uint64_t kinds = 0;

	for (int kind = 0; kind < EV_KIND_MAX; kind++)
		if (s->facts->kinds[kind])
			kinds |= EV_BIT(kind);
	return kinds;
}

bool pass_applies(const struct pass *p, const struct source *s)
{
	uint64_t kinds = kinds_of(s);

	if ((p->needs & kinds) != p->needs || (p->needs_any && !(p->needs_any & kinds)))
		return false;
	if (p->needs_all_tasks && s->facts->filter)
		return false;
	return !p->needs_scx || s->facts->has_scx;
}

/* As the kernel calls the events that make a kind. */
static const char *event_name(int kind)
{
	static const char *const names[EV_KIND_MAX] = {
		[EV_SWITCH] = "sched_switch",
		[EV_WAKING] = "sched_waking",
		[EV_WAKEUP] = "sched_wakeup",
		[EV_WAKEUP_NEW] = "sched_wakeup_new",
		[EV_MIGRATE] = "sched_migrate_task",
		[EV_FORK] = "sched_process_fork",
		[EV_EXEC] = "sched_process_exec",
		[EV_EXIT] = "sched_process_exit",
		[EV_SOFTIRQ_ENTRY] = "softirq_entry",
		[EV_SOFTIRQ_EXIT] = "softirq_exit",
		[EV_IRQ_ENTRY] = "irq_handler_entry",
		[EV_IRQ_EXIT] = "irq_handler_exit",
		[EV_IPI_SEND] = "ipi_raise",
		[EV_IPI_ENTRY] = "ipi_entry",
		[EV_IPI_EXIT] = "ipi_exit",
		[EV_WORK_START] = "workqueue_execute_start",
		[EV_WORK_END] = "workqueue_execute_end",
		[EV_CPU_IDLE] = "cpu_idle",
		[EV_CPU_FREQ] = "cpu_frequency",
		[EV_SAMPLE] = "stacks",
		[EV_PMU] = "perf counters",
		[EV_SCX_RUN] = "sched_ext run data",
		[EV_DSQ_LEAVE] = "dispatch queue data",
		[EV_DSQ_DEPTH] = "dispatch queue depths",
		[EV_SPAN] = "requests",
		[EV_BLOCK] = "block_rq_issue",
		[EV_NET] = "net_dev_xmit",
		[EV_MEMORY] = "mm_page_alloc",
		[EV_FSYNC] = "ext4_sync_file_enter",
		[EV_SUSPEND] = "suspend_resume",
		[EV_SLEEP] = "the system calls of sleeps",
		[EV_LOCK] = "waits for locks of the kernel",
	};

	return names[kind] ? names[kind] : "records of another kind";
}

char *pass_missing(const struct pass *p, const struct source *s, char *buf, size_t size)
{
	uint64_t kinds = kinds_of(s), missing = p->needs & ~kinds;
	const char *sep = "needs ", *word = " and ";
	size_t len = 0;

	buf[0] = '\0';
	if (!missing && p->needs_any && !(p->needs_any & kinds)) {
		missing = p->needs_any;
		word = " or ";
	}
	for (int kind = 0; kind < EV_KIND_MAX && len < size; kind++) {
		if (!(missing & EV_BIT(kind)))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", sep, event_name(kind));
		sep = word;
	}
	if (p->needs_scx && !s->facts->has_scx && len < size)
		len += (size_t)snprintf(buf + len, size - len, "%ssched_ext data",
		                        len ? " and " : "needs ");
	if (p->needs_all_tasks && s->facts->filter && len < size)
		snprintf(buf + len, size - len, "%sall tasks (recorded: %s)",
		         len ? " and " : "needs ", s->facts->filter);
	return buf;
}

int pass_run_with(const struct pass_work *w, const struct source *s, const struct pass_args *args,
                  struct report *r, struct diag *d)
{
	SCOPED(scoped_free) char *work = calloc(1, w->size);
	struct units *units = work && w->units_at ? (void *)(work + w->units_at) : NULL;
	int err;

	if (!work)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = scope_init((void *)work, s, args, d);
	if (!err && units)
		err = units_init(units, (void *)work, d);
	if (!err) {
		err = w->collect ? w->collect(work) : 0;
		if (!err)
			err = w->show(work, r);
		if (err)
			diag_set(d, err, NULL, "out of memory");
	}
	if (w->done)
		w->done(work);
	if (units)
		units_done(units);
	scope_done((void *)work);
	return err;
}

int pass_run(const struct pass *p, const struct source *s, const struct pass_args *args,
             struct diag *d, struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct pass_args defaulted = *args;
	char missing[160];
	int err;

	if (defaulted.by == PASS_BY_DEFAULT)
		defaulted.by = p->default_by;
	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!pass_applies(p, s))
		return diag_set(d, -ENODATA,
		                (p->needs | p->needs_any) & EV_BIT(EV_SLEEP)
		                        ? "record with --events default,sleep"
		                        : "'analyze FILE' lists the analyses that apply",
		                "%s %s, which this trace does not have", p->id,
		                pass_missing(p, s, missing, sizeof(missing)));
	report_begin_object(r, NULL);
	report_string(r, "analysis_type", p->id);
	err = p->run ? p->run(s, &defaulted, r, d) : pass_run_with(&p->work, s, &defaulted, r, d);
	if (err)
		return err;
	report_end_object(r);
	err = report_error(r);
	if (err)
		return diag_set(d, err, "ask for less with --limit, --from and --to",
		                "the answer of %s is too large", p->id);
	*out = TAKE_PTR(r);
	return 0;
}

bool pass_takes_task(const struct source *s, const struct pass_args *args, uint32_t task)
{
	const struct task *t;

	if (!args->pid && !args->tid && !args->comm && !args->comm_match)
		return true;
	t = tasks_at(s->tasks, task);
	if (!t || (args->tid && t->tid != args->tid) || (args->pid && t->tgid != args->pid))
		return false;
	return (!args->comm || source_has_name(s, task, args->comm)) &&
	       (!args->comm_match || source_matches_name(s, task, args->comm_match));
}

const char *pass_by_name(enum pass_by by)
{
	static const char *const names[PASS_BYS] = { [PASS_BY_THREAD] = "thread",
		                                     [PASS_BY_PROCESS] = "process",
		                                     [PASS_BY_COMM] = "comm",
		                                     [PASS_BY_CGROUP] = "cgroup",
		                                     [PASS_BY_CLASS] = "class" };

	return names[by];
}

bool pass_takes_cpu(const struct pass_args *args, uint32_t cpu)
{
	return args->cpu == PASS_ANY_CPU || args->cpu == cpu;
}

bool pass_cut(const struct source *s, const struct pass_args *args, uint64_t *from_ns,
              uint64_t *to_ns)
{
	uint64_t from = args->from_ns > s->start_ns ? args->from_ns : s->start_ns;
	uint64_t to = args->to_ns && args->to_ns < s->end_ns ? args->to_ns : s->end_ns;

	if (*from_ns < from)
		*from_ns = from;
	if (*to_ns > to)
		*to_ns = to;
	return *from_ns < *to_ns;
}

uint32_t pass_limit(const struct pass *p, const struct pass_args *args)
{
	if (args->limit)
		return args->limit;
	return p->default_limit ? p->default_limit : DEFAULT_LIMIT;
}
