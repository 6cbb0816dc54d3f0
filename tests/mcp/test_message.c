/* One JSON-RPC message: what it is, and what it is not. */
#include "mcp/message.h"

#include <string.h>

#include "../unit.h"

static struct message read_text(const char *text, json_t **value)
{
	struct message m = { .kind = MESSAGE_BAD };
	const char *why;

	*value = message_parse(text, strlen(text), &why);
	assert_non_null(*value);
	message_read(*value, &m);
	return m;
}

static void requests_notifications_and_responses_differ(void **state)
{
	json_t *v;
	struct message m = read_text("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", &v);

	(void)state;
	expect_eq(m.kind, MESSAGE_REQUEST);
	assert_string_equal(m.method, "ping");
	expect_eq(json_integer_value(m.id), 7);
	json_decref(v);
	m = read_text("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\",\"params\":{\"k\":1}}",
	              &v);
	expect_eq(m.kind, MESSAGE_REQUEST);
	assert_string_equal(json_string_value(m.id), "a");
	expect_eq(json_integer_value(json_object_get(m.params, "k")), 1);
	json_decref(v);
	m = read_text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", &v);
	expect_eq(m.kind, MESSAGE_NOTIFICATION);
	assert_null(m.id);
	json_decref(v);
	m = read_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", &v);
	expect_eq(m.kind, MESSAGE_RESPONSE);
	json_decref(v);
}

static void what_is_none_of_them_is_refused_with_its_id(void **state)
{
	static const char *const bad[] = {
		"{\"id\":5,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":5}",
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":3}",
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\",\"params\":[1]}",
	};
	struct message m;
	json_t *v;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		m = read_text(bad[i], &v);
		expect_eq(m.kind, MESSAGE_BAD);
		assert_int_equal(m.code, RPC_INVALID_REQUEST);
		expect_eq(json_integer_value(m.id), 5);
		assert_non_null(m.why);
		json_decref(v);
	}
	m = read_text("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", &v);
	expect_eq(m.kind, MESSAGE_BAD);
	assert_null(m.id);
	json_decref(v);
	m = read_text("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", &v);
	expect_eq(m.kind, MESSAGE_BAD);
	json_decref(v);
}

static void what_is_not_json_is_no_message(void **state)
{
	static const char *const bad[] = { "",    "{",    "nonsense",   "\"text\"",
		                           "5",   "null", "{\"a\":1}x", "{\"a\":1,\"a\":2}",
		                           "\xff" };
	char deep[2 * MESSAGE_MAX_DEPTH + 4] = "";
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why = NULL;
		assert_null(message_parse(bad[i], strlen(bad[i]), &why));
		assert_non_null(why);
	}
	memset(deep, '[', MESSAGE_MAX_DEPTH + 1);
	assert_null(message_parse(deep, strlen(deep), &why));
	assert_non_null(strstr(why, "deep"));
	assert_null(message_parse("{}", (size_t)MESSAGE_MAX_BYTES + 1, &why));
	assert_non_null(strstr(why, "4 MiB"));
}

static void brackets_in_texts_are_not_deep(void **state)
{
	char text[4 * MESSAGE_MAX_DEPTH] = "{\"a\":\"\\\"";
	size_t len = strlen(text), nr = 2 * (size_t)MESSAGE_MAX_DEPTH;
	const char *why;
	json_t *v;

	(void)state;
	memset(text + len, '[', nr);
	memcpy(text + len + nr, "\"}", 3);
	v = message_parse(text, strlen(text), &why);
	assert_non_null(v);
	json_decref(v);
}

#define DIGITS_31 "1234567890123456789012345678901"

/* Who sent it can match the answer, whatever number it sent. */
static void a_number_too_large_for_64_bits_loses_no_id(void **state)
{
	static const char *const numbers[] = { DIGITS_31, "-" DIGITS_31, "9223372036854775808",
		                               "1e999",   "-2e308",      DIGITS_31 ".5e400" };
	char text[512], many[401] = "";
	struct message m;
	json_t *v;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		snprintf(text, sizeof(text),
		         "{\"jsonrpc\":\"2.0\",\"id\":9223372036854775807,\"method\":\"x\","
		         "\"params\":{\"a\\\"1\":%s,\"b\":[7,\"" DIGITS_31 "\"]}}",
		         numbers[i]);
		m = read_text(text, &v);
		expect_eq(m.kind, MESSAGE_REQUEST);
		assert_true(json_integer_value(m.id) == INT64_MAX);
		assert_true(json_is_real(json_object_get(m.params, "a\"1")));
		expect_eq(json_integer_value(json_array_get(json_object_get(m.params, "b"), 0)), 7);
		assert_string_equal(json_string_value(
					    json_array_get(json_object_get(m.params, "b"), 1)),
		                    DIGITS_31);
		json_decref(v);
	}
	memset(many, '7', sizeof(many) - 1);
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x\",\"n\":%s}",
	         many);
	m = read_text(text, &v);
	expect_eq(json_integer_value(m.id), 3);
	json_decref(v);
	/* An id that is too large itself cannot be given back. */
	m = read_text("{\"jsonrpc\":\"2.0\",\"id\":" DIGITS_31 ",\"method\":\"x\"}", &v);
	expect_eq(m.kind, MESSAGE_BAD);
	assert_int_equal(m.code, RPC_INVALID_REQUEST);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_notifications_and_responses_differ),
		cmocka_unit_test(what_is_none_of_them_is_refused_with_its_id),
		cmocka_unit_test(what_is_not_json_is_no_message),
		cmocka_unit_test(brackets_in_texts_are_not_deep),
		cmocka_unit_test(a_number_too_large_for_64_bits_loses_no_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
