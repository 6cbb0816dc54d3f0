#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/new_file.h"

#define ATTACKS 3000

/* A directory with a file "secret" that nothing may touch, and paths in it. */
struct room {
	char dir[64];
	char paths[4][128];
	int next;
};

static const char *at(struct room *r, const char *name)
{
	char *path = r->paths[r->next++ % 4];

	(void)snprintf(path, sizeof(r->paths[0]), "%s/%s", r->dir, name);
	return path;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	expect_eq(fputs(text, f) >= 0, 1);
	expect_eq(fclose(f), 0);
}

static void expect_text(const char *path, const char *text)
{
	char buf[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	assert_true(fd >= 0);
	assert_true(read(fd, buf, sizeof(buf) - 1) >= 0);
	close(fd);
	assert_string_equal(buf, text);
}

static int setup(void **state)
{
	struct room *r = calloc(1, sizeof(*r));

	if (!r)
		return -1;
	(void)snprintf(r->dir, sizeof(r->dir), "/tmp/schedscope-new-XXXXXX");
	if (!mkdtemp(r->dir))
		return -1;
	put(at(r, "secret"), "secret");
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct room *r = *state;
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", r->dir);
	(void)!system(command); /* NOLINT(cert-env33-c): a name of our own */
	free(r);
	return 0;
}

static int fill(const char *path, bool is_real, struct diag *d)
{
	int fd = new_file_open(path, is_real, d);

	if (fd < 0)
		return fd;
	expect_eq(write(fd, "new", 3), 3);
	close(fd);
	return 0;
}

static void only_the_owner_can_read_it(void **state)
{
	struct room *r = *state;
	const char *path = at(r, "trace");
	mode_t mask = umask(0);
	struct diag d = { 0 };
	struct stat st;

	expect_eq(fill(path, false, &d), 0);
	umask(mask);
	expect_text(path, "new");
	expect_eq(stat(path, &st), 0);
	expect_eq(st.st_mode & 07777, 0600);
}

static void an_old_file_is_replaced_not_written_to(void **state)
{
	struct room *r = *state;
	const char *path = at(r, "trace"), *other = at(r, "other");
	struct diag d = { 0 };
	struct stat st;

	put(path, "old");
	expect_eq(chmod(path, 0644), 0);
	expect_eq(link(path, other), 0);
	expect_eq(fill(path, false, &d), 0);
	expect_text(path, "new");
	expect_text(other, "old");
	expect_eq(stat(path, &st), 0);
	expect_eq(st.st_mode & 07777, 0600);
}

static void nothing_is_written_through_a_link(void **state)
{
	struct room *r = *state;
	const char *path = at(r, "trace"), *secret = at(r, "secret");
	struct diag d = { 0 };

	expect_eq(symlink(secret, path), 0);
	expect_eq(fill(path, false, &d), -ELOOP);
	assert_non_null(strstr(d.what, "is a link"));
	expect_text(secret, "secret");
}

/* Does one step of an attack again and again beside us; the process, to be ended. */
static pid_t attack(void (*step)(struct room *r), struct room *r)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			step(r);
	return pid;
}

static void end_attack(pid_t pid)
{
	expect_eq(kill(pid, SIGKILL), 0);
	expect_eq(waitpid(pid, NULL, 0), pid);
}

static void put_link(struct room *r)
{
	(void)!symlink(at(r, "secret"), at(r, "trace"));
}

/* The attack: the link comes after the path was looked at. */
static void a_link_put_there_meanwhile_is_replaced(void **state)
{
	struct room *r = *state;
	const char *path = at(r, "trace"), *secret = at(r, "secret");
	pid_t pid = attack(put_link, r);
	int nr_made = 0;

	for (int i = 0; i < ATTACKS; i++) {
		int err = fill(path, false, &(struct diag){ 0 });

		assert_true(!err || err == -ELOOP);
		nr_made += !err;
		(void)unlink(path);
	}
	end_attack(pid);
	assert_true(nr_made > 0);
	expect_text(secret, "secret");
}

/* The attack: a directory of the path becomes a link to another place. */
static void a_directory_that_became_a_link_is_refused(void **state)
{
	struct room *r = *state;
	const char *dir = at(r, "dir"), *moved = at(r, "moved"), *path = at(r, "dir/secret");
	struct diag d = { 0 };

	expect_eq(mkdir(dir, 0700), 0);
	expect_eq(rename(dir, moved), 0);
	expect_eq(symlink(r->dir, dir), 0);
	expect_eq(fill(path, true, &d), -ELOOP);
	expect_text(at(r, "secret"), "secret");
	/* Where links are allowed, it is another directory, and its file is replaced as a whole. */
	expect_eq(fill(path, false, &d), 0);
	expect_text(at(r, "secret"), "new");
}

static void swap_dir(struct room *r)
{
	(void)!renameat2(AT_FDCWD, at(r, "dir"), AT_FDCWD, at(r, "link"), RENAME_EXCHANGE);
}

/* The attack: the same, between two looks at it. */
static void a_directory_swapped_meanwhile_changes_nothing(void **state)
{
	struct room *r = *state;
	const char *path = at(r, "dir/secret");
	int nr_made = 0;
	pid_t pid;

	expect_eq(mkdir(at(r, "dir"), 0700), 0);
	expect_eq(symlink(r->dir, at(r, "link")), 0);
	pid = attack(swap_dir, r);
	for (int i = 0; i < ATTACKS; i++) {
		int err = fill(path, true, &(struct diag){ 0 });

		assert_true(!err || err == -ELOOP);
		nr_made += !err;
	}
	end_attack(pid);
	assert_true(nr_made > 0);
	expect_text(at(r, "secret"), "secret");
}

static void descriptors_and_devices_are_written_to(void **state)
{
	struct room *r = *state;
	struct diag d = { 0 };
	char path[32];
	int fd = open(at(r, "trace"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	expect_eq(fill(path, false, &d), 0);
	expect_text(at(r, "trace"), "new");
	close(fd);
	expect_eq(new_file_open(path, false, &d), -EBADF);
	expect_eq(fill("/dev/null", false, &d), 0);
	expect_eq(fill("/dev/null", true, &(struct diag){ 0 }), -EEXIST);
}

/* The reader of the pipe would read what all users run. */
static void a_pipe_of_another_user_is_refused(void **state)
{
	struct room *r = *state;
	const char *path = at(r, "pipe");
	struct diag d = { 0 };
	int fd;

	expect_eq(mkfifo(path, 0666), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	expect_eq(fill(path, false, &d), 0);
	expect_eq(chown(path, 65534, 65534), 0);
	expect_eq(fill(path, false, &d), -EPERM);
	close(fd);
}

static void what_cannot_be_a_file_is_reported(void **state)
{
	struct room *r = *state;
	struct diag d = { 0 };

	expect_eq(new_file_open("/nonexistent/x", false, &d), -ENOENT);
	assert_non_null(strstr(d.what, "/nonexistent/x"));
	expect_eq(new_file_open(r->dir, false, &(struct diag){ 0 }), -EISDIR);
	expect_eq(new_file_open(at(r, ""), false, &(struct diag){ 0 }), -EISDIR);
	expect_eq(new_file_open(at(r, ".."), false, &(struct diag){ 0 }), -EISDIR);
}

#define test(f)    cmocka_unit_test_setup_teardown(f, setup, teardown)
#define skipped(f) unit_test_if(false, f, "only root can give a pipe away")

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(only_the_owner_can_read_it),
		test(an_old_file_is_replaced_not_written_to),
		test(nothing_is_written_through_a_link),
		test(a_link_put_there_meanwhile_is_replaced),
		test(a_directory_that_became_a_link_is_refused),
		test(a_directory_swapped_meanwhile_changes_nothing),
		test(descriptors_and_devices_are_written_to),
		geteuid() == 0 ? (struct CMUnitTest)test(a_pipe_of_another_user_is_refused)
			       : (struct CMUnitTest)skipped(a_pipe_of_another_user_is_refused),
		test(what_cannot_be_a_file_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
