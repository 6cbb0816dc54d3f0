#include "collect/probes.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/events_part.h"
#include "collect/kprobe.h"
#include "collect/loaded.h"
#include "collect/uprobe.h"

#define SKELETON "tracepoint.skel.h"
#include "collect/skel.h"

#define TRACEFS "/sys/kernel/tracing/events"

const struct bpf_kind bpf_kind_tracepoint = { "tracepoint_bpf", tracepoint_bpf__elf_bytes,
	                                      BPF_NO_CONTEXT };

struct probe {
	uint32_t id;
	uint32_t type;
	char name[PROBE_NAME_LEN];
	struct bpf_tie tie;
	struct tracepoint_bpf *skel; /* of a tracepoint */
	struct loaded *loaded;
};

struct probes {
	size_t nr;
	struct probe probes[PROBES_MAX];
};

DEFINE_SCOPED(probes, probes_close)

DEFINE_SCOPED(btf, btf__free)

bool probes_need(const struct events_probe *probes, size_t nr, uint32_t type)
{
	for (size_t i = 0; i < nr; i++)
		if (probes[i].type == type)
			return true;
	return false;
}

static int program_of(const struct probes_cfg *cfg, const char *name)
{
	return loaded_fd(cfg->events,
	                 bpf_object__find_program_by_name(loaded_object(cfg->events), name));
}

static int attach_kprobe(struct probe *p, const struct probe_spec *spec,
                         const struct probes_cfg *cfg, struct diag *d)
{
	return kprobe_attach(program_of(cfg, "on_kprobe"), spec->symbol, p->id, d, &p->tie);
}

static int attach_uprobe(struct probe *p, const struct probe_spec *spec,
                         const struct probes_cfg *cfg, struct diag *d)
{
	int err = uprobe_attach(program_of(cfg, "on_uprobe"), spec, p->id, d, &p->tie);

	return err == -ENOENT ? -EINVAL : err;
}

/* BTF has no subsystems; where tracefs is mounted, it shows whether that half is right too. */
static bool has_tracepoint(const struct btf *vmlinux, const struct probe_spec *spec)
{
	char text[PROBE_SYMBOL_LEN + PROBE_PATH_LEN + sizeof(TRACEFS)];

	snprintf(text, sizeof(text), "btf_trace_%s", spec->symbol);
	if (btf__find_by_name_kind(vmlinux, text, BTF_KIND_TYPEDEF) <= 0)
		return false;
	snprintf(text, sizeof(text), TRACEFS "/%s/%s", spec->path, spec->symbol);
	return access(TRACEFS "/sched", F_OK) != 0 || access(text, F_OK) == 0;
}

static int load_tracepoint(struct probe *p, const struct probe_spec *spec,
                           const struct probes_cfg *cfg)
{
	int err;

	p->skel = tracepoint_bpf__open();
	if (!p->skel)
		return -errno;
	err = loaded_new(BPF_TRACEPOINT, p->skel->obj, &p->loaded);
	if (err)
		return err;
	p->skel->rodata->cfg = *cfg->ev;
	p->skel->rodata->probe_id = p->id;
	err = loaded_aim(p->loaded, p->skel->progs.on_tracepoint, spec->symbol);
	if (!err)
		err = events_part_share(cfg->events, p->skel->obj);
	if (!err)
		err = loaded_load(p->loaded);
	return err ? err : loaded_attach(p->loaded, p->skel->progs.on_tracepoint);
}

static int attach_tracepoint(struct probe *p, const struct probe_spec *spec,
                             const struct probes_cfg *cfg, struct diag *d)
{
	SCOPED(scoped_btf) struct btf *vmlinux = btf__load_vmlinux_btf();
	char what[96];
	int err;

	if (!vmlinux || !has_tracepoint(vmlinux, spec))
		return diag_set(d, -EINVAL, PROBE_TRACEPOINT_HINT,
		                "this kernel has no tracepoint '%.60s:%.60s'", spec->path,
		                spec->symbol);
	err = load_tracepoint(p, spec, cfg);
	if (!err)
		return 0;
	snprintf(what, sizeof(what), "the tracepoint '%.60s'", spec->symbol);
	return bpf_load_failed(cfg->log, err, what, d);
}

static int attach_one(struct probe *p, const struct events_probe *asked,
                      const struct probes_cfg *cfg, struct diag *d)
{
	struct probe_spec spec;
	int err = probe_spec_parse(asked, &spec, d);

	if (err)
		return err;
	p->id = asked->id;
	p->type = spec.type;
	memcpy(p->name, spec.name, sizeof(p->name));
	if (spec.type == EV_PROBE_KPROBE)
		return attach_kprobe(p, &spec, cfg, d);
	if (spec.type == EV_PROBE_TRACEPOINT)
		return attach_tracepoint(p, &spec, cfg, d);
	return attach_uprobe(p, &spec, cfg, d);
}

int probes_open(const struct probes_cfg *cfg, struct diag *d, struct probes **out)
{
	SCOPED(scoped_probes) struct probes *p = calloc(1, sizeof(*p));
	int err = probe_spec_check(cfg->probes, cfg->nr, d);

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	while (!err && p->nr < cfg->nr) {
		p->probes[p->nr].tie = (struct bpf_tie){ -1, -1 };
		err = attach_one(&p->probes[p->nr], &cfg->probes[p->nr], cfg, d);
		p->nr++;
	}
	if (err)
		return err;
	*out = TAKE_PTR(p);
	return 0;
}

void probes_listen(struct probes *p, bool is_open)
{
	for (size_t i = 0; p && i < p->nr; i++)
		if (p->probes[i].skel)
			__atomic_store_n(&p->probes[i].skel->bss->is_open, is_open,
			                 __ATOMIC_RELEASE);
}

int probes_emit(const struct probes *p, uint64_t ts_ns, const struct ev_sink *sink)
{
	struct {
		struct ev_probe_info info;
		char name[PROBE_NAME_LEN];
	} rec;
	int err = 0;

	for (size_t i = 0; !err && p && i < p->nr; i++) {
		const struct probe *one = &p->probes[i];

		memset(&rec, 0, sizeof(rec));
		rec.info.hdr.kind = EV_PROBE_INFO;
		rec.info.hdr.ts_ns = ts_ns;
		rec.info.hdr.size = (__u16)(sizeof(rec.info) + (strlen(one->name) + 1 + 7) / 8 * 8);
		rec.info.probe = one->id;
		rec.info.type = one->type;
		memcpy(rec.name, one->name, sizeof(rec.name));
		err = sink->push(sink->ctx, &rec.info.hdr);
	}
	return err;
}

void probes_detach(struct probes *p)
{
	for (size_t i = 0; p && i < p->nr; i++) {
		bpf_tie_close(&p->probes[i].tie);
		if (p->probes[i].loaded)
			loaded_detach(p->probes[i].loaded);
	}
}

uint64_t probes_missed(const struct probes *p)
{
	uint64_t missed = 0;

	for (size_t i = 0; p && i < p->nr; i++)
		if (p->probes[i].loaded)
			missed += events_part_missed(p->probes[i].loaded);
	return missed;
}

void probes_close(struct probes *p)
{
	if (!p)
		return;
	probes_detach(p);
	for (size_t i = 0; i < p->nr; i++) {
		loaded_close(p->probes[i].loaded);
		tracepoint_bpf__destroy(p->probes[i].skel);
	}
	free(p);
}
