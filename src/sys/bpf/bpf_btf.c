#include "sys/bpf/bpf_btf.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"

#define BYTES_MAX (64U << 20)

struct btf *bpf_btf_read(uint32_t id)
{
	SCOPED(scoped_close) int fd = broker_bpf_open(BROKER_BPF_BTF, id);
	SCOPED(scoped_free) void *bytes = NULL;
	struct bpf_btf_info info = { 0 };
	__u32 len = sizeof(info), size;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) || info.btf_size > BYTES_MAX)
		return NULL;
	size = info.btf_size;
	bytes = malloc(size ? size : 1);
	info = (struct bpf_btf_info){ .btf = (uintptr_t)bytes, .btf_size = size };
	len = sizeof(info);
	if (!bytes || bpf_obj_get_info_by_fd(fd, &info, &len))
		return NULL;
	return btf__new(bytes, size);
}
