#include "mcp/world.h"

int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d)
{
	(void)d;
	w->cfg = *cfg;
	return 0;
}

void mcp_world_close(struct mcp_world *w)
{
	(void)w;
}
