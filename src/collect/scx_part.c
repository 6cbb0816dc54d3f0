#include "collect/scx_part.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/events_part.h"
#include "collect/loaded.h"
#include "collect/scx_functions.h"
#include "collect/scx_plan.h"
#include "sys/scx/scx_counters.h"
#include "sys/scx/scx_layers.h"

#define SKELETON "scx.skel.h"
#include "collect/skel.h"

#define COUNTERS_NS 100000000ULL
#define QUEUED_MAX  65536U /* tasks that are known by tid */

const struct bpf_kind bpf_kind_scx = { "scx_bpf", scx_bpf__elf_bytes, BPF_NO_CONTEXT };

struct scx_part {
	uint64_t kinds;
	enum scx_way way;
	struct scx_bpf *skel;
	struct loaded *loaded;
	struct bpf_tie ties[SCX_PLAN_PROGRAMS]; /* to functions, by kprobe */
	size_t nr_ties;
	char scheduler[32]; /* that was on at the start */
	bool has_layers;    /* it keeps them */
	uint64_t next_counters_ns;
	struct scx_counters counters; /* as last reported */
};

DEFINE_SCOPED(scx_part, scx_part_close)

static void read_scheduler(struct scx_part *p)
{
	SCOPED(scoped_fclose) FILE *file = fopen("/sys/kernel/sched_ext/root/ops", "re");

	if (!file || !fgets(p->scheduler, sizeof(p->scheduler), file)) {
		p->scheduler[0] = '\0';
		return;
	}
	p->scheduler[strcspn(p->scheduler, "\n")] = '\0';
}

/* The map of the scheduler that is on; ours stays where there is none, and is not used. */
static int share_layers(struct scx_part *p)
{
	struct scx_layers layers;
	int err;

	if (scx_layers_find(&layers))
		return 0;
	err = bpf_map__reuse_fd(p->skel->maps.task_ctxs, layers.fd);
	close(layers.fd);
	if (err)
		return err;
	p->has_layers = true;
	p->skel->rodata->has_layers = true;
	p->skel->rodata->layer_at = layers.offset;
	return 0;
}

static struct bpf_program *program_of(const struct scx_part *p, const struct scx_plan_program *at)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%s%s", at->program,
	               p->way == SCX_BY_KPROBE && at->function ? "_k" : "");
	return bpf_object__find_program_by_name(p->skel->obj, name);
}

static int load(struct scx_part *p, const struct scx_plan *plan, const struct scx_part_cfg *cfg)
{
	struct bpf_program *prog;
	int err;

	p->skel = scx_bpf__open();
	if (!p->skel)
		return -errno;
	err = loaded_new(BPF_SCX, p->skel->obj, &p->loaded);
	if (err)
		return err;
	bpf_object__for_each_program(prog, p->skel->obj) bpf_program__set_autoload(prog, false);
	p->skel->rodata->cfg = *cfg->ev;
	p->skel->rodata->dsq_at = plan->dsq_at;
	p->skel->rodata->by_kprobe = p->way == SCX_BY_KPROBE;
	if (p->way == SCX_BY_KPROBE)
		err = bpf_map__set_max_entries(p->skel->maps.queues_by_tid, QUEUED_MAX);
	for (size_t i = 0; !err && i < plan->nr; i++) {
		prog = program_of(p, &plan->programs[i]);
		bpf_program__set_autoload(prog, true);
		if (plan->programs[i].function && p->way == SCX_BY_FENTRY)
			err = loaded_aim(p->loaded, prog, plan->programs[i].function);
	}
	if (!err)
		err = share_layers(p);
	if (!err)
		err = events_part_share(cfg->events, p->skel->obj);
	return err ? err : loaded_load(p->loaded);
}

/* All but the switch, which follows that of the event stream. They emit nothing yet. */
static int attach_functions(struct scx_part *p, const struct scx_plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++) {
		const struct scx_plan_program *at = &plan->programs[i];
		struct bpf_program *prog = program_of(p, at);
		int err = 0;

		if (at->function && p->way == SCX_BY_KPROBE) {
			err = bpf_tie_kprobe(loaded_fd(p->loaded, prog), at->function,
			                     at->is_return, 0, &p->ties[p->nr_ties]);
			p->nr_ties += !err;
		} else if (at->function) {
			err = loaded_attach(p->loaded, prog);
		}
		if (err)
			return err;
	}
	return 0;
}

/* NULL in *out: this kernel does not let functions be traced in this way. */
static int open_way(const struct scx_part_cfg *cfg, enum scx_way way, struct diag *d,
                    struct scx_part **out)
{
	SCOPED(scoped_scx_part) struct scx_part *p = NULL;
	struct scx_functions functions = { .vmlinux = cfg->vmlinux };
	struct scx_plan plan;
	int err;

	scx_plan_make(cfg->kinds & SCX_KINDS, way, scx_functions_find, &functions, &plan);
	scx_functions_done(&functions);
	if (!plan.kinds)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->kinds = plan.kinds;
	p->way = way;
	err = load(p, &plan, cfg);
	if (!err)
		err = attach_functions(p, &plan);
	if (err == -EPERM || err == -ENOMEM)
		return bpf_load_failed(cfg->log, err, "sched_ext", d);
	if (!err)
		*out = TAKE_PTR(p);
	return 0;
}

int scx_part_open(const struct scx_part_cfg *cfg, struct diag *d, struct scx_part **out)
{
	int err = cfg->is_by_kprobe ? 0 : open_way(cfg, SCX_BY_FENTRY, d, out);

	return err || *out ? err : open_way(cfg, SCX_BY_KPROBE, d, out);
}

uint64_t scx_part_kinds(const struct scx_part *p)
{
	return p ? p->kinds : 0;
}

int scx_part_attach(struct scx_part *p)
{
	int err = p ? loaded_attach(p->loaded, p->skel->progs.on_scx_switch) : 0;

	if (!p || err)
		return err;
	read_scheduler(p);
	p->skel->bss->is_on = p->scheduler[0] != '\0';
	p->skel->bss->is_layered = p->has_layers && p->skel->bss->is_on;
	memcpy(p->skel->bss->scheduler, p->scheduler, sizeof(p->scheduler));
	return 0;
}

void scx_part_listen(struct scx_part *p, bool is_open)
{
	if (p)
		__atomic_store_n(&p->skel->bss->is_open, is_open, __ATOMIC_RELEASE);
}

int scx_part_emit(const struct scx_part *p, uint64_t ts_ns, const struct ev_sink *sink)
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

/* Another scheduler may be loaded by now, whose counters started at zero. */
static const struct scx_counter *find_reported(const struct scx_part *p, const char *name)
{
	for (size_t i = 0; i < p->counters.nr; i++)
		if (strcmp(p->counters.items[i].name, name) == 0)
			return &p->counters.items[i];
	return NULL;
}

static int emit_counter(const struct scx_counter *counter, uint64_t ts_ns,
                        const struct ev_sink *sink)
{
	struct ev_scx_counter rec = {
		.hdr = { sizeof(rec), EV_SCX_COUNTER, 0, 0, ts_ns },
		.value = counter->value,
	};

	_Static_assert(sizeof(rec.name) == sizeof(counter->name), "the same names");
	memcpy(rec.name, counter->name, sizeof(rec.name));
	return sink->push(sink->ctx, &rec.hdr);
}

int scx_part_emit_counters(struct scx_part *p, uint64_t ts_ns, const struct ev_sink *sink)
{
	const struct scx_counter *last;
	struct scx_counters now;
	int err = 0;

	if (!p || !(p->kinds & EV_BIT(EV_SCX_COUNTER)) || ts_ns < p->next_counters_ns)
		return 0;
	p->next_counters_ns = ts_ns + COUNTERS_NS;
	if (scx_counters_read("", &now))
		return 0; /* none is on, or the kernel counts nothing */
	for (size_t i = 0; !err && i < now.nr; i++) {
		last = find_reported(p, now.items[i].name);
		if (!last || last->value != now.items[i].value)
			err = emit_counter(&now.items[i], ts_ns, sink);
	}
	p->counters = now;
	return err;
}

void scx_part_detach(struct scx_part *p)
{
	if (!p)
		return;
	while (p->nr_ties)
		bpf_tie_close(&p->ties[--p->nr_ties]);
	if (p->loaded)
		loaded_detach(p->loaded);
}

uint64_t scx_part_missed(const struct scx_part *p)
{
	return p ? events_part_missed(p->loaded) : 0;
}

void scx_part_close(struct scx_part *p)
{
	if (!p)
		return;
	scx_part_detach(p);
	loaded_close(p->loaded);
	scx_bpf__destroy(p->skel);
	free(p);
}
