#include "record/evicted_state.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_make.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "model/tasks.h"

struct left_cpu {
	struct ev_switch last_switch; /* size 0 = none */
	struct ev_cpu_freq last_freq;
};

struct evicted_state {
	struct tasks *tasks;
	struct ev_affinity **affinity; /* by task; NULL = unknown */
	uint32_t affinity_cap;
	struct ev_policy *policies; /* by task; size 0 = unknown */
	uint32_t nr_policies;
	uint32_t nr_cpus;
	struct left_cpu *cpus;
	uint32_t nr_probes;
	struct ev_probe_info *probes[EVICTED_PROBES];
	struct ev_sampling sampling; /* size 0 = none */
	struct ev_measures measures; /* likewise */
	struct ev_scx_state scx;     /* the same */
};

DEFINE_SCOPED(evicted_state, evicted_state_free)

static void forget_affinity(struct evicted_state *s, uint32_t task)
{
	if (task >= s->affinity_cap)
		return;
	free(s->affinity[task]);
	s->affinity[task] = NULL;
}

static void forget_task(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct evicted_state *s = ctx;

	(void)ts_ns;
	forget_affinity(s, task);
	if (task < s->nr_policies)
		s->policies[task].hdr.size = 0;
}

int evicted_state_new(uint32_t nr_cpus, struct evicted_state **out)
{
	SCOPED(scoped_evicted_state) struct evicted_state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->nr_cpus = nr_cpus;
	s->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*s->cpus));
	if (!s->cpus || tasks_new(&(struct tasks_cfg){ 0 }, &s->tasks))
		return -ENOMEM;
	tasks_set_hook(s->tasks, &(struct tasks_hook){ .end = forget_task, .ctx = s });
	*out = TAKE_PTR(s);
	return 0;
}

void evicted_state_free(struct evicted_state *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_probes; i++)
		free(s->probes[i]);
	for (uint32_t i = 0; i < s->affinity_cap; i++)
		free(s->affinity[i]);
	free(s->affinity);
	free(s->policies);
	tasks_free(s->tasks);
	free(s->cpus);
	free(s);
}

/* Another name for a known number replaces it; without room or memory, hits have their number only. */
static void take_probe(struct evicted_state *s, const struct ev_probe_info *rec)
{
	struct ev_probe_info *copy;
	uint32_t i = 0;

	while (i < s->nr_probes && s->probes[i]->probe != rec->probe)
		i++;
	if (i == EVICTED_PROBES)
		return;
	copy = malloc(rec->hdr.size);
	if (!copy)
		return;
	memcpy(copy, rec, rec->hdr.size);
	if (i == s->nr_probes)
		s->nr_probes++;
	else
		free(s->probes[i]);
	s->probes[i] = copy;
}

/* Of a task that is known; without memory, nothing is known of its CPUs. */
static void take_affinity(struct evicted_state *s, const struct ev_affinity *rec)
{
	uint32_t task = tasks_find(s->tasks, rec->tid);
	struct ev_affinity *copy;

	if (task == TASKS_NONE || GROW_ZEROED(s->affinity, s->affinity_cap, task))
		return;
	copy = realloc(s->affinity[task], rec->hdr.size);
	if (!copy) {
		forget_affinity(s, task);
		return;
	}
	memcpy(copy, rec, rec->hdr.size);
	s->affinity[task] = copy;
}

static void take_policy(struct evicted_state *s, const struct ev_policy *rec)
{
	uint32_t task = tasks_find(s->tasks, rec->tid);

	if (task != TASKS_NONE && !GROW_ZEROED(s->policies, s->nr_policies, task))
		s->policies[task] = *rec;
}

static void take_life(struct evicted_state *s, const struct ev_hdr *rec)
{
	switch (rec->kind) {
	case EV_TASK_INFO:
		(void)tasks_info(s->tasks, (const struct ev_task_info *)rec);
		break;
	case EV_FORK:
		(void)tasks_fork(s->tasks, (const struct ev_fork *)rec);
		break;
	case EV_EXEC:
		(void)tasks_exec(s->tasks, (const struct ev_exec *)rec);
		break;
	case EV_RENAME:
		(void)tasks_rename(s->tasks, (const struct ev_rename *)rec);
		break;
	case EV_EXIT:
		(void)tasks_exit(s->tasks, (const struct ev_exit *)rec);
		break;
	case EV_FREE:
		(void)tasks_freed(s->tasks, (const struct ev_free *)rec);
		break;
	case EV_CGROUP:
		tasks_cgroup(s->tasks, (const struct ev_cgroup *)rec);
		break;
	case EV_CGROUP_INFO:
		tasks_cgroup_info(s->tasks, (const struct ev_cgroup_info *)rec);
		break;
	default:
		break;
	}
}

void evicted_state_add(struct evicted_state *s, const struct ev_hdr *rec)
{
	switch (rec->kind) {
	case EV_SWITCH:
		if (rec->cpu < s->nr_cpus)
			memcpy(&s->cpus[rec->cpu].last_switch, rec, sizeof(struct ev_switch));
		break;
	case EV_LOST:
		tasks_lost(s->tasks, ((const struct ev_lost *)rec)->kind, rec->ts_ns);
		/* The task that runs there now is unknown. */
		if (((const struct ev_lost *)rec)->kind == EV_SWITCH && rec->cpu < s->nr_cpus)
			s->cpus[rec->cpu].last_switch.hdr.size = 0;
		break;
	case EV_CPU_FREQ:
		if (((const struct ev_cpu_freq *)rec)->cpu < s->nr_cpus)
			memcpy(&s->cpus[((const struct ev_cpu_freq *)rec)->cpu].last_freq, rec,
			       sizeof(struct ev_cpu_freq));
		break;
	case EV_PROBE_INFO:
		take_probe(s, (const struct ev_probe_info *)rec);
		break;
	case EV_SAMPLING:
		memcpy(&s->sampling, rec, sizeof(s->sampling));
		break;
	case EV_MEASURES:
		memcpy(&s->measures, rec, sizeof(s->measures));
		break;
	case EV_AFFINITY:
		take_affinity(s, (const struct ev_affinity *)rec);
		break;
	case EV_POLICY:
		take_policy(s, (const struct ev_policy *)rec);
		break;
	case EV_SCX_STATE:
		memcpy(&s->scx, rec, sizeof(s->scx));
		break;
	default:
		take_life(s, rec);
		break;
	}
}

static int emit_affinity(const struct evicted_state *s, const struct ev_sink *sink, uint32_t task,
                         uint64_t ts_ns)
{
	struct ev_affinity *rec = task < s->affinity_cap ? s->affinity[task] : NULL;

	if (!rec)
		return 0;
	rec->hdr.ts_ns = ts_ns;
	return sink->push(sink->ctx, &rec->hdr);
}

static int emit_policy(const struct evicted_state *s, const struct ev_sink *sink, uint32_t task,
                       uint64_t ts_ns)
{
	struct ev_policy rec;

	if (task >= s->nr_policies || !s->policies[task].hdr.size)
		return 0;
	rec = s->policies[task];
	rec.hdr.ts_ns = ts_ns;
	rec.tid = tasks_at(s->tasks, task)->tid; /* another one since an exec */
	return sink->push(sink->ctx, &rec.hdr);
}

static int emit_cgroup(const struct evicted_state *s, const struct ev_sink *sink, uint32_t task,
                       uint64_t ts_ns)
{
	struct ev_cgroup rec = {
		.hdr = { sizeof(rec), EV_CGROUP, 0, 0, ts_ns },
		.tid = tasks_at(s->tasks, task)->tid,
		.flags = EV_CGROUP_STATED,
		.cgroup = tasks_cgroup_id(s->tasks, tasks_cgroup_now(s->tasks, task)),
	};

	return rec.cgroup ? sink->push(sink->ctx, &rec.hdr) : 0;
}

static int emit_cgroup_paths(const struct evicted_state *s, const struct ev_sink *sink,
                             uint64_t ts_ns)
{
	int err = 0;

	for (uint32_t i = 1; !err && i <= tasks_nr_cgroups(s->tasks); i++) {
		const char *path = tasks_cgroup_path(s->tasks, i);
		struct ev_cgroup_named rec;

		if (!path)
			continue;
		ev_make_cgroup_info(&rec, tasks_cgroup_id(s->tasks, i), path, ts_ns);
		err = sink->push(sink->ctx, &rec.info.hdr);
	}
	return err;
}

static int emit_tasks(const struct evicted_state *s, const struct ev_sink *sink, uint64_t ts_ns)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < tasks_nr(s->tasks); i++) {
		const struct task *task = tasks_at(s->tasks, i);
		const char *comm = tasks_comm(s->tasks, i);
		struct ev_task_info rec = {
			.hdr = { sizeof(rec), EV_TASK_INFO, 0, 0, ts_ns },
			.tid = task->tid,
			.tgid = task->tgid,
			.ppid = task->ppid,
			.flags = task->is_kthread ? EV_TASK_KTHREAD : 0,
			.start_ns = task->start_ns,
		};

		if (!task->is_found)
			continue;
		if (comm)
			strncpy(rec.comm, comm, sizeof(rec.comm) - 1);
		err = sink->push(sink->ctx, &rec.hdr);
		if (!err)
			err = emit_affinity(s, sink, i, ts_ns);
		if (!err)
			err = emit_policy(s, sink, i, ts_ns);
		if (!err)
			err = emit_cgroup(s, sink, i, ts_ns);
	}
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct ev_switch *x = *(const struct ev_switch *const *)a;
	const struct ev_switch *y = *(const struct ev_switch *const *)b;

	return x->hdr.ts_ns < y->hdr.ts_ns ? -1 : x->hdr.ts_ns > y->hdr.ts_ns;
}

static int emit_switches(const struct evicted_state *s, const struct ev_sink *sink,
                         uint64_t since_ns)
{
	SCOPED(scoped_free)
	const struct ev_switch **list = calloc(s->nr_cpus ? s->nr_cpus : 1, sizeof(*list));
	uint32_t nr = 0;
	int err = list ? 0 : -ENOMEM;

	if (err)
		return err;
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++) {
		const struct ev_switch *rec = &s->cpus[cpu].last_switch;

		if (rec->hdr.size && rec->hdr.ts_ns >= since_ns)
			list[nr++] = rec;
	}
	qsort(list, nr, sizeof(*list), by_time);
	for (uint32_t i = 0; !err && i < nr; i++)
		err = sink->push(sink->ctx, &list[i]->hdr);
	return err;
}

static int emit_frequencies(const struct evicted_state *s, const struct ev_sink *sink,
                            uint64_t ts_ns)
{
	int err = 0;

	for (uint32_t cpu = 0; !err && cpu < s->nr_cpus; cpu++) {
		struct ev_cpu_freq rec = s->cpus[cpu].last_freq;

		rec.hdr.ts_ns = ts_ns;
		rec.hdr.cpu = cpu;
		if (rec.hdr.size)
			err = sink->push(sink->ctx, &rec.hdr);
	}
	return err;
}

int evicted_state_emit(const struct evicted_state *s, const struct ev_sink *sink, uint64_t ts_ns,
                       uint64_t since_ns)
{
	struct ev_sampling sampling = s->sampling;
	struct ev_measures measures = s->measures;
	struct ev_scx_state scx = s->scx;
	int err = 0;

	sampling.hdr.ts_ns = measures.hdr.ts_ns = scx.hdr.ts_ns = ts_ns;
	if (sampling.hdr.size)
		err = sink->push(sink->ctx, &sampling.hdr);
	if (!err && measures.hdr.size)
		err = sink->push(sink->ctx, &measures.hdr);
	if (!err && scx.hdr.size)
		err = sink->push(sink->ctx, &scx.hdr);
	for (uint32_t i = 0; !err && i < s->nr_probes; i++)
		err = sink->push(sink->ctx, &s->probes[i]->hdr);
	if (!err)
		err = emit_cgroup_paths(s, sink, ts_ns);
	if (!err)
		err = emit_tasks(s, sink, ts_ns);
	if (!err)
		err = emit_switches(s, sink, since_ns);
	return err ? err : emit_frequencies(s, sink, ts_ns);
}
