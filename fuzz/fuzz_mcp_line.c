/*
 * fuzz/fuzz_mcp_line — lines for one connection of the MCP server, after initialize with a revision chosen by the first byte.
 * Every line that wants an answer gets exactly one, each a JSON-RPC message; also the headers of HTTP are read from lines. A line
 * "#VERSION|METHOD|NAME" gives the headers of the lines after it; requests of the stateless era need them only then.
 */
#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "http/http_guard.h"
#include "http/http_token.h"
#include "mcp/message.h"
#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/server.h"
#include "mcp/tool.h"

#define LINES_MAX 64

/* Tools of our own: those of the program would record and write files. */
static int say(struct tool_call *c)
{
	static const char *const sayings[] = { "yes", "no" };
	static const struct call_question question = { "text", "What?", sayings, 2 };
	const char *said;

	if (call_has(c, "text"))
		jw_string(c->out, "text", call_string(c, "text"));
	jw_i64(c->out, "number", call_i64(c, "number"));
	jw_double(c->out, "real", call_double(c, "real"), 3);
	call_progress(c, 1, 2, call_string(c, "choice"));
	call_log(c, MCP_INFO, "said");
	if (call_answer(c, "text", &said) == CALL_NOT_ASKED && call_can_ask(c) &&
	    !call_has(c, "text"))
		return call_ask(c, &question);
	return call_bool(c, "fails") ? diag_set(c->d, -1, NULL, "as asked") : 0;
}

static const char *const choices[] = { "one", "two", NULL };
static const struct arg say_args[] = {
	{ .name = "text", .type = ARG_STRING, .description = "any" },
	{ .name = "choice",
	  .type = ARG_STRING,
	  .description = "of two",
	  .choices = choices,
	  .fallback = "\"one\"" },
	{ .name = "number",
	  .type = ARG_INTEGER,
	  .description = "small",
	  .min = -5,
	  .max = 5,
	  .fallback = "1" },
	{ .name = "real", .type = ARG_NUMBER, .description = "any" },
	{ .name = "fails", .type = ARG_BOOL, .description = "fail" },
	{ .name = "list", .type = ARG_STRINGS, .description = "texts" },
	{ .name = "objects", .type = ARG_OBJECTS, .description = "objects" },
	{ 0 },
};
static const struct tool tool_say = { .name = "say",
	                              .title = "Say",
	                              .description = "says it",
	                              .args = say_args,
	                              .set = TOOLSET_LIVE,
	                              .run = say };
const struct tool *const tools[] = { &tool_say };
const size_t nr_tools = 1;

static int read_back(struct mcp_world *w, const char *query, struct json_writer *out,
                     struct diag *d)
{
	uint64_t number = 3;
	char text[16];

	(void)w;
	if (resource_query(query, "text", text, sizeof(text)))
		jw_string(out, "text", text);
	return resource_query_u64(query, "number", 1, 9, &number, d);
}

static atomic_int nr_begun;

static int begin(struct mcp_world *w, const char *query, struct diag *d)
{
	(void)w;
	(void)query;
	(void)d;
	atomic_fetch_add(&nr_begun, 1);
	return 0;
}

static void end(struct mcp_world *w, const char *query)
{
	(void)w;
	(void)query;
	atomic_fetch_sub(&nr_begun, 1);
}

static const struct resource resource_back = { .uri = "a://b",
	                                       .name = "b",
	                                       .title = "B",
	                                       .description = "back",
	                                       .set = TOOLSET_LIVE,
	                                       .read = read_back,
	                                       .begin = begin,
	                                       .end = end };
const struct resource *const resources[] = { &resource_back };
const size_t nr_resources = 1;
const struct resource_template resource_templates[] = { { "a://b{?text}", "b", "B", "back" } };
const size_t nr_resource_templates = 1;

int mcp_world_open(struct mcp_world *w, const struct mcp_cfg *cfg, struct diag *d)
{
	(void)d;
	w->cfg = *cfg;
	return 0;
}

void mcp_world_forget(struct mcp_world *w, uint64_t owner)
{
	(void)w;
	(void)owner;
}

bool mcp_world_works_for(const struct mcp_world *w, uint64_t owner)
{
	(void)w;
	(void)owner;
	return false;
}

void mcp_world_close(struct mcp_world *w)
{
	(void)w;
}

static void check_message(const json_t *value)
{
	const char *version = json_string_value(json_object_get(value, "jsonrpc"));
	const json_t *result = json_object_get(value, "result"),
		     *error = json_object_get(value, "error");

	fuzz_check(version && strcmp(version, "2.0") == 0);
	if (json_object_get(value, "method"))
		fuzz_check(!json_object_get(value, "id") && !result && !error);
	else
		fuzz_check(json_object_get(value, "id") && !result != !error);
}

/* exchange counts the ends of its line. */
static void take_answer(void *ctx, void *exchange, const char *text, size_t len, enum mcp_end end)
{
	json_t *value = len ? json_loadb(text, len, 0, NULL) : NULL;
	json_t *one;
	size_t i;

	(void)ctx;
	fuzz_check(!len || value);
	fuzz_check(!len || !memchr(text, '\n', len));
	if (json_is_array(value)) {
		json_array_foreach(value, i, one) check_message(one);
	} else if (value) {
		check_message(value);
	}
	json_decref(value);
	if (exchange && end != MCP_MORE)
		atomic_fetch_add((atomic_int *)exchange, 1);
}

static void read_headers(const char *line)
{
	static const char *const names[] = { "box.lan" };
	struct http_hosts hosts = { .names = names, .nr = 1, .takes_addresses = true, .port = 80 };
	struct http_address address;
	struct diag d = { 0 };
	uint32_t stream;
	uint64_t seq;

	fuzz_check(!http_origin_is_allowed(line, &hosts) || strstr(line, "//"));
	(void)http_host_is_allowed(line, &hosts);
	(void)http_accepts(line);
	(void)http_is_json(line);
	(void)http_event_id(line, &stream, &seq);
	fuzz_check(http_address_parse(line, &d, &address) == 0 || d.what[0]);
	fuzz_check(!http_token_is_right(line, "0123456789abcdef") ||
	           strstr(line, "0123456789abcdef"));
}

/* "VERSION|METHOD|NAME"; what is missing is absent. */
static void take_headers(char *line, struct mcp_headers *out)
{
	char *at = line;

	*out = (struct mcp_headers){ 0 };
	out->version = strsep(&at, "|");
	out->method = at ? strsep(&at, "|") : NULL;
	out->name = at;
}

static void talk(struct mcp_conn *c, char *text, size_t size)
{
	static const char *const revisions[] = { "2025-11-25", "2025-06-18", "2025-03-26",
		                                 "2024-11-05" };
	atomic_int ends[LINES_MAX + 1];
	bool wants[LINES_MAX + 1];
	struct mcp_headers headers, *with = NULL;
	char hello[256], *at = text + (size > 0), *past = text + size;
	size_t nr = 1;

	for (size_t i = 0; i <= LINES_MAX; i++)
		atomic_init(&ends[i], 0);
	snprintf(hello, sizeof(hello),
	         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%s\",\"capabilities\":{},"
	         "\"clientInfo\":{\"name\":\"f\"}}}",
	         revisions[size ? text[0] & 3 : 0]);
	wants[0] = mcp_conn_take(c, hello, strlen(hello), NULL, &ends[0]) != MCP_NO_ANSWER;
	while (nr <= LINES_MAX && at < past) {
		char *eol = memchr(at, '\n', (size_t)(past - at));
		size_t len = (size_t)((eol ? eol : past) - at);

		wants[nr] = mcp_conn_take(c, at, len, with, &ends[nr]) != MCP_NO_ANSWER;
		nr++;
		at[len] = '\0'; /* past the end of the input there is one already */
		read_headers(at);
		if (*at == '#') {
			take_headers(at + 1, &headers);
			with = &headers;
		}
		at += len + 1;
	}
	fuzz_check(mcp_conn_drain(c, 10000));
	for (size_t i = 0; i < nr; i++)
		mcp_conn_abandon(c, &ends[i]); /* what stays open */
	for (size_t i = 0; i < nr; i++)
		fuzz_check(atomic_load(&ends[i]) == wants[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mcp_server *server; /* one for all inputs: its threads are dear */
	char *text = fuzz_text(data, size);
	struct mcp_link link = { take_answer, NULL };
	struct mcp_conn *c = NULL;
	struct mcp_cfg cfg = { 0 };
	struct diag d = { 0 };

	fuzz_check(server || mcp_server_new(&cfg, &d, &server) == 0);
	fuzz_check(mcp_conn_new(server, &link, &c) == 0);
	talk(c, text, size);
	mcp_conn_free(c);
	fuzz_check(atomic_load(&nr_begun) == 0);
	free(text);
	return 0;
}
