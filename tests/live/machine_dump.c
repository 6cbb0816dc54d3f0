/*
 * machine_dump [KEY=VALUE]... — looks at this machine with machine/machine_source and prints each look as a line of JSON.
 *
 * Keys: looks (how many), ms (between two), lines=1 (a look for each line of stdin instead), needs (bits of enum
 * machine_need; a number in a line of stdin changes it), tid (whose wakers and rivals are requested; a second number in a
 * line changes it), event (to count), proc=1 (without BPF), layered=1, kprobe=1 (sched_ext without fentry), counted=1 (interrupts without preempt_count), tgid, root (a copy of a machine's files), stats (socket of a scheduler), quiet=1 (looks are not printed),
 * warm (the first looks, which attach and read everything once: their cost does not count). The last line tells what the
 * others have cost. On failure the sentence goes to stderr and the exit code is 1.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/text.h"
#include "machine/machine_event.h"
#include "machine/machine_program.h"
#include "machine/machine_scx.h"
#include "machine/machine_source.h"
#include "machine/machine_zoom.h"

#define ALL_NEEDS 255

struct cost {
	uint64_t nr, nr_counted;
	uint64_t cpu_ns, sum_ns, max_ns;
	uint64_t wall_ns;
};

static const char *text_of(int argc, char **argv, const char *key)
{
	size_t len = strlen(key);

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], key, len) == 0 && argv[i][len] == '=')
			return argv[i] + len + 1;
	return NULL;
}

static uint64_t number_of(int argc, char **argv, const char *key, uint64_t fallback)
{
	const char *text = text_of(argc, argv, key);
	uint64_t v;

	return text && text_to_u64(text, &v) ? v : fallback;
}

static void put_number(struct json_writer *w, const char *key, double value)
{
	if (isnan(value))
		jw_null(w, key);
	else
		jw_double(w, key, value, 6);
}

static void put_dist(struct json_writer *w, const char *key, const struct machine_dist *d)
{
	jw_begin_object(w, key);
	jw_u64(w, "count", d->count);
	if (d->count) {
		jw_u64(w, "p50_ns", d->p50_ns);
		jw_u64(w, "p90_ns", d->p90_ns);
		jw_u64(w, "p99_ns", d->p99_ns);
		jw_u64(w, "max_ns", d->max_ns);
		jw_double(w, "mean_ns", d->mean_ns, 3);
	}
	jw_end_object(w);
}

static void put_cpu(struct json_writer *w, const struct machine_cpu *c)
{
	jw_begin_object(w, NULL);
	jw_u64(w, "cpu", c->cpu);
	jw_bool(w, "is_online", c->is_online);
	jw_i64(w, "llc", c->llc);
	jw_i64(w, "node", c->node);
	put_number(w, "busy", c->busy);
	put_number(w, "user", c->user);
	put_number(w, "system", c->system);
	put_number(w, "irq", c->irq);
	put_number(w, "iowait", c->iowait);
	put_number(w, "steal", c->steal);
	put_number(w, "mhz", c->mhz);
	put_number(w, "uncore_mhz", c->uncore_mhz);
	put_number(w, "hw_pressure", c->hw_pressure);
	put_number(w, "switches_per_s", c->switches_per_s);
	put_number(w, "wakeups_per_s", c->wakeups_per_s);
	put_number(w, "migrations_per_s", c->migrations_per_s);
	put_number(w, "event_per_s", c->event_per_s);
	jw_u64(w, "nr_event_history", c->event_history.nr);
	put_dist(w, "wait", &c->wait);
	jw_u64(w, "nr_history", c->busy_history.nr);
	jw_i64(w, "tid", c->tid);
	jw_string(w, "comm", c->comm);
	jw_end_object(w);
}

static void put_dsq_id(struct json_writer *w, const char *key, bool is_known, uint64_t id)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
	jw_string(w, key, is_known ? text : NULL);
}

static void put_task(struct json_writer *w, const struct machine_task *t)
{
	char state[2] = { t->state, '\0' };

	jw_begin_object(w, NULL);
	jw_u64(w, "tid", t->tid);
	jw_u64(w, "tgid", t->tgid);
	jw_u64(w, "nr_threads", t->nr_threads);
	jw_string(w, "comm", t->comm);
	if (t->layer >= 0)
		jw_i64(w, "layer", t->layer);
	else
		jw_null(w, "layer");
	jw_string(w, "cmdline", t->cmdline);
	jw_string(w, "cgroup", t->cgroup);
	jw_string(w, "class", t->class_name);
	jw_string(w, "state", state);
	jw_i64(w, "last_cpu", t->last_cpu);
	jw_i64(w, "prio", t->prio);
	put_number(w, "run", t->run);
	put_number(w, "wait", t->wait);
	jw_u64(w, "stall_ns", t->stall_ns);
	put_dist(w, "latency", &t->latency);
	put_dist(w, "preempted", &t->preempted);
	put_dist(w, "slice", &t->slice);
	put_dist(w, "sleep", &t->sleep);
	put_number(w, "voluntary_per_s", t->voluntary_per_s);
	put_number(w, "involuntary_per_s", t->involuntary_per_s);
	put_number(w, "migrations_per_s", t->migrations_per_s);
	put_number(w, "llc_migrations_per_s", t->llc_migrations_per_s);
	put_number(w, "node_migrations_per_s", t->node_migrations_per_s);
	put_dsq_id(w, "dsq", t->has_dsq, t->dsq);
	jw_u64(w, "nr_history", t->run_history.nr);
	jw_end_object(w);
}

static void put_memory(struct json_writer *w, const struct machine_memory *m)
{
	jw_begin_object(w, "memory");
	jw_u64(w, "total_kib", m->total_kib);
	jw_u64(w, "free_kib", m->free_kib);
	jw_u64(w, "available_kib", m->available_kib);
	put_number(w, "minor_faults_per_s", m->minor_faults_per_s);
	put_number(w, "major_faults_per_s", m->major_faults_per_s);
	put_number(w, "cpu_some", m->cpu_some);
	put_number(w, "memory_full", m->memory_full);
	put_number(w, "io_some", m->io_some);
	jw_end_object(w);
}

static void put_dsq(struct json_writer *w, const struct machine_dsq *d)
{
	jw_begin_object(w, NULL);
	put_dsq_id(w, "id", true, d->id);
	put_dist(w, "latency", &d->latency);
	put_dist(w, "used", &d->used);
	put_number(w, "depth", d->depth);
	jw_u64(w, "depth_max", d->depth_max);
	put_number(w, "slice_ns", d->slice_ns);
	put_number(w, "used_ns", d->used_ns);
	put_number(w, "vtime_delta", d->vtime_delta);
	put_number(w, "behind", d->behind);
	jw_u64(w, "inserts", d->inserts);
	put_number(w, "dispatches_per_s", d->dispatches_per_s);
	jw_u64(w, "nr_history", d->latency_history.nr);
	jw_end_object(w);
}

static void put_scx_lists(struct json_writer *w, const struct machine_scx *x)
{
	jw_begin_object(w, "counters");
	for (size_t i = 0; i < x->nr_counters; i++) {
		jw_begin_object(w, x->counters[i].name);
		jw_i64(w, "value", x->counters[i].value);
		put_number(w, "per_s", x->counters[i].per_s);
		jw_end_object(w);
	}
	jw_end_object(w);
	jw_begin_array(w, "tasks");
	for (size_t i = 0; i < x->nr_tasks; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "tid", x->tasks[i].tid);
		jw_bytes(w, "comm", x->tasks[i].comm,
		         strnlen(x->tasks[i].comm, sizeof(x->tasks[i].comm)));
		put_dsq_id(w, "dsq", true, x->tasks[i].dsq);
		jw_i64(w, "last_cpu", x->tasks[i].last_cpu);
		put_dist(w, "latency", &x->tasks[i].latency);
		put_number(w, "slice_ns", x->tasks[i].slice_ns);
		put_number(w, "used_ns", x->tasks[i].used_ns);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_scx(struct json_writer *w, const struct machine *m)
{
	const struct machine_scx *x = m->scx;

	jw_begin_array(w, "dsqs");
	for (size_t i = 0; i < m->nr_dsqs; i++)
		put_dsq(w, &m->dsqs[i]);
	jw_end_array(w);
	if (!x) {
		jw_null(w, "scx");
		return;
	}
	jw_begin_object(w, "scx");
	jw_bool(w, "is_counting", x->is_counting);
	jw_string(w, "reason", x->reason);
	jw_i64(w, "enable_seq", x->enable_seq);
	jw_i64(w, "nr_rejected", x->nr_rejected);
	jw_i64(w, "switch_all", x->switch_all);
	jw_string(w, "last", x->last);
	jw_string(w, "stats", x->stats);
	jw_string(w, "no_stats", x->no_stats);
	put_number(w, "stats_age_s", x->stats_age_s);
	put_scx_lists(w, x);
	jw_end_object(w);
}

static void put_others(struct json_writer *w, const struct machine *m)
{
	jw_begin_array(w, "nets");
	for (size_t i = 0; i < m->nr_nets; i++) {
		jw_begin_object(w, NULL);
		jw_string(w, "name", m->nets[i].name);
		put_number(w, "rx_bytes_per_s", m->nets[i].rx_bytes_per_s);
		put_number(w, "tx_bytes_per_s", m->nets[i].tx_bytes_per_s);
		jw_u64(w, "rx_bytes", m->nets[i].rx_bytes);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_begin_array(w, "programs");
	for (size_t i = 0; i < m->nr_programs; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "id", m->programs[i].id);
		jw_string(w, "type", m->programs[i].type);
		jw_string(w, "name", m->programs[i].name);
		put_number(w, "cpu", m->programs[i].cpu);
		put_number(w, "ns_per_run", m->programs[i].ns_per_run);
		put_number(w, "runs_per_s", m->programs[i].runs_per_s);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_begin_array(w, "heat");
	for (uint32_t row = 0; m->heat.nr && row < MACHINE_HEAT_ROWS; row++)
		jw_u64(w, NULL, m->heat.columns[m->heat.nr - 1][row]);
	jw_end_array(w);
	jw_begin_array(w, "log");
	for (size_t i = 0; i < m->nr_log; i++)
		jw_string(w, NULL, m->log[i]);
	jw_end_array(w);
}

static const char *const froms[] = { "thread", "softirq", "hardirq", "nmi" };

static void put_wakers(struct json_writer *w, const struct machine_zoom *z)
{
	jw_begin_array(w, "wakers");
	for (size_t i = 0; i < z->nr_wakers; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "tid", z->wakers[i].tid);
		jw_string(w, "comm", z->wakers[i].comm);
		jw_string(w, "from", froms[z->wakers[i].from]);
		jw_string(w, "interrupt", z->wakers[i].interrupt);
		jw_bool(w, "is_from_known", z->wakers[i].is_from_known);
		put_dist(w, "wait", &z->wakers[i].wait);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_rivals(struct json_writer *w, const struct machine_zoom *z)
{
	jw_begin_array(w, "rivals");
	for (size_t i = 0; i < z->nr_rivals; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "tid", z->rivals[i].tid);
		jw_string(w, "comm", z->rivals[i].comm);
		jw_u64(w, "ns", z->rivals[i].ns);
		jw_u64(w, "max_ns", z->rivals[i].max_ns);
		jw_double(w, "share", z->rivals[i].share, 6);
		jw_u64(w, "times", z->rivals[i].times);
		jw_u64(w, "taken", z->rivals[i].taken);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_u64(w, "other_rivals_ns", z->other_rivals_ns);
}

static void put_last(struct json_writer *w, const struct machine_zoom_wait *v)
{
	static const char *const causes[] = { "woken", "new", "preempted" };

	jw_begin_object(w, NULL);
	jw_u64(w, "start_ns", v->start_ns);
	jw_u64(w, "wait_ns", v->wait_ns);
	jw_u64(w, "run_ns", v->run_ns);
	jw_u64(w, "sleep_ns", v->sleep_ns);
	jw_i64(w, "sleep", (int)v->sleep);
	jw_string(w, "cause", causes[v->cause]);
	jw_string(w, "from", froms[v->from]);
	jw_string(w, "interrupt", v->interrupt);
	jw_i64(w, "from_cpu", v->from_cpu);
	jw_i64(w, "queue_cpu", v->queue_cpu);
	jw_i64(w, "cpu", v->cpu);
	jw_u64(w, "waker_tid", v->waker_tid);
	jw_string(w, "waker_comm", v->waker_comm);
	jw_begin_array(w, "holders");
	for (uint32_t i = 0; i < v->nr_holders; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "tid", v->holders[i].tid);
		jw_string(w, "comm", v->holders[i].comm);
		jw_u64(w, "ns", v->holders[i].ns);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_u64(w, "others_ns", v->others_ns);
	jw_end_object(w);
}

static void put_zoom(struct json_writer *w, const struct machine_zoom *z)
{
	static const char *const waits[] = { "woken", "new", "preempted" };
	static const char *const sleeps[] = { "S", "D", "other" };

	if (!z) {
		jw_null(w, "zoom");
		return;
	}
	jw_begin_object(w, "zoom");
	jw_u64(w, "tid", z->tid);
	jw_string(w, "comm", z->row ? z->row->comm : NULL);
	jw_bool(w, "is_ended", z->is_ended);
	jw_bool(w, "is_loading", z->is_waiting_for_programs);
	jw_string(w, "missing", z->missing);
	put_number(w, "seconds", z->seconds);
	for (int i = 0; i < 3; i++)
		put_dist(w, waits[i], &z->waits[i]);
	jw_begin_object(w, "sleeps");
	for (int i = 0; i < MACHINE_SLEEPS; i++) {
		jw_begin_object(w, sleeps[i]);
		jw_u64(w, "count", z->sleeps[i].count);
		jw_u64(w, "ns", z->sleeps[i].ns);
		jw_u64(w, "max_ns", z->sleeps[i].max_ns);
		jw_end_object(w);
	}
	jw_end_object(w);
	jw_u64(w, "migrations", z->migrations);
	jw_u64(w, "missed", z->missed);
	jw_u64(w, "cut", z->cut);
	jw_u64(w, "cut_ns", z->cut_ns);
	put_wakers(w, z);
	put_rivals(w, z);
	jw_begin_array(w, "last");
	for (size_t i = 0; i < z->nr_last; i++)
		put_last(w, &z->last[i]);
	jw_end_array(w);
	jw_end_object(w);
}

static void put_event(struct json_writer *w, const struct machine *m)
{
	const struct machine_event_list *l = m->event_list;

	if (m->event) {
		jw_string(w, "event", m->event->word);
		jw_string(w, "event_why", m->event->why);
	}
	if (!l)
		return;
	jw_begin_object(w, "event_list");
	jw_bool(w, "is_loading", l->is_loading);
	jw_u64(w, "nr", l->nr);
	jw_string(w, "source", l->source);
	jw_string(w, "why", l->why);
	jw_string(w, "first", l->nr ? l->names[0] : NULL);
	jw_string(w, "last", l->nr ? l->names[l->nr - 1] : NULL);
	jw_end_object(w);
}

static void print_refresh(const struct machine *m)
{
	struct json_writer w;

	jw_init(&w, stdout, false);
	jw_begin_object(&w, NULL);
	jw_string(&w, "source", m->source);
	jw_string(&w, "notice", m->notice);
	jw_string(&w, "no_uncore", m->no_uncore);
	jw_string(&w, "no_pressure", m->no_pressure);
	jw_string(&w, "scx_state", m->scx_state);
	jw_u64(&w, "boot_ns", m->boot_ns);
	put_number(&w, "interval_s", m->interval_s);
	put_number(&w, "own_cpu", m->own_cpu);
	jw_u64(&w, "lost", m->lost);
	put_number(&w, "load_1", m->load[0]);
	jw_string(&w, "scheduler", m->scheduler);
	jw_string(&w, "scx_state", m->scx_state);
	put_dist(&w, "wait", &m->wait);
	jw_u64(&w, "nr_heat", m->heat.nr);
	put_memory(&w, &m->memory);
	jw_begin_array(&w, "cpus");
	for (size_t i = 0; i < m->nr_cpus; i++)
		put_cpu(&w, &m->cpus[i]);
	jw_end_array(&w);
	jw_begin_array(&w, "processes");
	for (size_t i = 0; i < m->nr_processes; i++)
		put_task(&w, &m->processes[i]);
	jw_end_array(&w);
	jw_begin_array(&w, "threads");
	for (size_t i = 0; i < m->nr_threads; i++)
		put_task(&w, &m->threads[i]);
	jw_end_array(&w);
	put_event(&w, m);
	put_others(&w, m);
	put_scx(&w, m);
	put_zoom(&w, m->zoom);
	jw_end_object(&w);
	putchar('\n');
	fflush(stdout);
}

static void print_cost(const struct cost *c, const struct machine *m)
{
	struct json_writer w;

	jw_init(&w, stdout, false);
	jw_begin_object(&w, NULL);
	jw_u64(&w, "refreshes", c->nr);
	jw_u64(&w, "counted", c->nr_counted);
	jw_u64(&w, "cpu_ns", c->cpu_ns);
	jw_u64(&w, "refresh_ns", c->sum_ns);
	jw_u64(&w, "max_refresh_ns", c->max_ns);
	jw_u64(&w, "wall_ns", c->wall_ns);
	jw_u64(&w, "threads", m ? m->nr_threads : 0);
	jw_string(&w, "source", m ? m->source : NULL);
	jw_end_object(&w);
	putchar('\n');
}

/* False: it is over. Numbers in the line say what is needed from now on, and of which thread. */
static bool wait_for_next(bool is_by_lines, uint64_t ms, struct machine_request *request)
{
	struct timespec nap = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };
	char line[32];

	if (!is_by_lines) {
		nanosleep(&nap, NULL);
		return true;
	}
	if (!fgets(line, sizeof(line), stdin))
		return false;
	(void)sscanf(line, "%u %u", &request->needs, &request->tid); /* what is not there stays */
	return true;
}

static int fail(const struct diag *d)
{
	char line[512];

	diag_format(d, line, sizeof(line));
	fprintf(stderr, "%s\n", line);
	return 1;
}

int main(int argc, char **argv)
{
	const struct machine_source_cfg cfg = {
		.is_proc_only = number_of(argc, argv, "proc", 0),
		.is_layered = number_of(argc, argv, "layered", 0) != 0,
		.is_scx_by_kprobe = number_of(argc, argv, "kprobe", 0) != 0,
		.is_context_counted = number_of(argc, argv, "counted", 0) != 0,
		.tgid = (uint32_t)number_of(argc, argv, "tgid", 0),
		.root = text_of(argc, argv, "root"),
		.stats_socket = text_of(argc, argv, "stats"),
	};
	uint64_t nr = number_of(argc, argv, "refreshes", UINT64_MAX), start;
	uint64_t ms = number_of(argc, argv, "ms", 250), warm = number_of(argc, argv, "warm", 1);
	struct machine_request request = { .needs = (uint32_t)number_of(argc, argv, "needs",
		                                                        ALL_NEEDS),
		                           .tid = (uint32_t)number_of(argc, argv, "tid", 0),
		                           .event = text_of(argc, argv, "event") };
	bool is_by_lines = number_of(argc, argv, "lines", 0);
	struct machine_source *s = NULL;
	const struct machine *m = NULL;
	struct cost cost = { 0 };
	struct diag d = { 0 };

	if (machine_source_open(&cfg, &d, &s))
		return fail(&d);
	start = clock_boot_ns();
	while (cost.nr < nr && wait_for_next(is_by_lines, ms, &request)) {
		uint64_t cpu = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), at = clock_boot_ns();

		if (machine_source_refresh(s, &request, &d, &m))
			return fail(&d);
		at = clock_boot_ns() - at;
		if (cost.nr++ >= warm) {
			cost.nr_counted++;
			cost.cpu_ns += clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
			cost.sum_ns += at;
			cost.max_ns = at > cost.max_ns ? at : cost.max_ns;
		} else {
			start = clock_boot_ns();
		}
		if (!number_of(argc, argv, "quiet", 0))
			print_refresh(m);
	}
	cost.wall_ns = clock_boot_ns() - start;
	print_cost(&cost, m);
	machine_source_close(s);
	return 0;
}
