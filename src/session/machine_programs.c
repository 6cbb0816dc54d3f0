#include "session/machine_programs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/bpf_progs.h"

struct machine_programs {
	bool is_other_machine; /* a copy of its files: there is nothing to list */
	bool is_refused;
	int fd; /* while it is open the kernel counts runs; -1 = it does not */
	struct bpf_progs progs;
	struct machine_bpf *rows;
};

static int open_programs(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_programs *p = calloc(1, sizeof(*p));

	if (p)
		p->rows = calloc(BPF_PROGS_MAX, sizeof(*p->rows));
	if (!p || !p->rows) {
		free(p);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	p->fd = -1;
	p->is_other_machine = cfg->root;
	*out = p;
	return 0;
}

static void rest(void *part)
{
	struct machine_programs *p = part;

	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	bpf_progs_done(&p->progs);
}

static void close_programs(void *part)
{
	struct machine_programs *p = part;

	rest(p);
	free(p->rows);
	free(p);
}

/* Between its last two samples, if there are two. */
static void show_program(const struct bpf_prog *p, struct machine_bpf *out)
{
	const struct bpf_prog_sample *last = p->nr_samples > 1 ? &p->samples[p->nr_samples - 1]
	                                                       : NULL;
	double ns = last ? (double)(last->ts_ns - last[-1].ts_ns) : 0;
	double run_ns = last ? (double)(last->run_ns - last[-1].run_ns) : 0;
	double runs = last ? (double)(last->runs - last[-1].runs) : 0;

	*out = (struct machine_bpf){
		.id = p->id,
		.type = bpf_prog_type_name(p->type),
		.name = p->name,
		.cpu = ns > 0 ? run_ns / ns : NAN,
		.ns_per_run = runs > 0 ? run_ns / runs : NAN,
		.runs_per_s = ns > 0 ? runs * 1e9 / ns : NAN,
		.insns = p->verified_insns,
	};
}

static void look(void *part, const struct machine_part_look *l)
{
	struct machine_programs *p = part;
	struct machine *m = l->machine;
	struct diag why = { 0 };

	if (p->fd < 0 && !p->is_refused && !p->is_other_machine) {
		p->fd = bpf_progs_count();
		p->is_refused = p->fd < 0;
		if (p->is_refused)
			machine_log_tell(l->log, "what BPF programs cost needs CAP_SYS_ADMIN: %s",
			                 strerror(-p->fd));
	}
	m->programs = p->rows;
	if (p->fd < 0 || bpf_progs_look(&p->progs, l->now_ns, &why))
		return;
	for (size_t i = 0; i < p->progs.nr; i++)
		show_program(&p->progs.progs[i], &p->rows[i]);
	m->nr_programs = p->progs.nr;
}

const struct machine_part machine_part_programs = {
	.name = "BPF programs",
	.needs = MACHINE_BPF,
	.open = open_programs,
	.look = look,
	.rest = rest,
	.close = close_programs,
};
