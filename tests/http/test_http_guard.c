#include "http/http_guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit.h"

static const struct http_hosts loopback_only = { 0 };

static void only_names_of_this_machine_are_hosts(void **state)
{
	static const char *const good[] = { "localhost", "localhost:80",    "LocalHost:1",
		                            "127.0.0.1", "127.0.0.1:65535", "127.1.2.3:9",
		                            "[::1]",     "[::1]:8090" };
	static const char *const bad[] = { "",
		                           "evil.example",
		                           "evil.example:8090",
		                           "localhost.evil.example",
		                           "10.0.0.1",
		                           "localhost:",
		                           "localhost:x",
		                           "localhost:99999",
		                           "localhost:123456",
		                           "[::1",
		                           "::1",
		                           "[]",
		                           "[::2]",
		                           "127.0.0.1.evil",
		                           "localhost@evil",
		                           "0x7f.1",
		                           "localhost:80:80",
		                           "[::1]x" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(http_host_is_allowed(good[i], &loopback_only));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(http_host_is_allowed(bad[i], &loopback_only));
	assert_false(http_host_is_allowed(NULL, &loopback_only));
}

static void allowed_names_and_addresses_are_configured(void **state)
{
	static const char *const names[] = { "box.lan" };
	struct http_hosts hosts = { .names = names, .nr = 1, .takes_addresses = true };

	(void)state;
	assert_true(http_host_is_allowed("BOX.lan:8090", &hosts));
	assert_true(http_host_is_allowed("10.0.0.1:8090", &hosts));
	assert_false(http_host_is_allowed("other.lan", &hosts));
}

/* Any program of this machine may serve pages: the port counts, and whatever else an origin has. */
static void only_pages_of_allowed_origins_are_taken(void **state)
{
	static const char *const origins[] = { "http://localhost:6274", "https://box.lan" };
	static const char *const names[] = { "box.lan", "other.lan" };
	struct http_hosts hosts = {
		.names = names, .nr = 2, .origins = origins, .nr_origins = 2, .port = 8090
	};
	static const char *const good[] = { "http://localhost:6274", "https://BOX.lan",
		                            "http://localhost:8090", "http://127.0.0.1:8090",
		                            "http://[::1]:8090" };
	static const char *const bad[] = { "http://localhost:3000",
		                           "http://localhost",
		                           "https://localhost:8090",
		                           "https://127.0.0.1",
		                           "http://127.0.0.1:80900",
		                           "http://127.0.0.1:80",
		                           "http://box.lan",
		                           "https://box.lan:443",
		                           "https://box.lan/",
		                           "https://other.lan",
		                           "http://evil.example:8090",
		                           "http://localhost.evil.example:8090",
		                           "http://localhost:6274.evil.example",
		                           "http://[::1]",
		                           "file://localhost:8090",
		                           "localhost:8090",
		                           "http://",
		                           "http:",
		                           "null",
		                           "" };

	(void)state;
	assert_true(http_origin_is_allowed(NULL, &hosts));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(http_origin_is_allowed(good[i], &hosts));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (http_origin_is_allowed(bad[i], &hosts))
			fail_msg("'%s' is allowed", bad[i]);
}

static void an_origin_is_a_scheme_and_a_host(void **state)
{
	(void)state;
	assert_true(http_is_origin("http://localhost:6274"));
	assert_true(http_is_origin("https://box.lan"));
	assert_true(http_is_origin("http://[::1]:80"));
	assert_false(http_is_origin("localhost:6274"));
	assert_false(http_is_origin("ftp://box.lan"));
	assert_false(http_is_origin("http://"));
	assert_false(http_is_origin("http://box.lan:"));
	assert_false(http_is_origin("*"));
}

static void accept_and_content_type_are_understood(void **state)
{
	(void)state;
	expect_eq(http_accepts(NULL), HTTP_JSON | HTTP_EVENTS);
	expect_eq(http_accepts("*/*"), HTTP_JSON | HTTP_EVENTS);
	expect_eq(http_accepts("application/json, text/event-stream"), HTTP_JSON | HTTP_EVENTS);
	expect_eq(http_accepts("application/json;q=0.5"), HTTP_JSON);
	expect_eq(http_accepts("text/event-stream"), HTTP_EVENTS);
	expect_eq(http_accepts("text/html"), 0);
	expect_eq(http_accepts(""), 0);
	assert_true(http_is_json("application/json"));
	assert_true(http_is_json("Application/JSON; charset=utf-8"));
	assert_false(http_is_json("text/plain"));
	assert_false(http_is_json(NULL));
}

static void event_ids_are_two_numbers(void **state)
{
	uint32_t stream = 9;
	uint64_t seq = 9;

	(void)state;
	assert_true(http_event_id("3-18446744073709551615", &stream, &seq));
	expect_eq(stream, 3);
	expect_eq(seq, UINT64_MAX);
	assert_false(http_event_id("", &stream, &seq));
	assert_false(http_event_id("3", &stream, &seq));
	assert_false(http_event_id("3-", &stream, &seq));
	assert_false(http_event_id("-3-1", &stream, &seq));
	assert_false(http_event_id("3-1x", &stream, &seq));
	assert_false(http_event_id("4294967296-1", &stream, &seq));
	assert_false(http_event_id("1-18446744073709551616", &stream, &seq));
}

static void addresses_to_listen_on(void **state)
{
	static const struct {
		const char *text;
		int err;
		bool is_loopback;
		const char *host;
		uint16_t port;
	} cases[] = {
		{ NULL, 0, true, "127.0.0.1", 0 },
		{ "8090", 0, true, "127.0.0.1", 8090 },
		{ "127.0.0.1", 0, true, "127.0.0.1", 0 },
		{ "localhost:81", 0, true, "127.0.0.1", 81 },
		{ "[::1]:82", 0, true, "[::1]", 82 },
		{ "[::1]", 0, true, "[::1]", 0 },
		{ "0.0.0.0:83", 0, false, "0.0.0.0", 83 },
		{ "[::]:84", 0, false, "[::]", 84 },
		{ "box.lan:85", -EINVAL, false, "", 0 },
		{ "127.0.0.1:99999", -EINVAL, false, "", 0 },
		{ "127.0.0.1:", -EINVAL, false, "", 0 },
		{ "::1", -EINVAL, false, "", 0 },
		{ "", -EINVAL, false, "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_address a;
		struct diag d = { 0 };

		assert_int_equal(http_address_parse(cases[i].text, &d, &a), cases[i].err);
		if (cases[i].err) {
			assert_true(d.what[0] && d.hint[0]);
			continue;
		}
		expect_eq(a.is_loopback, cases[i].is_loopback);
		assert_string_equal(a.text, cases[i].host);
		expect_eq(ntohs(a.addr.v4.sin_port), cases[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_names_of_this_machine_are_hosts),
		cmocka_unit_test(allowed_names_and_addresses_are_configured),
		cmocka_unit_test(only_pages_of_allowed_origins_are_taken),
		cmocka_unit_test(an_origin_is_a_scheme_and_a_host),
		cmocka_unit_test(accept_and_content_type_are_understood),
		cmocka_unit_test(event_ids_are_two_numbers),
		cmocka_unit_test(addresses_to_listen_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
