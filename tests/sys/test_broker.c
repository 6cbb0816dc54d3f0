/* The broker belongs to its process: every case has a child of its own. */
#include "../unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"
#include "sys/rights/broker_dirs.h"
#include "sys/rights/caps.h"
#include "sys/rights/privilege.h"

/* What a child found: 0 = all is as it should be, else the line that is not. */
#define CHECK(condition)                 \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int in_child(int (*check)(void))
{
	int found[2], line = -1;
	pid_t pid;

	assert_int_equal(pipe2(found, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		unsetenv("SUDO_UID");
		line = check();
		(void)!write(found[1], &line, sizeof(line));
		_exit(0);
	}
	close(found[1]);
	if (read(found[0], &line, sizeof(line)) != (ssize_t)sizeof(line))
		line = -1;
	close(found[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return line;
}

static int begin(uint32_t ops)
{
	int err = broker_start(ops, NULL);

	return err ? err : privilege_drop(0, NULL);
}

/* A path below /proc of our parent, which is root's. */
static const char *of_root(const char *what)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), what);
	return path;
}

static bool is_given(const char *path)
{
	SCOPED(scoped_close) int fd = broker_fetch(path);
	char byte;

	return fd >= 0 && read(fd, &byte, 1) == 1;
}

static int read_others(void)
{
	char *text = NULL;

	CHECK(begin(BROKER_BIT(BROKER_OPEN)) == 0);
	CHECK(open(of_root("maps"), O_RDONLY | O_CLOEXEC) < 0);
	CHECK(is_given(of_root("maps")) && is_given(of_root("io")) && is_given("/proc/kallsyms"));
	CHECK(is_given(of_root("root/bin/sh")) && is_given(of_root("root//bin/sh")));
	CHECK(broker_read(of_root("io"), 4096, &text) == 0 && strstr(text, "rchar"));
	free(text);
	return 0;
}

static void files_of_other_users_processes_are_opened(void **state)
{
	(void)state;
	expect_eq(in_child(read_others), 0);
}

static int read_secrets(void)
{
	static const char *const secret[] = {
		"mem",
		"environ",
		"root/etc/shadow",
		"root/../../etc/shadow",
		"root",
		"root/",
		"root/dev/mem",
		"cwd/etc/shadow",
		"fd/0",
		"map_files/../mem",
		"map_files/",
		"task/1/mem",
		"maps/",
		"",
	};
	static const char *const elsewhere[] = {
		"/etc/shadow",
		"/proc/self/maps",
		"/proc/1",
		"/proc//maps",
		"proc/1/maps",
		"",
		"/proc/1x/maps",
		"/proc/-1/maps",
		"/tmp/perf-.map",
		"/proc/kcore",
		"/dev/mem",
		"/sys/kernel/tracing/../../../etc/shadow",
		"/sys/kernel/tracing/events/../../x/id",
		"/sys/kernel/tracing/trace_pipe",
		"/sys/class/powercap/../energy_uj",
		"/sys/class/powercap/x/y/energy_uj",
		"/dev/kmsg/",
		"/tmp/perf-1.mapx",
		"/tmp/perf-1/../x.map",
		"/proc/kallsyms/..",
	};

	CHECK(begin(BROKER_BIT(BROKER_OPEN)) == 0);
	for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		CHECK(!is_given(of_root(secret[i])));
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		CHECK(!is_given(elsewhere[i]));
	return 0;
}

static void nothing_else_is_opened(void **state)
{
	(void)state;
	expect_eq(in_child(read_secrets), 0);
}

static int follow_links(void)
{
	CHECK(begin(BROKER_BIT(BROKER_OPEN)) == 0);
	CHECK(is_given("/tmp/perf-4194301.map") && is_given(of_root("root/tmp/perf-4194301.map")));
	CHECK(!is_given("/tmp/perf-4194302.map") &&
	      !is_given(of_root("root/tmp/perf-4194302.map")));
	CHECK(!is_given("/tmp/perf-4194303.map") &&
	      !is_given(of_root("root/tmp/perf-4194303.map")));
	return 0;
}

static void a_link_called_like_a_map_of_a_jit_is_not_followed(void **state)
{
	FILE *map = fopen("/tmp/perf-4194301.map", "we");
	int found, linked;

	(void)state;
	assert_non_null(map);
	fputs("1000 10 code\n", map);
	fclose(map);
	expect_eq(chmod("/tmp/perf-4194301.map", 0600), 0);
	expect_eq(symlink("/etc/shadow", "/tmp/perf-4194302.map"), 0);
	linked = link("/etc/shadow", "/tmp/perf-4194303.map"); /* fails across file systems */
	found = in_child(follow_links);
	unlink("/tmp/perf-4194301.map");
	unlink("/tmp/perf-4194302.map");
	if (linked == 0)
		unlink("/tmp/perf-4194303.map");
	expect_eq(found, 0);
}

static int ask_for_more(void)
{
	struct broker_slot slot;
	int dir = open("/tmp", O_PATH | O_CLOEXEC);

	CHECK(broker_start(BROKER_BIT(BROKER_BPF_STATS), NULL) == 0);
	CHECK(broker_slot_init(&slot, dir, "") == -EACCES);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(broker_fetch(of_root("maps")) == -EACCES);
	CHECK(broker_schedstat(true) == -EACCES && broker_cgroup(dir, 1) == -EACCES);
	CHECK(broker_bpf_stats() >= 0);
	return 0;
}

static void only_what_was_agreed_on_is_done(void **state)
{
	(void)state;
	expect_eq(in_child(ask_for_more), 0);
}

static int open_event(uint64_t config)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = config, .disabled = 1
	};

	return broker_perf(&attr, 0, -1);
}

/* Where every user may count on whole CPUs, no broker is needed. */
static bool is_perf_for_all(void)
{
	char text[16] = "";
	SCOPED(scoped_close)
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && atoi(text) < 1;
}

static int open_events_of_perf(void)
{
	CHECK(broker_start(BROKER_PERF_EVENTS, NULL) == 0);
	CHECK(open_event(PERF_COUNT_SW_CPU_CLOCK) >= 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(open_event(PERF_COUNT_SW_CPU_CLOCK) >= 0);
	CHECK(is_perf_for_all() || open_event(PERF_COUNT_SW_PAGE_FAULTS) == -EACCES);
	return 0;
}

static void only_events_that_were_open_before_are_opened_again(void **state)
{
	(void)state;
	expect_eq(in_child(open_events_of_perf), 0);
}

static int list_programs(void)
{
	const struct bpf_insn program[] = { { .code = 0xb7 }, { .code = 0x95 } };
	int own = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "x", "GPL", program, 2, NULL);
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "x", 4, 4, 1, NULL), fd;
	struct bpf_prog_info prog_info = { 0 };
	struct bpf_map_info map_info = { 0 };
	uint32_t id = 0, key = 0, value = 1, len = sizeof(prog_info);
	bool is_found = false;

	CHECK(own >= 0 && map >= 0 && bpf_obj_get_info_by_fd(own, &prog_info, &len) == 0);
	len = sizeof(map_info);
	CHECK(bpf_obj_get_info_by_fd(map, &map_info, &len) == 0);
	CHECK(begin(BROKER_BIT(BROKER_BPF_NEXT) | BROKER_BIT(BROKER_BPF_OPEN)) == 0);
	CHECK(bpf_prog_get_next_id(0, &id) == -EPERM);
	for (id = 0; broker_bpf_next(BROKER_BPF_PROG, id, &id) == 0;)
		is_found |= id == prog_info.id;
	CHECK(is_found && broker_bpf_open(BROKER_BPF_PROG, prog_info.id) >= 0);
	fd = broker_bpf_open(BROKER_BPF_MAP, map_info.id);
	CHECK(fd >= 0 && bpf_map_lookup_elem(fd, &key, &value) == 0);
	CHECK(bpf_map_update_elem(fd, &key, &value, BPF_ANY) != 0); /* for reading only */
	CHECK(broker_bpf_open(BROKER_BPF_CODE + 1, 1) == -EACCES);
	CHECK(broker_bpf_next(BROKER_BPF_BTF + 1, 0, &id) == -EACCES);
	return 0;
}

static void programs_of_the_kernel_can_be_read(void **state)
{
	(void)state;
	expect_eq(in_child(list_programs), 0);
}

static char socket_path[64];

static int talk(void)
{
	CHECK(broker_start(BROKER_BIT(BROKER_SOCKET) | BROKER_BIT(BROKER_CONNECT), NULL) == 0);
	CHECK(broker_allow_socket(socket_path) == 0);
	CHECK(broker_allow_socket("/run/other") == -EACCES);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(broker_allow_socket("/run/other") == -EACCES);
	CHECK(broker_connect("/run/other") == -EACCES && broker_connect("") == -EACCES);
	CHECK(broker_connect(socket_path) >= 0);
	return 0;
}

static void only_the_socket_that_was_named_is_connected_to(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), found;

	(void)state;
	snprintf(socket_path, sizeof(socket_path), "/tmp/schedscope-socket-%d", (int)getpid());
	memcpy(address.sun_path, socket_path, strlen(socket_path) + 1);
	expect_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_eq(chmod(socket_path, 0600), 0);
	expect_eq(listen(fd, 1), 0);
	found = in_child(talk);
	close(fd);
	unlink(socket_path);
	expect_eq(found, 0);
}

static char folder[] = "/tmp/schedscope-broker-XXXXXX";
static char secret[64], other_secret[64], link_to_secret[64];

static void write_secret(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	expect_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static bool has_text(int fd, const char *text)
{
	char got[16] = "";

	return fd >= 0 && read(fd, got, sizeof(got) - 1) > 0 && strcmp(got, text) == 0;
}

/* A file by its path, whichever is there at the time; none but those that were named, and nothing that is no ordinary file. */
static int read_again(void)
{
	CHECK(broker_start(BROKER_BIT(BROKER_FILE) | BROKER_BIT(BROKER_FILE_OPEN), NULL) == 0);
	CHECK(broker_allow_file(secret) == 0);
	CHECK(broker_allow_file(link_to_secret) == 0);
	CHECK(broker_allow_file(other_secret) == -EACCES);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(broker_allow_file(other_secret) == -EACCES);
	CHECK(open(secret, O_RDONLY | O_CLOEXEC) < 0);
	CHECK(has_text(broker_file_open(secret), "first"));
	CHECK(has_text(broker_file_open(link_to_secret), "first"));
	CHECK(broker_file_open(other_secret) == -EACCES && broker_file_open("") == -ENOENT);
	return 0;
}

static void only_files_that_were_named_are_read_again(void **state)
{
	(void)state;
	snprintf(secret, sizeof(secret), "/tmp/schedscope-secret-%d", (int)getpid());
	snprintf(other_secret, sizeof(other_secret), "/tmp/schedscope-other-%d", (int)getpid());
	snprintf(link_to_secret, sizeof(link_to_secret), "/tmp/schedscope-link-%d", (int)getpid());
	write_secret(secret, "first");
	write_secret(other_secret, "other");
	expect_eq(symlink(secret, link_to_secret), 0);
	expect_eq(in_child(read_again), 0);
	unlink(link_to_secret);
	unlink(secret);
	unlink(other_secret);
}

static int write_files(void)
{
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct broker_slot named, any, late;

	CHECK(dir >= 0 && broker_start(BROKER_OUTPUT, NULL) == 0);
	CHECK(broker_slot_init(&named, dir, "a/b") == -EACCES);
	CHECK(broker_slot_init(&named, dir, "report") == 0);
	CHECK(broker_slot_init(&any, dir, "") == 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(openat(dir, "x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);

	CHECK(broker_remove(&any) == -EACCES && broker_rename(&named) == -EACCES);
	CHECK(broker_create(&named, "other", 0600) == -EACCES);
	CHECK(broker_create(&named, "report", 0600) == -EACCES);
	CHECK(broker_create(&any, "../x", 0600) == -EACCES);
	CHECK(broker_create(&any, "..", 0600) == -EACCES);
	CHECK(broker_create(&any, "", 0600) == -EACCES);
	CHECK(broker_create(&any, "old", 0600) == -EEXIST);
	CHECK(broker_slot_init(&late, dir, "") == -EACCES);

	fd = broker_create(&named, "report.1", 0640);
	CHECK(fd >= 0 && write(fd, "new", 3) == 3 && broker_rename(&named) == 0);
	CHECK(broker_rename(&named) == -EACCES && broker_remove(&named) == -EACCES);
	CHECK(broker_create(&any, "dump", 0600) >= 0 && broker_create(&any, "gone", 0600) >= 0);
	CHECK(broker_rename(&any) == -EACCES && broker_remove(&any) == 0);
	return 0;
}

/* The mode of a file in the folder; 0 = there is none. */
static unsigned int mode_of(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void files_are_made_only_where_the_user_wanted_them(void **state)
{
	char command[128];
	int found;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command), "echo old > %s/old; echo old > %s/report", folder,
	         folder);
	expect_eq(system(command), 0);
	found = in_child(write_files);
	expect_eq(mode_of("report"), 0640);
	expect_eq(mode_of("dump"), 0600);
	expect_eq(mode_of("gone"), 0);
	expect_eq(mode_of("report.1"), 0);
	assert_true(mode_of("old") != 0);
	snprintf(command, sizeof(command), "grep -q new %s/report && rm -r %s", folder, folder);
	expect_eq(system(command), 0);
	expect_eq(found, 0);
}

/* Without a broker the same calls do it here. */
static int write_alone(void)
{
	int dir = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct broker_slot slot;

	CHECK(setresuid(1234, 1234, 1234) == 0 && broker_start(BROKER_OUTPUT, NULL) == 0);
	CHECK(broker_slot_init(&slot, dir, "schedscope-alone") == 0 && broker_seal() == 0);
	CHECK(broker_create(&slot, "schedscope-alone.1", 0600) >= 0);
	CHECK(broker_create(&slot, "schedscope-alone.1", 0600) == -EEXIST);
	CHECK(broker_remove(&slot) == 0 && broker_remove(&slot) == -EACCES);
	CHECK(broker_fetch(of_root("maps")) == -EACCES && broker_open(of_root("maps")) == -EACCES);
	CHECK(broker_open("/proc/self/maps") >= 0 && broker_bpf_stats() == -EPERM);
	return 0;
}

static void without_rights_there_is_no_broker(void **state)
{
	(void)state;
	expect_eq(in_child(write_alone), 0);
}

static int be_killed(void)
{
	CHECK(begin(BROKER_BIT(BROKER_OPEN)) == 0 && is_given(of_root("maps")));
	raise(SIGKILL);
	return 0;
}

static void it_ends_with_its_client(void **state)
{
	(void)state;
	expect_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	expect_eq(in_child(be_killed), -1);
	assert_true(waitpid(-1, NULL, 0) > 0); /* the broker, which is ours now */
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	expect_eq(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

/* A directory of root's, with a file, and a link that leads out. */
static struct {
	char path[32], old[64], new[64], link[64];
} room;

static int make_room(void)
{
	int fd;

	strcpy(room.path, "/tmp/broker-dirs-XXXXXX");
	CHECK(mkdtemp(room.path));
	(void)snprintf(room.old, sizeof(room.old), "%s/old", room.path);
	(void)snprintf(room.new, sizeof(room.new), "%s/new", room.path);
	(void)snprintf(room.link, sizeof(room.link), "%s/link", room.path);
	fd = open(room.old, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, "old", 3) == 3 && close(fd) == 0);
	CHECK(symlink("/etc/shadow", room.link) == 0);
	return 0;
}

static void remove_room(void)
{
	unlink(room.old);
	unlink(room.link);
	expect_eq(rmdir(room.path), 0); /* nothing else was left */
}

static int begin_with_room(uint32_t ops, struct broker_dirs *dirs)
{
	CHECK(broker_start(ops, NULL) == 0 && broker_dirs_add(dirs, room.path) == 0);
	CHECK(privilege_drop(0, NULL) == 0);
	CHECK(dirs->is_lent && open(room.old, O_RDONLY | O_CLOEXEC) < 0);
	return 0;
}

static int read_below(void)
{
	struct broker_dirs dirs = { 0 };
	int pathless = open("/etc/shadow", O_PATH | O_CLOEXEC), fd, again;

	CHECK(pathless >= 0 && begin_with_room(BROKER_DIRS, &dirs) == 0);
	CHECK(broker_dirs_add(&dirs, "/etc") == -EACCES); /* it is too late */
	CHECK(broker_dirs_open(&dirs, "/etc/shadow") == -EXDEV);
	CHECK(broker_dirs_open(&dirs, "/etc/nothing") == -EXDEV);
	CHECK(broker_dirs_open(&dirs, room.link) == -EXDEV);
	CHECK(broker_dirs_open(&dirs, room.path) == -EXDEV);
	CHECK(broker_dirs_open(&dirs, room.new) == -ENOENT);
	CHECK(broker_dirs_again(&dirs, pathless) == -EACCES);
	fd = broker_dirs_open(&dirs, room.old);
	CHECK(fd >= 0 && broker_dirs_remove(&dirs, fd) == -EACCES); /* it was not made */
	again = broker_dirs_again(&dirs, fd);
	CHECK(again >= 0 && close(again) == 0 && close(fd) == 0);
	broker_dirs_done(&dirs);
	return 0;
}

static int write_below(void)
{
	struct broker_dirs dirs = { 0 };
	char *real = NULL;
	int fd;

	CHECK(begin_with_room(BROKER_DIRS, &dirs) == 0);
	CHECK(broker_dirs_place(&dirs, "/etc/new", &real) == -EXDEV);
	CHECK(broker_dirs_place(&dirs, room.link, &real) == -EEXIST);
	CHECK(broker_dirs_create(&dirs, room.old, false) == -EEXIST);
	CHECK(broker_dirs_create(&dirs, "/etc/new", false) == -EXDEV);
	CHECK(broker_dirs_place(&dirs, room.new, &real) == 0 && strcmp(real, room.new) == 0);
	free(real);
	fd = broker_dirs_create(&dirs, room.new, false);
	CHECK(fd >= 0 && broker_dirs_keep(&dirs, fd, room.old) == -EACCES); /* it has its name */
	CHECK(broker_dirs_remove(&dirs, fd) == 0 && close(fd) == 0);
	fd = broker_dirs_create(&dirs, room.old, true);
	CHECK(fd >= 0 && broker_dirs_keep(&dirs, fd, "/tmp/elsewhere") == -EACCES);
	CHECK(broker_dirs_keep(&dirs, fd, room.link) == -EEXIST);
	CHECK(broker_dirs_keep(&dirs, fd, room.old) == 0 && close(fd) == 0);
	broker_dirs_done(&dirs);
	return 0;
}

/* Folders and files that others may read, by a client that may read none. */
static int make_below(void)
{
	struct broker_dirs dirs = { 0 };
	char below[64], file[96];
	struct stat st;
	int fd;

	(void)snprintf(below, sizeof(below), "%s/folder", room.path);
	(void)snprintf(file, sizeof(file), "%s/file", below);
	(void)umask(022);
	CHECK(begin_with_room(BROKER_DIRS_WRITE, &dirs) == 0);
	CHECK(broker_dirs_open(&dirs, room.old) == -EACCES);
	CHECK(broker_dirs_make(&dirs, "/etc/folder") == -EXDEV);
	CHECK(broker_dirs_make(&dirs, file) == -ENOENT); /* one at a time */
	CHECK(broker_dirs_make(&dirs, room.old) == -EEXIST);
	CHECK(broker_dirs_make(&dirs, room.link) == -EEXIST);
	CHECK(broker_dirs_make(&dirs, below) == 0 && broker_dirs_make(&dirs, below) == 0);
	fd = broker_dirs_create_shared(&dirs, file);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0644 && st.st_uid == 0);
	CHECK(broker_dirs_keep(&dirs, fd, file) == 0);
	CHECK(broker_dirs_remove(&dirs, fd) == 0 && close(fd) == 0);
	broker_dirs_done(&dirs);
	return 0;
}

static void remove_folder(void)
{
	char below[64];

	(void)snprintf(below, sizeof(below), "%s/folder", room.path);
	expect_eq(rmdir(below), 0);
}

static void files_below_named_directories_are_used_and_no_others(void **state)
{
	struct stat st;

	(void)state;
	expect_eq(make_room(), 0);
	expect_eq(in_child(read_below), 0);
	expect_eq(in_child(write_below), 0);
	expect_eq(in_child(make_below), 0);
	remove_folder();
	assert_int_equal(stat(room.old, &st), 0);
	expect_eq(st.st_size, 0); /* replaced */
	remove_room();
}

static int stop_it(void)
{
	CHECK(begin(BROKER_BIT(BROKER_OPEN)) == 0);
	broker_stop();
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	CHECK(broker_fetch(of_root("maps")) == -EACCES);
	broker_stop();
	return 0;
}

static void it_can_be_stopped(void **state)
{
	(void)state;
	expect_eq(in_child(stop_it), 0);
}

#define ROOT_TEST(f) unit_test_if(geteuid() == 0, f, "needs root")

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(files_of_other_users_processes_are_opened),
		ROOT_TEST(nothing_else_is_opened),
		ROOT_TEST(a_link_called_like_a_map_of_a_jit_is_not_followed),
		ROOT_TEST(only_what_was_agreed_on_is_done),
		ROOT_TEST(only_events_that_were_open_before_are_opened_again),
		ROOT_TEST(programs_of_the_kernel_can_be_read),
		ROOT_TEST(only_the_socket_that_was_named_is_connected_to),
		ROOT_TEST(only_files_that_were_named_are_read_again),
		ROOT_TEST(files_are_made_only_where_the_user_wanted_them),
		ROOT_TEST(files_below_named_directories_are_used_and_no_others),
		ROOT_TEST(without_rights_there_is_no_broker),
		ROOT_TEST(it_ends_with_its_client),
		ROOT_TEST(it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
