#include "collect/bpf_order.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/bpf_open.h"
#include "collect/context.h"
#include "sys/rights/broker.h"
#include "sys/rights/fd_packet.h"

#define MAP_BYTES_MAX (1ULL << 30)
#define RODATA        ".rodata"

_Static_assert(sizeof(struct bpf_order) <= BROKER_ORDER_MAX, "it goes in one packet");

static const struct bpf_kind *const kinds[BPF_NR_OBJECTS] = {
	[BPF_EVENTS] = &bpf_kind_events,     [BPF_HITS] = &bpf_kind_hits,
	[BPF_PRESSURE] = &bpf_kind_pressure, [BPF_PROFILE] = &bpf_kind_profile,
	[BPF_SCX] = &bpf_kind_scx,           [BPF_STACKS] = &bpf_kind_stacks,
	[BPF_STAT] = &bpf_kind_stat,         [BPF_TRACEPOINT] = &bpf_kind_tracepoint,
	[BPF_ZOOM] = &bpf_kind_zoom,
};

DEFINE_SCOPED(bpf_object, bpf_object__close)

static bool is_identifier(const char *s, size_t size)
{
	size_t len = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return len && len < size && !s[len];
}

bool bpf_order_is_sane(const struct bpf_order *o)
{
	if (o->which >= BPF_NR_OBJECTS || o->nr_maps > BPF_ORDER_MAPS ||
	    o->nr_progs > BPF_ORDER_PROGS || o->nr_aims > BPF_ORDER_AIMS ||
	    o->config_bytes > BPF_ORDER_CONFIG)
		return false;
	for (uint32_t i = 0; i < o->nr_maps; i++)
		if (o->maps[i] > BPF_MAP_LEFT_OUT)
			return false;
	for (uint32_t i = 0; i < o->nr_aims; i++)
		if (o->aims[i].prog >= o->nr_progs ||
		    !memchr(o->aims[i].function, '\0', BPF_FUNCTION_LEN) ||
		    !is_identifier(o->aims[i].function, BPF_FUNCTION_LEN))
			return false;
	return true;
}

static bool is_percpu(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);

	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool has_fit_size(const struct bpf_map *map, uint32_t entries)
{
	uint64_t each = (uint64_t)bpf_map__key_size(map) + bpf_map__value_size(map);
	int nr_cpus = is_percpu(map) ? libbpf_num_possible_cpus() : 1;

	if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF || !each)
		each = 1;
	if (nr_cpus > 1)
		each *= (uint64_t)nr_cpus;
	return entries && entries <= MAP_BYTES_MAX / each;
}

/*
 * One that the client has made or was given by us. What it can only read are maps of other programs: the one of them that our
 * programs only read, too, may stand in for ours.
 */
static int share_map(struct bpf_map *map, int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);
	int flags = fcntl(fd, F_GETFL);
	bool is_foreign = flags < 0 || (flags & O_ACCMODE) != O_RDWR;
	bool has_fixed_size = bpf_map__type(map) != BPF_MAP_TYPE_TASK_STORAGE;

	if (bpf_map__is_internal(map) || bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    (is_foreign && strcmp(bpf_map__name(map), "task_ctxs") != 0) ||
	    info.type != bpf_map__type(map) || info.key_size != bpf_map__key_size(map) ||
	    (has_fixed_size && info.value_size != bpf_map__value_size(map)))
		return -EACCES;
	return bpf_map__reuse_fd(map, fd);
}

static int set_maps(struct bpf_object *obj, const struct bpf_order *o,
                    const struct fd_packet *given)
{
	struct bpf_map *map;
	uint32_t i = 0, nr_taken = 0;
	int err = 0;

	bpf_object__for_each_map(map, obj)
	{
		if (i >= o->nr_maps)
			return -EACCES;
		if (o->maps[i] == BPF_MAP_LEFT_OUT)
			err = bpf_map__set_autocreate(map, false);
		else if (o->maps[i] == BPF_MAP_GIVEN)
			err = nr_taken < given->nr ? share_map(map, given->fds[nr_taken++])
			                           : -EACCES;
		else if (o->entries[i] != bpf_map__max_entries(map))
			err = has_fit_size(map, o->entries[i])
			              ? bpf_map__set_max_entries(map, o->entries[i])
			              : -EACCES;
		if (err)
			return err;
		i++;
	}
	return i == o->nr_maps ? 0 : -EACCES;
}

static const char *aim_of(const struct bpf_order *o, uint32_t prog)
{
	for (uint32_t i = 0; i < o->nr_aims; i++)
		if (o->aims[i].prog == prog)
			return o->aims[i].function;
	return NULL;
}

static int set_programs(struct bpf_object *obj, const struct bpf_order *o)
{
	struct bpf_program *prog;
	uint32_t i = 0;
	int err = 0;

	bpf_do_without_modules(bpf_object__next_program(obj, NULL));
	bpf_object__for_each_program(prog, obj)
	{
		const char *aim = aim_of(o, i);

		if (i >= o->nr_progs)
			return -EACCES;
		bpf_program__set_autoload(prog, o->is_wanted[i]);
		if (aim && bpf_program__type(prog) != BPF_PROG_TYPE_TRACING)
			return -EACCES;
		if (aim)
			err = bpf_program__set_attach_target(prog, 0, aim);
		if (err)
			return err;
		i++;
	}
	return i == o->nr_progs ? 0 : -EACCES;
}

struct bpf_map *bpf_order_config_map(const struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		const char *name = bpf_map__name(map);
		size_t len = strlen(name);

		if (bpf_map__is_internal(map) && len >= strlen(RODATA) &&
		    strcmp(name + len - strlen(RODATA), RODATA) == 0)
			return map;
	}
	return NULL;
}

/* Where preempt_count is: programs read what is there. As it never moves, once is enough. */
static void find_context(struct context_cfg *out)
{
	static struct context_cfg found;
	static bool is_found;
	struct btf *vmlinux = is_found ? NULL : btf__load_vmlinux_btf();

	if (vmlinux) {
		context_find(vmlinux, false, &found);
		is_found = true;
	}
	btf__free(vmlinux);
	*out = found;
}

/* Addresses that are read must be those that we find ourselves. */
static bool is_own_context(const struct bpf_kind *kind, const struct bpf_order *o)
{
	struct context_cfg asked, own;

	if (kind->context_at < 0)
		return true;
	if ((size_t)kind->context_at + sizeof(asked) > o->config_bytes)
		return false;
	memcpy(&asked, o->config + kind->context_at, sizeof(asked));
	if (asked.source == ABI_CONTEXT_COUNTED)
		return !asked.offsets && !asked.count;
	find_context(&own);
	return asked.source == own.source && asked.offsets == own.offsets &&
	       asked.count == own.count;
}

static int set_config(const struct bpf_object *obj, const struct bpf_kind *kind,
                      const struct bpf_order *o)
{
	struct bpf_map *map = bpf_order_config_map(obj);

	if (!map)
		return o->config_bytes ? -EACCES : 0;
	if (bpf_map__value_size(map) != o->config_bytes || !is_own_context(kind, o))
		return -EACCES;
	return bpf_map__set_initial_value(map, o->config, o->config_bytes);
}

static int add(struct fd_packet *got, int fd)
{
	int own = got->nr < FD_PACKET_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (own < 0)
		return -EMFILE;
	got->fds[got->nr++] = own;
	return 0;
}

static int take_all(const struct bpf_object *obj, const struct bpf_order *o, struct fd_packet *got)
{
	struct bpf_program *prog;
	struct bpf_map *map;
	uint32_t i = 0;
	int err = 0;

	bpf_object__for_each_map(map, obj)
	{
		if (!err && o->maps[i++] == BPF_MAP_NEW)
			err = add(got, bpf_map__fd(map));
	}
	i = 0;
	bpf_object__for_each_program(prog, obj)
	{
		if (!err && o->is_wanted[i++])
			err = add(got, bpf_program__fd(prog));
	}
	if (err)
		fd_packet_close(got);
	return err;
}

int bpf_order_open(const struct bpf_order *o, const struct fd_packet *given,
                   struct bpf_object **out)
{
	SCOPED(scoped_bpf_object) struct bpf_object *obj = NULL;
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	const struct bpf_kind *kind;
	const void *bytes;
	size_t size;
	int err;

	if (!bpf_order_is_sane(o))
		return -EACCES;
	kind = kinds[o->which];
	opts.object_name = kind->name;
	bytes = kind->bytes(&size);
	obj = bpf_object__open_mem(bytes, size, &opts);
	if (!obj)
		return -errno;
	err = set_programs(obj, o);
	if (!err)
		err = set_maps(obj, o, given);
	if (!err)
		err = set_config(obj, kind, o);
	if (err)
		return err;
	*out = TAKE_PTR(obj);
	return 0;
}

static int load(const struct bpf_order *o, const struct fd_packet *given, struct fd_packet *got)
{
	SCOPED(scoped_bpf_object) struct bpf_object *obj = NULL;
	int err = bpf_order_open(o, given, &obj);

	if (!err)
		err = bpf_object__load(obj);
	return err ? err : take_all(obj, o, got);
}

int bpf_order_load(const void *order, const struct fd_packet *given, struct fd_packet *got,
                   char why[BROKER_WHY_LEN])
{
	struct bpf_log *log = bpf_log_is_captured() ? NULL : bpf_log_capture();
	struct bpf_order o;
	int err;

	memcpy(&o, order, sizeof(o));
	got->nr = 0;
	err = load(&o, given, got);
	(void)snprintf(why, BROKER_WHY_LEN, "%s", err ? bpf_log_last() : "");
	bpf_log_stop(log);
	return err;
}
