#include "machine/parts/programs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine_past.h"
#include "machine/machine_program.h"
#include "machine/parts/program_hot.h"
#include "sys/bpf/bpf_progs.h"
#include "sys/bpf/bpf_struct_ops.h"

#define SCHED_EXT     "sched_ext_ops"
#define STRUCT_OPS    "struct_ops"
#define REFUSAL_BYTES 336

struct hot_request {
	uint32_t program; /* 0 = nothing is sampled */
	double hz;
	uint32_t nr_clears;
};

struct programs_part {
	bool is_other_machine; /* a copy of its files: there is nothing to list */
	char refusal[REFUSAL_BYTES];
	int fd; /* while it is open the kernel counts runs; -1 = it does not */
	struct bpf_progs progs;
	struct bpf_struct_ops *ops;
	struct machine_bpf *rows;
	struct machine_programs shown;
	struct machine_past cost;
	double past[3][BPF_PROG_SAMPLES]; /* of one program */
	struct program_hot *hot;
	struct hot_request hot_request; /* that hot is the answer to, or hot_refusal */
	char hot_refusal[REFUSAL_BYTES];
	struct machine_hot no_hot;
};

static void close_programs(void *part);

static int open_programs(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct programs_part *p = calloc(1, sizeof(*p));

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->fd = -1;
	p->rows = calloc(BPF_PROGS_MAX, sizeof(*p->rows));
	if (!p->rows || bpf_struct_ops_new(&p->ops)) {
		close_programs(p);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	p->is_other_machine = cfg->root;
	*out = p;
	return 0;
}

static void suspend_hot(struct programs_part *p)
{
	program_hot_close(p->hot);
	p->hot = NULL;
	p->hot_request = (struct hot_request){ 0 };
	p->hot_refusal[0] = '\0';
}

static void suspend(void *part)
{
	struct programs_part *p = part;

	suspend_hot(p);
	machine_past_done(&p->cost);
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	bpf_progs_done(&p->progs);
}

static void close_programs(void *part)
{
	struct programs_part *p = part;

	suspend(p);
	bpf_struct_ops_free(p->ops);
	free(p->rows);
	free(p);
}

/* Between two samples. */
struct step {
	double ns, run_ns, runs;
};

static struct step step_of(const struct bpf_prog *p, uint32_t i)
{
	const struct bpf_prog_sample *a = &p->samples[i - 1], *b = &p->samples[i];

	return (struct step){ (double)(b->ts_ns - a->ts_ns), (double)(b->run_ns - a->run_ns),
		              (double)(b->runs - a->runs) };
}

static void show_times(const struct bpf_prog *p, struct machine_bpf *out)
{
	struct step last = p->nr_samples > 1 ? step_of(p, p->nr_samples - 1) : (struct step){ 0 };
	struct bpf_prog_times t;
	bool is_known = bpf_prog_times(p, &t);

	out->cpu = last.ns > 0 ? last.run_ns / last.ns : NAN;
	out->ns_per_run = last.runs > 0 ? last.run_ns / last.runs : NAN;
	out->runs_per_s = last.ns > 0 ? last.runs * 1e9 / last.ns : NAN;
	out->p50_ns = is_known ? t.p50_ns : NAN;
	out->p99_ns = is_known ? t.p99_ns : NAN;
	out->min_ns = is_known ? t.min_ns : NAN;
	out->max_ns = is_known ? t.max_ns : NAN;
	out->nr_intervals = is_known ? t.nr_intervals : 0;
}

static void show_struct(const struct programs_part *part, const struct bpf_prog *p,
                        struct machine_bpf *out)
{
	const struct bpf_op *op = bpf_struct_ops_find(part->ops, p->id);

	out->struct_name = op ? op->struct_name
	                      : bpf_struct_ops_struct(part->ops, p->attach_btf_id);
	out->op = op ? op->op : NULL;
	out->owner = op && op->name[0] ? op->name : NULL;
	out->owner_id = op ? op->map_id : 0;
	out->is_sched_ext = out->struct_name && strcmp(out->struct_name, SCHED_EXT) == 0;
}

static bool is_struct_ops(const struct bpf_prog *p)
{
	return strcmp(bpf_prog_type_name(p->type), STRUCT_OPS) == 0;
}

static void show_program(const struct programs_part *part, const struct bpf_prog *p,
                         struct machine_bpf *out)
{
	*out = (struct machine_bpf){
		.id = p->id,
		.type = bpf_prog_type_name(p->type),
		.name = p->name,
		.run_ns = p->run_ns,
		.runs = p->runs,
		.misses = p->misses,
		.insns = p->verified_insns,
		.uid = p->uid,
		.btf_id = p->btf_id,
		.nr_maps = p->nr_maps,
		.jited_bytes = p->jited_bytes,
		.is_gpl = p->is_gpl,
		.loaded_ns = p->loaded_ns,
	};
	show_times(p, out);
	if (is_struct_ops(p))
		show_struct(part, p, out);
}

/* Of the time of all CPUs; unknown before the first interval. */
static void add_cost(struct programs_part *p, const struct machine *m)
{
	double sum = NAN, nr_cpus = 0;

	for (size_t i = 0; i < p->progs.nr; i++)
		if (!isnan(p->rows[i].cpu))
			sum = (isnan(sum) ? 0 : sum) + p->rows[i].cpu;
	for (size_t i = 0; i < m->nr_cpus; i++)
		nr_cpus += m->cpus[i].is_online;
	p->shown.cost = nr_cpus > 0 ? sum / nr_cpus : NAN;
	if (!isnan(p->shown.cost) && machine_past_add(&p->cost, p->shown.cost))
		return; /* without memory there is no past */
	p->shown.cost_history = machine_past_show(&p->cost);
}

static void show_past(struct programs_part *p, uint32_t id)
{
	const struct bpf_prog *prog = NULL;
	uint32_t nr;

	for (size_t i = 0; i < p->progs.nr && !prog; i++)
		if (p->progs.progs[i].id == id)
			prog = &p->progs.progs[i];
	if (!prog)
		return;
	p->shown.program = id;
	nr = prog->nr_samples ? prog->nr_samples - 1 : 0;
	for (uint32_t i = 0; i < nr; i++) {
		struct step s = step_of(prog, i + 1);

		p->past[0][i] = s.runs > 0 ? s.run_ns / s.runs : NAN;
		p->past[1][i] = s.ns > 0 ? s.runs * 1e9 / s.ns : NAN;
		p->past[2][i] = s.ns > 0 ? s.run_ns / s.ns : NAN;
	}
	p->shown.ns_history = (struct machine_history){ p->past[0], nr };
	p->shown.runs_history = (struct machine_history){ p->past[1], nr };
	p->shown.cpu_history = (struct machine_history){ p->past[2], nr };
}

static bool is_same(const struct hot_request *a, const struct hot_request *b)
{
	return a->program == b->program && a->hz == b->hz && a->nr_clears == b->nr_clears;
}

static void follow_hot(struct programs_part *p, const struct machine_request *r)
{
	const struct hot_request request = { r->program,
		                             r->sample_hz > 0 ? r->sample_hz : PROGRAM_HOT_HZ,
		                             r->nr_clears };
	const struct program_hot_cfg cfg = { .program = request.program, .hz = request.hz };
	struct diag why = { 0 };

	if (!r->is_program_hot || !r->program) {
		suspend_hot(p);
		return;
	}
	if (!is_same(&request, &p->hot_request)) {
		suspend_hot(p);
		p->hot_request = request;
		if (program_hot_open(&cfg, &why, &p->hot)) {
			p->hot = NULL;
			diag_format(&why, p->hot_refusal, sizeof(p->hot_refusal));
		}
	}
	p->no_hot = (struct machine_hot){ .refusal = p->hot_refusal, .hz = request.hz };
	p->shown.hot = p->hot ? program_hot_read(p->hot) : &p->no_hot;
}

static void refresh_all(struct programs_part *p, const struct machine_part_refresh *r)
{
	struct machine *m = r->machine;
	struct diag why = { 0 };
	bool has_struct_ops = false;

	p->refusal[0] = '\0';
	if (bpf_progs_read(&p->progs, r->now_ns, &why)) {
		diag_format(&why, p->refusal, sizeof(p->refusal));
		return;
	}
	for (size_t i = 0; i < p->progs.nr; i++)
		has_struct_ops |= is_struct_ops(&p->progs.progs[i]);
	if (has_struct_ops)
		bpf_struct_ops_read(p->ops);
	for (size_t i = 0; i < p->progs.nr; i++)
		show_program(p, &p->progs.progs[i], &p->rows[i]);
	m->nr_programs = p->progs.nr;
	add_cost(p, m);
	show_past(p, r->request->program);
	follow_hot(p, r->request);
}

static void start_counting(struct programs_part *p, struct machine_log *log)
{
	p->fd = bpf_progs_count();
	if (p->fd >= 0)
		return;
	diag_format(&(struct diag){ .code = p->fd,
	                            .what = "the cost of BPF programs cannot be measured",
	                            .hint = "run as root: it needs CAP_SYS_ADMIN" },
	            p->refusal, sizeof(p->refusal));
	machine_log_add(log, "%s", p->refusal);
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct programs_part *p = part;

	if (p->is_other_machine)
		memcpy(p->refusal, "only those of this machine can be listed",
		       sizeof("only those of this machine can be listed"));
	else if (p->fd < 0 && !p->refusal[0])
		start_counting(p, r->log);
	p->shown = (struct machine_programs){ .cost = NAN };
	r->machine->programs = p->rows;
	r->machine->bpf = &p->shown;
	if (p->fd >= 0)
		refresh_all(p, r);
	p->shown.refusal = p->refusal[0] ? p->refusal : NULL;
}

const struct machine_part machine_part_programs = {
	.name = "BPF programs",
	.needs = MACHINE_BPF,
	.open = open_programs,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_programs,
};
