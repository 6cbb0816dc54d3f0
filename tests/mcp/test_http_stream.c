#include "mcp/http/http_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"

static void put(struct http_stream *s, const char *text)
{
	expect_eq(http_stream_put(s, text, strlen(text)), 0);
}

static void events_are_numbered_and_read_in_pieces(void **state)
{
	const char *want =
		"event: message\nid: 3-1\ndata: {\"a\":1}\n\nevent: message\nid: 3-2\ndata: {}\n\n";
	struct http_stream s = { .id = 3 };
	struct http_cursor at = http_stream_after(&s, 0);
	char got[256] = "";
	size_t nr = 0;
	ssize_t part;

	(void)state;
	put(&s, "{\"a\":1}");
	put(&s, "{}");
	while ((part = http_stream_read(&s, &at, got + nr, 7)) > 0)
		nr += (size_t)part;
	expect_eq(part, 0);
	assert_string_equal(got, want);
	expect_eq(s.sent_seq, 2);
	http_stream_done(&s);
}

static void a_client_that_comes_back_gets_what_it_missed(void **state)
{
	struct http_stream s = { .id = 0 };
	struct http_cursor at;
	char got[256] = "";
	size_t len;

	(void)state;
	put(&s, "1");
	put(&s, "2");
	put(&s, "3");
	at = http_stream_after(&s, 2);
	expect_eq(http_stream_read(&s, &at, got, sizeof(got)),
	          strlen("event: message\nid: 0-3\ndata: 3\n\n"));
	assert_string_equal(got, "event: message\nid: 0-3\ndata: 3\n\n");
	at = http_stream_after(&s, 99); /* never given: nothing is repeated */
	expect_eq(http_stream_read(&s, &at, got, sizeof(got)), 0);
	assert_memory_equal(http_stream_newest(&s, &len), "3", 1);
	expect_eq(len, 1);
	http_stream_done(&s);
}

static void a_reader_that_is_too_slow_loses_the_stream(void **state)
{
	struct http_stream s = { .id = 1 };
	struct http_cursor slow = http_stream_after(&s, 0), fresh;
	char got[64];

	(void)state;
	put(&s, "first");
	expect_eq(http_stream_read(&s, &slow, got, 5), 5); /* a part of it */
	for (unsigned int i = 0; i < STREAM_MAX_EVENTS; i++) {
		assert_false(http_stream_has_lost(&s, &slow));
		put(&s, "more");
	}
	assert_true(http_stream_has_lost(&s, &slow));
	assert_int_equal(http_stream_read(&s, &slow, got, sizeof(got)), -ESTALE);
	expect_eq(s.nr, STREAM_MAX_EVENTS);
	fresh = http_stream_after(&s, 0);
	assert_true(http_stream_read(&s, &fresh, got, sizeof(got)) > 0);
	http_stream_done(&s);
}

static void bytes_are_bounded_but_one_message_always_fits(void **state)
{
	size_t len = STREAM_MAX_BYTES / 2 + 1;
	char *text = malloc(4 * len);
	struct http_stream s = { 0 };
	size_t got = 0;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 4 * len);
	expect_eq(http_stream_put(&s, text, len), 0);
	expect_eq(http_stream_put(&s, text, len), 0);
	expect_eq(s.nr, 1);
	expect_eq(http_stream_put(&s, text, 4 * len), 0);
	expect_eq(s.nr, 1);
	assert_non_null(http_stream_newest(&s, &got));
	expect_eq(got, 4 * len);
	http_stream_done(&s);
	expect_eq(s.bytes, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_numbered_and_read_in_pieces),
		cmocka_unit_test(a_client_that_comes_back_gets_what_it_missed),
		cmocka_unit_test(a_reader_that_is_too_slow_loses_the_stream),
		cmocka_unit_test(bytes_are_bounded_but_one_message_always_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
