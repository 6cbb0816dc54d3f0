#include "machine/parts/scx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine_scx.h"
#include "machine/machine_tasks.h"
#include "machine/parts/dsqs.h"
#include "sys/scx/scx_asker.h"
#include "sys/scx/scx_counters.h"
#include "sys/scx/scx_log.h"
#include "sys/scx/scx_state.h"
#include "sys/scx/scx_stats.h"

struct machine_scx_part {
	char *root; /* "" on a real machine */
	bool is_bpf_allowed;
	uint32_t tgid;
	bool is_by_kprobe;
	struct machine_scx pub;
	struct scx_state state;
	uint64_t refresh_ns;       /* of the last one; 0 = it was asleep */
	struct machine_dsqs *dsqs; /* NULL while not shown, or not available */
	bool is_refused;
	char reason[640];
	uint64_t lost_before; /* by what is detached again */
	struct scx_asker *asker;
	int log_fd;
	struct scx_log_end end;
	char last[256];
	struct scx_counters counters, counters_before;
	struct machine_scx_counter counter_rows[SCX_COUNTERS_MAX];
};

static void close_scx(void *part)
{
	struct machine_scx_part *p = part;

	machine_dsqs_close(p->dsqs);
	scx_asker_close(p->asker);
	if (p->log_fd >= 0)
		close(p->log_fd);
	free(p->root);
	free(p);
}

static int open_scx(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_scx_part *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->log_fd = -1;
	p->tgid = cfg->tgid;
	p->is_by_kprobe = cfg->is_scx_by_kprobe;
	p->is_bpf_allowed = !cfg->is_proc_only && !cfg->root;
	p->root = strdup(cfg->root ? cfg->root : "");
	err = p->root ? scx_asker_open(cfg->stats_socket ? cfg->stats_socket : SCX_STATS_PATH,
	                               &p->asker)
	              : -ENOMEM;
	if (err) {
		close_scx(p);
		return diag_set(d, err, NULL, "cannot start a thread that asks the scheduler");
	}
	if (!cfg->root)
		p->log_fd = scx_log_open();
	*out = p;
	return 0;
}

static void suspend(void *part)
{
	struct machine_scx_part *p = part;

	if (p->dsqs)
		p->lost_before += machine_dsqs_lost(p->dsqs);
	machine_dsqs_close(p->dsqs);
	p->dsqs = NULL;
	p->refresh_ns = 0;
	p->counters_before.nr = 0;
	scx_asker_want(p->asker, false);
}

static void refuse(struct machine_scx_part *p, const struct diag *why, struct machine_log *log)
{
	p->is_refused = true;
	(void)snprintf(p->reason, sizeof(p->reason), "%s%s%s", why->what, why->hint[0] ? "; " : "",
	               why->hint);
	machine_log_add(log, "dispatch queues cannot be traced: %s", p->reason);
	machine_dsqs_close(p->dsqs);
	p->dsqs = NULL;
}

/* Whether there is new data of queues. */
static bool step_dsqs(struct machine_scx_part *p, struct machine_log *log)
{
	struct diag why = { 0 };
	int err = 0;

	if (p->is_refused || !p->is_bpf_allowed || !p->state.is_supported)
		return false;
	if (!p->dsqs)
		err = machine_dsqs_open(p->tgid, p->is_by_kprobe, &p->dsqs);
	if (err)
		diag_set(&why, err, NULL, "cannot start a thread that attaches");
	else
		err = machine_dsqs_step(p->dsqs, &why);
	if (err < 0)
		refuse(p, &why, log);
	return err == 1;
}

static void show_tasks(struct machine_scx_part *p, struct machine_tasks *tasks)
{
	size_t nr;
	const struct machine_dsqs_thread *threads = machine_dsqs_threads(p->dsqs, &nr);
	struct machine_scx_task *processes;

	for (size_t i = 0; i < nr; i++) {
		struct machine_task *rows[] = { machine_tasks_thread(tasks, threads[i].tid),
			                        machine_tasks_process(tasks, threads[i].tgid) };

		for (int r = 0; r < 2; r++) {
			if (!rows[r])
				continue;
			rows[r]->dsq = threads[i].dsq;
			rows[r]->has_dsq = true;
		}
	}
	processes = machine_dsqs_processes(p->dsqs, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct machine_task *row = machine_tasks_process(tasks, processes[i].tid);

		if (row)
			processes[i].last_cpu = row->last_cpu;
	}
	p->pub.tasks = processes;
	p->pub.nr_tasks = nr;
}

/* Queues that were those of another scheduler say nothing any more. */
static void forget_queues_of_tasks(const struct machine *m, struct machine_tasks *tasks)
{
	for (size_t i = 0; i < m->nr_threads; i++)
		machine_tasks_thread(tasks, m->threads[i].tid)->has_dsq = false;
	for (size_t i = 0; i < m->nr_processes; i++)
		machine_tasks_process(tasks, m->processes[i].tid)->has_dsq = false;
}

static const struct scx_counter *counter_before(const struct machine_scx_part *p, const char *name)
{
	for (size_t i = 0; i < p->counters_before.nr; i++)
		if (strcmp(p->counters_before.items[i].name, name) == 0)
			return &p->counters_before.items[i];
	return NULL;
}

static void show_counters(struct machine_scx_part *p, uint64_t now_ns)
{
	double seconds = p->refresh_ns ? (double)(now_ns - p->refresh_ns) / 1e9 : 0;

	p->counters_before = p->counters;
	if (scx_counters_read(p->root, &p->counters))
		p->counters.nr = 0;
	for (size_t i = 0; i < p->counters.nr; i++) {
		const struct scx_counter *now = &p->counters.items[i];
		const struct scx_counter *before = counter_before(p, now->name);

		/* One that went back is that of another scheduler. */
		p->counter_rows[i] = (struct machine_scx_counter){
			.name = now->name,
			.value = now->value,
			.per_s = before && seconds > 0 && now->value >= before->value
			                 ? (double)(now->value - before->value) / seconds
			                 : NAN,
		};
	}
	p->pub.counters = p->counter_rows;
	p->pub.nr_counters = p->counters.nr;
}

static void show_end(struct machine_scx_part *p, const struct scx_state *before,
                     struct machine_log *log)
{
	bool is_reported = p->log_fd >= 0 && scx_log_read(p->log_fd, &p->end);

	if (is_reported)
		(void)snprintf(p->last, sizeof(p->last), "%s: %s", p->end.scheduler, p->end.reason);
	else if (before->is_enabled && !p->state.is_enabled &&
	         strncmp(p->last, before->ops, strlen(before->ops)) != 0)
		(void)snprintf(p->last, sizeof(p->last), "%s: reason unknown", before->ops);
	else
		return;
	machine_log_add(log, "scheduler ended: %s", p->last);
}

static void show_stats(struct machine_scx_part *p, uint64_t now_ns)
{
	struct scx_answer answer;

	scx_asker_want(p->asker, p->state.is_enabled);
	answer = scx_asker_answer(p->asker);
	p->pub.stats = p->state.is_enabled ? answer.text : NULL;
	p->pub.no_stats = p->state.is_enabled ? answer.reason : NULL;
	p->pub.stats_age_s = p->pub.stats && now_ns > answer.at_ns
	                             ? (double)(now_ns - answer.at_ns) / 1e9
	                             : NAN;
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct machine_scx_part *p = part;
	struct scx_state before = p->state;
	bool has_new_data;

	scx_state_read(p->root, &p->state);
	has_new_data = step_dsqs(p, r->log);
	p->pub = (struct machine_scx){
		.is_counting = has_new_data,
		.reason = p->is_refused ? p->reason
		          : !p->is_bpf_allowed && p->state.is_supported
		                  ? "dispatch queues can only be traced with BPF"
		                  : NULL,
		.enable_seq = p->state.enable_seq,
		.nr_rejected = p->state.nr_rejected,
		.switch_all = p->state.switch_all,
	};
	if (before.enable_seq != p->state.enable_seq || before.is_enabled != p->state.is_enabled)
		forget_queues_of_tasks(r->machine, r->tasks);
	if (has_new_data) {
		r->machine->dsqs = machine_dsqs_queues(p->dsqs, &r->machine->nr_dsqs);
		show_tasks(p, r->tasks);
	}
	r->machine->lost += p->lost_before + (p->dsqs ? machine_dsqs_lost(p->dsqs) : 0);
	show_counters(p, r->now_ns);
	show_end(p, &before, r->log);
	p->pub.last = p->last[0] ? p->last : NULL;
	show_stats(p, r->now_ns);
	p->refresh_ns = r->now_ns;
	r->machine->scx = &p->pub;
}

const struct machine_part machine_part_scx = {
	.name = "sched_ext",
	.needs = MACHINE_DSQS,
	.open = open_scx,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_scx,
};
