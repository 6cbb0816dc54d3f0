#include "collect/hit_counter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/kprobe.h"
#include "collect/loaded.h"
#include "collect/sample/sample_probe.h"

#define SKELETON "hits.skel.h"
#include "collect/skel.h"

const struct bpf_kind bpf_kind_hits = { "hits_bpf", hits_bpf__elf_bytes, BPF_NO_CONTEXT };

struct hit_counter {
	struct hits_bpf *skel;
	struct loaded *loaded;
	struct bpf_tie tie;
	struct bpf_log *log;
};

struct hits_value {
	uint64_t nr;
	uint64_t pad_[7];
};

DEFINE_SCOPED(hit_counter, hit_counter_close)

static int load(struct hit_counter *c, const struct hit_counter_cfg *cfg, struct diag *d)
{
	int err;

	c->skel = hits_bpf__open();
	if (!c->skel)
		return diag_set(d, -errno, NULL, "cannot open the program that counts");
	err = loaded_new(BPF_HITS, c->skel->obj, &c->loaded);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	c->skel->rodata->wanted_tgid = cfg->tgid;
	bpf_program__set_autoload(c->skel->progs.on_function, cfg->function != NULL);
	bpf_program__set_autoload(c->skel->progs.on_tracepoint, cfg->tracepoint != NULL);
	err = bpf_map__set_max_entries(c->skel->maps.hits, cfg->nr_cpus);
	if (err)
		return diag_set(d, err, NULL, "cannot make room for %u CPUs", cfg->nr_cpus);
	if (cfg->tracepoint)
		err = sample_probe_tracepoint(c->loaded, c->skel->progs.on_tracepoint,
		                              cfg->tracepoint, d);
	if (err)
		return err;
	err = loaded_load(c->loaded);
	return err ? bpf_load_failed(c->log, err, "the program that counts", d) : 0;
}

static int attach(struct hit_counter *c, const struct hit_counter_cfg *cfg, struct diag *d)
{
	int err;

	if (cfg->function)
		return kprobe_attach(loaded_fd(c->loaded, c->skel->progs.on_function),
		                     cfg->function, 0, d, &c->tie);
	err = loaded_attach(c->loaded, c->skel->progs.on_tracepoint);
	return err ? diag_set(d, err, NULL, "the kernel refused the tracepoint '%.60s'",
	                      cfg->tracepoint)
	           : 0;
}

int hit_counter_open(const struct hit_counter_cfg *cfg, struct diag *d, struct hit_counter **out)
{
	SCOPED(scoped_hit_counter) struct hit_counter *c = NULL;
	int err = cfg->function ? kprobe_check(cfg->function, d) : 0;

	if (err)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	c->tie = (struct bpf_tie){ -1, -1 };
	c->log = bpf_log_capture();
	err = load(c, cfg, d);
	if (!err)
		err = attach(c, cfg, d);
	bpf_log_stop(c->log);
	c->log = NULL;
	if (err)
		return err;
	*out = TAKE_PTR(c);
	return 0;
}

void hit_counter_close(struct hit_counter *c)
{
	if (!c)
		return;
	bpf_tie_close(&c->tie);
	loaded_close(c->loaded);
	hits_bpf__destroy(c->skel);
	free(c);
}

int hit_counter_read(const struct hit_counter *c, uint32_t cpu, uint64_t *out)
{
	struct hits_value v;

	if (bpf_map_lookup_elem(bpf_map__fd(c->skel->maps.hits), &cpu, &v))
		return -errno;
	*out = v.nr;
	return 0;
}
