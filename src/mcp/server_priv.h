/* mcp/server_priv — what the files of the server share: connections, requests, methods. */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "mcp/era.h"
#include "mcp/message.h"
#include "mcp/outgoing.h"
#include "mcp/pool.h"
#include "mcp/server.h"

#define SERVER_NAME       "schedscope"
#define MCP_LATEST        "2025-11-25" /* of the session era */
#define SUBSCRIPTIONS_MAX 64U
#define URI_MAX           512U
#define BATCH_MAX         64U /* messages */

struct subscription {
	char uri[URI_MAX];            /* empty = free */
	struct mcp_request *listener; /* the open request that it belongs to; NULL = the connection */
	bool is_held;                 /* nothing is sent yet */
	bool is_begun;                /* the resource was notified */
	uint64_t revision;            /* that the client knows of */
	uint64_t sent_ns;
	uint64_t interval_ns; /* at least between two updates */
	uint64_t polled_ns;
	uint64_t poll_ns; /* at least between two polls */
};

/* Answers of a batch, until all are there. */
struct rpc_batch {
	void *exchange;
	json_t *values; /* the messages; their requests borrow from it */
	unsigned int nr_pending;
	struct outgoing out; /* the array, open */
	unsigned int nr_answers;
	bool is_silent; /* of notifications alone: nothing is sent */
};

/* Where an answer goes, and how. */
struct answer {
	struct rpc_batch *batch; /* NULL = alone */
	void *exchange;
	enum mcp_end end;
};

struct mcp_conn {
	uint64_t id;              /* of no other, ever */
	uint64_t stateless_owner; /* of its requests of the stateless era; 0 = none */
	struct mcp_server *server;
	struct mcp_link link;
	pthread_mutex_t lock;
	pthread_cond_t is_idle;
	_Atomic(const char *) version; /* one of our table; NULL = not agreed yet */
	atomic_bool is_stateless;      /* it has taken a message of that era */
	atomic_bool is_closing;
	atomic_int level;               /* enum mcp_level */
	atomic_uint toolsets;           /* that the client chose; 0 = as the server was started */
	struct mcp_request *requests;   /* that are not answered yet */
	pthread_mutex_t subscribe_lock; /* one subscribes or unsubscribes at a time; before lock */
	struct subscription subscriptions[SUBSCRIPTIONS_MAX];
	atomic_uint nr_begun; /* of those */
	struct mcp_conn *next;
};

struct mcp_request {
	struct mcp_conn *conn;
	uint64_t owner; /* of what it makes; 0 = none */
	void *exchange;
	struct rpc_batch *batch; /* NULL = alone */
	json_t *value; /* the message, from which the members below are borrowed; NULL = the batch has it */
	const json_t *id;
	const json_t *params;
	const json_t *progress_token;
	const struct method *method;
	struct era_facts said;
	json_t *input_requests; /* what a tool asks the client for; NULL = nothing */
	atomic_bool is_cancelled;
	bool is_answering; /* too late to cancel it */
	bool is_open;      /* waits for nothing but its end; the thread that clears it, closes it */
	uint64_t progress_ns;
	double progress_done;
	struct mcp_request *next;
};

struct mcp_server {
	struct mcp_world world;
	struct pool *pool;
	pthread_mutex_t lock; /* of the list of connections; before the lock of a connection */
	struct mcp_conn *conns;
	uint64_t nr_owners; /* that there were, connections among them */
	pthread_t ticker;   /* polls for what subscribers want to know */
	bool has_ticker;
	bool is_ending;
	pthread_cond_t tick;
	atomic_ullong logged_lost, logged_cut; /* by server_log_losses() */
};

struct resource;

/*
 * A JSON-RPC method. run() writes members of the result, or fills the error and returns -1, or returns METHOD_STAYS_OPEN: then
 * the request is answered when it is closed.
 */
#define METHOD_STAYS_OPEN 1
struct method {
	const char *name;
	unsigned int eras;  /* bits of enum mcp_era */
	bool is_slow;       /* runs in the pool */
	bool is_early;      /* allowed before initialize */
	bool must_be_alone; /* not in a batch, and not cancelled */
	struct era_cache cache;
	int (*run)(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
};

const struct method *method_find(enum mcp_era era, const char *name);

/* Whether it is one of subscriptions/listen, whose answer ends a stream of updates. */
bool request_listens(const struct mcp_request *r);

/* len 0: there is none. */
void answer_send(struct mcp_conn *c, const struct answer *a, const char *text, size_t len);
/* The error is given away. */
void answer_error(struct mcp_conn *c, const struct answer *a, const json_t *id,
                  struct rpc_error *e);
/* That of one of a batch; with the last one the batch is sent and freed. */
void answer_batch(struct mcp_conn *c, struct rpc_batch *b, const char *text, size_t len);

/* The method of each group, named by the files that hold them. */
int method_tools_list(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_tools_call(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_resources_list(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_resources_templates(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_resources_read(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_resources_subscribe(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_resources_unsubscribe(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_prompts_list(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_prompts_get(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_listen(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);
int method_complete(struct mcp_request *r, struct json_writer *w, struct rpc_error *e);

/*
 * Pages of a list: items [*from, *to) of nr, by the "cursor" of the request. Written after them: "nextCursor" by
 * list_put_next(). -1 with an error for a cursor that is not ours.
 */
int list_page(const struct mcp_request *r, size_t nr, size_t *from, size_t *to,
              struct rpc_error *e);
void list_put_next(struct json_writer *w, size_t to, size_t nr);

/* Whether what comes with a repeated call makes sense. */
MUST_USE int check_input_responses(const struct mcp_request *r, struct rpc_error *e);

/* A notification about a request (NULL exchange otherwise). fill may be NULL. */
typedef void notification_fn(void *ctx, struct json_writer *w);
void conn_notify(struct mcp_conn *c, void *exchange, const char *method, notification_fn *fill,
                 void *ctx);

/* A message, if the client of the request wants those of the level. */
void request_log(struct mcp_request *r, enum mcp_level level, const char *logger, const char *text);

/* Once, to all clients: what the live stream has lost since the last call, and what its limit on memory has cut. */
void server_log_losses(struct mcp_server *s);

/* Ends the subscriptions of an open request; of the connection if it is NULL. */
void subscriptions_end(struct mcp_conn *c, const struct mcp_request *listener);
void ticker_stop(struct mcp_server *s);

bool server_offers_tool(const struct mcp_server *s, const struct tool *t);
bool server_offers_resource(const struct mcp_server *s, const struct resource *res);
#define LEVELS_TEXT "one of debug, info, notice, warning, error, critical, alert, emergency"
const char *level_name(enum mcp_level level);
bool level_parse(const char *text, enum mcp_level *out); /* text may be NULL */
