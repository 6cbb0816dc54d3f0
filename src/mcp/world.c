#include "mcp/world.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "live/live_feed.h"
#include "mcp/live_service.h"
#include "mcp/profile_service.h"
#include "mcp/traces/trace_store.h"
#include "mcp/trigger_service.h"
#include "sys/bpf/prog_watch.h"
#include "sys/rights/privilege.h"
#include "sys/rights/sandbox.h"

#define DEFAULT_TRACES 16U

/* A quarter of the machine's memory. */
static uint64_t default_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : 1ULL << 30;
}

static int open_traces(struct mcp_world *w, struct diag *d)
{
	struct trace_store_cfg cfg = {
		.allow_paths = w->cfg.allow_paths,
		.nr_allow_paths = w->cfg.nr_allow_paths,
		.max_traces = w->cfg.max_traces ? w->cfg.max_traces : DEFAULT_TRACES,
		.max_bytes = w->cfg.max_trace_mib ? w->cfg.max_trace_mib << 20 : default_bytes(),
	};

	return trace_store_new(&cfg, d, &w->traces);
}

/* Before there are threads. What is attached later is loaded by the broker. */
static int give_up_rights(const struct mcp_world *w, struct diag *d)
{
	return w->cfg.gives_up_rights ? privilege_drop_but_seeing(d) : 0;
}

/* Nothing is attached before something needs it. */
static int open_live(struct mcp_world *w, struct diag *d)
{
	struct live_feed_cfg cfg = { .tgid = w->cfg.pid };
	int err = w->cfg.is_daemon ? live_feed_open(&cfg, d, &w->live) : 0;

	if (!err && w->live && trigger_service_new(w->live, &w->triggers))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	return err ? err : live_service_new(w->live, d, &w->service);
}

static void close_live(struct mcp_world *w)
{
	live_service_free(w->service);
	trigger_service_free(w->triggers);
	live_feed_close(w->live);
	w->service = NULL;
	w->triggers = NULL;
	w->live = NULL;
}

static void report_weakness(void)
{
	if (!sandbox_kernel_has_seccomp())
		log_warn(
			"this kernel cannot filter system calls (CONFIG_SECCOMP): the processes that read traces "
			"have no rights and little memory, but can make any system call");
}

int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d)
{
	int err;

	w->cfg = *cfg;
	(void)!caps_get(&w->caps); /* none, then */
	report_weakness();
	err = open_traces(w, d);
	if (!err)
		err = give_up_rights(w, d);
	if (!err && profile_service_new(&w->profile))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!err)
		err = open_live(w, d);
	if (err)
		mcp_world_close(w);
	return err;
}

void mcp_world_close(struct mcp_world *w)
{
	close_live(w);
	profile_service_free(w->profile);
	trace_store_free(w->traces);
	w->profile = NULL;
	w->traces = NULL;
}

void mcp_world_forget(struct mcp_world *w, uint64_t owner)
{
	uint32_t left = live_service_leave(w->service, owner, UINT32_MAX);
	struct diag d = { 0 };

	trace_store_forget(w->traces, owner);
	trigger_service_forget(w->triggers, owner);
	if (left & BEGUN_PROFILE)
		(void)!profile_service_stop(w->profile, &d);
	if (left & BEGUN_PROGRAMS)
		prog_watch_stop(live_service_programs(w->service));
	if (left & BEGUN_TRACKING)
		(void)!live_feed_track(w->live, false, &d);
	if (left & BEGUN_LIVE)
		live_feed_return(w->live, LIVE_USE_WHY, live_feed_why_kinds());
	if (left & ANALYZERS_ALL)
		live_feed_stop(w->live, left & ANALYZERS_ALL);
}

bool mcp_world_works_for(const struct mcp_world *w, uint64_t owner)
{
	return live_service_has_begun(w->service, owner) || trigger_service_has(w->triggers, owner);
}
