#include "machine/parts/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/machine_profile.h"
#include "profile/profiler/profile_thread.h"

struct profile_part {
	uint32_t tgid;
	const char *refusal; /* NULL = it is available */
	struct profile_thread *thread;
	struct profile_thread *leaving; /* asked to end */
	struct profile_shot *shot;      /* that is shown */
	struct machine_profile none;    /* shown where there is no shot */
	double hz;
	uint32_t nr_clears;
};

static int open_profile(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct profile_part *p = calloc(1, sizeof(*p));

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->tgid = cfg->tgid;
	if (cfg->root)
		p->refusal = "only this machine can be sampled";
	else if (cfg->is_proc_only)
		p->refusal = "sampling needs BPF: run as root, without --exclude-bpf";
	*out = p;
	return 0;
}

/* Does not wait for the thread, which may be reading symbols. */
static void suspend(void *part)
{
	struct profile_part *p = part;

	profile_shot_free(p->shot);
	p->shot = NULL;
	if (!p->thread)
		return;
	profile_thread_end(p->thread);
	p->leaving = p->thread;
	p->thread = NULL;
}

static void close_profile(void *part)
{
	struct profile_part *p = part;

	profile_shot_free(p->shot);
	profile_thread_free(p->thread);
	profile_thread_free(p->leaving);
	free(p);
}

static void begin(struct profile_part *p)
{
	const struct profile_thread_cfg cfg = { .tgid = p->tgid, .hz = p->hz };

	if (p->leaving && !profile_thread_is_over(p->leaving))
		return;
	profile_thread_free(p->leaving);
	p->leaving = NULL;
	if (profile_thread_start(&cfg, &p->thread)) {
		p->thread = NULL;
		p->refusal = "cannot start a thread that samples";
	}
}

static void follow(struct profile_part *p, const struct machine_request *r)
{
	double hz = r->sample_hz > 0 ? r->sample_hz : MACHINE_PROFILE_HZ;
	bool is_same = hz == p->hz && r->nr_clears == p->nr_clears;

	p->hz = hz;
	p->nr_clears = r->nr_clears;
	if (!p->thread) {
		begin(p);
	} else if (!is_same) {
		profile_thread_anew(p->thread, hz);
		profile_shot_free(p->shot);
		p->shot = NULL;
	}
}

static void take(struct profile_part *p, struct machine_log *log)
{
	struct profile_shot *fresh = p->thread ? profile_thread_take(p->thread) : NULL;
	const char *remark;

	if (!fresh)
		return;
	profile_shot_free(p->shot);
	p->shot = fresh;
	for (size_t i = 0; (remark = profile_shot_remark(fresh, i)); i++)
		machine_log_add(log, "profile: %s", remark);
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct profile_part *p = part;

	if (!p->refusal)
		follow(p, r->request);
	take(p, r->log);
	p->none = (struct machine_profile){ .refusal = p->refusal,
		                            .is_starting = !p->refusal,
		                            .hz = p->hz };
	r->machine->profile = p->shot ? profile_shot_show(p->shot) : &p->none;
}

const struct machine_part machine_part_profile = {
	.name = "profile",
	.needs = MACHINE_PROFILE,
	.open = open_profile,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_profile,
};
