/*
 * mcp/resource — a resource: one entry of one table, read as JSON.
 *
 * read() writes the members of the object. A URI may carry a query (?limit=20&offset=20), given apart and untrusted:
 * resource_query() takes it apart. -ENOENT: there is no such resource.
 *
 * Subscribers are notified when it changes: while there are any, it is polled, by revision() where
 * that is cheaper than reading it or where reading it changes it, else by reading it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "mcp/tool.h"

struct mcp_world;

struct resource {
	const char *uri; /* without query */
	/*
	 * Not one but many, which come and go: uri is how they begin, and what follows stands before the query that is handed on.
	 * Lists those of a client, as resources/list does.
	 */
	void (*list)(struct mcp_world *w, uint64_t owner, struct json_writer *out);
	const char *name;
	const char *title;
	const char *description;
	const char *mime; /* application/json unless said */
	enum toolset set;
	bool needs_daemon; /* not listed without */
	int (*read)(struct mcp_world *w, const char *query, struct json_writer *out,
	            struct diag *d);
	/*
	 * While there are subscribers: begin() once for each (query as it was given), end() when it
	 * unsubscribes. NULL = nothing to do. Both may be called on any thread.
	 */
	int (*begin)(struct mcp_world *w, const char *query, struct diag *d);
	void (*end)(struct mcp_world *w, const char *query);
	/* A number that changes when there is something new; NULL = of what read() gives. On any thread, under no lock. */
	uint64_t (*revision)(struct mcp_world *w, const char *query);
	/* For what is costly to poll: at most this often, whatever subscribers want. */
	unsigned int poll_ms;
};

struct resource_template {
	const char *uri; /* RFC 6570 */
	const char *name;
	const char *title;
	const char *description;
};

extern const struct resource *const resources[];
extern const size_t nr_resources;
extern const struct resource_template resource_templates[];
extern const size_t nr_resource_templates;

/* The number that changes with its content. -EINVAL with a sentence for a query that makes no sense. */
MUST_USE int resource_poll(const struct resource *res, struct mcp_world *w, const char *query,
                           struct diag *d, uint64_t *out);
/* By URI, its query left aside; *query is "" without one. NULL if there is none. */
const struct resource *resource_find(const char *uri, const char **query);
/* The value of a key in a query, decoded, into buf; false if it is not there or does not fit. */
bool resource_query(const char *query, const char *key, char *buf, size_t size);
/* The same as a number; fallback where it is absent, -EINVAL with a sentence if it is none within [min, max]. */
MUST_USE int resource_query_u64(const char *query, const char *key, uint64_t min, uint64_t max,
                                uint64_t *value, struct diag *d);
