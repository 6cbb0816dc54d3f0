/* Ten thousand random messages through one connection: each request is answered once, by its id, and nothing else is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"

#include "fixture.h"

#define NR_MESSAGES 10000U

static unsigned int pick(uint64_t *seed, unsigned int nr)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (unsigned int)(*seed % nr);
}

static const char *const methods[] = { "ping",
	                               "tools/list",
	                               "tools/call",
	                               "resources/list",
	                               "resources/read",
	                               "resources/templates/list",
	                               "resources/subscribe",
	                               "resources/unsubscribe",
	                               "prompts/list",
	                               "prompts/get",
	                               "completion/complete",
	                               "logging/setLevel",
	                               "initialize",
	                               "server/discover",
	                               "subscriptions/listen",
	                               "none/such",
	                               "",
	                               "notifications/cancelled" };
static const char *const keys[] = { "name",
	                            "uri",
	                            "arguments",
	                            "cursor",
	                            "level",
	                            "ref",
	                            "argument",
	                            "_meta",
	                            "value",
	                            "text",
	                            "ms",
	                            "bytes",
	                            "progressToken",
	                            "type",
	                            "protocolVersion",
	                            "capabilities",
	                            "clientInfo",
	                            "requestId",
	                            "notifications",
	                            "resourceSubscriptions",
	                            "inputResponses",
	                            "fruit",
	                            "action" };
#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))
static const char *const scalars[] = { "null",
	                               "true",
	                               "0",
	                               "-1",
	                               "1e308",
	                               "\"\"",
	                               "\"echo\"",
	                               "\"wait\"",
	                               "\"big\"",
	                               "\"fake://clock\"",
	                               "\"fake://still?a=%41\"",
	                               "\"debug\"",
	                               "\"ref/prompt\"",
	                               "\"greet\"",
	                               "\"\\ud83d\\ude00\"",
	                               "[]",
	                               "[\"fake://clock\",\"fake://none\"]",
	                               "\"choose\"",
	                               "\"accept\"",
	                               "{}",
	                               "9007199254740993",
	                               "\"2025-11-25\"",
	                               "12" };

static void put_value(FILE *out, uint64_t *seed, unsigned int depth)
{
	unsigned int nr = pick(seed, 4);

	if (depth == 0 || pick(seed, 2)) {
		fputs(scalars[pick(seed, sizeof(scalars) / sizeof(scalars[0]))], out);
		return;
	}
	fputc('{', out);
	for (unsigned int i = 0, key = pick(seed, 4); i < nr; i++, key += 1 + pick(seed, 4)) {
		fprintf(out, "%s\"%s\":", i ? "," : "", keys[key % NR_KEYS]);
		put_value(out, seed, depth - 1);
	}
	fputc('}', out);
}

/* Half of the messages are of the stateless era, most of these whole. */
static void write_meta(FILE *out, uint64_t *seed)
{
	if (pick(seed, 2))
		return;
	fprintf(out, ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":%s",
	        pick(seed, 9) ? "\"2026-07-28\"" : "\"2031-01-01\"");
	if (pick(seed, 9))
		fputs(",\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}", out);
	if (pick(seed, 2))
		fputs(",\"io.modelcontextprotocol/logLevel\":\"debug\",\"progressToken\":1", out);
	fputc('}', out);
}

/* A request whose id is its number; one in eight is a notification. */
static bool write_message(FILE *out, uint64_t *seed, unsigned int number)
{
	bool is_request = pick(seed, 8) != 0, has_any = false;

	fprintf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{",
	        methods[pick(seed, sizeof(methods) / sizeof(methods[0]))]);
	/* No name twice: each key lies behind the one before. */
	for (unsigned int i = 0, key = pick(seed, 9); i < 4 && key < NR_KEYS;
	     i++, key += 1 + pick(seed, 9)) {
		if (strcmp(keys[key], "_meta") == 0)
			continue;
		fprintf(out, "%s\"%s\":", has_any ? "," : "", keys[key]);
		put_value(out, seed, 3);
		has_any = true;
	}
	if (!has_any)
		fputs("\"x\":0", out);
	write_meta(out, seed);
	fputc('}', out);
	if (is_request)
		fprintf(out, ",\"id\":%u", number);
	fputc('}', out);
	return is_request;
}

static void each_request_is_answered_once(void **state)
{
	unsigned char *answers = calloc(NR_MESSAGES, 1), *wanted = calloc(NR_MESSAGES, 1);
	const char *hello =
		"{\"jsonrpc\":\"2.0\",\"id\":-5,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
		"\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\"}}}";
	struct mcp_server *s = NULL;
	struct mcp_conn *c = NULL;
	struct mcp_cfg cfg = { 0 };
	struct fake_link l;
	struct mcp_link link;
	struct diag d = { 0 };
	uint64_t seed = 88172645463325252ULL;

	(void)state;
	fake_link_init(&l);
	link = fake_link_use(&l);
	expect_eq(mcp_server_new(&cfg, &d, &s), 0);
	expect_eq(mcp_conn_new(s, &link, &c), 0);
	expect_eq(mcp_conn_take(c, hello, strlen(hello), NULL, NULL), MCP_ANSWERED);
	for (unsigned int i = 0; i < NR_MESSAGES; i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		bool is_request = write_message(out, &seed, i), is_torn = pick(&seed, 16) == 0;
		enum mcp_taken taken;

		fclose(out);
		taken = mcp_conn_take(c, text, is_torn ? len / 2 : len, NULL, &answers[i]);
		if (is_torn)
			expect_eq(taken, MCP_REFUSED);
		else
			expect_eq(taken, is_request ? MCP_ANSWERED : MCP_NO_ANSWER);
		wanted[i] = taken != MCP_NO_ANSWER;
		free(text);
		if (i % 100 == 99)
			assert_true(mcp_conn_drain(c, 60000)); /* the queue of calls is bounded */
	}
	assert_true(mcp_conn_drain(c, 60000));
	mcp_conn_free(c);
	mcp_server_free(s);
	for (size_t i = 0; i < l.nr; i++)
		if (l.sent[i].exchange && l.sent[i].is_last)
			++*(unsigned char *)l.sent[i].exchange;
	expect_eq(l.nr_bad, 0);
	assert_memory_equal(answers, wanted, NR_MESSAGES);
	expect_eq(fixture_nr_watching(), 0);
	fake_link_done(&l);
	free(answers);
	free(wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_request_is_answered_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
