/* resources/subscribe and unsubscribe, and the thread that tells subscribers of what is new. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

#define TICK_MS       100U
#define NS_PER_SECOND 1000000000ULL
#define DEFAULT_RATE  2U /* updates per second */
#define MAX_RATE      10U

static struct subscription *find(struct mcp_conn *c, const char *uri)
{
	for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++)
		if (strcmp(c->subscriptions[i].uri, uri) == 0)
			return &c->subscriptions[i];
	return NULL;
}

static void put_uri(void *ctx, struct json_writer *w)
{
	jw_string(w, "uri", ctx);
}

/* Anything new, and not too soon after the last one. */
static void look(struct mcp_conn *c, struct subscription *sub, uint64_t now_ns)
{
	struct mcp_world *world = &c->server->world;
	const char *query;
	const struct resource *res = resource_find(sub->uri, &query);
	uint64_t revision;

	if (!res || now_ns - sub->sent_ns < sub->interval_ns)
		return;
	revision = res->revision(world, query);
	if (revision == sub->revision)
		return;
	sub->revision = revision;
	sub->sent_ns = now_ns;
	conn_notify(c, NULL, "notifications/resources/updated", put_uri, sub->uri);
}

static void look_at_all(struct mcp_server *s)
{
	uint64_t now_ns = clock_boot_ns();

	for (struct mcp_conn *c = s->conns; c; c = c->next) {
		pthread_mutex_lock(&c->lock);
		for (size_t i = 0; !atomic_load(&c->is_closing) && i < SUBSCRIPTIONS_MAX; i++)
			if (c->subscriptions[i].can_change)
				look(c, &c->subscriptions[i], now_ns);
		pthread_mutex_unlock(&c->lock);
	}
}

/* Of what changes of its own; who waits for anything else needs no thread. */
static bool has_subscribers(const struct mcp_server *s)
{
	bool has_any = false;

	for (struct mcp_conn *c = s->conns; c; c = c->next) {
		pthread_mutex_lock(&c->lock);
		for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++)
			has_any |= c->subscriptions[i].can_change;
		pthread_mutex_unlock(&c->lock);
	}
	return has_any;
}

/* Sleeps for good while nobody is subscribed. */
static void *tick(void *ctx)
{
	struct mcp_server *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		if (!has_subscribers(s)) {
			pthread_cond_wait(&s->tick, &s->lock);
			continue;
		}
		look_at_all(s);
		(void)cond_wait_ms(&s->tick, &s->lock, TICK_MS);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void wake_ticker(struct mcp_server *s)
{
	pthread_mutex_lock(&s->lock);
	if (!s->has_ticker && !s->is_ending)
		s->has_ticker = thread_start(&s->ticker, tick, s) == 0;
	pthread_cond_signal(&s->tick);
	pthread_mutex_unlock(&s->lock);
}

void ticker_stop(struct mcp_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_ending = true;
	pthread_cond_signal(&s->tick);
	pthread_mutex_unlock(&s->lock);
	if (s->has_ticker)
		pthread_join(s->ticker, NULL);
	s->has_ticker = false;
}

static int begin(struct mcp_request *r, const char *uri, uint64_t rate, struct rpc_error *e)
{
	struct mcp_conn *c = r->conn;
	struct mcp_world *world = &c->server->world;
	struct diag d = { 0 };
	const char *query;
	const struct resource *res = resource_find(uri, &query);
	bool is_offered = res && server_offers_resource(c->server, res);
	struct subscription *sub;

	if (is_offered && res->begin && res->begin(world, query, &d)) {
		char line[sizeof(d.what) + sizeof(d.hint) + 128];

		diag_format(&d, line, sizeof(line));
		return rpc_fail(e, RPC_INTERNAL, "%s", line);
	}
	pthread_mutex_lock(&c->lock);
	sub = find(c, "");
	if (sub) {
		*sub = (struct subscription){ .is_begun = is_offered,
			                      .can_change = is_offered && res->revision,
			                      .interval_ns = NS_PER_SECOND / rate };
		snprintf(sub->uri, sizeof(sub->uri), "%s", uri);
		if (is_offered)
			atomic_fetch_add(&c->nr_begun, 1);
		if (res && sub->can_change)
			sub->revision = res->revision(world, query);
	}
	pthread_mutex_unlock(&c->lock);
	if (!sub && is_offered && res->end)
		res->end(world, query);
	return sub ? 0
	           : rpc_fail(e, RPC_INVALID_PARAMS,
	                      "too many subscriptions; unsubscribe from some");
}

/* A URI that nobody knows may be subscribed to: it never changes. */
int method_resources_subscribe(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const char *uri = json_string_value(json_object_get(r->params, "uri"));
	struct mcp_conn *c = r->conn;
	uint64_t rate = DEFAULT_RATE;
	struct diag d = { 0 };
	bool is_known;
	int err;

	(void)w;
	if (!uri || !*uri || strlen(uri) >= URI_MAX)
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "resources/subscribe needs a text \"uri\" below 512 bytes");
	if (resource_query_u64(strchr(uri, '?') ? strchr(uri, '?') + 1 : "", "max_rate", 1,
	                       MAX_RATE, &rate, &d))
		return rpc_fail(e, RPC_INVALID_PARAMS, "%s", d.what);
	pthread_mutex_lock(&c->subscribe_lock);
	pthread_mutex_lock(&c->lock);
	is_known = find(c, uri) != NULL;
	pthread_mutex_unlock(&c->lock);
	err = is_known ? 0 : begin(r, uri, rate, e);
	pthread_mutex_unlock(&c->subscribe_lock);
	if (!err)
		wake_ticker(c->server);
	return err;
}

static void end(struct mcp_conn *c, const char *uri)
{
	const char *query;
	const struct resource *res = resource_find(uri, &query);

	if (res && res->end)
		res->end(&c->server->world, query);
}

int method_resources_unsubscribe(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const char *uri = json_string_value(json_object_get(r->params, "uri"));
	struct mcp_conn *c = r->conn;
	struct subscription *sub, old = { 0 };

	(void)w;
	if (!uri || !*uri)
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "resources/unsubscribe needs a text \"uri\"");
	pthread_mutex_lock(&c->subscribe_lock);
	pthread_mutex_lock(&c->lock);
	sub = find(c, uri);
	if (sub) {
		old = *sub;
		*sub = (struct subscription){ 0 };
	}
	pthread_mutex_unlock(&c->lock);
	if (old.is_begun) {
		atomic_fetch_sub(&c->nr_begun, 1);
		end(c, old.uri);
	}
	pthread_mutex_unlock(&c->subscribe_lock);
	return 0;
}

bool mcp_conn_has_subscriptions(const struct mcp_conn *c)
{
	return atomic_load(&c->nr_begun) > 0;
}

void subscriptions_end(struct mcp_conn *c)
{
	for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++) {
		if (c->subscriptions[i].is_begun)
			end(c, c->subscriptions[i].uri);
		c->subscriptions[i] = (struct subscription){ 0 };
	}
}
