/* Orders for BPF objects: what is carried out, and what is refused before anything reaches the kernel. */
#include "../unit.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/bpf_order.h"
#include "collect/context.h"
#include "collect/hit_counter.h"
#include "collect/zoom_collector.h"
#include "sys/rights/broker.h"
#include "sys/rights/caps.h"
#include "sys/rights/fd_packet.h"
#include "sys/rights/privilege.h"

static const struct bpf_kind *const kinds[] = {
	[BPF_EVENTS] = &bpf_kind_events,     [BPF_HITS] = &bpf_kind_hits,
	[BPF_PRESSURE] = &bpf_kind_pressure, [BPF_PROFILE] = &bpf_kind_profile,
	[BPF_SCX] = &bpf_kind_scx,           [BPF_STACKS] = &bpf_kind_stacks,
	[BPF_STAT] = &bpf_kind_stat,         [BPF_TRACEPOINT] = &bpf_kind_tracepoint,
	[BPF_ZOOM] = &bpf_kind_zoom,
};

/* The object as it is. */
static void make(enum bpf_which which, struct bpf_order *o)
{
	size_t size;
	const void *bytes = kinds[which]->bytes(&size), *config;
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = kinds[which]->name);
	struct bpf_object *obj = bpf_object__open_mem(bytes, size, &opts);
	struct bpf_program *prog;
	struct bpf_map *map;

	assert_non_null(obj);
	memset(o, 0, sizeof(*o));
	o->which = which;
	bpf_object__for_each_map(map, obj) o->entries[o->nr_maps++] = bpf_map__max_entries(map);
	bpf_object__for_each_program(prog, obj) o->is_wanted[o->nr_progs++] = 1;
	map = bpf_order_config_map(obj);
	if (map) {
		config = bpf_map__initial_value(map, &size);
		o->config_bytes = (uint32_t)size;
		memcpy(o->config, config, size);
	}
	bpf_object__close(obj);
}

static int try(const struct bpf_order *o)
{
	const struct fd_packet none = { .nr = 0 };
	struct bpf_object *obj = NULL;
	int err = bpf_order_open(o, &none, &obj);

	bpf_object__close(obj);
	return err;
}

static void every_object_has_room_in_an_order(void **state)
{
	struct bpf_order o;

	(void)state;
	for (int i = 0; i < BPF_NR_OBJECTS; i++) {
		make((enum bpf_which)i, &o);
		expect_eq(try(&o), 0);
	}
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
	struct bpf_order good, o;

	(void)state;
	make(BPF_HITS, &good);
#define REFUSED(change)                      \
	do {                                 \
		o = good;                    \
		change;                      \
		expect_eq(try(&o), -EACCES); \
	} while (0)
	REFUSED(o.which = BPF_NR_OBJECTS);
	REFUSED(o.which = UINT32_MAX);
	REFUSED(o.which = BPF_STAT); /* another object has other maps */
	REFUSED(o.nr_maps--);
	REFUSED(o.nr_maps++);
	REFUSED(o.nr_maps = UINT32_MAX);
	REFUSED(o.nr_progs--);
	REFUSED(o.nr_progs = BPF_ORDER_PROGS + 1);
	REFUSED(o.nr_aims = BPF_ORDER_AIMS + 1);
	REFUSED(o.config_bytes = 0);
	REFUSED(o.config_bytes++);
	REFUSED(o.config_bytes = UINT32_MAX);
	REFUSED(o.maps[0] = BPF_MAP_LEFT_OUT + 1);
	REFUSED(o.maps[0] = BPF_MAP_GIVEN); /* and none is */
	REFUSED(o.entries[0] = 0);
	REFUSED(o.entries[0] = UINT32_MAX); /* of 64 bytes */
	REFUSED(o.nr_aims = 1);             /* at nothing */
	REFUSED(o.nr_aims = 1; o.aims[0].prog = o.nr_progs;
	        strcpy(o.aims[0].function, "sched_switch"));
	REFUSED(o.nr_aims = 1; strcpy(o.aims[0].function, "../sched_switch"));
	REFUSED(o.nr_aims = 1; memset(o.aims[0].function, 'a', BPF_FUNCTION_LEN));
#undef REFUSED
	expect_eq(try(&good), 0);
}

/* Programs read what is at these addresses. */
static void addresses_of_the_kernel_are_not_the_clients_to_choose(void **state)
{
	static const enum bpf_which with[] = { BPF_EVENTS, BPF_STACKS, BPF_PROFILE, BPF_ZOOM };
	struct context_cfg context = { .source = ABI_CONTEXT_QUEUE, .count = 0x1234567 };
	struct bpf_order o;

	(void)state;
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		void *at;

		make(with[i], &o);
		assert_true(kinds[with[i]]->context_at >= 0);
		at = o.config + kinds[with[i]]->context_at;
		context.source = ABI_CONTEXT_QUEUE;
		memcpy(at, &context, sizeof(context));
		expect_eq(try(&o), -EACCES);
		context.source = ABI_CONTEXT_OFFSETS;
		context.offsets = 0xffffffff81000000ULL;
		memcpy(at, &context, sizeof(context));
		expect_eq(try(&o), -EACCES);
		context.source = ABI_CONTEXT_COUNTED; /* and addresses all the same */
		memcpy(at, &context, sizeof(context));
		expect_eq(try(&o), -EACCES);
	}
}

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

#define CHECK(condition)                 \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int begin(void)
{
	int err;

	broker_set_loader(bpf_order_load);
	err = broker_start(BROKER_TRACING | BROKER_BIT(BROKER_OPEN) | BROKER_BIT(BROKER_BPF_OPEN),
	                   NULL);
	return err ? err : privilege_drop(0, NULL);
}

static int count_switches(void)
{
	const struct hit_counter_cfg cfg = { .tracepoint = "sched:sched_switch", .nr_cpus = 256 };
	struct hit_counter *c = NULL;
	struct zoom_collector *z = NULL;
	const struct zoom_cfg zoom = { .switch_args = 0 };
	struct diag d = { 0 };
	uint64_t hits = 0, one;

	CHECK(begin() == 0);
	CHECK(hit_counter_open(&cfg, &d, &c) == 0);
	for (int i = 0; i < 100; i++)
		usleep(1000);
	for (uint32_t cpu = 0; cpu < cfg.nr_cpus; cpu++)
		hits += hit_counter_read(c, cpu, &one) == 0 ? one : 0;
	CHECK(hits >= 100);
	hit_counter_close(c);
	/* With constants, variables that are shared, and the addresses of this kernel. */
	CHECK(zoom_collector_open(&zoom, false, &d, &z) == 0);
	CHECK(zoom_collector_start(z, (uint32_t)getpid(), &d) == 0);
	zoom_collector_close(z);
	return 0;
}

static void objects_are_loaded_for_a_process_without_rights(void **state)
{
	(void)state;
	expect_eq(in_child(count_switches), 0);
}

/* Of another program, for reading: a program of ours must not write to it. */
static int give_a_foreign_map(void)
{
	struct fd_packet given = { .nr = 1 }, got;
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	char why[BROKER_WHY_LEN];
	struct bpf_order o;
	int own;

	make(BPF_HITS, &o);
	o.is_wanted[0] = 0; /* the kprobe */
	own = bpf_map_create(BPF_MAP_TYPE_ARRAY, "x", 4, 64, o.entries[0], NULL);
	CHECK(own >= 0 && bpf_obj_get_info_by_fd(own, &info, &len) == 0 && begin() == 0);
	o.maps[0] = BPF_MAP_GIVEN;
	given.fds[0] = broker_bpf_open(BROKER_BPF_MAP, info.id);
	CHECK(given.fds[0] >= 0);
	CHECK(broker_load(bpf_order_load, &o, sizeof(o), &given, &got, why) == -EACCES);
	given.fds[0] = STDERR_FILENO; /* no map at all */
	CHECK(broker_load(bpf_order_load, &o, sizeof(o), &given, &got, why) == -EACCES);
	return 0;
}

static void maps_of_others_do_not_take_the_place_of_ours(void **state)
{
	(void)state;
	expect_eq(in_child(give_a_foreign_map), 0);
}

static bool can_load(void)
{
	struct caps own;

	return geteuid() == 0 && caps_get(&own) == 0 && caps_has(&own, CAP_BPF) &&
	       access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

#define ROOT_TEST(f) unit_test_if(can_load(), f, "needs root and BTF")

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_object_has_room_in_an_order),
		cmocka_unit_test(shapes_that_do_not_fit_are_refused),
		cmocka_unit_test(addresses_of_the_kernel_are_not_the_clients_to_choose),
		ROOT_TEST(objects_are_loaded_for_a_process_without_rights),
		ROOT_TEST(maps_of_others_do_not_take_the_place_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
