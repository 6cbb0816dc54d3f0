/*
 * fuzz/fuzz_bpf_order — what a client without rights sends to have a BPF object loaded: the first byte chooses an object, and each
 * three bytes after it change one byte of a good order (16 bits where, 8 bits what). A finding is an order that is taken though it
 * asks for more than it may; nothing is loaded.
 */
#include <bpf/libbpf.h>
#include <string.h>

#include "collect/bpf_order.h"
#include "fuzz.h"
#include "sys/rights/fd_packet.h"

#define MAP_BYTES_MAX (1ULL << 30)

static const struct bpf_kind *const kinds[BPF_NR_OBJECTS] = {
	&bpf_kind_events, &bpf_kind_hits, &bpf_kind_pressure,   &bpf_kind_profile, &bpf_kind_scx,
	&bpf_kind_stacks, &bpf_kind_stat, &bpf_kind_tracepoint, &bpf_kind_zoom,
};

static void make(uint32_t which, struct bpf_order *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = kinds[which]->name);
	struct bpf_program *prog;
	struct bpf_object *obj;
	struct bpf_map *map;
	const void *bytes;
	size_t size;

	bytes = kinds[which]->bytes(&size);
	obj = bpf_object__open_mem(bytes, size, &opts);
	memset(o, 0, sizeof(*o));
	o->which = which;
	bpf_object__for_each_map(map, obj) o->entries[o->nr_maps++] = bpf_map__max_entries(map);
	bpf_object__for_each_program(prog, obj) o->is_wanted[o->nr_progs++] = 1;
	map = bpf_order_config_map(obj);
	if (map) {
		bytes = bpf_map__initial_value(map, &size);
		o->config_bytes = (uint32_t)size;
		memcpy(o->config, bytes, size);
	}
	bpf_object__close(obj);
}

static void check_maps(const struct bpf_object *obj, const struct bpf_order *o)
{
	struct bpf_map *map;
	uint32_t i = 0;

	bpf_object__for_each_map(map, obj)
	{
		fuzz_check(i < o->nr_maps && o->maps[i] != BPF_MAP_GIVEN); /* none was */
		fuzz_check(bpf_map__max_entries(map) <= MAP_BYTES_MAX);
		i++;
	}
	fuzz_check(i == o->nr_maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	const struct fd_packet none = { .nr = 0 };
	struct bpf_object *obj = NULL;
	struct bpf_order o;
	int err;

	make((uint32_t)fuzz_take(&in, 1) % BPF_NR_OBJECTS, &o);
	while (in.left >= 3) {
		size_t at = fuzz_take(&in, 2) % sizeof(o);

		((uint8_t *)&o)[at] = (uint8_t)fuzz_take(&in, 1);
	}
	err = bpf_order_open(&o, &none, &obj);
	fuzz_check((err == 0) == (obj != NULL));
	if (size <= 1)
		fuzz_check(obj); /* a good one */
	if (obj) {
		fuzz_check(bpf_order_is_sane(&o));
		check_maps(obj, &o);
	}
	bpf_object__close(obj);
	return 0;
}
