#include "collect/stat/stat_dsqs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "collect/loaded.h"
#include "collect/scx_plan.h"
#include "sys/scx/scx_state.h"

#define SKELETON "stat.skel.h"
#include "collect/skel.h"

#define OLD_DSQS 256 /* that are forgotten per drain */

#define STAYS_MAX 65536U /* tasks that are known by tid */

/* A program by either way, and whose function of the plan it watches; the plan is that of the event stream. */
struct watcher {
	const char *planned; /* how the name begins: there are several for the end of a scheduler */
	struct bpf_program *progs[2];
	bool is_return;
};

#define WATCHERS STAT_DSQ_WATCHERS

/* In the order in which they attach. */
static void list_watchers(struct stat_bpf *skel, struct watcher *out)
{
#define WATCHER(planned, name, is_return)                                      \
	{                                                                      \
		planned, { skel->progs.name, skel->progs.name##_k }, is_return \
	}
	const struct watcher all[WATCHERS] = {
		WATCHER("on_scx_reg", on_scx_reg, true),
		WATCHER("on_scx_reg", on_scx_begin, false),
		WATCHER("on_scx_disable", on_scx_disable, false),
		WATCHER("on_dsq_unlink", on_dsq_unlink, false),
		WATCHER("on_dsq_enter", on_dsq_enter, false),
	};
#undef WATCHER

	memcpy(out, all, sizeof(all));
}

/* NULL = it is not in the plan. */
static const char *function_of(const struct scx_plan *plan, const struct watcher *w)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (strncmp(plan->programs[i].program, w->planned, strlen(w->planned)) == 0)
			return plan->programs[i].function;
	return NULL;
}

int stat_dsqs_place(struct loaded *l, struct stat_bpf *skel, const struct scx_plan *plan)
{
	struct watcher all[WATCHERS];
	const char *function;
	int err = 0;

	list_watchers(skel, all);
	if (plan->nr && plan->way == SCX_BY_KPROBE)
		err = bpf_map__set_max_entries(skel->maps.stays_by_tid, STAYS_MAX);
	for (size_t i = 0; !err && i < WATCHERS; i++) {
		function = function_of(plan, &all[i]);
		bpf_program__set_autoload(all[i].progs[SCX_BY_FENTRY],
		                          function && plan->way == SCX_BY_FENTRY);
		bpf_program__set_autoload(all[i].progs[SCX_BY_KPROBE],
		                          function && plan->way == SCX_BY_KPROBE);
		if (function && plan->way == SCX_BY_FENTRY)
			err = loaded_aim(l, all[i].progs[SCX_BY_FENTRY], function);
	}
	return err;
}

int stat_dsqs_attach(struct loaded *l, struct stat_bpf *skel, const struct scx_plan *plan,
                     struct bpf_tie ties[STAT_DSQ_WATCHERS])
{
	struct watcher all[WATCHERS];
	int err = 0;

	list_watchers(skel, all);
	for (size_t i = 0; !err && i < WATCHERS; i++) {
		const char *function = function_of(plan, &all[i]);
		const struct bpf_program *prog = all[i].progs[plan->way];

		if (function && plan->way == SCX_BY_KPROBE)
			err = bpf_tie_kprobe(loaded_fd(l, prog), function, all[i].is_return, 0,
			                     &ties[i]);
		else if (function)
			err = loaded_attach(l, prog);
	}
	return err;
}

bool stat_dsqs_can_attach(struct loaded *l, struct stat_bpf *skel, const struct scx_plan *plan)
{
	struct bpf_tie ties[WATCHERS];
	int err;

	for (size_t i = 0; i < WATCHERS; i++)
		ties[i] = (struct bpf_tie){ -1, -1 };
	err = stat_dsqs_attach(l, skel, plan, ties);
	loaded_detach(l);
	for (size_t i = 0; i < WATCHERS; i++)
		bpf_tie_close(&ties[i]);
	return !err;
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

	/* New ones may be added meanwhile, and none is removed, so the loop ends. */
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
