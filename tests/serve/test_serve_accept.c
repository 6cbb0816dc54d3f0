#include "serve/accept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PROTO \
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

static void without_a_header_it_is_text(void **state)
{
	(void)state;
	assert_int_equal(accept_format(NULL), FORMAT_TEXT);
	assert_int_equal(accept_format(""), FORMAT_TEXT);
	assert_int_equal(accept_format(" , "), FORMAT_TEXT);
	assert_int_equal(accept_format("*/*"), FORMAT_TEXT);
	assert_int_equal(accept_format("text/html,application/xhtml+xml,*/*;q=0.8"), FORMAT_TEXT);
}

/* As Prometheus 2.42 sends them, without and with native histograms, and VictoriaMetrics. */
static void real_clients_get_what_they_like_best(void **state)
{
	(void)state;
	assert_int_equal(accept_format("application/openmetrics-text;version=1.0.0,"
	                               "application/openmetrics-text;version=0.0.1;q=0.75,"
	                               "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
	                 FORMAT_OPENMETRICS);
	assert_int_equal(accept_format(PROTO ",application/openmetrics-text;version=1.0.0;q=0.8,"
	                                     "application/openmetrics-text;version=0.0.1;q=0.75,"
	                                     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
	                 FORMAT_PROTOBUF);
	assert_int_equal(accept_format("text/plain;version=0.0.4;q=1,*/*;q=0.1"), FORMAT_TEXT);
}

static void the_highest_q_wins(void **state)
{
	(void)state;
	assert_int_equal(accept_format("application/openmetrics-text;q=0.4, text/plain;q=0.5"),
	                 FORMAT_TEXT);
	assert_int_equal(accept_format("application/openmetrics-text; q=0.50, text/plain; q=0.499"),
	                 FORMAT_OPENMETRICS);
	assert_int_equal(accept_format(PROTO ";q=0.001,text/plain;q=0.002"), FORMAT_TEXT);
	assert_int_equal(accept_format("text/plain, application/openmetrics-text"),
	                 FORMAT_OPENMETRICS);
}

static void what_is_refused_is_not_sent(void **state)
{
	(void)state;
	assert_int_equal(accept_format("text/html"), -1);
	assert_int_equal(accept_format("text/plain;q=0"), -1);
	assert_int_equal(accept_format("text/plain;q=0, */*"), -1);
	assert_int_equal(accept_format("text/plain;q=zero"), -1);
	assert_int_equal(accept_format("application/openmetrics-text;version=2.0.0"), -1);
	assert_int_equal(accept_format(
				 "application/vnd.google.protobuf;proto=Other;encoding=delimited"),
	                 -1);
	assert_int_equal(accept_format("application/vnd.google.protobuf"), -1);
}

static void hostile_headers_are_read_to_their_end(void **state)
{
	char long_list[4096] = "";

	(void)state;
	while (strlen(long_list) < 4000)
		strcat(long_list, "a/b;q=1,");
	strcat(long_list, "text/plain");
	assert_int_equal(accept_format(long_list), -1); /* beyond what is read */
	assert_int_equal(accept_format(";;;=,,;q=;\"\","), -1);
	assert_int_equal(accept_format("text/plain;version=\"0.0.4\""), FORMAT_TEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_header_it_is_text),
		cmocka_unit_test(real_clients_get_what_they_like_best),
		cmocka_unit_test(the_highest_q_wins),
		cmocka_unit_test(what_is_refused_is_not_sent),
		cmocka_unit_test(hostile_headers_are_read_to_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
