#include "sys/bpf/bpf_map.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stddef.h>

static int make_ring(uint32_t bytes)
{
	int fd;

	if (!bytes || bytes & (bytes - 1) || bytes > BPF_MAP_RING_MAX)
		return -EINVAL;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "schedscope_ring", 0, 0, bytes, NULL);
	return fd < 0 ? -errno : fd;
}

/* The kernel wants a type of the right size behind the value: an array of 64-bit numbers will do. */
static int make_value_type(uint32_t value_bytes, struct btf **out, int *key_id, int *value_id)
{
	struct btf *btf = btf__new_empty();
	int word;

	if (!btf)
		return -ENOMEM;
	*key_id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	word = btf__add_int(btf, "unsigned long long", 8, 0);
	*value_id = btf__add_array(btf, *key_id, word, value_bytes / 8);
	if (*key_id < 0 || word < 0 || *value_id < 0) {
		btf__free(btf);
		return -ENOMEM;
	}
	*out = btf;
	return 0;
}

/* libbpf can only make what a type in the object describes. */
static int make_storage(uint32_t value_bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	struct btf *btf = NULL;
	int key_id, value_id, fd, err;

	if (!value_bytes || value_bytes % 8 || value_bytes > BPF_MAP_STORAGE_MAX)
		return -EINVAL;
	err = make_value_type(value_bytes, &btf, &key_id, &value_id);
	if (err)
		return err;
	err = btf__load_into_kernel(btf);
	if (err) {
		btf__free(btf);
		return err;
	}
	opts.btf_fd = (__u32)btf__fd(btf);
	opts.btf_key_type_id = (__u32)key_id;
	opts.btf_value_type_id = (__u32)value_id;
	fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "schedscope_stat", 4, value_bytes, 0, &opts);
	err = fd < 0 ? -errno : fd;
	btf__free(btf);
	return err;
}

static int make_array(enum bpf_map_type type, const char *name, int inner_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int fd;

	if (inner_fd >= 0)
		opts.inner_map_fd = (__u32)inner_fd;
	fd = bpf_map_create(type, name, 4, 4, 1, &opts);
	return fd < 0 ? -errno : fd;
}

int bpf_map_make(enum broker_map kind, uint32_t bytes, int inner_fd)
{
	switch (kind) {
	case BROKER_MAP_RING:
		return make_ring(bytes);
	case BROKER_MAP_STORAGE:
		return make_storage(bytes);
	case BROKER_MAP_ONE:
		return make_array(BPF_MAP_TYPE_ARRAY, "schedscope_none", -1);
	case BROKER_MAP_OF_ONE:
		return inner_fd < 0 ? -EINVAL
		                    : make_array(BPF_MAP_TYPE_ARRAY_OF_MAPS, "schedscope_wait",
		                                 inner_fd);
	default:
		return -EINVAL;
	}
}
