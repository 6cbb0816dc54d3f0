#include "session/live_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/event_buffer.h"
#include "model/live.h"
#include "model/pair.h"
#include "model/tasks.h"
#include "sys/topology.h"

#define KEEP_DEAD_NS      60000000000ULL
#define STREAM_MAX_EVENTS 65536U
#define STREAM_MAX_BYTES  (8U << 20)

static struct live_place *places_of(const struct topology *topology, uint32_t nr_cpus)
{
	struct live_place *places = calloc(nr_cpus, sizeof(*places));

	for (uint32_t cpu = 0; places && cpu < nr_cpus; cpu++) {
		const struct topology_cpu *at = topology_cpu(topology, cpu);

		places[cpu] = (struct live_place){ at ? at->llc : -1, at ? at->node : -1 };
	}
	return places;
}

static int make_parts(struct live_model *m, const struct live_place *places)
{
	struct tasks_cfg tasks = { .keep_dead_ns = KEEP_DEAD_NS };
	struct pair_cfg pair = { .nr_cpus = m->nr_cpus };
	struct live_cfg live = { .places = places,
		                 .nr_places = m->nr_cpus,
		                 .from = LIVE_FROM_WAKING,
		                 .keep_dead_ns = KEEP_DEAD_NS };
	struct analyzers_cfg analyzers = { .places = places, .nr_places = m->nr_cpus };
	struct event_buffer_cfg stream = { .max_events = STREAM_MAX_EVENTS,
		                           .max_bytes = STREAM_MAX_BYTES };
	struct pair_out outs[2];
	int err = tasks_new(&tasks, &m->tasks);

	pair.tasks = live.tasks = analyzers.tasks = m->tasks;
	stream.tasks = m->tasks;
	if (!err)
		err = pair_new(&pair, &m->pair);
	live.pair = analyzers.pair = m->pair;
	if (!err)
		err = live_new(&live, &m->live);
	if (!err)
		err = analyzers_new(&analyzers, &m->analyzers);
	if (!err)
		err = event_buffer_new(&stream, &m->stream);
	if (err)
		return err;
	outs[0] = live_out(m->live);
	outs[1] = analyzers_out(m->analyzers);
	for (int i = 0; !err && i < 2; i++)
		err = pair_add_out(m->pair, &outs[i]);
	return err;
}

int live_model_init(struct live_model *m, const struct topology *topology, struct diag *d)
{
	SCOPED(scoped_free) struct live_place *places = NULL;
	int err;

	*m = (struct live_model){ .nr_cpus = topology_counts(topology)->nr_cpu_ids };
	places = places_of(topology, m->nr_cpus);
	err = places ? make_parts(m, places) : -ENOMEM;
	if (!err)
		return 0;
	live_model_done(m);
	return diag_set(d, err, NULL, "cannot prepare for live data: %s", strerror(-err));
}

void live_model_done(struct live_model *m)
{
	event_buffer_free(m->stream);
	analyzers_free(m->analyzers);
	live_free(m->live);
	pair_free(m->pair);
	tasks_free(m->tasks);
	*m = (struct live_model){ 0 };
}

/* The state machine first: the others ask it who the tasks of a record are. */
static int push(void *ctx, const struct ev_hdr *rec)
{
	struct live_model *m = ctx;
	struct ev_sink pair = pair_sink(m->pair), analyzers = analyzers_sink(m->analyzers);
	struct ev_sink stream = event_buffer_sink(m->stream);
	int err = pair.push(pair.ctx, rec);

	if (!err)
		err = analyzers.push(analyzers.ctx, rec);
	return err || !m->is_streaming ? err : stream.push(stream.ctx, rec);
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct live_model *m = ctx;
	struct ev_sink pair = pair_sink(m->pair), analyzers = analyzers_sink(m->analyzers);
	int err = pair.advance(pair.ctx, ts_ns);

	return err ? err : analyzers.advance(analyzers.ctx, ts_ns);
}

struct ev_sink live_model_sink(struct live_model *m)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = m };
}

/* As if records of every kind had been lost, none of them counted. */
void live_model_pause(struct live_model *m, uint64_t ts_ns)
{
	static const uint32_t kinds[] = { EV_SWITCH, EV_WAKING, EV_SOFTIRQ_EXIT, EV_IRQ_EXIT,
		                          EV_IPI_EXIT };
	struct ev_sink pair = pair_sink(m->pair);

	for (uint32_t cpu = 0; cpu < m->nr_cpus; cpu++)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct ev_lost rec = {
				.hdr = { sizeof(rec), EV_LOST, 0, cpu, ts_ns },
				.kind = kinds[i],
			};

			(void)!pair.push(pair.ctx, &rec.hdr);
		}
	event_buffer_resume(m->stream);
	m->paused = analyzers_running(m->analyzers);
	analyzers_stop(m->analyzers, m->paused, ts_ns);
}

void live_model_resume(struct live_model *m, uint32_t wanted, uint64_t ts_ns)
{
	struct diag d = { 0 };

	/* They have their memory, so that nothing can fail. */
	(void)!analyzers_start(m->analyzers, m->paused & wanted, ts_ns, &d);
	m->paused = 0;
}

void live_model_task(struct live_model *m, const struct proc_task *task, uint64_t ts_ns)
{
	struct ev_sink pair = pair_sink(m->pair);
	struct ev_task_info rec = {
		.hdr = { sizeof(rec), EV_TASK_INFO, 0, 0, ts_ns },
		.tid = task->tid,
		.tgid = task->tgid,
		.ppid = task->ppid,
		.flags = task->is_kthread ? EV_TASK_KTHREAD : 0,
		.start_ns = task->start_ns,
	};

	memcpy(rec.comm, task->comm, sizeof(rec.comm));
	(void)!pair.push(pair.ctx, &rec.hdr);
}

void live_model_bury(struct live_model *m, bool (*is_there)(void *ctx, uint32_t tid), void *ctx,
                     uint64_t ts_ns)
{
	struct ev_sink pair = pair_sink(m->pair);

	for (uint32_t i = 0; i < tasks_nr(m->tasks); i++) {
		const struct task *t = tasks_at(m->tasks, i);
		struct ev_free rec = { .hdr = { sizeof(rec), EV_FREE, 0, 0, ts_ns } };

		if (!t || !t->is_found || is_there(ctx, t->tid))
			continue;
		rec.tid = t->tid;
		(void)!pair.push(pair.ctx, &rec.hdr);
	}
}
