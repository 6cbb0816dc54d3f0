/* A scheduler's statistics, from servers that answer, hang, die and come back. */
#include "../unit.h"

#include "tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/scx/scx_asker.h"

#define S 1000000000ULL

/* Answers with its count of questions, over all connections; silent if asked to be. */
struct server {
	struct tree tree;
	char path[100];
	int fd;
	pthread_t thread;
	atomic_int nr_questions, nr_connections;
	bool is_silent;
	int hangs_up_after; /* answers of one connection; 0 = never */
	atomic_int open_fd;
};

static void talk(struct server *s, int fd)
{
	char question[256], answer[128];
	int nr = 0;

	while (read(fd, question, sizeof(question)) > 0) {
		int count = atomic_fetch_add(&s->nr_questions, 1) + 1;

		if (s->is_silent)
			continue;
		(void)snprintf(answer, sizeof(answer),
		               "{\"errno\":0,\"args\":{\"resp\":{\"n\":%d}}}\n", count);
		(void)!send(fd, answer, strlen(answer), MSG_NOSIGNAL); /* it may have given up */
		if (s->hangs_up_after && ++nr == s->hangs_up_after)
			break;
	}
}

static void *serve(void *ctx)
{
	struct server *s = ctx;
	int fd;

	while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
		atomic_fetch_add(&s->nr_connections, 1);
		talk(s, fd);
		close(fd);
	}
	return NULL;
}

static void server_listen(struct server *s)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", s->path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	expect_eq(bind(s->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_eq(listen(s->fd, 4), 0);
	expect_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_make(struct server *s)
{
	*s = (struct server){ .fd = -1 };
	tree_init(&s->tree);
	(void)snprintf(s->path, sizeof(s->path), "%s/stats", s->tree.root);
}

static void server_stop(struct server *s)
{
	if (s->fd >= 0) {
		(void)shutdown(s->fd, SHUT_RDWR);
		pthread_join(s->thread, NULL);
		close(s->fd);
	}
	tree_done(&s->tree);
}

static struct scx_asker *ask(const struct server *s)
{
	struct scx_asker *a = NULL;

	expect_eq(scx_asker_open(s->path, &a), 0);
	scx_asker_want(a, true);
	return a;
}

/* Until a text, or a reason, has word in it. */
static struct scx_answer wait_for(struct scx_asker *a, const char *word)
{
	const struct timespec nap = { 0, 5000000 };
	uint64_t until_ns = clock_boot_ns() + 20 * S;
	struct scx_answer answer = scx_asker_answer(a);

	while (clock_boot_ns() < until_ns && !(answer.text && strstr(answer.text, word)) &&
	       !(answer.reason && strstr(answer.reason, word))) {
		nanosleep(&nap, NULL);
		answer = scx_asker_answer(a);
	}
	assert_true((answer.text && strstr(answer.text, word)) ||
	            (answer.reason && strstr(answer.reason, word)));
	return answer;
}

static void answers_come_in_lines_over_one_connection(void **state)
{
	struct scx_answer answer;
	struct scx_asker *a;
	struct server s;

	(void)state;
	server_make(&s);
	server_listen(&s);
	a = ask(&s);
	answer = wait_for(a, "\"n\": 2");
	assert_string_equal(answer.text, "{\n  \"n\": 2\n}");
	assert_null(answer.reason);
	assert_true(answer.at_ns > 0);
	expect_eq(s.nr_connections, 1);
	scx_asker_close(a);
	server_stop(&s);
}

static void nothing_is_asked_until_it_is_wanted(void **state)
{
	const struct timespec nap = { 0, 100000000 };
	struct scx_asker *a = NULL;
	struct scx_answer answer;
	struct server s;

	(void)state;
	server_make(&s);
	server_listen(&s);
	expect_eq(scx_asker_open(s.path, &a), 0);
	nanosleep(&nap, NULL);
	answer = scx_asker_answer(a);
	assert_true(!answer.text && !answer.reason);
	expect_eq(s.nr_questions, 0);
	scx_asker_close(a);
	server_stop(&s);
}

static void a_silent_scheduler_delays_nothing_else(void **state)
{
	uint64_t start_ns, longest_ns = 0;
	struct scx_asker *a;
	struct server s;

	(void)state;
	server_make(&s);
	s.is_silent = true;
	server_listen(&s);
	a = ask(&s);
	while (!atomic_load(&s.nr_questions))
		;
	/* The question is out, and there will be no answer. */
	for (int i = 0; i < 1000; i++) {
		start_ns = clock_boot_ns();
		(void)scx_asker_answer(a);
		if (clock_boot_ns() - start_ns > longest_ns)
			longest_ns = clock_boot_ns() - start_ns;
	}
	assert_true(longest_ns < S / 2);
	wait_for(a, "did not answer");
	while (atomic_load(&s.nr_questions) < 2)
		;
	start_ns = clock_boot_ns();
	scx_asker_close(a); /* in the middle of the next question */
	assert_true(clock_boot_ns() - start_ns < S / 2);
	server_stop(&s);
}

static void one_that_dies_and_comes_back_is_found_again(void **state)
{
	struct scx_asker *a;
	struct server s;

	(void)state;
	server_make(&s);
	a = ask(&s);
	wait_for(a, "no scheduler serves statistics");
	s.hangs_up_after = 1;
	server_listen(&s);
	wait_for(a, "\"n\": 1");
	wait_for(a, "cannot talk to the scheduler");
	wait_for(a, "\"n\": 2");
	assert_true(s.nr_connections >= 2);
	scx_asker_close(a);
	server_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_come_in_lines_over_one_connection),
		cmocka_unit_test(nothing_is_asked_until_it_is_wanted),
		cmocka_unit_test(a_silent_scheduler_delays_nothing_else),
		cmocka_unit_test(one_that_dies_and_comes_back_is_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
