/* Samples: kernel events with their raw bytes, and where CPUs were. */
#include "trace/perfdata/perfdata.h"

#define STACK_MAX 1024U /* addresses of a call chain that are kept */

enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };
enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };

struct sample {
	uint64_t ts_ns;
	uint32_t pid, tid, cpu; /* PD_NONE = not given */
	struct pd_chain chain;
	const uint8_t *raw;
	uint32_t raw_len;
	uint64_t cgroup;
};

static void skip_words(struct bytes_in *in, uint64_t nr)
{
	(void)bytes_take(in, nr > UINT64_MAX / 8 ? UINT64_MAX : nr * 8);
}

/* Values of counters. */
static void skip_read(struct bytes_in *in, uint64_t format)
{
	uint64_t each = 1U + ((format & READ_ID) != 0) + ((format & READ_LOST) != 0);
	uint64_t times = 0U + ((format & READ_ENABLED) != 0) + ((format & READ_RUNNING) != 0);
	uint64_t nr = format & READ_GROUP ? bytes_u64(in) : 1;

	skip_words(in, times);
	skip_words(in, nr > UINT64_MAX / 8 ? UINT64_MAX : nr * each);
}

static void read_chain(struct bytes_in *in, struct sample *s)
{
	uint64_t nr = bytes_u64(in);

	s->chain.bytes = in->at;
	skip_words(in, nr);
	s->chain.nr = (uint32_t)(in->is_bad ? 0 : nr < STACK_MAX ? nr : STACK_MAX);
}

static void skip_branches(struct bytes_in *in, uint64_t type)
{
	uint64_t nr = bytes_u64(in);

	if (type & BRANCH_HW_INDEX)
		skip_words(in, 1);
	nr = nr > PD_RECORD_MAX ? UINT64_MAX / 8 : nr;
	skip_words(in, nr * (type & BRANCH_COUNTERS ? 4 : 3));
}

static void skip_regs(struct bytes_in *in, uint64_t mask)
{
	if (bytes_u64(in)) /* 0: the task has none */
		skip_words(in, (uint64_t)__builtin_popcountll(mask));
}

/* The rest up to the cgroup; only where there is one. */
static void read_cgroup(const struct pd_attr *a, struct bytes_in *in, struct sample *s)
{
	static const uint32_t words[] = { PD_WEIGHT | PD_WEIGHT_STRUCT, PD_DATA_SRC,
		                          PD_TRANSACTION };
	uint64_t size;

	if (a->sample_type & PD_BRANCH_STACK)
		skip_branches(in, a->branch_type);
	if (a->sample_type & PD_REGS_USER)
		skip_regs(in, a->regs_user);
	if (a->sample_type & PD_STACK_USER) {
		size = bytes_u64(in);
		(void)bytes_take(in, size);
		if (size)
			skip_words(in, 1); /* how much of it was used */
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (a->sample_type & words[i])
			skip_words(in, 1);
	if (a->sample_type & PD_REGS_INTR)
		skip_regs(in, a->regs_intr);
	if (a->sample_type & PD_PHYS_ADDR)
		skip_words(in, 1);
	s->cgroup = bytes_u64(in);
}

static bool parse(struct perfdata *d, const struct pd_attr *a, const struct pd_record *rec,
                  struct sample *s)
{
	const uint8_t *bytes = rec->bytes;
	struct bytes_in in;

	if (rec->size < a->fixed_end)
		return false;
	*s = (struct sample){ .pid = PD_NONE, .tid = PD_NONE, .cpu = PD_NONE };
	if (a->at_tid) {
		s->pid = pd_u32(d, bytes + a->at_tid);
		s->tid = pd_u32(d, bytes + a->at_tid + 4);
	}
	if (a->at_time)
		s->ts_ns = pd_u64(d, bytes + a->at_time);
	if (a->at_cpu)
		s->cpu = pd_u32(d, bytes + a->at_cpu);
	in = pd_in_of(d, bytes + a->fixed_end, rec->size - a->fixed_end);
	if (a->sample_type & PD_READ)
		skip_read(&in, a->read_format);
	if (a->sample_type & PD_CALLCHAIN)
		read_chain(&in, s);
	if (a->sample_type & PD_RAW) {
		s->raw_len = bytes_u32(&in);
		s->raw = bytes_take(&in, s->raw_len);
	}
	if (a->sample_type & PD_CGROUP)
		read_cgroup(a, &in, s);
	return !in.is_bad;
}

/* Where samples do not say which CPU they are of, only their time counts. */
static void count_without_cpu(struct perfdata *d, const struct pd_attr *a, const struct sample *s)
{
	struct ftrace_cpu *on = ftrace_cpus_get(&d->cpus, 0);

	tally_time(&d->r->tally, s->ts_ns);
	tally_text(&d->r->tally.generic, a->name, 1);
	if (on && s->tid <= INT32_MAX)
		decoder_see_tid(on->dec, s->ts_ns, s->tid);
}

static void take_event(struct perfdata *d, const struct pd_attr *a, const struct sample *s)
{
	uint32_t name = a->name;
	struct ftrace_event_in e;
	struct ftrace_cpu *on;

	if (s->cpu == PD_NONE) {
		count_without_cpu(d, a, s);
		return;
	}
	on = ftrace_cpus_get(&d->cpus, s->cpu);
	if (!on)
		return;
	if (a->sample_type & PD_CGROUP && s->tid <= INT32_MAX)
		pd_task_cgroup(d, on, s->ts_ns, s->tid, s->cgroup);
	if (a->format && s->raw) {
		const struct ftrace_format *format = &d->formats.all[a->format - 1];

		if (!ftrace_format_read(&d->formats, format, s->raw, s->raw_len, &e)) {
			pd_damage(d, DAMAGE_PERF_BAD);
			return;
		}
		name = format->name;
	} else {
		e.member = 0;
		if (s->tid <= INT32_MAX)
			decoder_see_tid(on->dec, s->ts_ns, s->tid);
	}
	e.ts_ns = s->ts_ns;
	ftrace_cpus_take(on, &e, name);
}

/* Time that a sample stands for, as far as it is known; events of the kernel are one each. */
static uint64_t weight_of(struct perfdata *d, const struct pd_attr *a, const struct pd_record *rec)
{
	uint64_t period = a->at_period ? pd_u64(d, rec->bytes + a->at_period)
	                  : a->is_freq ? 0
	                               : a->period;

	return period ? period : 1;
}

static void take_stack(struct perfdata *d, const struct pd_attr *a, const struct sample *s,
                       const struct pd_record *rec)
{
	struct trace_sample sample = { .ts_ns = s->ts_ns,
		                       .tid = s->tid <= INT32_MAX ? s->tid : 0,
		                       .cpu = s->cpu,
		                       .kind = a->kind };
	struct pd_chain chain = s->chain;

	if (!chain.nr && a->type == PD_TYPE_TRACEPOINT)
		return;
	if (!chain.nr && a->at_ip)
		chain = (struct pd_chain){ rec->bytes + a->at_ip, 1 };
	sample.weight = weight_of(d, a, rec);
	pd_stacks_sample(d, a, &sample, s->pid, chain);
}

void pd_sample(struct perfdata *d, const struct pd_record *rec)
{
	const struct pd_attr *a = pd_attr_of_sample(d, rec);
	struct sample s;

	if (!a || !parse(d, a, rec, &s)) {
		pd_damage(d, DAMAGE_PERF_BAD);
		return;
	}
	if (!s.ts_ns) {
		pd_damage(d, DAMAGE_EVENT_NO_TS);
		return;
	}
	if (s.ts_ns > d->last_ns)
		d->last_ns = s.ts_ns;
	if (s.tid <= INT32_MAX && s.tid)
		pd_task_seen(d, s.ts_ns, s.pid, s.tid);
	take_event(d, a, &s);
	take_stack(d, a, &s, rec);
}
