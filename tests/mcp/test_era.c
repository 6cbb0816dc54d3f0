/* mcp/era: the stateless revision beside the older ones, on one connection; headers against bodies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"
#include "mcp/message.h"
#include "mcp/server_priv.h"

#include "fixture.h"

#define VERSION      "io.modelcontextprotocol/protocolVersion"
#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define LEVEL        "io.modelcontextprotocol/logLevel"
#define SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"
#define SERVER       "io.modelcontextprotocol/serverInfo"
#define META         "\"_meta\":{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":{}}"
#define META_ASKABLE \
	"\"_meta\":{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":{\"elicitation\":{}}}"
#define EMPTY_BASE64 "=?base64?\?=" /* no trigraph */
#define HELLO                                                                  \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{" \
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\"}}}"

struct peer {
	struct mcp_server *server;
	struct fake_link link;
	struct mcp_conn *conn;
	const struct mcp_headers *headers; /* of all requests; NULL = no HTTP */
};

static int set_up(void **state)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct mcp_cfg cfg = { 0 };
	struct diag d = { 0 };
	struct mcp_link link;

	fake_link_init(&p->link);
	link = fake_link_use(&p->link);
	if (mcp_server_new(&cfg, &d, &p->server) || mcp_conn_new(p->server, &link, &p->conn))
		return -1;
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct peer *p = *state;
	size_t nr_bad = p->link.nr_bad;

	mcp_conn_free(p->conn);
	mcp_server_free(p->server);
	fake_link_done(&p->link);
	free(p);
	return nr_bad || fixture_nr_watching() ? -1 : 0;
}

static enum mcp_taken take(struct peer *p, const char *text, void *exchange)
{
	return mcp_conn_take(p->conn, text, strlen(text), p->headers, exchange);
}

static enum mcp_taken take_request(struct peer *p, const char *method, const char *params,
                                   void *exchange)
{
	char text[2048];

	snprintf(text, sizeof(text),
	         "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":%s}", method, params);
	return take(p, text, exchange);
}

/* The last of what was sent, which ends the request. */
static const struct sent *call(struct peer *p, const char *method, const char *params)
{
	fake_link_clear(&p->link);
	assert_int_not_equal(take_request(p, method, params, NULL), MCP_NO_ANSWER);
	assert_true(mcp_conn_drain(p->conn, 20000));
	assert_true(p->link.nr > 0 && p->link.sent[p->link.nr - 1].is_last);
	return &p->link.sent[p->link.nr - 1];
}

static const json_t *at(const json_t *value, const char *a, const char *b)
{
	value = json_object_get(value, a);
	return b ? json_object_get(value, b) : value;
}

static const json_t *result(struct peer *p, const char *method, const char *params)
{
	const json_t *found = at(call(p, method, params)->value, "result", NULL);

	assert_non_null(found);
	return found;
}

static long long code_of(const struct sent *s)
{
	return json_integer_value(at(s->value, "error", "code"));
}

static void expect_error(struct peer *p, const char *method, const char *params, long long code,
                         enum mcp_end end)
{
	const struct sent *s = call(p, method, params);

	expect_eq(code_of(s), code);
	expect_eq(s->end, end);
	expect_eq(json_integer_value(json_object_get(s->value, "id")), 7);
}

static void expect_text(const json_t *value, const char *key, const char *text)
{
	assert_string_equal(json_string_value(json_object_get(value, key)), text);
}

static void requests_need_no_initialize(void **state)
{
	struct peer *p = *state;
	const json_t *found = result(p, "server/discover", "{" META "}");

	expect_eq(json_array_size(json_object_get(found, "supportedVersions")), 1);
	assert_true(
		json_is_true(at(json_object_get(found, "capabilities"), "resources", "subscribe")));
	expect_text(found, "resultType", "complete");
	expect_text(found, "cacheScope", "private");
	assert_true(json_integer_value(json_object_get(found, "ttlMs")) > 0);
	expect_text(at(found, "_meta", SERVER), "name", "schedscope");
	assert_null(json_object_get(found, "serverInfo"));
	found = result(p, "tools/call", "{\"name\":\"echo\"," META "}");
	expect_text(json_object_get(found, "structuredContent"), "text", "hello");
	expect_text(found, "resultType", "complete");
	assert_null(json_object_get(found, "ttlMs"));
	found = result(p, "resources/read", "{\"uri\":\"fake://still\"," META "}");
	expect_text(found, "cacheScope", "private");
	expect_eq(json_integer_value(json_object_get(found, "ttlMs")), 0);
	assert_false(mcp_conn_is_initialized(p->conn));
	assert_true(mcp_conn_is_stateless(p->conn));
}

static void one_connection_speaks_both(void **state)
{
	struct peer *p = *state;
	const json_t *found;

	expect_error(p, "tools/list", "{}", RPC_INVALID_REQUEST, MCP_LAST);
	(void)result(p, "tools/list", "{" META "}");
	expect_eq(take(p, HELLO, NULL), MCP_ANSWERED);
	found = result(p, "tools/list", "{}");
	assert_null(json_object_get(found, "resultType"));
	assert_null(json_object_get(found, "ttlMs"));
	assert_null(json_object_get(found, "_meta"));
	found = result(p, "tools/list", "{" META "}");
	expect_text(found, "resultType", "complete");
	(void)result(p, "ping", "{}");
	/* What is not there is -32002 for the one and -32602 for the other. */
	expect_error(p, "resources/read", "{\"uri\":\"fake://none\"}", RPC_NO_RESOURCE, MCP_LAST);
	expect_error(p, "resources/read", "{\"uri\":\"fake://none\"," META "}", RPC_INVALID_PARAMS,
	             MCP_LAST);
	expect_text(at(p->link.sent[0].value, "error", "data"), "uri", "fake://none");
}

static void each_era_has_its_own_methods(void **state)
{
	static const char *const old[] = { "initialize", "ping", "logging/setLevel",
		                           "resources/subscribe", "resources/unsubscribe" };
	static const char *const new[] = { "server/discover", "subscriptions/listen" };
	struct peer *p = *state;

	for (size_t i = 0; i < 5; i++)
		expect_error(p, old[i], "{" META "}", RPC_NO_METHOD, MCP_LAST_NO_METHOD);
	expect_error(p, "no/such", "{" META "}", RPC_NO_METHOD, MCP_LAST_NO_METHOD);
	expect_eq(take(p, HELLO, NULL), MCP_ANSWERED);
	for (size_t i = 0; i < 2; i++)
		expect_error(p, new[i], "{}", RPC_NO_METHOD, MCP_LAST);
}

static void a_request_says_who_it_is(void **state)
{
	static const char *const broken[] = {
		"{\"_meta\":{\"" VERSION "\":\"2026-07-28\"}}",
		"{\"_meta\":{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":[]}}",
		"{\"_meta\":{\"" VERSION "\":20260728,\"" CAPABILITIES "\":{}}}",
		"{\"_meta\":{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES "\":{},\"" LEVEL
		"\":\"loud\"}}",
		"{\"_meta\":{\"" VERSION "\":\"2026-07-28\",\"" CAPABILITIES
		"\":{},\"io.modelcontextprotocol/clientInfo\":3}}",
	};
	struct peer *p = *state;
	const struct sent *s;

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		expect_error(p, "tools/list", broken[i], RPC_INVALID_PARAMS, MCP_LAST_REFUSED);
	s = call(p, "tools/list",
	         "{\"_meta\":{\"" VERSION "\":\"2027-01-01\",\"" CAPABILITIES "\":{}}}");
	expect_eq(code_of(s), RPC_UNSUPPORTED_VERSION);
	expect_eq(s->end, MCP_LAST_REFUSED);
	expect_text(at(s->value, "error", "data"), "requested", "2027-01-01");
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(at(s->value, "error", "data"), "supported"),
				    0)),
	                    "2026-07-28");
	/* A known revision that has sessions, too. */
	expect_error(p, "tools/list",
	             "{\"_meta\":{\"" VERSION "\":\"2025-11-25\",\"" CAPABILITIES "\":{}}}",
	             RPC_UNSUPPORTED_VERSION, MCP_LAST_REFUSED);
	expect_error(p, "tools/call", "{\"name\":\"none\"," META "}", RPC_INVALID_PARAMS, MCP_LAST);
}

#define CALL "tools/call"
static const struct header_row {
	struct mcp_headers headers;
	const char *method;
	const char *params;
	long long code; /* 0 = none */
} header_rows[] = {
	{ { "2026-07-28", CALL, "echo" }, CALL, "{\"name\":\"echo\"," META "}", 0 },
	{ { " 2026-07-28", "\ttools/call ", "  echo  " }, CALL, "{\"name\":\"echo\"," META "}", 0 },
	{ { "2026-07-28", CALL, "=?base64?ZWNobw==?=" }, CALL, "{\"name\":\"echo\"," META "}", 0 },
	{ { "2026-07-28", CALL, "=?base64?ZWNobw=?=" },
	  CALL,
	  "{\"name\":\"echo\"," META "}",
	  -32020 },
	{ { "2026-07-28", CALL, "=?base64?ZW!obw==?=" },
	  CALL,
	  "{\"name\":\"echo\"," META "}",
	  -32020 },
	{ { "2026-07-28", CALL, EMPTY_BASE64 }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { "2026-07-28", CALL, "ECHO" }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { "2026-07-28", CALL, NULL }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { "2026-07-28", "Tools/Call", "echo" }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { "2026-07-28", NULL, "echo" }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { NULL, CALL, "echo" }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { "2025-11-25", CALL, "echo" }, CALL, "{\"name\":\"echo\"," META "}", -32020 },
	{ { "2026-07-28", "resources/read", "fake://still" },
	  "resources/read",
	  "{\"uri\":\"fake://still\"," META "}",
	  0 },
	{ { "2026-07-28", "resources/read", "fake://clock" },
	  "resources/read",
	  "{\"uri\":\"fake://still\"," META "}",
	  -32020 },
	{ { "2026-07-28", "prompts/get", "other" },
	  "prompts/get",
	  "{\"name\":\"greet\"," META "}",
	  -32020 },
	{ { "2026-07-28", "tools/list", "anything" }, "tools/list", "{" META "}", 0 },
	{ { "2026-07-28", "tools/list", NULL }, "tools/list", "{}", -32602 },
	{ { "2026-07-28", "initialize", NULL }, "initialize", "{}", -32020 },
	{ { "v9", "tools/list", NULL },
	  "tools/list",
	  "{\"_meta\":{\"" VERSION "\":\"v9\",\"" CAPABILITIES "\":{}}}",
	  -32022 },
	{ { "2026-07-28", "tools/list", NULL },
	  "tools/list",
	  "{\"_meta\":{\"" VERSION "\":\"v9\",\"" CAPABILITIES "\":{}}}",
	  -32020 },
};
#undef CALL

static void headers_agree_with_the_body(void **state)
{
	struct peer *p = *state;

	for (size_t i = 0; i < sizeof(header_rows) / sizeof(header_rows[0]); i++) {
		const struct sent *s;

		p->headers = &header_rows[i].headers;
		s = call(p, header_rows[i].method, header_rows[i].params);
		if (code_of(s) != header_rows[i].code)
			fail_msg("row %zu: %lld instead of %lld", i, code_of(s),
			         header_rows[i].code);
		expect_eq(s->end, header_rows[i].code ? MCP_LAST_REFUSED : MCP_LAST);
	}
}

static void headers_may_be_written_in_base64(void **state)
{
	static const struct {
		const char *header;
		const char *text; /* NULL = broken */
	} rows[] = {
		{ "plain", "plain" },
		{ " spaces around \t", "spaces around" },
		{ "=?base64?SGVsbG8=?=", "Hello" },
		{ "=?base64?SGVsbG8?=", NULL },
		{ "=?base64?SGVs!!!bG8=?=", NULL },
		{ "=?base64?SGV=bG8=?=", NULL },
		{ "=?base64?SG==bG8=?=", NULL },
		{ "=?base64?====?=", NULL },
		{ "SGVsbG8=", "SGVsbG8=" },
		{ "=?base64?SGVsbG8=", "=?base64?SGVsbG8=" },
		{ "SGVsbG8=?=", "SGVsbG8=?=" },
		{ "=?base64?=", "=?base64?=" },
		{ EMPTY_BASE64, "" },
		{ "=?base64?YWJj?=", "abc" },
		{ "=?base64?w6TDtg==?=", "\xc3\xa4\xc3\xb6" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = era_header_decode(rows[i].header);

		if (!text != !rows[i].text || (text && strcmp(text, rows[i].text) != 0))
			fail_msg("%s became %s", rows[i].header, text ? text : "nothing");
		free(text);
	}
}

static void notifications_need_no_meta(void **state)
{
	static const struct mcp_headers good = { "2026-07-28", "notifications/x", NULL };
	static const struct mcp_headers bad = { "2026-07-28", "notifications/y", NULL };
	struct peer *p = *state;

	p->headers = &good;
	expect_eq(take(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", NULL),
	          MCP_NO_ANSWER);
	assert_true(mcp_conn_is_stateless(p->conn));
	expect_eq(p->link.nr, 0);
	p->headers = &bad;
	expect_eq(take(p, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", NULL),
	          MCP_REFUSED);
	expect_eq(p->link.nr, 1);
	expect_eq(code_of(&p->link.sent[0]), RPC_HEADER_MISMATCH);
	expect_eq(p->link.sent[0].end, MCP_LAST_REFUSED);
}

static void batches_take_none_of_it(void **state)
{
	struct peer *p = *state;

	expect_eq(take(p,
	               "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{" META
	               "}}]",
	               NULL),
	          MCP_REFUSED);
	expect_eq(code_of(&p->link.sent[0]), RPC_INVALID_REQUEST);
	expect_eq(
		take(p,
	             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	             "\"protocolVersion\":\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\"}}}",
	             NULL),
		MCP_ANSWERED);
	fake_link_clear(&p->link);
	expect_eq(take(p,
	               "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{" META
	               "}},{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}]",
	               NULL),
	          MCP_ANSWERED);
	expect_eq(json_integer_value(at(json_array_get(p->link.sent[0].value, 0), "error", "code")),
	          RPC_INVALID_REQUEST);
	assert_non_null(json_object_get(json_array_get(p->link.sent[0].value, 1), "result"));
}

static size_t count_messages(const struct peer *p, const char *method)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->link.nr; i++) {
		const char *name = json_string_value(
			json_object_get(p->link.sent[i].value, "method"));

		nr += name && strcmp(name, method) == 0;
	}
	return nr;
}

static void messages_are_asked_for_by_each_request(void **state)
{
	struct peer *p = *state;
	int here;

	expect_eq(take(p, HELLO, NULL), MCP_ANSWERED);
	(void)call(p, "tools/call", "{\"name\":\"talk\"," META "}");
	expect_eq(count_messages(p, "notifications/message"), 0);
	fake_link_clear(&p->link);
	(void)take_request(p, "tools/call",
	                   "{\"name\":\"talk\",\"_meta\":{\"" VERSION
	                   "\":\"2026-07-28\",\"" CAPABILITIES "\":{},\"" LEVEL "\":\"info\"}}",
	                   &here);
	assert_true(mcp_conn_drain(p->conn, 20000));
	expect_eq(count_messages(p, "notifications/message"), 3); /* info, notice, warning */
	for (size_t i = 0; i < p->link.nr; i++)
		assert_ptr_equal(p->link.sent[i].exchange, &here); /* on its own stream */
	/* The connection's own level is for the older era alone. */
	(void)call(p, "tools/call", "{\"name\":\"talk\"}");
	expect_eq(count_messages(p, "notifications/message"), 1);
}

static const json_t *owner_of(struct peer *p, const char *params)
{
	return json_object_get(
		json_object_get(result(p, "tools/call", params), "structuredContent"), "owner");
}

static void what_a_request_makes_has_an_owner(void **state)
{
	struct peer *p = *state;
	uint64_t token = mcp_server_new_owner(p->server);

	expect_eq(take(p, HELLO, NULL), MCP_ANSWERED);
	assert_int_not_equal(token, p->conn->id);
	expect_eq(json_integer_value(owner_of(p, "{\"name\":\"talk\"}")), p->conn->id);
	expect_eq(json_integer_value(owner_of(p, "{\"name\":\"talk\"," META "}")), p->conn->id);
	mcp_conn_set_owner(p->conn, token);
	expect_eq(json_integer_value(owner_of(p, "{\"name\":\"talk\"}")), p->conn->id);
	expect_eq(json_integer_value(owner_of(p, "{\"name\":\"talk\"," META "}")), token);
	mcp_conn_set_owner(p->conn, 0);
	expect_eq(json_integer_value(owner_of(p, "{\"name\":\"talk\"," META "}")), 0);
}

#define LISTEN(uris)                                                                              \
	"{\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":" uris "}," META \
	"}"

static const json_t *subscription_of(const struct sent *s, const char *where)
{
	return at(json_object_get(s->value, where), "_meta", SUBSCRIPTION);
}

static void a_listener_hears_of_changes_until_it_is_cancelled(void **state)
{
	struct peer *p = *state;
	const json_t *honored;
	int here;

	(void)take_request(p, "subscriptions/listen",
	                   LISTEN("[\"fake://clock?max_rate=10\",\"fake://none\"]"), &here);
	assert_true(fake_link_wait(&p->link, 3));
	expect_text(p->link.sent[0].value, "method", "notifications/subscriptions/acknowledged");
	honored = at(p->link.sent[0].value, "params", "notifications");
	expect_eq(json_object_size(honored), 1);
	expect_eq(json_array_size(json_object_get(honored, "resourceSubscriptions")), 1);
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(p->link.sent[i].exchange, &here);
		expect_eq(json_integer_value(subscription_of(&p->link.sent[i], "params")), 7);
	}
	expect_text(p->link.sent[1].value, "method", "notifications/resources/updated");
	expect_text(json_object_get(p->link.sent[1].value, "params"), "uri",
	            "fake://clock?max_rate=10");
	expect_eq(fixture_nr_watching(), 1);
	assert_true(mcp_conn_drain(p->conn, 1000)); /* it keeps nothing waiting */
	assert_true(mcp_conn_has_subscriptions(p->conn));
	expect_eq(
		take(p,
	             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}",
	             NULL),
		MCP_NO_ANSWER);
	expect_eq(fixture_nr_watching(), 0);
	assert_false(mcp_conn_has_subscriptions(p->conn));
	assert_true(p->link.sent[p->link.nr - 1].is_last);
	assert_null(p->link.sent[p->link.nr - 1].value);
	assert_null(p->conn->requests);
}

static void listeners_are_apart(void **state)
{
	struct peer *p = *state;
	int one, other;

	(void)take_request(p, "subscriptions/listen", LISTEN("[\"fake://clock\",\"fake://clock\"]"),
	                   &one);
	(void)take_request(p, "subscriptions/listen", LISTEN("[\"fake://clock\"]"), &other);
	assert_true(mcp_conn_drain(p->conn, 10000));
	expect_eq(fixture_nr_watching(), 2);
	mcp_conn_abandon(p->conn, &one);
	expect_eq(fixture_nr_watching(), 1);
	fake_link_clear(&p->link);
	assert_true(fake_link_wait(&p->link, 1));
	assert_ptr_equal(p->link.sent[0].exchange, &other);
}

static void a_listener_learns_of_the_end(void **state)
{
	struct peer *p = *state;
	struct mcp_link link = fake_link_use(&p->link);
	const struct sent *last;

	(void)take_request(p, "subscriptions/listen", LISTEN("[\"fake://clock\"]"), NULL);
	assert_true(mcp_conn_drain(p->conn, 10000));
	mcp_conn_free(p->conn);
	last = &p->link.sent[p->link.nr - 1];
	expect_eq(json_integer_value(subscription_of(last, "result")), 7);
	expect_text(json_object_get(last->value, "result"), "resultType", "complete");
	expect_eq(fixture_nr_watching(), 0);
	expect_eq(mcp_conn_new(p->server, &link, &p->conn), 0);
}

static void nothing_to_listen_to_is_answered_at_once(void **state)
{
	struct peer *p = *state;
	const struct sent *last = call(p, "subscriptions/listen", LISTEN("[]"));

	expect_eq(p->link.nr, 2);
	expect_text(p->link.sent[0].value, "method", "notifications/subscriptions/acknowledged");
	expect_eq(json_object_size(at(p->link.sent[0].value, "params", "notifications")), 0);
	expect_eq(json_integer_value(subscription_of(last, "result")), 7);
	expect_error(p, "subscriptions/listen", "{" META "}", RPC_INVALID_PARAMS, MCP_LAST);
	expect_error(p, "subscriptions/listen", LISTEN("3"), RPC_INVALID_PARAMS, MCP_LAST);
	expect_error(p, "subscriptions/listen", LISTEN("[\"fake://clock\",3]"), RPC_INVALID_PARAMS,
	             MCP_LAST);
	expect_error(p, "subscriptions/listen", LISTEN("[\"fake://clock?broken=1\"]"), RPC_INTERNAL,
	             MCP_LAST);
	expect_eq(fixture_nr_watching(), 0);
}

static void a_tool_asks_and_gets_the_answer_with_the_next_call(void **state)
{
	struct peer *p = *state;
	const json_t *found = result(p, "tools/call", "{\"name\":\"choose\"," META_ASKABLE "}");
	const json_t *asked = at(found, "inputRequests", "fruit");
	const json_t *form = at(asked, "params", "requestedSchema");

	expect_text(found, "resultType", "input_required");
	assert_null(json_object_get(found, "content"));
	expect_text(asked, "method", "elicitation/create");
	expect_text(json_object_get(asked, "params"), "message", "Which fruit?");
	expect_eq(json_array_size(at(json_object_get(form, "properties"), "fruit", "enum")), 3);
	found = result(
		p, "tools/call",
		"{\"name\":\"choose\",\"inputResponses\":{\"fruit\":{\"action\":\"accept\",\"content\":{\"fruit\":"
		"\"pear\"}},\"extra\":{}}," META_ASKABLE "}");
	expect_text(json_object_get(found, "structuredContent"), "text", "pear");
	expect_text(found, "resultType", "complete");
	/* What is no answer is asked for again; a person may say no. */
	found = result(
		p, "tools/call",
		"{\"name\":\"choose\",\"inputResponses\":{\"fruit\":{\"action\":\"accept\",\"content\":{\"fruit\":"
		"\"stone\"}}}," META_ASKABLE "}");
	expect_text(found, "resultType", "input_required");
	found = result(
		p, "tools/call",
		"{\"name\":\"choose\",\"inputResponses\":{\"wrong\":{\"action\":\"accept\"}}," META_ASKABLE
		"}");
	expect_text(found, "resultType", "input_required");
	found = result(
		p, "tools/call",
		"{\"name\":\"choose\",\"inputResponses\":{\"fruit\":{\"action\":\"decline\"}}," META_ASKABLE
		"}");
	assert_true(json_is_true(json_object_get(found, "isError")));
}

static void only_those_are_asked_that_can_be(void **state)
{
	static const char *const mute[] = { "{}", "{\"sampling\":{}}",
		                            "{\"elicitation\":{\"url\":{}}}",
		                            "{\"elicitation\":true}" };
	struct peer *p = *state;
	char params[512];

	for (size_t i = 0; i < 4; i++) {
		snprintf(params, sizeof(params),
		         "{\"name\":\"choose\",\"_meta\":{\"" VERSION
		         "\":\"2026-07-28\",\"" CAPABILITIES "\":%s}}",
		         mute[i]);
		assert_true(
			json_is_true(json_object_get(result(p, "tools/call", params), "isError")));
	}
	expect_eq(take(p, HELLO, NULL), MCP_ANSWERED);
	assert_true(json_is_true(
		json_object_get(result(p, "tools/call", "{\"name\":\"choose\"}"), "isError")));
	expect_error(p, "tools/call",
	             "{\"name\":\"choose\",\"inputResponses\":null," META_ASKABLE "}",
	             RPC_INVALID_PARAMS, MCP_LAST);
	expect_error(p, "tools/call",
	             "{\"name\":\"choose\",\"inputResponses\":{\"fruit\":3}," META_ASKABLE "}",
	             RPC_INVALID_PARAMS, MCP_LAST);
	expect_error(p, "tools/call",
	             "{\"name\":\"choose\",\"requestState\":\"mine\"," META_ASKABLE "}",
	             RPC_INVALID_PARAMS, MCP_LAST);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(requests_need_no_initialize),
		CASE(one_connection_speaks_both),
		CASE(each_era_has_its_own_methods),
		CASE(a_request_says_who_it_is),
		CASE(headers_agree_with_the_body),
		CASE(headers_may_be_written_in_base64),
		CASE(notifications_need_no_meta),
		CASE(batches_take_none_of_it),
		CASE(messages_are_asked_for_by_each_request),
		CASE(what_a_request_makes_has_an_owner),
		CASE(a_listener_hears_of_changes_until_it_is_cancelled),
		CASE(listeners_are_apart),
		CASE(a_listener_learns_of_the_end),
		CASE(nothing_to_listen_to_is_answered_at_once),
		CASE(a_tool_asks_and_gets_the_answer_with_the_next_call),
		CASE(only_those_are_asked_that_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
