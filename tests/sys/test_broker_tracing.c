/*
 * The process that opens what measures, as its client and as one who has taken its client over. The broker belongs to its process:
 * every case has a child of its own.
 */
#include "../unit.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"
#include "sys/rights/broker_priv.h"
#include "sys/rights/fd_packet.h"
#include "sys/rights/privilege.h"

#define CHECK(condition)                 \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

/* What a child found: 0 = all is as it should be, else the line that is not. */
static int in_child(int (*check)(void))
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int line;

		unsetenv("SUDO_UID");
		line = check();
		if (line)
			dprintf(2, "# line %d\n", line);
		_exit(line != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Stands in for what loads objects: a copy of each descriptor that was given, and a word. */
static int load_nothing(const void *order, const struct fd_packet *given, struct fd_packet *got,
                        char why[BROKER_WHY_LEN])
{
	snprintf(why, BROKER_WHY_LEN, "heard %.20s", (const char *)order);
	if (strcmp(order, "please") != 0)
		return -EACCES;
	for (uint32_t i = 0; i < given->nr; i++)
		got->fds[got->nr++] = dup(given->fds[i]);
	return 0;
}

static int begin(void)
{
	int err;

	broker_set_loader(load_nothing);
	err = broker_start(BROKER_TRACING | BROKER_BIT(BROKER_UPROBE), NULL);
	return err ? err : privilege_drop(0, NULL);
}

static int make_maps(void)
{
	int ring, one, outer;

	CHECK(begin() == 0);
	ring = broker_bpf_map(BROKER_MAP_RING, 65536, -1);
	CHECK(ring >= 0);
	one = broker_bpf_map(BROKER_MAP_ONE, 0, -1);
	outer = broker_bpf_map(BROKER_MAP_OF_ONE, 0, one);
	CHECK(one >= 0 && outer >= 0);
	CHECK(broker_bpf_map(BROKER_MAP_STORAGE, 256, -1) >= 0);
	CHECK(broker_bpf_map(BROKER_MAP_RING, 65537, -1) == -EINVAL);
	CHECK(broker_bpf_map(BROKER_MAP_RING, 1U << 31, -1) == -EINVAL);
	CHECK(broker_bpf_map(BROKER_MAP_STORAGE, 1U << 30, -1) == -EINVAL);
	CHECK(broker_bpf_map(BROKER_MAP_STORAGE, 12, -1) == -EINVAL);
	CHECK(broker_bpf_map(BROKER_MAP_OF_ONE, 0, -1) == -EINVAL);
	CHECK(broker_bpf_map(BROKER_MAP_OF_ONE, 0, STDERR_FILENO) < 0); /* no map */
	CHECK(broker_bpf_map((enum broker_map)99, 8, -1) == -EINVAL);
	/* A kind that needs rights, whatever the kernel lets anyone do. */
	CHECK(bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "x", 4, 4, 8, NULL) < 0);
	return 0;
}

static void maps_of_a_few_kinds_are_made(void **state)
{
	(void)state;
	expect_eq(in_child(make_maps), 0);
}

static int ask_perf(const struct perf_event_attr *attr)
{
	struct broker_request r = { .op = BROKER_PERF_ANY, .id = (uint32_t)-1 };

	memcpy(r.path, attr, sizeof(*attr));
	return broker_ask(&r, -1);
}

static int open_events(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_SW_CPU_CLOCK,
		                        .disabled = 1 };
	int fd;

	CHECK(begin() == 0);
	fd = ask_perf(&attr);
	CHECK(fd >= 0 && close(fd) == 0);
	CHECK((fd = broker_perf(&attr, 0, -1)) >= 0 && close(fd) == 0);
	CHECK((fd = broker_perf_of(&attr, getppid(), 0, -1)) >= 0 && close(fd) == 0);
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 4096;
	CHECK(ask_perf(&attr) == -EACCES);
	attr = (struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT,
		                         .size = sizeof(attr),
		                         .bp_type = 1,
		                         .bp_addr = 4096,
		                         .bp_len = 1 };
	CHECK(ask_perf(&attr) == -EACCES);
	return 0;
}

static void events_of_the_kinds_that_are_in_use_are_opened(void **state)
{
	(void)state;
	expect_eq(in_child(open_events), 0);
}

/* A file that anyone can make. */
static int crafted(void)
{
	int fd = memfd_create("crafted", MFD_CLOEXEC);
	static const char text[] = "\177ELF, or so it says";

	return fd >= 0 && write(fd, text, sizeof(text)) == (ssize_t)sizeof(text) ? fd : -1;
}

static int open_probes(void)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd;
	bool has_kprobes = access("/sys/bus/event_source/devices/kprobe/type", F_OK) == 0;
	bool has_uprobes = access("/sys/bus/event_source/devices/uprobe/type", F_OK) == 0;

	CHECK(self >= 0 && begin() == 0);
	CHECK(broker_kprobe("../../etc", false) == -EINVAL && broker_kprobe("", true) == -EINVAL);
	fd = broker_kprobe("kernel_halt", false);
	CHECK(has_kprobes ? fd >= 0 : fd == -ENOENT);
	fd = broker_uprobe(self, "main", 0, false);
	CHECK(has_uprobes ? fd >= 0 : fd == -ENOENT);
	CHECK(broker_uprobe(self, "no_such_function", 0, false) == -ENOENT);
	CHECK(broker_uprobe(self, "main", 1, false) == -EINVAL); /* into an instruction */
	CHECK(broker_uprobe(-1, "main", 0, false) == -EINVAL);
	CHECK(broker_uprobe(crafted(), "main", 0, false) == -ENOENT);
	return 0;
}

static void probes_are_put_where_functions_begin(void **state)
{
	(void)state;
	expect_eq(in_child(open_probes), 0);
}

/* The other end of whatever connections this process has. */
static int find_sockets(int *out, int cap)
{
	int nr = 0;

	for (int fd = 3; fd < 256; fd++) {
		int type = 0;
		socklen_t len = sizeof(type);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
		    type == SOCK_SEQPACKET && nr < cap)
			out[nr++] = fd;
	}
	return nr;
}

/* Whatever it is, one answer comes: it is refused. */
static bool is_refused(int socket, const void *bytes, size_t len, const struct fd_packet *with)
{
	struct broker_reply reply;
	struct fd_packet got;
	int got_len;

	if (fd_packet_send_all(socket, bytes, len, with) < 0)
		return false;
	got_len = fd_packet_receive_all(socket, &reply, sizeof(reply), &got);
	if (got_len != sizeof(reply) || got.nr)
		return false;
	return reply.err == -EINVAL || reply.err == -EACCES;
}

static int talk_nonsense(void)
{
	static unsigned char bytes[3 * sizeof(struct broker_request)];
	struct broker_request r = { .op = BROKER_OPEN, .path = "/etc/shadow" };
	struct fd_packet none = { .nr = 0 }, many = { .nr = FD_PACKET_MAX };
	int sockets[4], nr;

	CHECK(begin() == 0);
	nr = find_sockets(sockets, 4);
	CHECK(nr == 2); /* one for files, one that measures */
	for (uint32_t i = 0; i < FD_PACKET_MAX; i++)
		many.fds[i] = STDERR_FILENO;
	for (int at = 0; at < nr; at++) {
		for (uint32_t i = 0; i < 500; i++) {
			size_t len = 1 + (size_t)(i * 7919) % sizeof(bytes);

			for (size_t k = 0; k < len; k++)
				bytes[k] = (unsigned char)(i * 31 + k * k);
			CHECK(is_refused(sockets[at], bytes, len, i % 50 ? &none : &many));
		}
		memset(bytes, 0xff, sizeof(bytes)); /* no end of a path */
		CHECK(is_refused(sockets[at], bytes, sizeof(r), &none));
		for (uint32_t op = BROKER_NR_OPS; op < BROKER_NR_OPS + 70; op++) {
			r.op = op;
			CHECK(is_refused(sockets[at], &r, sizeof(r), &many));
		}
		r.op = BROKER_OPEN; /* not agreed on */
		CHECK(is_refused(sockets[at], &r, sizeof(r), &none));
	}
	/* It still does what it is there for. */
	CHECK(broker_bpf_map(BROKER_MAP_RING, 65536, -1) >= 0);
	return 0;
}

static void nonsense_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	expect_eq(in_child(talk_nonsense), 0);
}

static size_t nr_open(pid_t pid)
{
	char path[64];
	size_t nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

static int load_things(void)
{
	char order[64] = "please", why[BROKER_WHY_LEN];
	struct fd_packet given = { .fds = { 0, 1, 2 }, .nr = 3 }, got;
	size_t before = 0;

	CHECK(begin() == 0);
	CHECK(broker_load(load_nothing, order, sizeof(order), &given, &got, why) == 0);
	CHECK(got.nr == 3 && strcmp(why, "heard please") == 0);
	fd_packet_close(&got);
	before = nr_open(getpid());
	CHECK(broker_load(load_nothing, "else", 5, &given, &got, why) == -EACCES && !got.nr);
	CHECK(strcmp(why, "heard else") == 0 && nr_open(getpid()) == before);
	CHECK(broker_load(load_nothing, order, BROKER_ORDER_MAX + 1, &given, &got, why) == -E2BIG);
	return 0;
}

static void what_was_set_loads_objects(void **state)
{
	(void)state;
	expect_eq(in_child(load_things), 0);
}

/* Its children, by the name of the one that measures. */
static pid_t find_tracer(void)
{
	char path[64], text[256], name[32];
	SCOPED(scoped_fclose) FILE *file = NULL;
	int pid, len;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		return -1;
	for (const char *at = text; sscanf(at, "%d %n", &pid, &len) == 1; at += len) {
		SCOPED(scoped_fclose) FILE *comm = NULL;

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		comm = fopen(path, "re");
		if (comm && fgets(name, sizeof(name), comm) &&
		    strcmp(name, "schedscope-bpf\n") == 0)
			return pid;
	}
	return -1;
}

static int lose_it(void)
{
	char order[64] = "please", why[BROKER_WHY_LEN];
	struct fd_packet given = { .nr = 0 }, got;
	pid_t tracer;

	broker_set_loader(load_nothing);
	CHECK(broker_start(BROKER_TRACING | BROKER_BIT(BROKER_OPEN), NULL) == 0);
	CHECK(broker_load(load_nothing, order, sizeof(order), &given, &got, why) ==
	      0); /* it is up */
	tracer = find_tracer();
	CHECK(tracer > 0 && kill(tracer, SIGKILL) == 0 && privilege_drop(0, NULL) == 0);
	CHECK(waitpid(tracer, NULL, 0) == tracer);
	CHECK(broker_load(load_nothing, order, sizeof(order), &given, &got, why) == -EPIPE);
	CHECK(broker_bpf_map(BROKER_MAP_RING, 65536, -1) == -EPIPE);
	CHECK(broker_fetch("/proc/kallsyms") >= 0); /* of the other process */
	return 0;
}

static void without_it_the_client_goes_on(void **state)
{
	(void)state;
	expect_eq(in_child(lose_it), 0);
}

#define ROOT_TEST(f) unit_test_if(geteuid() == 0, f, "needs root")

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(maps_of_a_few_kinds_are_made),
		ROOT_TEST(events_of_the_kinds_that_are_in_use_are_opened),
		ROOT_TEST(probes_are_put_where_functions_begin),
		ROOT_TEST(nonsense_is_refused_and_changes_nothing),
		ROOT_TEST(what_was_set_loads_objects),
		ROOT_TEST(without_it_the_client_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
