#include "mcp/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "live/live_feed.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

#define NR_THREADS 8U /* calls that wait for something must not keep others waiting */

int mcp_server_new(const struct mcp_cfg *cfg, struct diag *d, struct mcp_server **out)
{
	struct mcp_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->tick);
	s->world.server = s;
	err = mcp_world_open(&s->world, cfg, d);
	if (!err && pool_new(NR_THREADS, &s->pool))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err) {
		mcp_server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void mcp_server_free(struct mcp_server *s)
{
	if (!s)
		return;
	ticker_stop(s);
	pool_free(s->pool);
	mcp_world_close(&s->world);
	pthread_cond_destroy(&s->tick);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

uint64_t mcp_server_new_owner(struct mcp_server *s)
{
	uint64_t owner;

	pthread_mutex_lock(&s->lock);
	owner = ++s->nr_owners;
	pthread_mutex_unlock(&s->lock);
	return owner;
}

/* Listed or not: scripts call tools by names that they know. */
static unsigned int allowed_sets(const struct mcp_server *s)
{
	return s->world.cfg.toolsets ? s->world.cfg.toolsets : TOOLSET_FULL;
}

bool server_offers_tool(const struct mcp_server *s, const struct tool *t)
{
	return (allowed_sets(s) & t->set) && !(s->world.cfg.is_read_only && t->changes_something);
}

/* The core is about everything that there is. */
bool server_offers_resource(const struct mcp_server *s, const struct resource *res)
{
	return (allowed_sets(s) & (res->set | TOOLSET_CORE)) &&
	       (!res->needs_daemon || s->world.cfg.is_daemon);
}

struct log_line {
	enum mcp_level level;
	const char *logger;
	const char *text;
};

static void put_log(void *ctx, struct json_writer *w)
{
	const struct log_line *l = ctx;

	jw_string(w, "level", level_name(l->level));
	jw_string(w, "logger", l->logger);
	jw_string(w, "data", l->text);
}

/* Of the stateless era, each request says which messages it wants; they come on its own stream, before its answer. */
static bool wants_log(const struct mcp_request *r, enum mcp_level level)
{
	return r->said.level >= 0 && (int)level >= r->said.level && !request_listens(r) &&
	       !atomic_load(&r->is_cancelled);
}

static void session_log(struct mcp_conn *c, struct log_line *line)
{
	if (mcp_conn_is_initialized(c) && !atomic_load(&c->is_closing) &&
	    (int)line->level >= atomic_load(&c->level))
		conn_notify(c, NULL, "notifications/message", put_log, line);
}

static void conn_log(struct mcp_conn *c, enum mcp_level level, const char *logger, const char *text)
{
	struct log_line line = { level, logger, text };

	session_log(c, &line);
	pthread_mutex_lock(&c->lock);
	for (struct mcp_request *r = c->requests; r; r = r->next)
		if (!r->is_answering && wants_log(r, level))
			conn_notify(c, r->exchange, "notifications/message", put_log, &line);
	pthread_mutex_unlock(&c->lock);
}

void request_log(struct mcp_request *r, enum mcp_level level, const char *logger, const char *text)
{
	struct log_line line = { level, logger, text };

	if (r->said.era == ERA_SESSION)
		session_log(r->conn, &line);
	else if (wants_log(r, level))
		conn_notify(r->conn, r->exchange, "notifications/message", put_log, &line);
}

void mcp_server_log(struct mcp_server *s, enum mcp_level level, const char *logger,
                    const char *text)
{
	pthread_mutex_lock(&s->lock);
	for (struct mcp_conn *c = s->conns; c; c = c->next)
		conn_log(c, level, logger, text);
	pthread_mutex_unlock(&s->lock);
}

/* How much a total has grown since it was logged; each growth is given to one caller. */
static uint64_t growth(atomic_ullong *logged, uint64_t total)
{
	uint64_t before = atomic_exchange(logged, total);

	return total > before ? total - before : 0;
}

void server_log_losses(struct mcp_server *s)
{
	struct live_feed_status status;
	uint64_t lost, cut;
	char text[160];

	if (!s->world.live)
		return;
	live_feed_status(s->world.live, &status);
	lost = growth(&s->logged_lost, status.lost);
	cut = growth(&s->logged_cut, status.cut_rows);
	if (lost) {
		(void)snprintf(
			text, sizeof(text),
			"the live stream lost %llu events: answers about that time are incomplete",
			(unsigned long long)lost);
		mcp_server_log(s, MCP_WARNING, "live", text);
	}
	if (cut) {
		(void)snprintf(
			text, sizeof(text),
			"the limit on memory cut %llu rows of live data: answers cover less than "
			"the window",
			(unsigned long long)cut);
		mcp_server_log(s, MCP_WARNING, "live", text);
	}
}
