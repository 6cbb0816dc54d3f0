/* The records of perf.data, one after the other. */
#include "trace/perfdata/perfdata.h"

#define PROGRESS 0xffffU

bool pd_record_next(struct perfdata *d, struct bytes_in *in, struct pd_record *out)
{
	if (bytes_left(in) < PD_HEADER_BYTES)
		return false;
	*out = (struct pd_record){ .type = pd_u32(d, in->at),
		                   .misc = pd_u16(d, in->at + 4),
		                   .size = pd_u16(d, in->at + 6),
		                   .bytes = in->at };
	if (out->size < PD_HEADER_BYTES || out->size > bytes_left(in))
		return false;
	in->at += out->size;
	return true;
}

uint64_t pd_record_tail(struct perfdata *d, const struct pd_record *rec)
{
	uint64_t size;

	if (rec->type == PD_HEADER_TRACING_DATA && rec->size >= PD_HEADER_BYTES + 4U) {
		size = pd_u32(d, rec->bytes + PD_HEADER_BYTES);
		return (size + 7) / 8 * 8;
	}
	if (rec->type == PD_AUXTRACE && rec->size >= PD_HEADER_BYTES + 8U)
		return pd_u64(d, rec->bytes + PD_HEADER_BYTES);
	return 0;
}

/* All CPUs so far, where the file does not say which one. */
static void lose(struct perfdata *d, const struct pd_when *when, uint64_t count)
{
	struct ftrace_cpu *on;

	if (when->cpu != PD_NONE) {
		on = ftrace_cpus_get(&d->cpus, when->cpu);
		if (on)
			ftrace_cpus_lost(on, when->ts_ns, count);
		return;
	}
	for (size_t i = 0; i < d->cpus.nr_lanes; i++) {
		on = d->cpus.lanes[i] ? ftrace_cpus_get(&d->cpus, i) : NULL;
		if (!on)
			continue;
		ftrace_cpus_lost(on, when->ts_ns ? when->ts_ns : d->last_ns, count);
		count = 0; /* once */
	}
}

/* The kernel says it where it happened. At its end, perf says how many there were in all, and has no time for it. */
static void lost(struct perfdata *d, const struct pd_record *rec)
{
	enum { BY_FILTER = 1 << 15 }; /* in misc: a BPF filter dropped them, as it should */
	uint32_t end;
	struct pd_when when = pd_when_of(d, rec, &end);
	uint32_t at = rec->type == PD_LOST ? 16 : 8;
	uint64_t count;

	if (end < at + 8) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	count = pd_u64(d, rec->bytes + at);
	if (rec->type == PD_LOST_SAMPLES && rec->misc & BY_FILTER)
		return;
	if (rec->type == PD_LOST_SAMPLES && !when.ts_ns) {
		d->lost_total += count;
		return;
	}
	d->lost_told += count;
	lose(d, &when, count);
}

void pd_record(struct perfdata *d, const struct pd_record *rec)
{
	d->nr_records++;
	switch (rec->type) {
	case PD_SAMPLE:
		pd_sample(d, rec);
		break;
	case PD_MMAP:
	case PD_MMAP2:
		pd_mmap(d, rec);
		break;
	case PD_COMM:
		pd_comm(d, rec);
		break;
	case PD_FORK:
		pd_fork(d, rec);
		break;
	case PD_EXIT:
		pd_exit(d, rec);
		break;
	case PD_SWITCH:
	case PD_SWITCH_CPU_WIDE:
		pd_switch(d, rec);
		break;
	case PD_LOST:
	case PD_LOST_SAMPLES:
		lost(d, rec);
		break;
	case PD_THROTTLE:
		pd_damage(d, DAMAGE_PERF_THROTTLED);
		break;
	case PD_KSYMBOL:
		pd_ksymbol(d, rec);
		break;
	case PD_CGROUP_PATH:
		pd_cgroup_path(d, rec);
		break;
	case PD_COMPRESSED:
	case PD_COMPRESSED2:
		pd_unpack(d, rec);
		break;
	default:
		if (!rec->type || (rec->type > PD_LAST_OF_KERNEL && rec->type < PD_HEADER_ATTR) ||
		    rec->type > PD_LAST_OF_PERF)
			pd_damage(d, DAMAGE_PERF_UNKNOWN);
		else if (rec->type == PD_AUXTRACE)
			pd_damage(d, DAMAGE_PERF_AUX);
		break;
	}
}

static void progress(const struct perfdata *d, const struct bytes_in *in)
{
	const struct trace_read_cfg *cfg = &d->r->cfg;

	if ((d->nr_records & PROGRESS) == 0 && cfg->progress)
		cfg->progress(cfg->progress_ctx, d->file_len - bytes_left(in), 2 * d->file_len);
}

void pd_records(struct perfdata *d, struct bytes_in in)
{
	struct pd_record rec;

	while (!d->err && !d->cpus.err && pd_record_next(d, &in, &rec)) {
		uint64_t tail = pd_record_tail(d, &rec);

		pd_record(d, &rec);
		if (tail > bytes_left(&in))
			break;
		in.at += tail;
		progress(d, &in);
	}
	if (bytes_left(&in) && !d->err && !d->cpus.err) {
		d->r->tally.damage[DAMAGE_TRUNCATED_BYTES] += bytes_left(&in);
		if (!d->r->info.incomplete)
			d->r->info.incomplete =
				"the file ends within a record, or is damaged there";
	}
}

void pd_records_end(struct perfdata *d)
{
	if (d->lost_total > d->lost_told)
		lose(d, &(struct pd_when){ .cpu = PD_NONE }, d->lost_total - d->lost_told);
}
