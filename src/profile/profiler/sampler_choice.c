#include "profile/profiler/sampler_choice.h"

#include <errno.h>

#include "collect/sample/sampler.h"
#include "collect/stat_filter.h"
#include "profile/profiler/profiler.h"

static int add_cgroups(struct sampler *s, const struct stat_filter *filter, struct diag *d)
{
	const struct cgroup_set *set = stat_filter_cgroups(filter);
	int err = 0;

	for (size_t i = 0; !err && i < set->nr; i++)
		err = sampler_add_cgroup(s, set->picks[i].id, set->picks[i].is_exact, d);
	return err;
}

static bool wants_tables(const struct sampler_choice *c)
{
	return !c->is_foreign &&
	       (c->cfg->unwind == PROFILER_UNWIND_AUTO || c->cfg->unwind == PROFILER_UNWIND_TABLE);
}

static int open_either(const struct sampler_choice *c, struct sampler_cfg *cfg, struct diag *why_fp,
                       struct diag *d, struct sampler **out)
{
	struct diag why = { 0 };
	int err = sampler_open(cfg, cfg->by_tables ? &why : d, out);

	if (!err || !cfg->by_tables)
		return err;
	if (c->cfg->unwind == PROFILER_UNWIND_AUTO) {
		cfg->by_tables = false;
		cfg->copies = PROF_COPIES_NONE;
		err = sampler_open(cfg, d, out);
		if (!err)
			*why_fp = why;
		return err;
	}
	*d = why;
	return err;
}

int sampler_choice_open(const struct sampler_choice *c, struct diag *why_fp, struct diag *d,
                        struct sampler **out)
{
	SCOPED(scoped_sampler) struct sampler *s = NULL;
	struct stat_filter_cfg filter_cfg = { .cgroup = c->cfg->cgroup,
		                              .nr_cgroup = c->cfg->nr_cgroup,
		                              .wants_cgroup_names = c->cfg->wants_cgroups };
	struct sampler_cfg cfg = {
		.event = c->event,
		.frequency = c->cfg->frequency,
		.period = c->cfg->period,
		.online = c->online,
		.cpu = c->cfg->cpu,
		.tgid = c->cfg->tgid,
		.is_cgroup_only = c->cfg->nr_cgroup != 0,
		.max_samples = c->cfg->max_samples,
		.min_off_ns = c->cfg->min_off_ns,
		.no_kernel = c->cfg->no_kernel,
		.no_user = c->cfg->no_user,
		.is_wall = c->cfg->is_wall,
		.by_cgroup = c->cfg->wants_cgroups,
		.by_tables = wants_tables(c),
		.walker = c->walker,
	};
	struct stat_filter *filter = NULL;
	int err = stat_filter_new(&filter_cfg, d, &filter);

	if (c->cfg->unwind == PROFILER_UNWIND_DWARF)
		cfg.copies = PROF_COPIES_ALL;
	else if (cfg.by_tables && c->cfg->copies_early)
		cfg.copies = PROF_COPIES_EARLY;
	if (!err) {
		cfg.is_cgroup_v1 = stat_filter_is_v1(filter);
		err = open_either(c, &cfg, why_fp, d, &s);
	}
	if (!err && c->cfg->nr_cgroup)
		err = add_cgroups(s, filter, d);
	stat_filter_free(filter);
	if (!err)
		*out = TAKE_PTR(s);
	return err;
}
