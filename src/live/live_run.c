#include "live/live_run.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "live/live_analyzers.h"
#include "live/live_model.h"
#include "live/live_source.h"
#include "sys/topology.h"

struct live_run {
	uint32_t analyzers;
	uint64_t kinds;
	struct ev_sink affinity;
	struct ev_sink down;       /* of the model, while poll() reads */
	struct topology *topology; /* our own; NULL = lent */
	struct live_kernel *kernel;
	struct live_source source;
	struct live_model model;
	void *stream;
	uint64_t start_ns;
};

DEFINE_SCOPED(live_run, live_run_close)

int live_run_open(const struct live_run_cfg *cfg, struct diag *d, struct live_run **out)
{
	SCOPED(scoped_live_run) struct live_run *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->analyzers = cfg->analyzers;
	r->kinds = analyzers_kinds(cfg->analyzers);
	r->affinity = cfg->affinity;
	if (!cfg->topology)
		err = topology_read("/sys", d, &r->topology);
	if (!err && !cfg->source)
		err = live_kernel_new(r->topology, 0, d, &r->kernel);
	if (err)
		return err;
	r->source = cfg->source ? *cfg->source : live_kernel_source(r->kernel);
	err = live_model_init(&r->model, cfg->topology ? cfg->topology : r->topology,
	                      cfg->window_ns, d);
	if (!err)
		err = r->source.open(r->source.ctx, r->kinds, d, &r->stream);
	if (err)
		return err;
	*out = TAKE_PTR(r);
	return 0;
}

void live_run_close(struct live_run *r)
{
	if (!r)
		return;
	if (r->stream)
		r->source.close(r->stream);
	live_model_done(&r->model);
	live_kernel_free(r->kernel);
	topology_free(r->topology);
	free(r);
}

static int take_task(void *ctx, const struct proc_task *task)
{
	struct live_run *r = ctx;

	live_model_task(&r->model, task, r->start_ns);
	return 0;
}

int live_run_attach(struct live_run *r, struct diag *d)
{
	struct diag ignored = { 0 };
	int err = r->source.attach(r->stream, d);

	if (err)
		return err;
	r->start_ns = r->source.start_ns(r->stream);
	/* Without it the stream itself reports names, a little later. */
	(void)!r->source.tasks(r->source.ctx, take_task, r, &ignored);
	live_model_resume(&r->model, r->kinds & ~r->source.missing(r->stream), r->start_ns);
	return live_model_start(&r->model, r->analyzers, r->start_ns, d);
}

int live_run_fd(const struct live_run *r)
{
	return r->source.fd(r->stream);
}

uint64_t live_run_start_ns(const struct live_run *r)
{
	return r->start_ns;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct live_run *r = ctx;
	int err = 0;

	if (rec->kind == EV_AFFINITY && r->affinity.push)
		err = r->affinity.push(r->affinity.ctx, rec);
	return err ? err : r->down.push(r->down.ctx, rec);
}

static int advance(void *ctx, __u64 ts_ns)
{
	struct live_run *r = ctx;

	return r->down.advance ? r->down.advance(r->down.ctx, ts_ns) : 0;
}

int live_run_poll(struct live_run *r, struct diag *d)
{
	const struct ev_sink sink = { .push = push, .advance = advance, .ctx = r };

	r->down = live_model_sink(&r->model);
	return r->source.poll(r->stream, &sink, d);
}

int live_run_shot(struct live_run *r, struct live_shot **out)
{
	return live_shot_new(&r->model, true, out);
}

void live_run_stats(const struct live_run *r, struct live_run_stats *out)
{
	*out = (struct live_run_stats){ 0 };
	for (uint32_t kind = 0; kind < EV_KIND_MAX; kind++) {
		out->events += r->kinds & EV_BIT(kind) ? r->model.seen[kind] : 0;
		out->lost += r->model.lost[kind];
	}
}
