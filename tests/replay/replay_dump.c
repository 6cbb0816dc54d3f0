/*
 * tests/replay/replay_dump FILE INTERVAL_MS [STEPS...] — what replay/machine_replay shows, a JSON object per line: first the
 * first interval, then after each number of steps; without STEPS all intervals to the end. INTERVAL_MS 0 is the whole file.
 * With --times only what looks cost, in microseconds of CPU time. With --process PID of that process alone, and without CPUs.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "machine/machine_play.h"
#include "record/recording.h"
#include "replay/machine_replay.h"

static void put_number(struct json_writer *w, const char *key, double value)
{
	if (isnan(value))
		jw_null(w, key);
	else
		jw_double(w, key, value, 15);
}

static void put_dist(struct json_writer *w, const char *key, const struct machine_dist *d)
{
	jw_begin_object(w, key);
	jw_u64(w, "count", d->count);
	jw_u64(w, "p50", d->p50_ns);
	jw_u64(w, "p99", d->p99_ns);
	jw_u64(w, "max", d->max_ns);
	jw_double(w, "mean", d->mean_ns, 3);
	jw_end_object(w);
}

static void put_cpus(struct json_writer *w, const struct machine *m)
{
	jw_begin_array(w, "cpus");
	for (size_t i = 0; i < m->nr_cpus; i++) {
		const struct machine_cpu *c = &m->cpus[i];

		jw_begin_object(w, NULL);
		jw_u64(w, "cpu", c->cpu);
		put_number(w, "busy", c->busy);
		put_number(w, "mhz", c->mhz);
		put_number(w, "switches_per_s", c->switches_per_s);
		put_number(w, "wakeups_per_s", c->wakeups_per_s);
		put_number(w, "migrations_per_s", c->migrations_per_s);
		put_dist(w, "wait", &c->wait);
		jw_i64(w, "tid", c->tid);
		jw_begin_array(w, "history");
		for (uint32_t k = 0; k < c->busy_history.nr; k++)
			put_number(w, NULL, c->busy_history.values[k]);
		jw_end_array(w);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_tasks(struct json_writer *w, const char *key, const struct machine_task *tasks,
                      size_t nr)
{
	jw_begin_array(w, key);
	for (size_t i = 0; i < nr; i++) {
		const struct machine_task *t = &tasks[i];
		const char state[2] = { t->state, '\0' };

		jw_begin_object(w, NULL);
		jw_u64(w, "tid", t->tid);
		jw_u64(w, "tgid", t->tgid);
		jw_u64(w, "threads", t->nr_threads);
		jw_string(w, "comm", t->comm);
		jw_string(w, "class", t->class_name);
		jw_string(w, "state", state);
		jw_i64(w, "last_cpu", t->last_cpu);
		put_number(w, "run", t->run);
		put_number(w, "wait", t->wait);
		put_dist(w, "latency", &t->latency);
		put_dist(w, "preempted", &t->preempted);
		put_dist(w, "slice", &t->slice);
		put_dist(w, "sleep", &t->sleep);
		put_number(w, "voluntary_per_s", t->voluntary_per_s);
		put_number(w, "involuntary_per_s", t->involuntary_per_s);
		put_number(w, "migrations_per_s", t->migrations_per_s);
		put_number(w, "llc_migrations_per_s", t->llc_migrations_per_s);
		put_number(w, "node_migrations_per_s", t->node_migrations_per_s);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_queues(struct json_writer *w, const struct machine *m)
{
	jw_begin_array(w, "dsqs");
	for (size_t i = 0; i < m->nr_dsqs; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "id", m->dsqs[i].id);
		put_dist(w, "latency", &m->dsqs[i].latency);
		put_number(w, "depth", m->dsqs[i].depth);
		put_number(w, "dispatches_per_s", m->dsqs[i].dispatches_per_s);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_machine(const struct machine *m, bool has_cpus)
{
	struct json_writer w;
	uint64_t heat = 0;

	for (uint32_t row = 0; m->heat.nr && row < MACHINE_HEAT_ROWS; row++)
		heat += m->heat.columns[m->heat.nr - 1][row];
	jw_init(&w, stdout, false);
	jw_begin_object(&w, NULL);
	jw_string(&w, "source", m->source);
	jw_string(&w, "release", m->release);
	jw_string(&w, "scheduler", m->scheduler);
	jw_u64(&w, "lost", m->lost);
	jw_u64(&w, "start_ns", m->play->start_ns);
	jw_u64(&w, "end_ns", m->play->end_ns);
	jw_u64(&w, "position_ns", m->play->position_ns);
	jw_double(&w, "interval_s", m->interval_s, 12);
	jw_u64(&w, "heat", heat);
	put_dist(&w, "wait", &m->wait);
	if (has_cpus)
		put_cpus(&w, m);
	put_tasks(&w, "tasks", m->threads, m->nr_threads);
	put_tasks(&w, "processes", m->processes, m->nr_processes);
	put_queues(&w, m);
	jw_end_object(&w);
	if (jw_finish(&w))
		abort();
}

struct dump {
	struct machine_replay *replay;
	struct machine_request request;
	bool is_timing;
	uint32_t tgid; /* 0 = all */
};

static const struct machine *step(struct dump *x, int64_t steps)
{
	const struct machine *m = NULL;
	struct diag d = { 0 };
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	x->request.play.steps = steps;
	if (machine_replay_refresh(x->replay, &x->request, &d, &m))
		abort();
	if (x->is_timing)
		printf("%" PRIu64 "\n", (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / 1000);
	else
		put_machine(m, !x->tgid);
	return m;
}

int main(int argc, char **argv)
{
	struct dump x = { .request = { .needs = MACHINE_CPUS | MACHINE_TASKS | MACHINE_LATENCY |
		                                MACHINE_DSQS | MACHINE_HEAT } };
	struct recording *rec;
	struct diag d = { 0 };
	const struct machine *m;
	int at = 1;

	x.is_timing = argc > 1 && strcmp(argv[1], "--times") == 0;
	at += x.is_timing;
	if (argc > at + 1 && strcmp(argv[at], "--process") == 0) {
		x.tgid = (uint32_t)strtoul(argv[at + 1], NULL, 10);
		at += 2;
	}
	if (argc < at + 2 || recording_open(argv[at], &(struct recording_cfg){ 0 }, &d, &rec))
		return 2;
	if (machine_replay_open(&(struct machine_replay_cfg){ .source = recording_source(rec),
	                                                      .info = recording_info(rec),
	                                                      .tgid = x.tgid },
	                        &d, &x.replay))
		return 2;
	x.request.play.interval_ns = strtoull(argv[at + 1], NULL, 10) * 1000000;
	if (!x.request.play.interval_ns)
		x.request.play.interval_ns = UINT64_MAX / 2;
	m = step(&x, 1);
	for (int i = at + 2; i < argc; i++)
		m = step(&x, strtoll(argv[i], NULL, 10));
	while (argc == at + 2 && m->play->position_ns < m->play->end_ns)
		m = step(&x, 1);
	machine_replay_close(x.replay);
	recording_close(rec);
	return 0;
}
