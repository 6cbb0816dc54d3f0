/*
 * sched OBJECT NAME [--stats SOCKET] — runs one of the schedulers of sched.bpf.c until it is asked to stop (SIGTERM), or
 * is thrown out. Prints "on" when it is in charge, "last" when it was asked to be the last to see a switch (SIGUSR1), then, at
 * the end, its account as one line of JSON; serves the same counters, summed, to clients of scx_stats. Shares nothing with src/.
 *
 * libbpf 1.1 knows neither sleepable programs of schedulers nor links to them: both are set by hand.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stats_server.h"

#define FLAG_LINK        (1U << 13) /* BPF_F_LINK, Linux 6.4 */
#define ATTACH_SCHEDULER 44         /* BPF_STRUCT_OPS */
#define NR_DEPTHS        64
#define NR_WAYS          8

/* As in sched.bpf.c. */
struct account_key {
	uint64_t dsq_id;
	uint32_t tid;
	uint32_t pad_;
};

struct account {
	uint64_t inserts, moves, runs, wait_ns, ran_ns, held_ns, first_vtime, last_vtime, slice_ns;
	uint64_t early_ns[2], late_ns[2], placing_ns;
};

/* In the order in which the object has them: first those of sched_account.bpf.h. */
struct globals {
	uint64_t lost;
	uint64_t depth[NR_DEPTHS], max_depth[NR_DEPTHS], max_queued[NR_DEPTHS];
	uint64_t vtime_now;
	uint64_t exit_kind;
	int64_t exit_code;
	char exit_message[128];
	uint64_t ways[NR_WAYS];
	uint64_t at_queues;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "sched: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct bpf_object *load(const char *path, const char *name)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *prog;
	struct bpf_map *map;

	if (!object)
		die(path);
	bpf_object__for_each_program(prog, object)
	{
		const char *end = strrchr(bpf_program__name(prog), '_');

		/* It makes queues, for which it may sleep. */
		if (end && strcmp(end, "_init") == 0)
			bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
	}
	map = bpf_object__find_map_by_name(object, name);
	if (!map)
		die(name);
	if (bpf_map__set_map_flags(map, FLAG_LINK) || bpf_object__load(object))
		die("cannot load");
	return object;
}

/* The scheduler ends with the link, and that with us. */
static int attach(struct bpf_map *map)
{
	int fd;

	if (!bpf_map__attach_struct_ops(map)) /* only fills in the value */
		die("cannot prepare the scheduler");
	fd = bpf_link_create(bpf_map__fd(map), 0, (enum bpf_attach_type)ATTACH_SCHEDULER, NULL);
	if (fd < 0)
		die("cannot start the scheduler");
	return fd;
}

static struct globals read_globals(struct bpf_object *object)
{
	struct globals values = { 0 };
	struct bpf_map *map;
	uint32_t zero = 0;

	bpf_object__for_each_map(map, object)
	{
		if (!strstr(bpf_map__name(map), ".bss"))
			continue;
		if (bpf_map__value_size(map) != sizeof(values) ||
		    bpf_map_lookup_elem(bpf_map__fd(map), &zero, &values))
			die("cannot read the counters");
	}
	return values;
}

static void print_tasks(int fd)
{
	struct account_key key, *last = NULL;
	const char *comma = "";
	struct account a;

	while (bpf_map_get_next_key(fd, last, &key) == 0) {
		if (bpf_map_lookup_elem(fd, &key, &a) == 0) {
			printf("%s{\"dsq\":%llu,\"tid\":%u,\"inserts\":%llu,\"moves\":%llu,\"runs\":%llu,"
			       "\"wait_ns\":%llu,\"ran_ns\":%llu,\"held_ns\":%llu,\"first_vtime\":%llu,"
			       "\"last_vtime\":%llu,\"slice_ns\":%llu,\"early_ns\":[%llu,%llu],\"late_ns\":[%llu,%llu],\"placing_ns\":%llu}",
			       comma, (unsigned long long)key.dsq_id, key.tid,
			       (unsigned long long)a.inserts, (unsigned long long)a.moves,
			       (unsigned long long)a.runs, (unsigned long long)a.wait_ns,
			       (unsigned long long)a.ran_ns, (unsigned long long)a.held_ns,
			       (unsigned long long)a.first_vtime, (unsigned long long)a.last_vtime,
			       (unsigned long long)a.slice_ns, (unsigned long long)a.early_ns[0],
			       (unsigned long long)a.early_ns[1], (unsigned long long)a.late_ns[0],
			       (unsigned long long)a.late_ns[1], (unsigned long long)a.placing_ns);
			comma = ",";
		}
		last = &key;
	}
}

static void print_layers(int fd)
{
	uint32_t tid, *last = NULL;
	const char *comma = "";
	uint64_t runs[4]; /* in both layers and none; and the latest layer */

	while (bpf_map_get_next_key(fd, last, &tid) == 0) {
		if (bpf_map_lookup_elem(fd, &tid, runs) == 0) {
			printf("%s\"%u\":[%llu,%llu,%llu,%llu]", comma, tid,
			       (unsigned long long)runs[0], (unsigned long long)runs[1],
			       (unsigned long long)runs[2], (unsigned long long)runs[3]);
			comma = ",";
		}
		last = &tid;
	}
}

static void print_account(struct bpf_object *object)
{
	struct globals values = read_globals(object);
	const char *comma = "";

	printf("{\"exit_kind\":%llu,\"exit_code\":%lld,\"exit_message\":\"%s\",\"lost\":%llu,"
	       "\"tasks\":[",
	       (unsigned long long)values.exit_kind, (long long)values.exit_code,
	       values.exit_message, (unsigned long long)values.lost);
	print_tasks(bpf_object__find_map_fd_by_name(object, "accounts"));
	printf("],\"ways\":[");
	for (unsigned int i = 0; i < NR_WAYS; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)values.ways[i]);
	printf("],\"layer_runs\":{");
	print_layers(bpf_object__find_map_fd_by_name(object, "layer_runs"));
	printf("},\"max_depth\":{");
	for (unsigned int i = 0; i < NR_DEPTHS; i++) {
		if (!values.max_depth[i])
			continue;
		printf("%s\"%u\":[%llu,%llu]", comma, i, (unsigned long long)values.max_queued[i],
		       (unsigned long long)values.max_depth[i]);
		comma = ",";
	}
	printf("}}\n");
	(void)fflush(stdout);
}

/* A scheduler as the server of statistics sees it. */
struct scheduler {
	struct bpf_object *object;
	const char *name;
};

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void add_to(json_t *object, const char *key, uint64_t value)
{
	json_t *old = json_object_get(object, key);

	json_object_set_new(object, key, number(value + (uint64_t)json_integer_value(old)));
}

static void add_account(json_t *object, const struct account *a)
{
	add_to(object, "inserts", a->inserts);
	add_to(object, "moves", a->moves);
	add_to(object, "runs", a->runs);
	add_to(object, "wait_ns", a->wait_ns);
	add_to(object, "ran_ns", a->ran_ns);
}

static json_t *make_stats(void *ctx)
{
	const struct scheduler *s = ctx;
	struct globals values = read_globals(s->object);
	int fd = bpf_object__find_map_fd_by_name(s->object, "accounts");
	json_t *top = json_pack("{s:s,s:o,s:{}}", "scheduler", s->name, "lost", number(values.lost),
	                        "queues");
	json_t *queues = json_object_get(top, "queues"), *queue;
	struct account_key key, *last = NULL;
	char id[24];
	struct account a;

	while (bpf_map_get_next_key(fd, last, &key) == 0) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &a))
			continue;
		(void)snprintf(id, sizeof(id), "%llu", (unsigned long long)key.dsq_id);
		queue = json_object_get(queues, id);
		if (!queue) {
			queue = json_object();
			json_object_set_new(queues, id, queue);
		}
		add_account(queue, &a);
		add_account(top, &a);
	}
	return top;
}

/* The fields that both structs have. */
static void describe_counts(json_t *fields)
{
	static const char *const names[][2] = {
		{ "inserts", "tasks that were put into a queue" },
		{ "moves", "of those, moved on to another queue" },
		{ "runs", "of those, taken by a CPU" },
		{ "wait_ns", "time in queues" },
		{ "ran_ns", "time on CPUs after that" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set_new(fields, names[i][0],
		                    json_pack("{s:s,s:s}", "datum", "u64", "desc", names[i][1]));
}

static json_t *make_meta(void *ctx)
{
	json_t *meta = json_pack(
		"{s:{s:s,s:s,s:s,s:{s:{s:s},s:{s:s},s:{s:{s:s,s:{s:s}}}}},s:{s:s,s:s,s:{}}}",
		"VmSched", "name", "VmSched", "top", "true", "desc", "a scheduler for tests",
		"fields", "scheduler", "datum", "string", "lost", "datum", "u64", "queues", "dict",
		"key", "string", "datum", "struct", "VmQueue", "VmQueue", "name", "VmQueue", "desc",
		"one of its queues", "fields");

	(void)ctx;
	describe_counts(json_object_get(json_object_get(meta, "VmSched"), "fields"));
	describe_counts(json_object_get(json_object_get(meta, "VmQueue"), "fields"));
	return meta;
}

static void watch(struct bpf_object *object, const char *name)
{
	if (!bpf_program__attach(bpf_object__find_program_by_name(object, name)))
		die(name);
}

/* Until SIGTERM, or until the kernel has thrown it out. SIGUSR1: what is to watch switches beside us is there. */
static void wait_for_end(struct bpf_object *object, const sigset_t *signals)
{
	struct timespec nap = { .tv_nsec = 100000000 };
	int number;

	/* A loader that was stopped for a while goes on: EINTR. */
	while ((number = sigtimedwait(signals, NULL, &nap)) == SIGUSR1 ||
	       (number < 0 && (errno == EAGAIN || errno == EINTR))) {
		if (number == SIGUSR1) {
			watch(object, "last_at_switch");
			printf("last\n");
			(void)fflush(stdout);
		}
		if (read_globals(object).exit_kind)
			return;
	}
}

int main(int argc, char **argv)
{
	struct scheduler self = { 0 };
	struct stats_source source = { .stats = make_stats, .meta = make_meta, .ctx = &self };
	struct bpf_object *object;
	sigset_t signals;
	char name[32];
	int link;

	if (argc != 3 && (argc != 5 || strcmp(argv[3], "--stats") != 0)) {
		(void)fprintf(stderr,
		              "usage: sched OBJECT fifo|vtime|layered|stall|... [--stats SOCKET]\n");
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN); /* clients that did not wait for the answer */
	(void)snprintf(name, sizeof(name), "%s_ops", argv[2]);
	object = load(argv[1], name);
	watch(object, "first_at_switch");
	watch(object, "at_wakeup");
	watch(object, "at_wakeup_new");
	link = attach(bpf_object__find_map_by_name(object, name));
	self = (struct scheduler){ .object = object, .name = argv[2] };
	if (argc == 5 && stats_server_start(argv[4], &source))
		die(argv[4]);
	printf("on\n");
	(void)fflush(stdout);
	wait_for_end(object, &signals);
	close(link); /* so that the account is whole */
	print_account(object);
	return 0;
}
