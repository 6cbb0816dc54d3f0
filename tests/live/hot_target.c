/*
 * hot_target OBJECT — holds the programs of hot.bpf.c until the end of stdin. Says the ids as JSON; then runs enqueue_task as
 * often as each line of stdin says, and says how often it has run by its own account. Shares nothing with src/.
 *
 * Its struct of operations is held by a link (Linux 6.4), so that it goes with us, however we end; libbpf 1.1 knows no such
 * links: they are made by hand. Where the kernel takes no such struct or link, only enqueue_task is loaded.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_LINK       (1U << 13) /* BPF_F_LINK */
#define ATTACH_STRUCT   44         /* BPF_STRUCT_OPS */
#define KERNEL_ENOTSUPP 524        /* not known outside of the kernel */

static void die(const char *what)
{
	fprintf(stderr, "hot_target: %s\n", what);
	exit(1);
}

static uint32_t id_of(const struct bpf_object *o, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(o, name);
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (!p || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
		die(name);
	return info.id;
}

static uint64_t runs_of(const struct bpf_object *o)
{
	struct bpf_map *map = bpf_object__find_map_by_name(o, ".bss");
	uint64_t bytes[8] = { 0 };
	uint32_t key = 0;

	if (!map || bpf_map__value_size(map) > sizeof(bytes) ||
	    bpf_map_lookup_elem(bpf_map__fd(map), &key, bytes))
		die("its counter");
	return bytes[0];
}

static void run(const struct bpf_object *o, long nr)
{
	int fd = bpf_program__fd(bpf_object__find_program_by_name(o, "enqueue_task"));

	for (long i = 0; i < nr; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		if (bpf_prog_test_run_opts(fd, &opts))
			die("it does not run");
	}
}

static bool has_links(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	bool has = btf__find_by_name_kind(kernel, "bpf_struct_ops_link", BTF_KIND_STRUCT) > 0;

	btf__free(kernel);
	return has;
}

static struct bpf_object *open_or_die(const char *path)
{
	struct bpf_object *o = bpf_object__open_file(path, NULL);

	if (!o)
		die("there is no object");
	return o;
}

static struct bpf_map *struct_of(const struct bpf_object *o)
{
	struct bpf_map *map = bpf_object__find_map_by_name(o, "congestion");

	if (!map)
		die("the object lacks its struct");
	return map;
}

static struct bpf_object *load_without_struct(const char *path)
{
	struct bpf_object *o = open_or_die(path);
	struct bpf_map *map = struct_of(o);
	struct bpf_program *p = NULL;

	bpf_map__set_autocreate(map, false);
	bpf_map__set_type(map,
	                  BPF_MAP_TYPE_ARRAY); /* else libbpf 1.1 fills in what it has not made */
	while ((p = bpf_object__next_program(o, p)))
		if (bpf_program__type(p) == BPF_PROG_TYPE_STRUCT_OPS)
			bpf_program__set_autoload(p, false);
	if (bpf_object__load(o))
		die("the object does not load");
	return o;
}

static struct bpf_object *load(const char *path, bool *has_struct)
{
	struct bpf_object *o = open_or_die(path);
	int err;

	*has_struct = false;
	if (has_links()) {
		if (bpf_map__set_map_flags(struct_of(o), FLAG_LINK))
			die("the struct takes no link");
		err = bpf_object__load(o);
		*has_struct = !err;
		if (err && err != -KERNEL_ENOTSUPP)
			die("the object does not load");
	}
	if (*has_struct)
		return o;
	bpf_object__close(o);
	return load_without_struct(path);
}

static void attach(struct bpf_map *map)
{
	if (!bpf_map__attach_struct_ops(map)) /* only fills in the value */
		die("the struct is not taken");
	if (bpf_link_create(bpf_map__fd(map), 0, (enum bpf_attach_type)ATTACH_STRUCT, NULL) < 0)
		die("the struct is not linked");
}

int main(int argc, char **argv)
{
	bool has_struct;
	struct bpf_object *o;
	char line[32];

	if (argc != 2)
		die("which object?");
	o = load(argv[1], &has_struct);
	printf("{\"work\": %u", id_of(o, "enqueue_task"));
	if (has_struct) {
		attach(struct_of(o));
		printf(", \"ssthresh\": %u, \"cong_avoid\": %u", id_of(o, "dispatch_one"),
		       id_of(o, "select_cpu_two"));
	}
	puts("}");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		run(o, strtol(line, NULL, 10));
		printf("%llu\n", (unsigned long long)runs_of(o));
		fflush(stdout);
	}
	bpf_object__close(o);
	return 0;
}
