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

struct live_desk;
struct live_feed;
struct mcp_server;
struct profile_desk;
struct trace_store;

struct mcp_cfg {
	bool is_daemon;                 /* live data may be collected */
	bool is_read_only;              /* nothing that changes something is offered */
	unsigned int toolsets;          /* bits of enum toolset; 0 = all */
	const char *const *allow_paths; /* directories; none = the working directory */
	size_t nr_allow_paths;
	size_t max_traces;        /* 0 = 16 */
	uint64_t max_trace_mib;   /* of memory of all; 0 = a quarter of the machine's */
	const char *stats_socket; /* of a scheduler; NULL = /var/run/scx/root/stats */
	uint32_t pid;             /* live data of this process only; 0 = all */
};

struct mcp_world {
	struct mcp_cfg cfg;
	struct mcp_server *server;    /* for notifications */
	struct trace_store *traces;   /* mcp/trace_store */
	struct live_feed *live;       /* session/live_feed; NULL without --daemon */
	struct live_desk *desk;       /* mcp/live_desk */
	struct profile_desk *profile; /* mcp/profile_desk */
};

/* Parts that cannot be had are NULL; their tools say so. */
MUST_USE int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d);
void mcp_world_close(struct mcp_world *w);
