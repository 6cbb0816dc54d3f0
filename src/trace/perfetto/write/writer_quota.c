#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/writer_priv.h"

int writer_throttle(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_throttle *rec = (const void *)hdr;
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_THROTTLE);
	pb_uint(e.w, THROTTLE_PID, rec->tid);
	pb_uint(e.w, THROTTLE_CGROUP, rec->cgroup);
	pb_uint(e.w, THROTTLE_QUOTA_NS, rec->quota_ns);
	pb_uint(e.w, THROTTLE_PERIOD_NS, rec->period_ns);
	pb_uint(e.w, THROTTLE_UNTIL_NS, rec->until_ns);
	pb_uint(e.w, THROTTLE_LIMIT, rec->limit);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_refill(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_refill *rec = (const void *)hdr;
	uint32_t nr = rec->nr_cpus < EV_REFILL_CPUS ? rec->nr_cpus : EV_REFILL_CPUS;
	char cpus[2 * EV_REFILL_CPUS];
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	for (size_t i = 0; i < nr; i++) {
		cpus[2 * i] = (char)(rec->cpus[i] & 0xff);
		cpus[2 * i + 1] = (char)(rec->cpus[i] >> 8);
	}
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_REFILL);
	pb_uint(e.w, REFILL_CGROUP, rec->cgroup);
	pb_uint(e.w, REFILL_NR_CPUS, rec->nr_cpus);
	if (nr)
		pb_bytes(e.w, REFILL_CPUS, cpus, 2UL * nr);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_throttled(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_throttled *rec = (const void *)hdr;
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_THROTTLED);
	pb_uint(e.w, THROTTLED_CGROUP, rec->cgroup);
	pb_uint(e.w, THROTTLED_QUOTA_NS, rec->quota_ns);
	pb_uint(e.w, THROTTLED_PERIOD_NS, rec->period_ns);
	pb_uint(e.w, THROTTLED_START_NS, rec->start_ns);
	pb_uint(e.w, THROTTLED_CPU, rec->cpu);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_rt_limit(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_rt_limit *rec = (const void *)hdr;
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_RT_LIMIT);
	pb_uint(e.w, RT_LIMIT_IS_ON, rec->is_on);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_steal(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_steal *rec = (const void *)hdr;
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_STEAL);
	pb_uint(e.w, STEAL_NS, rec->ns);
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_measures(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_measures *rec = (const void *)hdr;
	struct trace_attr attr = { .key = "measures", .number = rec->flags };

	if (rec->flags == w->measures)
		return 0;
	w->measures = rec->flags;
	packet_attributes(&w->chunk.packets, &attr, 1);
	return chunk_packet_done(&w->chunk);
}
