#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/rights/sandbox_msg.h"

struct pair {
	struct sandbox_wire a, b;
};

static struct pair make(void)
{
	int fds[2];

	expect_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	return (struct pair){ { .fd = fds[0] }, { .fd = fds[1] } };
}

static void done(const struct pair *p)
{
	close(p->a.fd);
	close(p->b.fd);
}

static void what_is_put_is_got(void **state)
{
	struct sandbox_msg m = { .kind = 7 }, got = { 0 };
	struct pair p = make();
	size_t len;

	(void)state;
	sandbox_put_u64(&m, UINT64_MAX);
	sandbox_put_text(&m, "text");
	sandbox_put_text(&m, NULL);
	sandbox_put_text(&m, "");
	sandbox_put_bytes(&m, "\0\1", 2);
	expect_eq(sandbox_msg_send(&p.a, &m), 0);
	expect_eq(sandbox_msg_receive(&p.b, 1000, &got), 0);
	expect_eq(got.kind, 7);
	expect_eq(sandbox_get_u64(&got), UINT64_MAX);
	assert_string_equal(sandbox_get_text(&got), "text");
	assert_null(sandbox_get_text(&got));
	assert_string_equal(sandbox_get_text(&got), "");
	assert_memory_equal(sandbox_get_bytes(&got, &len), "\0\1", 2);
	expect_eq(len, 2);
	expect_eq(got.error, 0);
	expect_eq(sandbox_get_u64(&got), 0);
	expect_eq(got.error, -EBADMSG);
	sandbox_msg_done(&m);
	sandbox_msg_done(&got);
	done(&p);
}

static void lengths_beyond_the_end_are_refused(void **state)
{
	struct sandbox_msg m = { 0 };
	size_t len;

	(void)state;
	sandbox_put_u64(&m, UINT64_MAX); /* as a length */
	assert_null(sandbox_get_bytes(&m, &len));
	expect_eq(m.error, -EBADMSG);
	expect_eq(len, 0);
	sandbox_msg_begin(&m, 0);
	sandbox_put_u64(&m, 9);
	sandbox_put_u64(&m, 0);
	assert_null(sandbox_get_text(&m));
	expect_eq(m.error, -EBADMSG);
	sandbox_msg_done(&m);
}

static void a_text_without_an_end_is_refused(void **state)
{
	struct sandbox_msg m = { 0 };

	(void)state;
	sandbox_put_bytes(&m, "abc", 3);
	assert_null(sandbox_get_text(&m));
	expect_eq(m.error, -EBADMSG);
	assert_null(sandbox_get_text(&m)); /* it sticks */
	sandbox_msg_done(&m);
}

static void a_message_that_is_too_long_is_refused_before_it_is_read(void **state)
{
	const uint32_t head[4] = { 0x53637053U, 1, 0, 0x7fffffff }; /* nine exabytes */
	struct sandbox_msg m = { 0 };
	struct pair p = make();

	(void)state;
	expect_eq(write(p.a.fd, head, sizeof(head)), sizeof(head));
	expect_eq(sandbox_msg_receive(&p.b, 1 << 20, &m), -EMSGSIZE);
	expect_eq(m.room, 0);
	sandbox_msg_done(&m);
	done(&p);
}

static void a_stream_that_ends_is_an_end(void **state)
{
	struct sandbox_msg m = { 0 };
	struct pair p = make();

	(void)state;
	expect_eq(write(p.a.fd, "x", 1), 1);
	close(p.a.fd);
	expect_eq(sandbox_msg_receive(&p.b, 100, &m), -EPIPE);
	sandbox_msg_done(&m);
	close(p.b.fd);
}

static void descriptors_travel_and_are_closed_if_they_are_not_taken(void **state)
{
	struct sandbox_msg m = { 0 }, got = { 0 };
	struct pair p = make();
	struct stat st, again;
	int fd, left;

	(void)state;
	expect_eq(fstat(STDOUT_FILENO, &st), 0);
	sandbox_put_fd(&m, STDOUT_FILENO);
	sandbox_put_fd(&m, STDOUT_FILENO);
	expect_eq(sandbox_msg_send(&p.a, &m), 0);
	expect_eq(sandbox_msg_receive(&p.b, 100, &got), 0);
	expect_eq(got.nr_fds, 2);
	fd = sandbox_take_fd(&got, 0);
	expect_eq(fstat(fd, &again), 0);
	expect_eq(again.st_ino, st.st_ino);
	close(fd);
	expect_eq(sandbox_take_fd(&got, 0), -1);
	expect_eq(sandbox_take_fd(&got, 2), -1);
	left = got.fds[1];
	sandbox_msg_done(&got);
	expect_eq(fcntl(left, F_GETFD), -1);
	sandbox_put_fd(&m, STDOUT_FILENO); /* one too many */
	assert_true(m.error != 0);
	sandbox_msg_done(&m);
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_got),
		cmocka_unit_test(lengths_beyond_the_end_are_refused),
		cmocka_unit_test(a_text_without_an_end_is_refused),
		cmocka_unit_test(a_message_that_is_too_long_is_refused_before_it_is_read),
		cmocka_unit_test(a_stream_that_ends_is_an_end),
		cmocka_unit_test(descriptors_travel_and_are_closed_if_they_are_not_taken),
	};

	return cmocka_run_group_tests_name("sandbox_msg", tests, NULL, NULL);
}
