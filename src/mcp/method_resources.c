/* resources/list, templates/list, read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

static void put_resource(struct json_writer *w, const struct resource *res)
{
	jw_begin_object(w, NULL);
	jw_string(w, "uri", res->uri);
	jw_string(w, "name", res->name);
	jw_string(w, "title", res->title);
	jw_string(w, "description", res->description);
	jw_string(w, "mimeType", res->mime ? res->mime : "application/json");
	jw_end_object(w);
}

int method_resources_list(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	size_t from, to;

	if (list_page(r, nr_resources, &from, &to, e))
		return -1;
	jw_begin_array(w, "resources");
	for (size_t i = from; i < to; i++) {
		if (!server_offers_resource(r->conn->server, resources[i]))
			continue;
		if (resources[i]->list)
			resources[i]->list(&r->conn->server->world, r->owner, w);
		else
			put_resource(w, resources[i]);
	}
	jw_end_array(w);
	list_put_next(w, to, nr_resources);
	return 0;
}

int method_resources_templates(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	size_t from, to;

	if (list_page(r, nr_resource_templates, &from, &to, e))
		return -1;
	jw_begin_array(w, "resourceTemplates");
	for (size_t i = from; i < to; i++) {
		const struct resource_template *t = &resource_templates[i];

		jw_begin_object(w, NULL);
		jw_string(w, "uriTemplate", t->uri);
		jw_string(w, "name", t->name);
		jw_string(w, "title", t->title);
		jw_string(w, "description", t->description);
		jw_string(w, "mimeType", "application/json");
		jw_end_object(w);
	}
	jw_end_array(w);
	list_put_next(w, to, nr_resource_templates);
	return 0;
}

const struct resource *resource_find(const char *uri, const char **query)
{
	size_t len = strcspn(uri, "?");

	for (size_t i = 0; i < nr_resources; i++) {
		const char *own = resources[i]->uri;
		size_t own_len = strlen(own);

		if (strncmp(own, uri, own_len) != 0 || (own_len != len && !resources[i]->list))
			continue;
		*query = resources[i]->list ? uri + own_len : uri[len] ? uri + len + 1 : "";
		return resources[i];
	}
	return NULL;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %41 and + as in a form; a broken escape is kept as it is. */
static bool decode(const char *text, size_t len, char *buf, size_t size)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++) {
		int high = text[i] == '%' && i + 2 < len ? hex_digit(text[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
		char c = text[i] == '+' ? ' ' : text[i];

		if (low >= 0) {
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (nr + 1 >= size || !c)
			return false;
		buf[nr++] = c;
	}
	buf[nr] = '\0';
	return true;
}

bool resource_query(const char *query, const char *key, char *buf, size_t size)
{
	size_t key_len = strlen(key);

	while (*query) {
		size_t len = strcspn(query, "&");

		if (len > key_len && query[key_len] == '=' && strncmp(query, key, key_len) == 0)
			return decode(query + key_len + 1, len - key_len - 1, buf, size);
		query += len + (query[len] == '&');
	}
	return false;
}

int resource_query_u64(const char *query, const char *key, uint64_t min, uint64_t max,
                       uint64_t *value, struct diag *d)
{
	char text[32], *end;
	unsigned long long number;

	if (!resource_query(query, key, text, sizeof(text)))
		return 0;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || number < min || number > max)
		return diag_set(d, -EINVAL, NULL, "\"%s\" must be a number from %llu to %llu", key,
		                (unsigned long long)min, (unsigned long long)max);
	*value = number;
	return 0;
}

/* What a resource holds, as text; to be given back by outgoing_done(), in any case. */
static int read_text(const struct resource *res, struct mcp_world *w, const char *query,
                     struct diag *d, struct outgoing *o)
{
	int err;

	if (outgoing_begin(o))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	jw_begin_object(&o->w, NULL);
	err = res->read(w, query, &o->w, d);
	jw_end_object(&o->w);
	if (outgoing_end(o) && !err)
		err = diag_set(d, -ENOMEM, "ask for less", "the answer could not be written");
	return err;
}

int resource_poll(const struct resource *res, struct mcp_world *w, const char *query,
                  struct diag *d, uint64_t *out)
{
	struct outgoing o;
	int err = 0;

	if (res->revision) {
		*out = res->revision(w, query);
		return 0;
	}
	err = read_text(res, w, query, d, &o);
	if (!err)
		*out = hash_bytes(o.text, o.len, 0);
	outgoing_done(&o);
	return err;
}

static int fail_read(const struct mcp_request *r, struct rpc_error *e, const struct diag *d,
                     int err, const char *uri)
{
	char line[sizeof(d->what) + sizeof(d->hint) + 128];

	if (err == -ENOENT) {
		(void)rpc_fail(e, era_no_resource(r->said.era), "there is no resource %.128s", uri);
		e->data = json_pack("{s:s}", "uri", uri);
		return -1;
	}
	diag_format(d, line, sizeof(line));
	return rpc_fail(e, err == -EINVAL ? RPC_INVALID_PARAMS : RPC_INTERNAL, "%s", line);
}

int method_resources_read(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	struct mcp_server *s = r->conn->server;
	const char *uri = json_string_value(json_object_get(r->params, "uri")), *query;
	const struct resource *res = uri ? resource_find(uri, &query) : NULL;
	struct diag d = { 0 };
	struct outgoing o;
	int err;

	if (!uri)
		return rpc_fail(e, RPC_INVALID_PARAMS, "resources/read needs a text \"uri\"");
	if (!res || !server_offers_resource(s, res))
		return fail_read(r, e, &d, -ENOENT, uri);
	err = read_text(res, &s->world, query, &d, &o);
	if (!err) {
		jw_begin_array(w, "contents");
		jw_begin_object(w, NULL);
		jw_string(w, "uri", uri);
		jw_string(w, "mimeType", res->mime ? res->mime : "application/json");
		jw_bytes(w, "text", o.text, o.len);
		jw_end_object(w);
		jw_end_array(w);
	}
	outgoing_done(&o);
	if (res->needs_daemon)
		server_log_losses(s);
	return err ? fail_read(r, e, &d, err, uri) : 0;
}
