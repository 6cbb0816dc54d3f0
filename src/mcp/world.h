/*
 * mcp/world — what all tools and resources of a server share: the traces, the live feed, the profiler, what is allowed.
 *
 * One per server; each part locks for itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "mcp/tool.h"
#include "sys/rights/caps.h"

struct live_service;
struct live_feed;
struct mcp_server;
struct profile_service;
struct trace_store;
struct trigger_service;

struct mcp_cfg {
	bool is_daemon;        /* live data may be collected */
	bool is_read_only;     /* nothing that changes something is offered */
	unsigned int toolsets; /* bits of enum toolset; 0 = core is listed, all can be called */
	const char *const *allow_paths; /* directories; none = the working directory */
	size_t nr_allow_paths;
	size_t max_traces;        /* 0 = 16 */
	uint64_t max_trace_mib;   /* of memory of all; 0 = a quarter of the machine's */
	bool gives_up_rights;     /* of the process, for good, once the directories are open */
	const char *stats_socket; /* of a scheduler; NULL = /var/run/scx/root/stats */
	uint32_t pid;             /* live data of this process only; 0 = all */
};

struct mcp_world {
	struct mcp_cfg cfg;
	struct mcp_server *server;        /* for notifications */
	struct caps caps;                 /* that the process began with */
	struct trace_store *traces;       /* mcp/traces/trace_store */
	struct live_feed *live;           /* live/live_feed; NULL without --daemon */
	struct live_service *service;     /* mcp/live_service */
	struct trigger_service *triggers; /* mcp/trigger_service; NULL without --daemon */
	struct profile_service *profile;  /* mcp/profile_service */
};

/* Parts that are not available are NULL; their tools say so. */
MUST_USE int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d);
void mcp_world_close(struct mcp_world *w);
/* A client is gone: all that it began and holds ends, but for what others began, too. */
void mcp_world_forget(struct mcp_world *w, uint64_t owner);
/* Something is collected for it. */
bool mcp_world_works_for(const struct mcp_world *w, uint64_t owner);
