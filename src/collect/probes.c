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
#include "collect/tracepoint_skel.h"

#define TRACEFS "/sys/kernel/tracing/events"

struct probe {
	uint32_t id;
	uint32_t type;
	char name[PROBE_NAME_LEN];
	struct bpf_link *link;
	struct tracepoint_bpf *skel; /* of a tracepoint */
};

struct probes {
	size_t nr;
	struct probe probes[PROBES_MAX];
};

static void scoped_probes(struct probes *const *p)
{
	probes_close(*p);
}

static void scoped_btf(struct btf *const *btf)
{
	btf__free(*btf);
}

bool probes_need(const struct events_probe *probes, size_t nr, uint32_t type)
{
	for (size_t i = 0; i < nr; i++)
		if (probes[i].type == type)
			return true;
	return false;
}

static int attach_kprobe(struct probe *p, const struct probe_spec *spec,
                         const struct probes_cfg *cfg, struct diag *d)
{
	return kprobe_attach(bpf_object__find_program_by_name(cfg->events, "on_kprobe"),
	                     spec->symbol, p->id, d, &p->link);
}

static int attach_uprobe(struct probe *p, const struct probe_spec *spec,
                         const struct probes_cfg *cfg, struct diag *d)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = p->id, .func_name = spec->symbol,
	            .retprobe = spec->type == EV_PROBE_URETPROBE);
	struct bpf_program *prog = bpf_object__find_program_by_name(cfg->events, "on_uprobe");
	bool has_folder = strchr(spec->path, '/');
	int err;

	if (has_folder && access(spec->path, R_OK) != 0)
		return diag_set(d, -errno, "check the path", "cannot probe '%.100s'", spec->path);
	/* For all processes: a perf event of one task would not follow its threads. */
	p->link = bpf_program__attach_uprobe_opts(prog, -1, spec->path, spec->offset, &opts);
	if (p->link)
		return 0;
	err = -errno;
	if (err == -ENOENT && has_folder)
		return diag_set(d, -EINVAL, "see 'nm' and 'nm -D' for what there is",
		                "'%.80s' has no function '%.60s'", spec->path, spec->symbol);
	if (err == -ENOENT)
		return diag_set(d, -EINVAL, "give its path, and see 'nm -D' for what is in it",
		                "found no '%.60s' with a function '%.60s'", spec->path,
		                spec->symbol);
	return diag_set(d, err, "run again with --debug for the whole log",
	                "the kernel refused a uprobe on '%.60s' in '%.60s'", spec->symbol,
	                spec->path);
}

/* BTF has no subsystems; where tracefs is mounted, it tells whether that half is right too. */
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
	p->skel->rodata->cfg = *cfg->ev;
	p->skel->rodata->probe_id = p->id;
	err = bpf_program__set_attach_target(p->skel->progs.on_tracepoint, 0, spec->symbol);
	if (!err)
		err = events_part_share(cfg->events, p->skel->obj);
	if (!err)
		err = tracepoint_bpf__load(p->skel);
	if (err)
		return err;
	p->link = bpf_program__attach(p->skel->progs.on_tracepoint);
	return p->link ? 0 : -errno;
}

static int attach_tracepoint(struct probe *p, const struct probe_spec *spec,
                             const struct probes_cfg *cfg, struct diag *d)
{
	SCOPED(scoped_btf) struct btf *vmlinux = btf__load_vmlinux_btf();
	char what[96];
	int err;

	if (!vmlinux || !has_tracepoint(vmlinux, spec))
		return diag_set(d, -EINVAL, "system calls have one for all, raw_syscalls:sys_enter",
		                "this kernel has no tracepoint '%.60s:%.60s'", spec->path,
		                spec->symbol);
	err = load_tracepoint(p, spec, cfg);
	if (!err)
		return 0;
	snprintf(what, sizeof(what), "the tracepoint '%.60s'", spec->symbol);
	return bpf_load_failed(cfg->talk, err, what, d);
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

int probes_tell(const struct probes *p, uint64_t ts_ns, const struct ev_sink *sink)
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
		bpf_link__destroy(p->probes[i].link);
		p->probes[i].link = NULL;
	}
}

uint64_t probes_missed(const struct probes *p)
{
	uint64_t missed = 0;

	for (size_t i = 0; p && i < p->nr; i++)
		if (p->probes[i].skel)
			missed += events_part_missed(p->probes[i].skel->obj);
	return missed;
}

void probes_close(struct probes *p)
{
	if (!p)
		return;
	probes_detach(p);
	for (size_t i = 0; i < p->nr; i++)
		tracepoint_bpf__destroy(p->probes[i].skel);
	free(p);
}
