/* What sched_ext says of queues and slices, and what counters say of slices: records that are rows already. */
#include "model/pair_priv.h"

void pair_run_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_scx_run *ev = (const struct ev_scx_run *)rec;
	struct pair_run row = {
		.ts_ns = p->now_ns,
		.dsq_id = ev->dsq_id,
		.slice_ns = ev->slice_ns,
		.vtime = ev->vtime,
		.task = tasks_see(p->tasks, ev->tid, p->now_ns),
		.layer = ev->layer,
		.cpu = pair_cpu_nr(rec->cpu),
		.flags = (uint8_t)ev->flags,
	};

	PAIR_EMIT(p, run, &row);
}

void pair_dsq_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_dsq_leave *ev = (const struct ev_dsq_leave *)rec;
	struct pair_dsq row = {
		.start_ns = p->now_ns,
		.end_ns = p->now_ns,
		.dsq_id = ev->dsq_id,
		.vtime = ev->vtime,
		.task = tasks_see(p->tasks, ev->tid, p->now_ns),
		.layer = ev->layer,
		.cpu = pair_cpu_nr(rec->cpu),
		.how = ev->how,
		.flags = (uint8_t)ev->flags,
		.is_moved = ev->is_moved != 0,
		.has_start = ev->start_ns && ev->start_ns <= p->now_ns,
	};

	if (ev->dsq_id == EV_DSQ_INVALID)
		return;
	if (row.has_start)
		row.start_ns = ev->start_ns;
	else if (ev->start_ns)
		p->breaks.unmatched_spans++;
	PAIR_EMIT(p, dsq, &row);
}

void pair_pmu_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_pmu *ev = (const struct ev_pmu *)rec;
	const uint64_t *values = (const uint64_t *)(ev + 1);
	uint32_t room = (uint32_t)((rec->size - sizeof(*ev)) / sizeof(*values));
	struct pair_pmu row = {
		.ts_ns = p->now_ns,
		.task = tasks_see(p->tasks, ev->tid, p->now_ns),
		.cpu = pair_cpu_nr(rec->cpu),
	};

	for (uint32_t i = 0; i < ev->nr && i < room; i++) {
		row.value = values[i];
		row.index = (uint16_t)i;
		PAIR_EMIT(p, pmu, &row);
	}
}
