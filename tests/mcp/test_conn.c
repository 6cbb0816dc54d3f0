/* mcp/conn and the methods: what goes in, what comes out, through a link that keeps it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit.h"
#include "base/clock.h"
#include "live/live_feed.h"
#include "mcp/message.h"
#include "mcp/server_priv.h"
#include "sys/topology.h"

#include "fixture.h"

struct peer {
	struct mcp_server *server;
	struct fake_link link;
	struct mcp_conn *conn;
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
	return nr_bad ? -1 : 0;
}

static enum mcp_taken take(struct peer *p, const char *text)
{
	return mcp_conn_take(p->conn, text, strlen(text), NULL, NULL);
}

/* The one answer of a message; updates of subscriptions may come between. */
static const json_t *ask(struct peer *p, const char *text)
{
	const json_t *answer = NULL;
	size_t nr = 0;

	fake_link_clear(&p->link);
	assert_int_not_equal(take(p, text), MCP_NO_ANSWER);
	assert_true(mcp_conn_drain(p->conn, 20000));
	pthread_mutex_lock(&p->link.lock);
	for (size_t i = 0; i < p->link.nr; i++) {
		if (!p->link.sent[i].is_last)
			continue;
		answer = p->link.sent[i].value;
		nr++;
	}
	pthread_mutex_unlock(&p->link.lock);
	expect_eq(nr, 1);
	return answer;
}

static const json_t *call(struct peer *p, const char *method, const char *params)
{
	char text[1024];

	snprintf(text, sizeof(text),
	         "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":%s}", method, params);
	return ask(p, text);
}

static const json_t *result(struct peer *p, const char *method, const char *params)
{
	const json_t *r = json_object_get(call(p, method, params), "result");

	assert_non_null(r);
	return r;
}

static long long error_code(const json_t *answer)
{
	return json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
}

static void greet_as(struct peer *p, const char *version)
{
	char params[256];

	snprintf(
		params, sizeof(params),
		"{\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}",
		version);
	(void)result(p, "initialize", params);
}

static const char *string_at(const json_t *value, const char *key)
{
	const char *text = json_string_value(json_object_get(value, key));

	assert_non_null(text);
	return text;
}

static void a_known_revision_is_echoed_and_an_unknown_one_gets_the_newest(void **state)
{
	static const char *const known[] = { "2025-11-25", "2025-06-18", "2025-03-26",
		                             "2024-11-05" };
	struct peer *p = *state;

	for (size_t i = 0; i < 4; i++) {
		greet_as(p, known[i]);
		assert_string_equal(string_at(json_object_get(p->link.sent[0].value, "result"),
		                              "protocolVersion"),
		                    known[i]);
		assert_string_equal(mcp_conn_version(p->conn), known[i]);
	}
	greet_as(p, "1999-01-01");
	assert_string_equal(mcp_conn_version(p->conn), MCP_LATEST);
}

static void initialize_wants_its_parameters(void **state)
{
	struct peer *p = *state;

	expect_eq(error_code(call(p, "initialize", "{}")), RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "initialize", "{\"protocolVersion\":\"2025-06-18\"}")),
	          RPC_INVALID_PARAMS);
	expect_eq(
		error_code(call(
			p, "initialize",
			"{\"protocolVersion\":3,\"capabilities\":{},\"clientInfo\":{\"name\":\"x\"}}")),
		RPC_INVALID_PARAMS);
	assert_false(mcp_conn_is_initialized(p->conn));
}

static void only_ping_comes_before_initialize(void **state)
{
	struct peer *p = *state;

	expect_eq(json_object_size(result(p, "ping", "{}")), 0);
	expect_eq(error_code(call(p, "tools/list", "{}")), RPC_INVALID_REQUEST);
	expect_eq(error_code(call(p, "no/such", "{}")), RPC_NO_METHOD);
}

static void notifications_and_responses_are_never_answered(void **state)
{
	static const char *const silent[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nothing\",\"params\":{}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[1,2]}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":5}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"x\"}}",
	};
	struct peer *p = *state;

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		expect_eq(take(p, silent[i]), MCP_NO_ANSWER);
	(void)mcp_conn_drain(p->conn, 0);
	expect_eq(p->link.nr, 0);
}

static void what_is_no_message_is_refused_by_the_book(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *id; /* as JSON */
	} bad[] = {
		{ "{", RPC_PARSE_ERROR, "null" },
		{ "", RPC_PARSE_ERROR, "null" },
		{ "17", RPC_PARSE_ERROR, "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", RPC_PARSE_ERROR,
		  "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000\",\"method\":\"ping\"}", RPC_PARSE_ERROR,
		  "null" },
		{ "{}", RPC_INVALID_REQUEST, "null" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, "1" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":5}", RPC_INVALID_REQUEST, "\"x\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		  "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		  "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":[]}",
		  RPC_INVALID_REQUEST, "2" },
		{ "[]", RPC_INVALID_REQUEST, "null" },
	};
	struct peer *p = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const json_t *answer = ask(p, bad[i].text);
		json_t *id = json_loads(bad[i].id, JSON_DECODE_ANY, NULL);

		expect_eq(error_code(answer), bad[i].code);
		assert_true(json_equal(json_object_get(answer, "id"), id));
		json_decref(id);
	}
}

static void deep_and_large_messages_are_refused_and_the_next_is_answered(void **state)
{
	struct peer *p = *state;
	size_t size = MESSAGE_MAX_BYTES + 2U;
	char *text = malloc(size);

	assert_non_null(text);
	memset(text, '[', 100000);
	text[100000] = '\0';
	expect_eq(error_code(ask(p, text)), RPC_PARSE_ERROR);
	memset(text, ' ', size - 1);
	text[size - 1] = '\0';
	expect_eq(error_code(ask(p, text)), RPC_PARSE_ERROR);
	free(text);
	(void)result(p, "ping", "{}");
}

static void batches_belong_to_one_revision(void **state)
{
	static const char *const batch =
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}},5,"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"initialize\",\"params\":{}}]";
	struct peer *p = *state;
	const json_t *answers;

	greet_as(p, "2025-11-25");
	expect_eq(error_code(ask(p, batch)), RPC_INVALID_REQUEST);
	greet_as(p, "2025-03-26");
	answers = ask(p, batch);
	expect_eq(json_array_size(answers), 4); /* two results, and errors for 5 and initialize */
	expect_eq(error_code(ask(p, "[]")), RPC_INVALID_REQUEST);
	fake_link_clear(&p->link);
	expect_eq(take(p, "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]"), MCP_NO_ANSWER);
	expect_eq(p->link.nr, 0);
}

static void a_batch_of_too_many_is_one_error(void **state)
{
	struct peer *p = *state;
	char text[512] = "[1";

	for (size_t i = 0; i < 64; i++)
		strcat(text, ",1");
	strcat(text, "]");
	greet_as(p, "2025-03-26");
	expect_eq(error_code(ask(p, text)), RPC_INVALID_REQUEST);
}

static void tools_answer_with_structure_and_text(void **state)
{
	struct peer *p = *state;
	const json_t *r;

	greet_as(p, MCP_LATEST);
	r = result(p, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}");
	assert_string_equal(string_at(json_object_get(r, "structuredContent"), "text"), "hi");
	assert_string_equal(string_at(json_array_get(json_object_get(r, "content"), 0), "text"),
	                    "{\"text\":\"hi\"}");
	assert_null(json_object_get(r, "isError"));
	r = result(p, "tools/call", "{\"name\":\"fail\"}");
	assert_true(json_is_true(json_object_get(r, "isError")));
	assert_null(json_object_get(r, "structuredContent"));
	r = result(p, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"tekst\":1}}");
	assert_true(json_is_true(json_object_get(r, "isError")));
	expect_eq(error_code(call(p, "tools/call", "{\"name\":\"nothing\"}")), RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "tools/call", "{}")), RPC_INVALID_PARAMS);
}

static size_t nr_listed(struct peer *p, const char *choice)
{
	char params[160];
	size_t nr;

	snprintf(params, sizeof(params), "{\"_meta\":{\"schedscope/toolsets\":\"%s\"}}", choice);
	nr = json_array_size(json_object_get(result(p, "tools/list", params), "tools"));
	snprintf(params, sizeof(params),
	         "{\"cursor\":\"100\",\"_meta\":{\"schedscope/toolsets\":\"%s\"}}", choice);
	return nr < 100 ? nr
	                : nr + json_array_size(
				       json_object_get(result(p, "tools/list", params), "tools"));
}

static void a_client_chooses_which_tools_are_listed_and_can_call_all(void **state)
{
	struct peer *p = *state;

	greet_as(p, MCP_LATEST);
	expect_eq(nr_listed(p, "core"), FIXTURE_NR_TOOLS - 1);
	expect_eq(nr_listed(p, "full"), FIXTURE_NR_TOOLS);
	expect_eq(nr_listed(p, "trace,live"), 1);
	result(p, "tools/call", "{\"name\":\"big\"}");
	expect_eq(error_code(call(p, "tools/list", "{\"_meta\":{\"schedscope/toolsets\":\"\"}}")),
	          RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "tools/list",
	                          "{\"_meta\":{\"schedscope/toolsets\":\"core,all\"}}")),
	          RPC_INVALID_PARAMS);
	mcp_conn_choose_tools(p->conn, TOOLSET_TRACE);
	expect_eq(json_array_size(json_object_get(result(p, "tools/list", "{}"), "tools")), 1);
	expect_eq(nr_listed(p, "full"), FIXTURE_NR_TOOLS);
}

static void what_the_server_does_not_offer_can_neither_be_listed_nor_called(void **state)
{
	struct peer *p = *state;

	p->server->world.cfg.toolsets = TOOLSET_CORE;
	greet_as(p, MCP_LATEST);
	expect_eq(nr_listed(p, "full"), FIXTURE_NR_TOOLS - 1);
	expect_eq(error_code(call(p, "tools/call", "{\"name\":\"big\"}")), RPC_INVALID_PARAMS);
	p->server->world.cfg.toolsets = TOOLSET_TRACE;
	expect_eq(json_array_size(json_object_get(result(p, "tools/list", "{}"), "tools")), 1);
	expect_eq(error_code(call(p, "tools/call", "{\"name\":\"echo\"}")), RPC_INVALID_PARAMS);
}

static void lists_come_in_pages_until_the_last(void **state)
{
	struct peer *p = *state;
	char params[64] = "{}";
	size_t nr = 0, nr_pages = 0;
	const json_t *r;
	const char *cursor;

	greet_as(p, MCP_LATEST);
	do {
		r = result(p, "tools/list", params);
		nr += json_array_size(json_object_get(r, "tools"));
		cursor = json_string_value(json_object_get(r, "nextCursor"));
		if (cursor)
			snprintf(params, sizeof(params), "{\"cursor\":\"%s\"}", cursor);
	} while (++nr_pages < 10 && cursor);
	expect_eq(nr, FIXTURE_NR_TOOLS - 1);
	expect_eq(nr_pages, 2);
	expect_eq(error_code(call(p, "tools/list", "{\"cursor\":\"x\"}")), RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "tools/list", "{\"cursor\":\"99999\"}")), RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "tools/list", "{\"cursor\":5}")), RPC_INVALID_PARAMS);
	expect_eq(json_array_size(json_object_get(result(p, "resources/list", "{}"), "resources")),
	          3);
	expect_eq(json_array_size(json_object_get(result(p, "resources/templates/list", "{}"),
	                                          "resourceTemplates")),
	          1);
	expect_eq(json_array_size(json_object_get(result(p, "prompts/list", "{}"), "prompts")), 1);
}

static void a_cancelled_call_gets_no_answer_and_others_go_on(void **state)
{
	struct peer *p = *state;
	int before = fixture_nr_cancelled();

	greet_as(p, MCP_LATEST);
	fake_link_clear(&p->link);
	expect_eq(
		take(p,
	             "{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"method\":\"tools/call\",\"params\":{\"name\":\"wait\","
	             "\"arguments\":{\"ms\":60000}}}"),
		MCP_ANSWERED);
	expect_eq(take(p, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}"), MCP_ANSWERED);
	assert_true(fake_link_wait(&p->link, 1));
	expect_eq(json_integer_value(json_object_get(p->link.sent[0].value, "id")), 8);
	expect_eq(
		take(p,
	             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"w\"}}"),
		MCP_NO_ANSWER);
	assert_true(mcp_conn_drain(p->conn, 10000));
	expect_eq(p->link.nr, 2);
	assert_null(p->link.sent[1].value); /* the end of the exchange, without a text */
	assert_true(p->link.sent[1].is_last);
	assert_true(fixture_nr_cancelled() <= before + 1); /* or it had not even begun */
}

static void progress_grows_and_carries_the_token(void **state)
{
	struct peer *p = *state;
	double last = 0;

	greet_as(p, MCP_LATEST);
	fake_link_clear(&p->link);
	expect_eq(
		take(p,
	             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\","
	             "\"arguments\":{\"ms\":500},\"_meta\":{\"progressToken\":\"tok\"}}}"),
		MCP_ANSWERED);
	assert_true(mcp_conn_drain(p->conn, 20000));
	assert_true(p->link.nr >= 2);
	for (size_t i = 0; i + 1 < p->link.nr; i++) {
		const json_t *params = json_object_get(p->link.sent[i].value, "params");
		double now = json_number_value(json_object_get(params, "progress"));

		assert_string_equal(string_at(p->link.sent[i].value, "method"),
		                    "notifications/progress");
		assert_string_equal(string_at(params, "progressToken"), "tok");
		assert_false(p->link.sent[i].is_last);
		assert_true(now > last);
		last = now;
	}
	assert_non_null(json_object_get(p->link.sent[p->link.nr - 1].value, "result"));
}

static void without_a_usable_token_there_is_no_progress(void **state)
{
	struct peer *p = *state;

	greet_as(p, MCP_LATEST);
	(void)result(
		p, "tools/call",
		"{\"name\":\"wait\",\"arguments\":{\"ms\":150},\"_meta\":{\"progressToken\":[1]}}");
	expect_eq(p->link.nr, 1);
	(void)result(p, "tools/call", "{\"name\":\"wait\",\"arguments\":{\"ms\":150}}");
	expect_eq(p->link.nr, 1);
}

static void subscribers_hear_of_changes_until_they_leave(void **state)
{
	struct peer *p = *state;

	greet_as(p, MCP_LATEST);
	(void)result(p, "resources/subscribe", "{\"uri\":\"fake://clock?max_rate=10\"}");
	(void)result(p, "resources/subscribe",
	             "{\"uri\":\"fake://clock?max_rate=10\"}"); /* once is enough */
	expect_eq(fixture_nr_watching(), 1);
	assert_true(mcp_conn_has_subscriptions(p->conn));
	fake_link_clear(&p->link);
	assert_true(fake_link_wait(&p->link, 2));
	assert_string_equal(string_at(p->link.sent[0].value, "method"),
	                    "notifications/resources/updated");
	assert_string_equal(string_at(json_object_get(p->link.sent[0].value, "params"), "uri"),
	                    "fake://clock?max_rate=10");
	expect_eq(
		take(p,
	             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":"
	             "\"fake://clock?max_rate=10\"}}"),
		MCP_ANSWERED);
	assert_true(mcp_conn_drain(p->conn, 10000));
	expect_eq(fixture_nr_watching(), 0);
	assert_false(mcp_conn_has_subscriptions(p->conn));
}

static size_t nr_updates(struct peer *p, const char *uri)
{
	size_t nr = 0;

	pthread_mutex_lock(&p->link.lock);
	for (size_t i = 0; i < p->link.nr; i++) {
		const json_t *params = json_object_get(p->link.sent[i].value, "params");

		nr += params && strcmp(string_at(params, "uri"), uri) == 0;
	}
	pthread_mutex_unlock(&p->link.lock);
	return nr;
}

/* What has no number for its changes is read, and compared with what it was. */
static void what_changes_without_a_revision_is_heard_of_too(void **state)
{
	struct peer *p = *state;
	int nr_reads;

	greet_as(p, MCP_LATEST);
	(void)result(p, "resources/subscribe", "{\"uri\":\"fake://still\"}");
	(void)result(p, "resources/subscribe", "{\"uri\":\"fake://ticks?max_rate=10\"}");
	nr_reads = fixture_nr_reads();
	fake_link_clear(&p->link);
	assert_true(fake_link_wait(&p->link, 10)); /* a second at least */
	assert_true(nr_updates(p, "fake://ticks?max_rate=10") >= 10);
	expect_eq(nr_updates(p, "fake://still"), 0);
	assert_true(fixture_nr_reads() > nr_reads);
	(void)result(p, "resources/unsubscribe", "{\"uri\":\"fake://still\"}");
	nr_reads = fixture_nr_reads();
	fake_link_clear(&p->link);
	assert_true(fake_link_wait(&p->link, 5));
	expect_eq(fixture_nr_reads(), nr_reads); /* nothing is polled without a subscriber */
	expect_eq(error_code(
			  call(p, "resources/subscribe", "{\"uri\":\"fake://still?number=77\"}")),
	          RPC_INVALID_PARAMS);
}

static void an_unknown_uri_can_be_subscribed_to_and_never_fires(void **state)
{
	struct peer *p = *state;

	greet_as(p, MCP_LATEST);
	(void)result(p, "resources/subscribe", "{\"uri\":\"nowhere://at/all\"}");
	(void)result(p, "resources/unsubscribe", "{\"uri\":\"nowhere://at/all\"}");
	(void)result(p, "resources/unsubscribe", "{\"uri\":\"nowhere://at/all\"}");
	expect_eq(error_code(call(p, "resources/subscribe", "{}")), RPC_INVALID_PARAMS);
	expect_eq(error_code(
			  call(p, "resources/subscribe", "{\"uri\":\"fake://clock?max_rate=99\"}")),
	          RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "resources/subscribe", "{\"uri\":\"fake://clock?broken=1\"}")),
	          RPC_INTERNAL);
	expect_eq(error_code(call(p, "resources/read", "{\"uri\":\"nowhere://at/all\"}")),
	          RPC_NO_RESOURCE);
	expect_eq(fixture_nr_watching(), 0);
}

static void subscriptions_are_bounded_and_end_with_the_connection(void **state)
{
	struct peer *p = *state;
	struct mcp_link link = fake_link_use(&p->link);
	char params[64];

	greet_as(p, MCP_LATEST);
	for (unsigned int i = 0; i < SUBSCRIPTIONS_MAX; i++) {
		snprintf(params, sizeof(params), "{\"uri\":\"fake://still?n=%u\"}", i);
		(void)result(p, "resources/subscribe", params);
	}
	expect_eq(error_code(call(p, "resources/subscribe", "{\"uri\":\"fake://clock\"}")),
	          RPC_INVALID_PARAMS);
	expect_eq(fixture_nr_watching(), 0);
	(void)result(p, "resources/unsubscribe", "{\"uri\":\"fake://still?n=3\"}");
	fake_link_clear(&p->link);
	(void)result(p, "resources/subscribe", "{\"uri\":\"fake://clock\"}");
	expect_eq(fixture_nr_watching(), 1);
	mcp_conn_free(p->conn);
	expect_eq(fixture_nr_watching(), 0);
	expect_eq(mcp_conn_new(p->server, &link, &p->conn), 0);
}

static void a_connection_that_goes_cancels_its_calls(void **state)
{
	struct peer *p = *state;
	struct mcp_link link = fake_link_use(&p->link);

	greet_as(p, MCP_LATEST);
	for (int i = 0; i < 3; i++)
		expect_eq(
			take(p,
		             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\","
		             "\"arguments\":{\"ms\":600000}}}"),
			MCP_ANSWERED);
	assert_false(mcp_conn_drain(p->conn, 20));
	mcp_conn_free(p->conn);
	expect_eq(mcp_conn_new(p->server, &link, &p->conn), 0);
}

static void completion_offers_what_begins_like_it(void **state)
{
	struct peer *p = *state;
	const json_t *c;

	greet_as(p, MCP_LATEST);
	c = json_object_get(
		result(p, "completion/complete",
	               "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"greet\"},\"argument\":{\"name\":\"name\",\"value\":\"wo\"}}"),
		"completion");
	expect_eq(json_array_size(json_object_get(c, "values")), 2);
	c = json_object_get(
		result(p, "completion/complete",
	               "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"gone\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}"),
		"completion");
	expect_eq(json_array_size(json_object_get(c, "values")), 0);
	c = json_object_get(
		result(p, "completion/complete",
	               "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"x://y\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}}"),
		"completion");
	expect_eq(json_array_size(json_object_get(c, "values")), 0);
	expect_eq(error_code(call(p, "completion/complete", "{}")), RPC_INVALID_PARAMS);
}

static void prompts_take_texts_and_numbers(void **state)
{
	struct peer *p = *state;
	const json_t *m;

	greet_as(p, MCP_LATEST);
	m = json_array_get(
		json_object_get(result(p, "prompts/get",
	                               "{\"name\":\"greet\",\"arguments\":{\"name\":\"me\"}}"),
	                        "messages"),
		0);
	assert_string_equal(string_at(json_object_get(m, "content"), "text"), "Greet me.");
	m = json_array_get(
		json_object_get(result(p, "prompts/get",
	                               "{\"name\":\"greet\",\"arguments\":{\"name\":12}}"),
	                        "messages"),
		0);
	assert_string_equal(string_at(json_object_get(m, "content"), "text"), "Greet 12.");
	expect_eq(error_code(call(p, "prompts/get",
	                          "{\"name\":\"greet\",\"arguments\":{\"name\":\"nobody\"}}")),
	          RPC_INVALID_PARAMS);
	expect_eq(error_code(call(p, "prompts/get", "{\"name\":\"nothing\"}")), RPC_INVALID_PARAMS);
}

static void messages_go_to_clients_that_asked_for_the_level(void **state)
{
	struct peer *p = *state;

	greet_as(p, MCP_LATEST);
	fake_link_clear(&p->link);
	mcp_server_log(p->server, MCP_INFO, "test", "not wanted");
	expect_eq(p->link.nr, 0);
	(void)result(p, "logging/setLevel", "{\"level\":\"info\"}");
	fake_link_clear(&p->link);
	mcp_server_log(p->server, MCP_INFO, "test", "wanted");
	expect_eq(p->link.nr, 1);
	assert_string_equal(string_at(json_object_get(p->link.sent[0].value, "params"), "data"),
	                    "wanted");
	expect_eq(error_code(call(p, "logging/setLevel", "{\"level\":\"loud\"}")),
	          RPC_INVALID_PARAMS);
}

/* A stream that reports seven lost events when it is polled, once each time it is told to. */
static int lossy_open(void *ctx, uint64_t kinds, struct diag *d, void **out)
{
	(void)kinds;
	(void)d;
	*out = ctx;
	return 0;
}

static int lossy_attach(void *stream, struct diag *d)
{
	(void)stream;
	(void)d;
	return 0;
}

static int lossy_poll(void *stream, const struct ev_sink *sink, struct diag *d)
{
	struct ev_lost lost = { .hdr = { sizeof(lost), EV_LOST, 0, 0, clock_boot_ns() },
		                .kind = EV_SWITCH,
		                .count = 7 };

	(void)d;
	return atomic_exchange((atomic_bool *)stream, false) ? sink->push(sink->ctx, &lost.hdr) : 0;
}

static int lossy_fd(void *stream)
{
	(void)stream;
	return -1;
}

static uint64_t lossy_missing(void *stream)
{
	(void)stream;
	return 0;
}

static uint64_t lossy_start_ns(void *stream)
{
	(void)stream;
	return clock_boot_ns();
}

static void lossy_close(void *stream)
{
	(void)stream;
}

static int lossy_tasks(void *ctx, proc_task_fn *fn, void *fn_ctx, struct diag *d)
{
	(void)ctx;
	(void)fn;
	(void)fn_ctx;
	(void)d;
	return 0;
}

static void expect_loss(struct peer *p, unsigned int nr)
{
	fake_link_clear(&p->link);
	server_log_losses(p->server);
	expect_eq(p->link.nr, nr);
	if (nr)
		assert_non_null(
			strstr(string_at(json_object_get(p->link.sent[0].value, "params"), "data"),
		               "lost 7 events"));
}

static void what_the_live_stream_lost_is_said_once(void **state)
{
	static const struct topology_cpu cpu = { .is_possible = true,
		                                 .is_present = true,
		                                 .is_online = true };
	const struct topology_table table = { .cpus = &cpu, .nr_cpus = 1 };
	static atomic_bool is_losing;
	const struct live_source source = { lossy_open,  lossy_attach,  lossy_poll,     lossy_poll,
		                            lossy_fd,    lossy_missing, lossy_start_ns, lossy_close,
		                            lossy_tasks, &is_losing };
	struct live_feed_cfg cfg = { .source = &source };
	struct topology *topology = NULL;
	struct peer *p = *state;
	struct diag d = { 0 };
	uint32_t holder;

	greet_as(p, MCP_LATEST);
	expect_eq(topology_new(&table, &d, &topology), 0);
	cfg.topology = topology;
	expect_eq(live_feed_open(&cfg, &d, &p->server->world.live), 0);
	expect_eq(live_feed_hold(p->server->world.live, LIVE_USE_STREAM, EV_BIT(EV_SWITCH), &d,
	                         &holder),
	          0);
	expect_loss(p, 0);
	for (int i = 0; i < 2; i++) {
		atomic_store(&is_losing, true);
		(void)live_feed_lock(p->server->world.live);
		live_feed_unlock(p->server->world.live);
		expect_loss(p, 1);
		expect_loss(p, 0);
	}
	live_feed_close(p->server->world.live);
	p->server->world.live = NULL;
	topology_free(topology);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_known_revision_is_echoed_and_an_unknown_one_gets_the_newest),
		CASE(initialize_wants_its_parameters),
		CASE(only_ping_comes_before_initialize),
		CASE(notifications_and_responses_are_never_answered),
		CASE(what_is_no_message_is_refused_by_the_book),
		CASE(deep_and_large_messages_are_refused_and_the_next_is_answered),
		CASE(batches_belong_to_one_revision),
		CASE(a_batch_of_too_many_is_one_error),
		CASE(tools_answer_with_structure_and_text),
		CASE(lists_come_in_pages_until_the_last),
		CASE(a_client_chooses_which_tools_are_listed_and_can_call_all),
		CASE(what_the_server_does_not_offer_can_neither_be_listed_nor_called),
		CASE(a_cancelled_call_gets_no_answer_and_others_go_on),
		CASE(progress_grows_and_carries_the_token),
		CASE(without_a_usable_token_there_is_no_progress),
		CASE(subscribers_hear_of_changes_until_they_leave),
		CASE(what_changes_without_a_revision_is_heard_of_too),
		CASE(an_unknown_uri_can_be_subscribed_to_and_never_fires),
		CASE(subscriptions_are_bounded_and_end_with_the_connection),
		CASE(a_connection_that_goes_cancels_its_calls),
		CASE(completion_offers_what_begins_like_it),
		CASE(prompts_take_texts_and_numbers),
		CASE(messages_go_to_clients_that_asked_for_the_level),
		CASE(what_the_live_stream_lost_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
