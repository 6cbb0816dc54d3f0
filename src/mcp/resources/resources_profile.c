/* The profiler as resources: what it does, and what it found. */
#include "mcp/resources/resources_profile.h"
#include "mcp/profile_results.h"
#include "mcp/profile_service.h"
#include "mcp/resource.h"
#include "mcp/world.h"

#define RESULTS_LIMIT 50U

static int read_status(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	(void)query;
	(void)d;
	profile_service_status(w->profile, out, NULL);
	return 0;
}

static uint64_t revision(struct mcp_world *w, const char *query)
{
	(void)query;
	return profile_service_revision(w->profile);
}

const struct resource resource_profile_status = {
	.uri = "profiling://perf/status",
	.name = "perf-profiling-status",
	.title = "Profiler",
	.description = "whether a profile is taken, of what, since when, how many samples",
	.set = TOOLSET_PROFILE,
	.read = read_status,
	.revision = revision,
};

static int read_results(struct mcp_world *w, const char *query, struct json_writer *out,
                        struct diag *d)
{
	uint64_t limit = RESULTS_LIMIT;
	struct profile_page page = { .wants_stacks = true };
	int err = resource_query_u64(query, "limit", 1, 10000, &limit, d);

	if (err)
		return err;
	if (profile_service_state(w->profile) == PROFILER_IDLE) {
		jw_string(out, "error", "not_available");
		jw_string(out, "message", "no profile was taken yet; call start_perf_profiling");
		return 0;
	}
	page.limit = (uint32_t)limit;
	return profile_page_put(w->profile, &page, out, d);
}

const struct resource resource_profile_results = {
	.uri = "profiling://perf/results",
	.name = "perf-profiling-results",
	.title = "What the profile found",
	.description = "functions by samples, with stacks, of the profile that runs or ran last",
	.set = TOOLSET_PROFILE,
	.read = read_results,
	.revision = revision,
};
