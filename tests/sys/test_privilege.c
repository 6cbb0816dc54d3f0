/* Every case drops rights in a child, because there is no way back. */
#include "../unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/rights/caps.h"
#include "sys/rights/privilege.h"

#define NOBODY 65534U
#define SECRET "/etc/shadow"

/* What a child found: 0 = all is as it should be, else the line that is not. */
#define CHECK(condition)                 \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int in_child(int (*check)(void *), void *ctx)
{
	int status, found[2], line = -1;
	pid_t pid;

	assert_int_equal(pipe(found), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		line = check(ctx);
		(void)!write(found[1], &line, sizeof(line));
		_exit(0);
	}
	close(found[1]);
	if (read(found[0], &line, sizeof(line)) != (ssize_t)sizeof(line))
		line = -1;
	close(found[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return line;
}

static bool are_ids(uid_t uid, gid_t gid)
{
	uid_t u[3];
	gid_t g[3];

	return getresuid(&u[0], &u[1], &u[2]) == 0 && getresgid(&g[0], &g[1], &g[2]) == 0 &&
	       u[0] == uid && u[1] == uid && u[2] == uid && g[0] == gid && g[1] == gid &&
	       g[2] == gid && getgroups(0, NULL) == 0;
}

static bool has_caps(uint64_t permitted)
{
	struct caps own;

	return caps_get(&own) == 0 && own.permitted == permitted && own.effective == permitted &&
	       own.inheritable == 0;
}

static bool is_bounding_set_empty(void)
{
	for (int cap = 0; cap < 41; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			return false;
	return true;
}

static int load_program(void)
{
	const struct bpf_insn program[] = { { .code = 0xb7 }, { .code = 0x95 } };

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "x", "GPL", program, 2, NULL);
}

static int try_everything(void *ctx)
{
	(void)ctx;
	unsetenv("SUDO_UID");
	CHECK(load_program() >= 0); /* or the rest says nothing */
	CHECK(open(SECRET, O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(are_ids(NOBODY, NOBODY) && has_caps(0) && is_bounding_set_empty());
	CHECK(setresuid(0, 0, 0) != 0 && setuid(0) != 0 && setresgid(0, 0, 0) != 0);
	CHECK(open(SECRET, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
	CHECK(ptrace(PTRACE_SEIZE, getppid(), 0, 0) != 0);
	CHECK(load_program() < 0);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	CHECK(IS_SANITIZED || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	return 0;
}

static void nothing_comes_back(void **state)
{
	(void)state;
	expect_eq(in_child(try_everything, NULL), 0);
}

/* Whether a set-user-id copy of cat can read what only root may, as a child of this process. */
static bool can_read_by(const char *program)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl(program, program, SECRET, NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct program {
	char path[64];
	bool is_plain; /* only another uid, as if that were all */
};

static int exec_it(void *ctx)
{
	const struct program *p = ctx;

	if (p->is_plain)
		CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
		      setresuid(NOBODY, NOBODY, NOBODY) == 0);
	else
		CHECK(privilege_drop(0, NULL) == 0);
	return can_read_by(p->path);
}

static void a_set_user_id_program_gives_nothing_back(void **state)
{
	struct program p = { .path = "/tmp/schedscope-suid-XXXXXX" };
	char copy[160];
	int fd = mkstemp(p.path), plain, dropped;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(copy, sizeof(copy), "cat /bin/cat > %s && chmod 4755 %s", p.path, p.path);
	expect_eq(system(copy), 0);
	p.is_plain = true;
	plain = in_child(exec_it, &p);
	p.is_plain = false;
	dropped = in_child(exec_it, &p);
	unlink(p.path);
	if (plain != 1)
		print_message("# /tmp does not honour set-user-id: nothing is shown\n");
	expect_eq(dropped, 0);
}

static int keep_some(void *ctx)
{
	(void)ctx;
	unsetenv("SUDO_UID");
	CHECK(privilege_drop(CAPS_TRACE, NULL) == 0);
	CHECK(are_ids(NOBODY, NOBODY) && has_caps(CAPS_TRACE) && is_bounding_set_empty());
	CHECK(load_program() >= 0 && open(SECRET, O_RDONLY | O_CLOEXEC) < 0);
	return 0;
}

static void what_is_kept_is_all_that_is_kept(void **state)
{
	(void)state;
	expect_eq(in_child(keep_some, NULL), 0);
}

struct caller {
	const char *uid, *gid;
	unsigned int want_uid, want_gid;
};

static int be_caller(void *ctx)
{
	const struct caller *c = ctx;

	CHECK(c->uid ? setenv("SUDO_UID", c->uid, 1) == 0 : unsetenv("SUDO_UID") == 0);
	CHECK(c->gid ? setenv("SUDO_GID", c->gid, 1) == 0 : unsetenv("SUDO_GID") == 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(are_ids(c->want_uid, c->want_gid));
	return 0;
}

static void the_uid_becomes_that_of_the_caller_of_sudo(void **state)
{
	struct caller callers[] = {
		{ "1234", "1235", 1234, 1235 },   { NULL, NULL, NOBODY, NOBODY },
		{ "0", "0", NOBODY, NOBODY },     { "1234", NULL, NOBODY, NOBODY },
		{ "1234", "0", NOBODY, NOBODY },  { "-1", "100", NOBODY, NOBODY },
		{ "10 ", "100", NOBODY, NOBODY }, { "4294967295", "100", NOBODY, NOBODY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
		expect_eq(in_child(be_caller, &callers[i]), 0);
}

static void *wait_for_ever(void *ctx)
{
	(void)ctx;
	pause();
	return NULL;
}

static int with_a_thread(void *ctx)
{
	struct diag d = { 0 };
	pthread_t thread;

	(void)ctx;
	CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
	CHECK(privilege_drop(0, &d) == -EBUSY && strstr(d.what, "privileges"));
	CHECK(geteuid() == 0);
	return 0;
}

static void a_thread_that_would_keep_its_rights_is_refused(void **state)
{
	(void)state;
	expect_eq(in_child(with_a_thread, NULL), 0);
}

/* As a program with capabilities of its file, started by an ordinary user. */
static int lend_caps(void *ctx)
{
	uint64_t lent = CAPS_TRACE | CAPS_BIT(CAP_DAC_READ_SEARCH) | CAPS_BIT(CAP_SYS_PTRACE);
	struct caps own;

	(void)ctx;
	CHECK(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0);
	CHECK(setresgid(1234, 1234, 1234) == 0 && setresuid(1234, 1234, 1234) == 0);
	CHECK(caps_drop_to(lent) == 0 && privilege_show(lent) == 0);
	CHECK(open(SECRET, O_RDONLY | O_CLOEXEC) >= 0);

	CHECK(privilege_hide() == 0 && caps_get(&own) == 0);
	CHECK(own.effective == CAPS_TRACE && own.permitted == lent);
	CHECK(open(SECRET, O_RDONLY | O_CLOEXEC) < 0 && load_program() >= 0);
	CHECK(privilege_show(lent) == 0 && open(SECRET, O_RDONLY | O_CLOEXEC) >= 0);

	CHECK(privilege_hide() == 0 && privilege_drop(0, NULL) == 0);
	CHECK(getuid() == 1234 && has_caps(0) && privilege_show(lent) == 0 && has_caps(0));
	CHECK(open(SECRET, O_RDONLY | O_CLOEXEC) < 0 && load_program() < 0);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

static void capabilities_that_were_lent_do_not_open_files(void **state)
{
	(void)state;
	expect_eq(in_child(lend_caps, NULL), 0);
}

/* As a set-user-id program of root's. */
static int lend_uid(void *ctx)
{
	(void)ctx;
	CHECK(setresgid(1234, 0, 0) == 0 && setresuid(1234, 0, 0) == 0);
	CHECK(open(SECRET, O_RDONLY | O_CLOEXEC) >= 0);
	CHECK(privilege_hide() == 0);
	CHECK(geteuid() == 1234 && getegid() == 1234 && open(SECRET, O_RDONLY | O_CLOEXEC) < 0);
	CHECK(load_program() >= 0);
	CHECK(privilege_drop(0, NULL) == 0 && has_caps(0));
	CHECK(setresuid(0, 0, 0) != 0 && setresgid(0, 0, 0) != 0 && getuid() == 1234);
	return 0;
}

static void a_set_user_id_bit_does_not_open_files(void **state)
{
	(void)state;
	expect_eq(in_child(lend_uid, NULL), 0);
}

static int have_none(void *ctx)
{
	(void)ctx;
	CHECK(setresgid(1234, 1234, 1234) == 0 && setresuid(1234, 1234, 1234) == 0);
	CHECK(privilege_hide() == 0 && privilege_drop(0, NULL) == 0);
	CHECK(getuid() == 1234 && has_caps(0));
	return 0;
}

static void without_rights_there_is_nothing_to_drop(void **state)
{
	(void)state;
	expect_eq(in_child(have_none, NULL), 0);
}

/* Root of a container that was left without the right to become another user. */
static int bound_root(void *ctx)
{
	(void)ctx;
	CHECK(caps_drop_to(CAPS_TRACE) == 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(getuid() == 0 && has_caps(0) && load_program() < 0);
	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	return 0;
}

static void root_that_cannot_become_another_has_no_capability_left(void **state)
{
	(void)state;
	expect_eq(in_child(bound_root, NULL), 0);
}

/* The kernel forgets it when credentials change; a recorder would go on without its screen. */
static int keep_signal(void *ctx)
{
	int sig = 0;

	(void)ctx;
	CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0) == 0 && sig == SIGTERM);
	return 0;
}

static void the_signal_for_the_death_of_the_parent_stays(void **state)
{
	(void)state;
	expect_eq(in_child(keep_signal, NULL), 0);
}

/* In a namespace of its own, so that nothing else sees this /proc. */
static int hide_processes(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) ||
	       mount("proc", "/proc", "proc", 0, "hidepid=2");
}

static int drop_where_hidden(void *ctx)
{
	const bool *is_seeing = ctx;
	char other[32];

	snprintf(other, sizeof(other), "/proc/%d/stat", (int)getppid());
	CHECK(hide_processes() == 0 && access(other, R_OK) == 0);
	CHECK((*is_seeing ? privilege_drop_but_seeing(NULL) : privilege_drop(0, NULL)) == 0);
	CHECK(has_caps(0) && (access(other, R_OK) == 0) == *is_seeing);
	return 0;
}

static void hidden_processes_are_seen_without_rights(void **state)
{
	bool is_seeing = false;

	(void)state;
	expect_eq(in_child(drop_where_hidden, &is_seeing), 0);
	is_seeing = true;
	expect_eq(in_child(drop_where_hidden, &is_seeing), 0);
}

#define ROOT_TEST(f) unit_test_if(geteuid() == 0, f, "needs root")

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(nothing_comes_back),
		ROOT_TEST(a_set_user_id_program_gives_nothing_back),
		ROOT_TEST(what_is_kept_is_all_that_is_kept),
		ROOT_TEST(the_uid_becomes_that_of_the_caller_of_sudo),
		ROOT_TEST(a_thread_that_would_keep_its_rights_is_refused),
		ROOT_TEST(capabilities_that_were_lent_do_not_open_files),
		ROOT_TEST(a_set_user_id_bit_does_not_open_files),
		ROOT_TEST(without_rights_there_is_nothing_to_drop),
		ROOT_TEST(the_signal_for_the_death_of_the_parent_stays),
		ROOT_TEST(root_that_cannot_become_another_has_no_capability_left),
		ROOT_TEST(hidden_processes_are_seen_without_rights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
