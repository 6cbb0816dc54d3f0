#include "analyze/scope.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cgroups.h"

static enum scope_takes takes_by_cgroup(const struct scope *sc, uint32_t task)
{
	uint64_t from_ns = UINT64_MAX;
	bool has_in = false, has_out = false;
	uint32_t cgroup;

	if (!sc->cgroups)
		return SCOPE_ALWAYS;
	for (uint32_t i = 0; tasks_cgroup_stay(sc->s->tasks, task, i, &cgroup, &from_ns); i++) {
		has_in |= sc->cgroups[cgroup];
		has_out |= !sc->cgroups[cgroup];
	}
	has_out |= from_ns > tasks_at(sc->s->tasks, task)->first_seen_ns;
	if (!has_in)
		return SCOPE_NEVER;
	return has_out ? SCOPE_AT_TIMES : SCOPE_ALWAYS;
}

int scope_init(struct scope *sc, const struct source *s, const struct pass_args *args,
               struct diag *d)
{
	*sc = (struct scope){
		.s = s,
		.args = args,
		.to_ns = UINT64_MAX,
		.nr_tasks = tasks_nr(s->tasks),
		.nr_cpus = pair_nr_cpus(s->pair),
	};
	if (pass_cut(s, args, &sc->from_ns, &sc->to_ns))
		sc->span_ns = sc->to_ns - sc->from_ns;
	sc->covered_ns = sc->span_ns;
	for (size_t i = 0; i < s->facts->nr_holes && sc->span_ns; i++)
		sc->covered_ns -= scope_cut(sc, s->facts->holes[i].from_ns,
		                            s->facts->holes[i].to_ns);
	if (!args->pid && !args->tid && !args->comm && !args->comm_match && !args->cgroup) {
		sc->is_all = args->cpu == PASS_ANY_CPU && !args->from_ns && !args->to_ns;
		return 0;
	}
	if (args->cgroup) {
		int err = cgroups_pick(s, args->cgroup, d, &sc->cgroups);

		if (err)
			return err;
	}
	sc->takes = calloc(sc->nr_tasks ? sc->nr_tasks : 1, 1);
	if (!sc->takes)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t i = 0; i < sc->nr_tasks; i++)
		if (pass_takes_task(s, args, i))
			sc->takes[i] = (uint8_t)takes_by_cgroup(sc, i);
	return 0;
}

void scope_done(struct scope *sc)
{
	free(sc->takes);
	free(sc->cgroups);
	sc->takes = NULL;
	sc->cgroups = NULL;
}

struct scope scope_whole(const struct scope *sc, struct pass_args *args)
{
	struct scope whole = *sc;

	*args = (struct pass_args){ .cpu = PASS_ANY_CPU };
	whole.args = args;
	whole.takes = NULL;
	whole.cgroups = NULL;
	whole.is_all = true;
	return whole;
}

bool scope_takes_ever(const struct scope *sc, uint32_t task)
{
	return !sc->takes || (task < sc->nr_tasks && sc->takes[task]);
}

bool scope_takes(const struct scope *sc, uint32_t task, uint64_t ts_ns)
{
	if (!scope_takes_ever(sc, task))
		return false;
	return !sc->takes || sc->takes[task] == SCOPE_ALWAYS ||
	       sc->cgroups[tasks_cgroup_at(sc->s->tasks, task, ts_ns)];
}

bool scope_overlaps(const struct scope *sc, uint64_t start_ns, uint64_t end_ns)
{
	const struct pass_args *args = sc->args;

	if (args->to_ns && start_ns >= args->to_ns)
		return false;
	return end_ns > args->from_ns || (end_ns == start_ns && end_ns == args->from_ns);
}

bool scope_has(const struct scope *sc, uint64_t ts_ns)
{
	return ts_ns >= sc->args->from_ns && (!sc->args->to_ns || ts_ns < sc->args->to_ns);
}

void scope_report_pid(const struct scope *sc, struct report *r)
{
	uint32_t id = sc->args->pid ? sc->args->pid : sc->args->tid;

	report_u64_if(r, "pid_filter", id, id);
}
