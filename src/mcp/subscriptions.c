/* resources/subscribe and unsubscribe, subscriptions/listen, and the thread that notifies subscribers of changes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

#define TICK_MS       100U
#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MS     1000000ULL
#define DUE_MAX       16U /* at a time */
#define DEFAULT_RATE  2U  /* updates per second */
#define MAX_RATE      10U

static struct subscription *find(struct mcp_conn *c, const struct mcp_request *listener,
                                 const char *uri)
{
	for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++)
		if (c->subscriptions[i].listener == listener &&
		    strcmp(c->subscriptions[i].uri, uri) == 0)
			return &c->subscriptions[i];
	return NULL;
}

static void put_updated(void *ctx, struct json_writer *w)
{
	const struct subscription *sub = ctx;

	jw_string(w, "uri", sub->uri);
	if (sub->listener)
		era_put_subscription(w, sub->listener->id);
}

/* What is due is polled without any lock, once for all its subscribers. */
struct due {
	char uri[URI_MAX];
	bool has_revision;
	uint64_t revision;
};

static bool is_due(const struct subscription *sub, uint64_t now_ns)
{
	return sub->is_begun && !sub->is_held && now_ns - sub->sent_ns >= sub->interval_ns &&
	       now_ns - sub->polled_ns >= sub->poll_ns;
}

/* False if all places are taken: it has to wait for the next round. */
static bool add_due(struct due *due_list, size_t *nr, const char *uri)
{
	for (size_t i = 0; i < *nr; i++)
		if (strcmp(due_list[i].uri, uri) == 0)
			return true;
	if (*nr == DUE_MAX)
		return false;
	due_list[*nr] = (struct due){ 0 };
	snprintf(due_list[(*nr)++].uri, URI_MAX, "%s", uri);
	return true;
}

static size_t list_due(const struct mcp_server *s, uint64_t now_ns, struct due *due_list)
{
	size_t nr = 0;

	for (struct mcp_conn *c = s->conns; c; c = c->next) {
		pthread_mutex_lock(&c->lock);
		for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++)
			if (is_due(&c->subscriptions[i], now_ns))
				(void)add_due(due_list, &nr, c->subscriptions[i].uri);
		pthread_mutex_unlock(&c->lock);
	}
	return nr;
}

static void poll_one(struct mcp_server *s, struct due *due)
{
	struct diag d = { 0 };
	const char *query;
	const struct resource *res = resource_find(due->uri, &query);

	due->has_revision = res && resource_poll(res, &s->world, query, &d, &due->revision) == 0;
}

/* One subscription of a connection; its lock is held. */
static void report_one(struct mcp_conn *c, struct subscription *sub, const struct due *due,
                       uint64_t now_ns)
{
	if (strcmp(sub->uri, due->uri) != 0 || !is_due(sub, now_ns))
		return;
	sub->polled_ns = now_ns;
	if (!due->has_revision || due->revision == sub->revision)
		return;
	sub->revision = due->revision;
	sub->sent_ns = now_ns;
	conn_notify(c, sub->listener ? sub->listener->exchange : NULL,
	            "notifications/resources/updated", put_updated, sub);
}

static void notify(const struct mcp_server *s, const struct due *due, uint64_t now_ns)
{
	for (struct mcp_conn *c = s->conns; c; c = c->next) {
		pthread_mutex_lock(&c->lock);
		for (size_t i = 0; !atomic_load(&c->is_closing) && i < SUBSCRIPTIONS_MAX; i++)
			report_one(c, &c->subscriptions[i], due, now_ns);
		pthread_mutex_unlock(&c->lock);
	}
}

static void poll_all(struct mcp_server *s)
{
	struct due due_list[DUE_MAX];
	uint64_t now_ns = clock_boot_ns();
	size_t nr = list_due(s, now_ns, due_list);

	for (size_t i = 0; i < nr; i++) {
		pthread_mutex_unlock(&s->lock);
		poll_one(s, &due_list[i]);
		pthread_mutex_lock(&s->lock);
		notify(s, &due_list[i], now_ns);
	}
}

static bool has_subscribers(const struct mcp_server *s)
{
	for (const struct mcp_conn *c = s->conns; c; c = c->next)
		if (mcp_conn_has_subscriptions(c))
			return true;
	return false;
}

/* Sleeps while there is no subscriber. */
static void *tick(void *ctx)
{
	struct mcp_server *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		if (!has_subscribers(s)) {
			pthread_cond_wait(&s->tick, &s->lock);
			continue;
		}
		poll_all(s);
		pthread_mutex_unlock(&s->lock);
		server_log_losses(s);
		pthread_mutex_lock(&s->lock);
		if (!s->is_ending)
			(void)thread_cond_wait_ms(&s->tick, &s->lock, TICK_MS);
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

static void end(struct mcp_conn *c, const char *uri)
{
	const char *query;
	const struct resource *res = resource_find(uri, &query);

	if (res && res->end)
		res->end(&c->server->world, query);
}

/* What the resource has to do, and what it holds now. */
static int begin_resource(struct mcp_world *world, const char *uri, struct subscription *sub,
                          struct rpc_error *e)
{
	char line[sizeof(((struct diag *)0)->what) + sizeof(((struct diag *)0)->hint) + 128];
	const char *query;
	const struct resource *res = resource_find(uri, &query);
	struct diag d = { 0 };
	int err = res->begin ? res->begin(world, query, &d) : 0;
	bool has_begun = !err;

	if (!err)
		err = resource_poll(res, world, query, &d, &sub->revision);
	if (!err || err == -ENOENT)
		return 0;
	if (has_begun && res->end)
		res->end(world, query);
	diag_format(&d, line, sizeof(line));
	return rpc_fail(e, err == -EINVAL ? RPC_INVALID_PARAMS : RPC_INTERNAL, "%s", line);
}

static void set_times(struct subscription *sub, const struct resource *res, uint64_t rate)
{
	uint64_t poll_ns = res->poll_ms * NS_PER_MS;

	sub->interval_ns = NS_PER_SECOND / rate;
	sub->poll_ns = res->revision || poll_ns > sub->interval_ns ? poll_ns : sub->interval_ns;
	sub->polled_ns = clock_boot_ns();
}

/* One of a request that stays open, or, if listener is NULL, of the connection. */
static int begin(struct mcp_conn *c, struct mcp_request *listener, const char *uri, uint64_t rate,
                 struct rpc_error *e)
{
	const char *query;
	const struct resource *res = resource_find(uri, &query);
	struct subscription *place, new = { .listener = listener, .is_held = listener != NULL };

	new.is_begun = res &&server_offers_resource(c->server, res);
	if (new.is_begun) {
		set_times(&new, res, rate);
		if (begin_resource(&c->server->world, uri, &new, e))
			return -1;
	}
	snprintf(new.uri, sizeof(new.uri), "%s", uri);
	pthread_mutex_lock(&c->lock);
	place = find(c, NULL, "");
	if (place)
		*place = new;
	if (place && new.is_begun)
		atomic_fetch_add(&c->nr_begun, 1);
	pthread_mutex_unlock(&c->lock);
	if (!place && new.is_begun)
		end(c, uri);
	return place ? 0
	             : rpc_fail(e, RPC_INVALID_PARAMS,
	                        "too many subscriptions; unsubscribe from some");
}

static int subscribe(struct mcp_conn *c, struct mcp_request *listener, const char *uri,
                     struct rpc_error *e)
{
	uint64_t rate = DEFAULT_RATE;
	struct diag d = { 0 };
	bool is_known;
	int err;

	if (!uri || !*uri || strlen(uri) >= URI_MAX)
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "a subscription needs a text \"uri\" below 512 bytes");
	if (resource_query_u64(strchr(uri, '?') ? strchr(uri, '?') + 1 : "", "max_rate", 1,
	                       MAX_RATE, &rate, &d))
		return rpc_fail(e, RPC_INVALID_PARAMS, "%s", d.what);
	pthread_mutex_lock(&c->subscribe_lock);
	pthread_mutex_lock(&c->lock);
	is_known = find(c, listener, uri) != NULL;
	pthread_mutex_unlock(&c->lock);
	err = is_known ? 0 : begin(c, listener, uri, rate, e);
	pthread_mutex_unlock(&c->subscribe_lock);
	if (!err)
		wake_ticker(c->server);
	return err;
}

/* An unknown URI may be subscribed to: it never changes. */
int method_resources_subscribe(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	(void)w;
	return subscribe(r->conn, NULL, json_string_value(json_object_get(r->params, "uri")), e);
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
	sub = find(c, NULL, uri);
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

/* Taken out under the lock, since the thread that notifies may be about to use it; ended without it. */
static bool take_one(struct mcp_conn *c, const struct mcp_request *listener,
                     struct subscription *out)
{
	bool is_found = false;

	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < SUBSCRIPTIONS_MAX && !is_found; i++) {
		struct subscription *sub = &c->subscriptions[i];

		if (!*sub->uri || sub->listener != listener)
			continue;
		is_found = true;
		*out = *sub;
		*sub = (struct subscription){ 0 };
	}
	pthread_mutex_unlock(&c->lock);
	return is_found;
}

void subscriptions_end(struct mcp_conn *c, const struct mcp_request *listener)
{
	struct subscription old;

	while (take_one(c, listener, &old)) {
		if (!old.is_begun)
			continue;
		atomic_fetch_sub(&c->nr_begun, 1);
		end(c, old.uri);
	}
}

/* What is listened to, of what was asked for: the resources that there are. Lists never change. */
static void put_acknowledged(void *ctx, struct json_writer *w)
{
	const struct mcp_request *r = ctx;
	const struct mcp_conn *c = r->conn;
	bool is_first = true;

	jw_begin_object(w, "notifications");
	for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++) {
		if (c->subscriptions[i].listener != r)
			continue;
		if (is_first)
			jw_begin_array(w, "resourceSubscriptions");
		is_first = false;
		jw_string(w, NULL, c->subscriptions[i].uri);
	}
	if (!is_first)
		jw_end_array(w);
	jw_end_object(w);
	era_put_subscription(w, r->id);
}

/* Before anything else is sent. Whether there is something to listen to. */
static bool acknowledge(struct mcp_request *r)
{
	struct mcp_conn *c = r->conn;
	bool has_any = false;

	pthread_mutex_lock(&c->lock);
	conn_notify(c, r->exchange, "notifications/subscriptions/acknowledged", put_acknowledged,
	            r);
	for (size_t i = 0; i < SUBSCRIPTIONS_MAX; i++) {
		if (c->subscriptions[i].listener != r)
			continue;
		c->subscriptions[i].is_held = false;
		has_any = true;
	}
	pthread_mutex_unlock(&c->lock);
	return has_any;
}

static bool is_offered(const struct mcp_server *s, const char *uri)
{
	const char *query;
	const struct resource *res = uri ? resource_find(uri, &query) : NULL;

	return res && server_offers_resource(s, res);
}

int method_listen(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const json_t *filter = json_object_get(r->params, "notifications");
	const json_t *uris = json_object_get(filter, "resourceSubscriptions"), *uri;
	size_t i;

	(void)w;
	if (!json_is_object(filter))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "subscriptions/listen needs an object \"notifications\"");
	if (uris && !json_is_array(uris))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "\"resourceSubscriptions\" must be an array of texts");
	json_array_foreach((json_t *)uris, i, uri)
	{
		if (!json_is_string(uri))
			(void)rpc_fail(e, RPC_INVALID_PARAMS,
			               "\"resourceSubscriptions\" must be an array of texts");
		else if (!is_offered(r->conn->server, json_string_value(uri)) ||
		         !subscribe(r->conn, r, json_string_value(uri), e))
			continue;
		subscriptions_end(r->conn, r);
		return -1;
	}
	return acknowledge(r) ? METHOD_STAYS_OPEN : 0;
}

bool request_listens(const struct mcp_request *r)
{
	return r->method->run == method_listen;
}
