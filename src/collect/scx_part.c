#include "collect/scx_part.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/events_part.h"
#include "collect/scx_functions.h"
#include "collect/scx_plan.h"
#include "collect/scx_skel.h"

struct scx_part {
	uint64_t kinds;
	struct scx_bpf *skel;
	char scheduler[32]; /* that was on at the start */
};

static void scoped_part(struct scx_part *const *p)
{
	scx_part_close(*p);
}

static void read_scheduler(struct scx_part *p)
{
	SCOPED(scoped_fclose) FILE *file = fopen("/sys/kernel/sched_ext/root/ops", "re");

	if (!file || !fgets(p->scheduler, sizeof(p->scheduler), file)) {
		p->scheduler[0] = '\0';
		return;
	}
	p->scheduler[strcspn(p->scheduler, "\n")] = '\0';
}

static int load(struct scx_part *p, const struct scx_plan *plan, const struct scx_part_cfg *cfg)
{
	struct bpf_program *prog;
	int err = 0;

	p->skel = scx_bpf__open();
	if (!p->skel)
		return -errno;
	bpf_object__for_each_program(prog, p->skel->obj) bpf_program__set_autoload(prog, false);
	p->skel->rodata->cfg = *cfg->ev;
	p->skel->rodata->dsq_at = plan->dsq_at;
	for (size_t i = 0; !err && i < plan->nr; i++) {
		prog = bpf_object__find_program_by_name(p->skel->obj, plan->programs[i].program);
		bpf_program__set_autoload(prog, true);
		if (plan->programs[i].function)
			err = bpf_program__set_attach_target(prog, 0, plan->programs[i].function);
	}
	if (!err)
		err = events_part_share(cfg->events, p->skel->obj);
	return err ? err : scx_bpf__load(p->skel);
}

/* All but the switch, whose turn comes after that of the event stream. They are silent as yet. */
static int attach_functions(struct scx_part *p)
{
	struct bpf_object_skeleton *s = p->skel->skeleton;

	for (int i = 0; i < s->prog_cnt; i++) {
		struct bpf_program *prog = *s->progs[i].prog;

		if (!bpf_program__autoload(prog) || prog == p->skel->progs.on_scx_switch)
			continue;
		*s->progs[i].link = bpf_program__attach(prog);
		if (!*s->progs[i].link)
			return -errno;
	}
	return 0;
}

int scx_part_open(const struct scx_part_cfg *cfg, struct diag *d, struct scx_part **out)
{
	SCOPED(scoped_part) struct scx_part *p = NULL;
	struct scx_functions functions = { .vmlinux = cfg->vmlinux };
	struct scx_plan plan;
	int err;

	scx_plan_make(cfg->kinds & SCX_KINDS, scx_functions_find, &functions, &plan);
	scx_functions_done(&functions);
	if (!plan.kinds)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->kinds = plan.kinds;
	err = load(p, &plan, cfg);
	if (!err)
		err = attach_functions(p);
	if (err == -EPERM || err == -ENOMEM)
		return bpf_load_failed(cfg->talk, err, "sched_ext", d);
	if (!err) /* else the kernel does not let functions be traced: the rest works without */
		*out = TAKE_PTR(p);
	return 0;
}

uint64_t scx_part_kinds(const struct scx_part *p)
{
	return p ? p->kinds : 0;
}

int scx_part_attach(struct scx_part *p)
{
	struct bpf_program *prog = p ? p->skel->progs.on_scx_switch : NULL;

	if (!p)
		return 0;
	if (bpf_program__autoload(prog)) {
		p->skel->links.on_scx_switch = bpf_program__attach(prog);
		if (!p->skel->links.on_scx_switch)
			return -errno;
	}
	read_scheduler(p);
	p->skel->bss->is_on = p->scheduler[0] != '\0';
	memcpy(p->skel->bss->scheduler, p->scheduler, sizeof(p->scheduler));
	return 0;
}

void scx_part_listen(struct scx_part *p, bool is_open)
{
	if (p)
		__atomic_store_n(&p->skel->bss->is_open, is_open, __ATOMIC_RELEASE);
}

int scx_part_tell(const struct scx_part *p, uint64_t ts_ns, const struct ev_sink *sink)
{
	struct ev_scx_state rec = {
		.hdr = { sizeof(rec), EV_SCX_STATE, 0, 0, ts_ns },
		.state = EV_SCX_ON,
	};

	if (!p || !(p->kinds & EV_BIT(EV_SCX_STATE)) || !p->scheduler[0])
		return 0;
	memcpy(rec.name, p->scheduler, sizeof(rec.name));
	return sink->push(sink->ctx, &rec.hdr);
}

void scx_part_detach(struct scx_part *p)
{
	if (p)
		scx_bpf__detach(p->skel);
}

uint64_t scx_part_missed(const struct scx_part *p)
{
	return p ? events_part_missed(p->skel->obj) : 0;
}

void scx_part_close(struct scx_part *p)
{
	if (!p)
		return;
	scx_bpf__destroy(p->skel);
	free(p);
}
