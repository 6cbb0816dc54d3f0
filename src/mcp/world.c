#include "mcp/world.h"

#include "mcp/live_desk.h"
#include "session/live_feed.h"

/* Nothing is attached before something needs it. */
static int open_live(struct mcp_world *w, struct diag *d)
{
	struct live_feed_cfg cfg = { .tgid = w->cfg.pid };
	int err = w->cfg.is_daemon ? live_feed_open(&cfg, d, &w->live) : 0;

	return err ? err : live_desk_new(w->live, d, &w->desk);
}

static void close_live(struct mcp_world *w)
{
	live_desk_free(w->desk);
	live_feed_close(w->live);
	w->desk = NULL;
	w->live = NULL;
}

int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d)
{
	int err;

	w->cfg = *cfg;
	err = open_live(w, d);
	if (err)
		mcp_world_close(w);
	return err;
}

void mcp_world_close(struct mcp_world *w)
{
	close_live(w);
}
