/* CPUs that come online are tried with those that are: a list without one of them, and then with it. */
#include "../unit.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine/parts/program_hot.h"

#define PATIENCE_NS 10000000000ULL
#define LICENSE     "GPL"

/* A program that returns 0, and its id. */
static int load_program(uint32_t *id)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "hot_unit", LICENSE, code, 2, NULL);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
		return -1;
	*id = info.id;
	return fd;
}

static void put_list(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	expect_eq(fclose(f), 0);
}

static uint32_t nr_events(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	char target[256];
	uint32_t nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[len < 0 ? 0 : len] = '\0';
		nr += strstr(target, "perf_event") != NULL;
	}
	closedir(dir);
	return nr;
}

/* Reads as a screen does, until so many events are open: one for each CPU that is sampled, and those of before. */
static void expect_sampled(struct program_hot *h, uint32_t nr)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (nr_events() != nr && clock_boot_ns() < end_ns) {
		(void)program_hot_read(h);
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	expect_eq(nr_events(), nr);
}

static void cpus_that_come_and_go_are_followed(void **state)
{
	char path[] = "/tmp/schedscope-online-XXXXXX";
	struct program_hot_cfg cfg = { .hz = 100, .online = path };
	struct program_hot *h = NULL;
	struct diag d = { 0 };
	uint32_t before = nr_events();
	int list = mkstemp(path), program = load_program(&cfg.program);

	(void)state;
	assert_true(list >= 0 && program >= 0);
	put_list(path, "0\n");
	expect_eq(program_hot_open(&cfg, &d, &h), 0);
	expect_sampled(h, before + 1);
	put_list(path, "0-1\n");
	expect_sampled(h, before + 2);
	put_list(path, "1\n");
	expect_sampled(h, before + 1);
	put_list(path, "0-1\n"); /* the counter of a CPU that went is dead: it has a new one */
	expect_sampled(h, before + 2);
	program_hot_close(h);
	expect_eq(nr_events(), before);
	unlink(path);
	close(list);
	close(program);
}

static void a_list_that_is_none_is_refused(void **state)
{
	struct program_hot_cfg cfg = { .hz = 100, .online = "/dev/null/none" };
	struct program_hot *h = NULL;
	struct diag d = { 0 };
	int program = load_program(&cfg.program);

	(void)state;
	assert_true(program >= 0);
	expect_eq(program_hot_open(&cfg, &d, &h), -ENOTDIR);
	assert_non_null(strstr(d.what, "/dev/null/none"));
	assert_null(h);
	close(program);
}

/* CPUs 0 and 1, and the right to load and to sample. */
static bool can_run(void)
{
	uint32_t id;
	int fd = geteuid() == 0 ? load_program(&id) : -1;
	cpu_set_t set;

	if (fd < 0)
		return false;
	close(fd);
	return !sched_getaffinity(0, sizeof(set), &set) && CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
}

int main(void)
{
	bool can = can_run();
	const struct CMUnitTest tests[] = {
		unit_test_if(can, cpus_that_come_and_go_are_followed,
		             "needs root and CPUs 0 and 1"),
		unit_test_if(can, a_list_that_is_none_is_refused, "needs root and CPUs 0 and 1"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
