#include "live/live_source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/events.h"
#include "collect/ring_plan.h"
#include "collect/tracing.h"
#include "sys/proc/pid_namespace.h"
#include "sys/topology.h"

struct live_kernel {
	uint32_t tgid;
	struct ring_plan rings;
	uint32_t *possible;
	uint32_t nr_possible;
};

DEFINE_SCOPED(live_kernel, live_kernel_free)

static int plan_rings(struct live_kernel *k, const struct topology *topology)
{
	uint32_t nr_cpus = topology_counts(topology)->nr_cpu_ids;
	SCOPED(scoped_free) int32_t *llcs = calloc(nr_cpus, sizeof(*llcs));
	struct ring_plan_cfg cfg = {
		.nr_cpus = nr_cpus,
		.llc_of_cpu = llcs,
		.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	};

	k->possible = calloc(nr_cpus, sizeof(*k->possible));
	if (!llcs || !k->possible)
		return -ENOMEM;
	k->nr_possible = topology_possible(topology, k->possible);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		const struct topology_cpu *at = topology_cpu(topology, cpu);

		llcs[cpu] = at ? at->llc : -1;
	}
	return ring_plan_make(&cfg, &k->rings);
}

int live_kernel_new(const struct topology *topology, uint32_t tgid, struct diag *d,
                    struct live_kernel **out)
{
	SCOPED(scoped_live_kernel) struct live_kernel *k = calloc(1, sizeof(*k));
	int err = tgid ? pid_namespace_check("the process id", d) : 0;

	if (err)
		return err;
	if (!k || plan_rings(k, topology))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	k->tgid = tgid;
	*out = TAKE_PTR(k);
	return 0;
}

void live_kernel_free(struct live_kernel *k)
{
	if (!k)
		return;
	ring_plan_done(&k->rings);
	free(k->possible);
	free(k);
}

static uint8_t measures_of(uint64_t kinds)
{
	uint8_t measures = 0;

	if (kinds & EV_BIT(EV_THROTTLE))
		measures |= EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU | EV_MEASURES_LIMITS;
	if (kinds & EV_BIT(EV_STEAL))
		measures |= EV_MEASURES_STEAL;
	return measures;
}

static int open_stream(void *ctx, uint64_t kinds, struct diag *d, void **out)
{
	const struct live_kernel *k = ctx;
	struct tracing tracing = { 0 };
	struct events *events = NULL;
	struct events_cfg cfg = {
		.kinds = kinds & ~LIVE_MEASURES,
		.tgid = k->tgid,
		.nr_cpus = k->rings.nr_cpus,
		.possible = k->possible,
		.nr_possible = k->nr_possible,
		.ring_of_cpu = k->rings.ring_of_cpu,
		.nr_rings = k->rings.nr_rings,
		.ring_bytes = k->rings.ring_bytes,
	};
	int err = tracing_probe("live data", &tracing, d);

	cfg.switch_args = tracing.switch_args;
	cfg.measures = tracing.measures & measures_of(kinds);
	if (!err)
		err = events_open(&cfg, d, &events);
	if (!err)
		*out = events;
	return err;
}

static int attach_stream(void *stream, struct diag *d)
{
	return events_attach(stream, d);
}

static int poll_stream(void *stream, const struct ev_sink *sink, struct diag *d)
{
	return events_poll(stream, 0, sink, d);
}

static int finish_stream(void *stream, const struct ev_sink *sink, struct diag *d)
{
	return events_finish(stream, sink, d);
}

static int stream_fd(void *stream)
{
	return events_watch_fd(stream);
}

static uint64_t stream_missing(void *stream)
{
	return events_missing(stream);
}

static uint64_t stream_start_ns(void *stream)
{
	return events_start_ns(stream);
}

static void close_stream(void *stream)
{
	events_close(stream);
}

static int each_task(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d)
{
	(void)ctx;
	if (!pid_namespace_is_initial())
		return diag_set(d, -ENOTSUP, PID_NAMESPACE_HINT, PID_NAMESPACE_NOTE);
	return proc_tasks_each("/proc", fn, fn_ctx, d);
}

struct live_source live_kernel_source(struct live_kernel *k)
{
	return (struct live_source){
		.open = open_stream,
		.attach = attach_stream,
		.poll = poll_stream,
		.finish = finish_stream,
		.fd = stream_fd,
		.missing = stream_missing,
		.start_ns = stream_start_ns,
		.close = close_stream,
		.tasks = each_task,
		.ctx = k,
	};
}
