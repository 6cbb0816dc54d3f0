#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/write_all.h"

#define MANY (1U << 20) /* more than a pipe holds */

static void *read_all(void *ctx)
{
	static char room[1000];
	size_t *sum = ctx;
	ssize_t n;

	while ((n = read((int)sum[1], room, sizeof(room))) > 0)
		sum[0] += (size_t)n;
	return NULL;
}

static void all_bytes_arrive_though_each_write_takes_only_some(void **state)
{
	static char bytes[MANY];
	pthread_t thread;
	size_t sum[2] = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	sum[1] = (size_t)ends[0];
	assert_int_equal(pthread_create(&thread, NULL, read_all, sum), 0);
	assert_int_equal(write_all(ends[1], bytes, sizeof(bytes)), 0);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	assert_int_equal(sum[0], MANY);
}

static void failures_are_reported(void **state)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(full >= 0);
	assert_int_equal(write_all(full, "x", 1), -ENOSPC);
	assert_int_equal(write_all(full, "", 0), 0);
	close(full);
	assert_int_equal(write_all(-1, "x", 1), -EBADF);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_bytes_arrive_though_each_write_takes_only_some),
		cmocka_unit_test(failures_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
