#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"
#include "trace/perfetto/write/writer_priv.h"

/* Beyond the cap, hits are written under their number. */
static int add_probe(struct trace_writer *w, uint32_t id, uint32_t *idx)
{
	uint32_t nr = map_nr(w->probe_ids);
	int err;

	if (map_find(w->probe_ids, &id, idx))
		return 0;
	if (GROW(w->probes, w->probes_room, nr))
		return -ENOMEM;
	err = map_insert(w->probe_ids, &id, nr);
	if (!err)
		*idx = nr;
	return err;
}

int writer_probe_info(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_probe_info *rec = (const void *)hdr;
	struct writer_probe *probe;
	uint32_t idx;
	int err = add_probe(w, rec->probe, &idx);

	if (err)
		return err == -E2BIG ? -ERANGE : err;
	probe = &w->probes[idx];
	*probe = (struct writer_probe){ .type = rec->type };
	(void)snprintf(probe->name, sizeof(probe->name), "%.*s", (int)(hdr->size - sizeof(*rec)),
	               (const char *)(rec + 1));
	return 0;
}

static const char *category_of(uint32_t type)
{
	static const char *const names[] = {
		[EV_PROBE_KPROBE] = "kprobe",
		[EV_PROBE_UPROBE] = "uprobe",
		[EV_PROBE_URETPROBE] = "uretprobe",
		[EV_PROBE_TRACEPOINT] = "tracepoint",
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "probe";
}

static int probe_instant(struct trace_writer *w, const struct ev_probe *rec,
                         const struct writer_probe *probe, const struct writer_place *at,
                         struct trace_task *task)
{
	struct track_arg args[2] = { { .type = ARG_INT, .i = rec->hdr.cpu },
		                     { .type = ARG_POINTER, .u = rec->ip } };
	struct track_event event = { .args = args, .nr_args = rec->ip ? 2 : 1 };
	int err = track_begin(&w->tracks);

	if (!err)
		err = track_of_task(&w->tracks, at->cpu, task, at->ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, category_of(probe->type));
	event.name_iid = track_iid(&w->tracks, USE_NAME, probe->name);
	args[0].name_iid = track_iid(&w->tracks, USE_ARG, "cpu");
	if (rec->ip)
		args[1].name_iid = track_iid(&w->tracks, USE_ARG, "ip");
	return track_instant(&w->tracks, at->ts_ns, &event);
}

int writer_probe(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_probe *rec = (const void *)hdr;
	struct writer_probe unknown = { 0 };
	const struct writer_probe *probe = &unknown;
	struct writer_place at;
	struct trace_task *task;
	struct ftrace_event e;
	uint32_t idx;
	int err = writer_at(w, hdr, &at);

	if (!err)
		err = writer_task(w, rec->tid, at.ts_ns, &task);
	if (err)
		return err;
	if (map_find(w->probe_ids, &rec->probe, &idx))
		probe = &w->probes[idx];
	else
		(void)snprintf(unknown.name, sizeof(unknown.name), "probe %u", rec->probe);
	if (probe->type != EV_PROBE_KPROBE)
		return probe_instant(w, rec, probe, &at, task);
	e = ftrace_begin(at.cpu, at.ts_ns, rec->tid, FTRACE_KPROBE_EVENT);
	pb_text(e.w, KPROBE_NAME, probe->name, sizeof(probe->name));
	pb_uint(e.w, KPROBE_TYPE, KPROBE_TYPE_INSTANT);
	ftrace_end(&e, hdr->flags);
	return 0;
}

/* What wprof puts on the end of a slice, on a track of its own beside the thread's. */
/* A slice of which no counter could be read needs no track. */
static bool has_values(const __u64 *values, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (values[i] != EV_PMU_UNKNOWN)
			return true;
	return false;
}

int writer_pmu(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_pmu *rec = (const void *)hdr;
	const __u64 *values = (const __u64 *)(rec + 1);
	uint32_t nr = rec->nr < WRITER_PMU_MAX ? rec->nr : WRITER_PMU_MAX;
	struct track_arg args[1 + WRITER_PMU_MAX];
	struct track_event event = { .args = args, .nr_args = 1 };
	struct writer_place at;
	struct trace_task *task;
	int err = has_values(values, nr) ? writer_at(w, hdr, &at) : -ERANGE;

	if (!err)
		err = writer_task(w, rec->tid, at.ts_ns, &task);
	if (!err)
		err = track_begin(&w->tracks);
	if (!err)
		err = track_of_pmu(&w->tracks, at.cpu, task, at.ts_ns, &event.track_uuid);
	if (err)
		return err;
	event.category_iid = track_iid(&w->tracks, USE_CATEGORY, "PMU");
	event.name_iid = track_iid(&w->tracks, USE_NAME, "slice");
	args[0] = (struct track_arg){ .name_iid = track_iid(&w->tracks, USE_ARG, "cpu"),
		                      .i = hdr->cpu };
	for (uint32_t i = 0; i < nr; i++) {
		if (values[i] == EV_PMU_UNKNOWN)
			continue;
		args[event.nr_args++] = (struct track_arg){
			.name_iid = track_iid(&w->tracks, USE_ARG, w->pmu_keys[i]),
			.type = ARG_DOUBLE,
			.d = (double)values[i],
		};
	}
	return track_instant(&w->tracks, at.ts_ns, &event);
}

int writer_sample(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_sample *rec = (const void *)hdr;
	struct writer_place at;
	struct sample_in in = { .rec = rec };
	struct trace_task *task;
	int err = rec->event < EV_SAMPLE_KINDS ? writer_at(w, hdr, &at) : -ERANGE;

	if (!err)
		err = writer_task(w, rec->tid, at.ts_ns, &task);
	if (err)
		return err;
	task = rec->tgid == rec->tid ? task : trace_tasks_find(w->tasks, rec->tgid);
	in.image = task ? task->image : 0;
	in.ts_ns = at.ts_ns;
	in.count = at.cpu->nr_sampled[rec->event] += rec->period;
	return sample_put(&w->samples[rec->event], &in);
}
