#include "../unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/scx/scx_stats.h"
#include "tree.h"

static void an_answer_of_a_scheduler_is_its_resp(void **state)
{
	static const char good[] = "{\"errno\":0,\"args\":{\"resp\":{\"busy\":12.5,\"n\":3}}}";
	static const char text[] = "{\"errno\":0,\"args\":{\"resp\":\"x\"}}";
	struct diag d = { 0 };
	char *out = NULL;

	(void)state;
	expect_eq(scx_stats_parse(good, strlen(good), &d, &out), 0);
	assert_string_equal(out, "{\"busy\":12.5,\"n\":3}");
	free(out);
	expect_eq(scx_stats_parse(text, strlen(text), &d, &out), 0);
	assert_string_equal(out, "\"x\"");
	free(out);
}

static void an_answer_that_is_none_has_its_sentence(void **state)
{
	static const struct {
		const char *line;
		int err;
		const char *says;
	} cases[] = {
		{ "", -EPROTO, "protocol" },
		{ "[]", -EPROTO, "protocol" },
		{ "{\"args\":{\"resp\":1}}", -EPROTO, "protocol" },
		{ "{\"errno\":\"0\",\"args\":{\"resp\":1}}", -EPROTO, "protocol" },
		{ "{\"errno\":0,\"args\":{}}", -EPROTO, "without a result" },
		{ "{\"errno\":0}", -EPROTO, "without a result" },
		{ "{\"errno\":22,\"args\":{\"resp\":\"no such target\"}}", -EREMOTEIO,
		  "no such target" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { 0 };
		char *out = NULL;

		expect_eq(scx_stats_parse(cases[i].line, strlen(cases[i].line), &d, &out),
		          cases[i].err);
		assert_non_null(strstr(d.what, cases[i].says));
		assert_null(out);
	}
}

/* A server that answers with a line, or not at all. */
struct server {
	int fd;
	const char *answer;
	pthread_t thread;
	struct tree tree;
	char path[100];
	char asked[128];
};

static void *serve(void *ctx)
{
	struct server *s = ctx;
	int fd = accept(s->fd, NULL, NULL);
	ssize_t got = fd >= 0 ? read(fd, s->asked, sizeof(s->asked) - 1) : -1;

	if (got > 0 && s->answer)
		(void)!send(fd, s->answer, strlen(s->answer), MSG_NOSIGNAL);
	while (got > 0 && !s->answer) /* until the other side gives up */
		got = read(fd, s->asked + 100, 1);
	close(fd);
	return NULL;
}

static void server_start(struct server *s, const char *answer)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*s = (struct server){ .answer = answer };
	tree_init(&s->tree);
	(void)snprintf(s->path, sizeof(s->path), "%s/stats", s->tree.root);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", s->path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	expect_eq(bind(s->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_eq(listen(s->fd, 1), 0);
	expect_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_stop(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->fd);
	tree_done(&s->tree);
}

static void a_scheduler_is_asked_in_one_line(void **state)
{
	struct diag d = { 0 };
	struct server s;
	char *out = NULL;

	(void)state;
	server_start(&s, "{\"errno\":0,\"args\":{\"resp\":[1,2]}}\nmore");
	expect_eq(scx_stats_ask(s.path, "stats", 5000, &d, &out), 0);
	server_stop(&s);
	assert_string_equal(s.asked, "{\"req\":\"stats\",\"args\":{}}\n");
	assert_string_equal(out, "[1,2]");
	free(out);
}

static void a_scheduler_that_hangs_is_left_in_time(void **state)
{
	uint64_t start_ns = clock_boot_ns();
	struct diag d = { 0 };
	struct server s;
	char *out = NULL;

	(void)state;
	server_start(&s, NULL);
	expect_eq(scx_stats_ask(s.path, "stats", 50, &d, &out), -ETIMEDOUT);
	assert_true(clock_boot_ns() - start_ns >= 50000000ULL);
	assert_non_null(strstr(d.what, "50 ms"));
	server_stop(&s);
}

static void a_scheduler_that_hangs_up_is_no_answer(void **state)
{
	struct diag d = { 0 };
	struct server s;
	char *out = NULL;

	(void)state;
	server_start(&s, "half a line");
	expect_eq(scx_stats_ask(s.path, "stats", 5000, &d, &out), -ECONNRESET);
	server_stop(&s);
}

static void a_missing_server_is_distinguished(void **state)
{
	struct diag d = { 0 };
	char *out = NULL;

	(void)state;
	expect_eq(scx_stats_ask("/nowhere/at/all", "stats", 50, &d, &out), -ENOTCONN);
	assert_non_null(strstr(d.what, "/nowhere/at/all"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_of_a_scheduler_is_its_resp),
		cmocka_unit_test(an_answer_that_is_none_has_its_sentence),
		cmocka_unit_test(a_scheduler_is_asked_in_one_line),
		cmocka_unit_test(a_scheduler_that_hangs_is_left_in_time),
		cmocka_unit_test(a_scheduler_that_hangs_up_is_no_answer),
		cmocka_unit_test(a_missing_server_is_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
