#include "mcp/profile_results.h"

#include <errno.h>

#include "base/cleanup.h"
#include "mcp/outgoing.h"
#include "mcp/profile_service.h"

/* Tried one after the other: functions, and stacks of each. */
static const struct {
	uint32_t limit;
	uint32_t stacks;
} sizes[] = { { 50, 3 }, { 30, 2 }, { 20, 1 }, { 10, 1 }, { 5, 1 },
	      { 3, 1 },  { 20, 0 }, { 10, 0 }, { 5, 0 },  { 1, 0 } };
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

#define STACKS_OF_EACH 5U /* where a limit was asked for */

static void put(const struct profile *p, const struct profile_results_cfg *cfg,
                struct json_writer *w)
{
	profile_results(p, cfg, w);
	/* symbols_left_out also counts what was left out. */
	jw_bool(w, "truncated",
	        cfg->limit < profile_nr_functions(p) || (cfg->wants_stacks && cfg->stacks_limit));
}

static size_t measure(const struct profile *p, const struct profile_results_cfg *cfg)
{
	struct outgoing o;
	size_t len = SIZE_MAX;

	if (outgoing_begin(&o))
		return len;
	jw_begin_object(&o.w, NULL);
	put(p, cfg, &o.w);
	jw_end_object(&o.w);
	if (outgoing_end(&o) == 0)
		len = o.len;
	outgoing_done(&o);
	return len;
}

int profile_page_put(struct profile_service *service, const struct profile_page *page,
                     struct json_writer *w, struct diag *d)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_results_cfg cfg = { .limit = page->limit,
		                           .wants_stacks = page->wants_stacks,
		                           .stacks_limit = STACKS_OF_EACH };
	int err = profile_service_profile(service, d, &p, &cfg.collected);

	if (err)
		return err;
	for (size_t i = 0; !page->limit && i < NR_SIZES; i++) {
		if (sizes[i].stacks && !page->wants_stacks)
			continue;
		cfg.limit = sizes[i].limit;
		cfg.stacks_limit = sizes[i].stacks;
		cfg.wants_stacks = sizes[i].stacks != 0;
		if (measure(p, &cfg) <= page->budget)
			break;
	}
	put(p, &cfg, w);
	return 0;
}
