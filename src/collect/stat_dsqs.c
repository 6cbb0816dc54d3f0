#include "collect/stat_dsqs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "collect/scx_plan.h"
#include "collect/stat_skel.h"
#include "sys/scx_state.h"

#define OLD_DSQS 256 /* that are forgotten per drain */

/* The plan is that of the event stream, which has further programs, and several for the end of a scheduler. */
static struct bpf_program *find_program(struct stat_bpf *skel, const char *name)
{
	if (strncmp(name, "on_scx_disable", strlen("on_scx_disable")) == 0)
		return skel->progs.on_scx_disable;
	return bpf_object__find_program_by_name(skel->obj, name);
}

static int place(struct bpf_program *prog, const char *function)
{
	bpf_program__set_autoload(prog, true);
	return bpf_program__set_attach_target(prog, 0, function);
}

int stat_dsqs_place(struct stat_bpf *skel, const struct scx_plan *plan)
{
	int err = 0;

	bpf_program__set_autoload(skel->progs.on_dsq_enter, false);
	bpf_program__set_autoload(skel->progs.on_dsq_unlink, false);
	bpf_program__set_autoload(skel->progs.on_scx_begin, false);
	bpf_program__set_autoload(skel->progs.on_scx_reg, false);
	bpf_program__set_autoload(skel->progs.on_scx_disable, false);
	for (size_t i = 0; !err && i < plan->nr; i++) {
		struct bpf_program *prog = find_program(skel, plan->programs[i].program);

		if (!prog || !plan->programs[i].function)
			continue;
		err = place(prog, plan->programs[i].function);
		if (!err && prog == skel->progs.on_scx_reg)
			err = place(skel->progs.on_scx_begin, plan->programs[i].function);
	}
	return err;
}

void stat_dsqs_begin(struct stat_bpf *skel)
{
	struct scx_state scx;

	scx_state_read("", &scx);
	if (scx.is_enabled)
		skel->bss->is_scx_on = 1;
}

static void forget(int fd, const struct stat_dsq_key *keys, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		(void)bpf_map_delete_elem(fd, &keys[i]);
}

int stat_dsqs_read(struct stat_bpf *skel, stat_dsq_fn *fn, void *ctx)
{
	int fd = bpf_map__fd(skel->maps.dsqs);
	uint32_t present = skel->data->scheduler_nr, epoch = skel->data->epoch - 1;
	struct stat_dsq_key key, last, old[OLD_DSQS];
	struct stat_dsq dsq;
	size_t nr_old = 0;
	int err = 0;

	/* New ones may come meanwhile, and none goes: it ends. */
	for (size_t i = 0; !err && i <= STAT_DSQ_MAX; i++) {
		if (bpf_map_get_next_key(fd, i ? &last : NULL, &key)) {
			err = -errno;
			break;
		}
		last = key;
		if (bpf_map_lookup_elem(fd, &key, &dsq))
			continue;
		fn(ctx, &key, &dsq, epoch);
		if (key.scheduler_nr != present && nr_old < OLD_DSQS)
			old[nr_old++] = key;
	}
	forget(fd, old, nr_old);
	return err == -ENOENT ? 0 : err;
}
