#include "sys/scx/scx_layers.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/bpf/bpf_btf.h"
#include "sys/rights/broker.h"

#define MAP_NAME     "task_ctxs"
#define MEMBER       "layer_id"
#define MAPS_MAX     64U                /* of one program */
#define VALUE_MAX    (1U << 16)         /* bytes */
#define THREAD_PIDFD ((unsigned)O_EXCL) /* PIDFD_THREAD, Linux 6.9 */

/* Where layer_id lies in a value; false if it has none. */
static bool find_member(const struct btf *btf, uint32_t type_id, uint32_t *offset)
{
	int id = btf__resolve_type(btf, type_id);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	if (!type || !btf_is_struct(type))
		return false;
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *m = btf_members(type) + i;
		const char *name = btf__name_by_offset(btf, m->name_off);

		if (!name || strcmp(name, MEMBER) != 0)
			continue;
		*offset = btf_member_bit_offset(type, i) / 8;
		return btf_member_bit_offset(type, i) % 32 == 0 &&
		       !btf_member_bitfield_size(type, i) && btf__resolve_size(btf, m->type) == 4;
	}
	return false;
}

static bool take_map(int fd, struct scx_layers *out)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info), offset = 0;
	struct btf *btf;
	bool is_ours;

	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_MAP_TYPE_TASK_STORAGE ||
	    strcmp(info.name, MAP_NAME) != 0 || !info.btf_id || info.value_size > VALUE_MAX)
		return false;
	btf = bpf_btf_read(info.btf_id);
	if (!btf)
		return false;
	is_ours = find_member(btf, info.btf_value_type_id, &offset) &&
	          offset + sizeof(uint32_t) <= info.value_size;
	btf__free(btf);
	if (is_ours)
		*out = (struct scx_layers){ fd, info.value_size, offset };
	return is_ours;
}

/* Among the maps of a program of a scheduler. */
static bool take_map_of(int prog, struct scx_layers *out)
{
	uint32_t ids[MAPS_MAX] = { 0 };
	struct bpf_prog_info info = { .map_ids = (uintptr_t)ids, .nr_map_ids = MAPS_MAX };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(prog, &info, &len) || info.type != BPF_PROG_TYPE_STRUCT_OPS)
		return false;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
		SCOPED(scoped_close) int fd = broker_bpf_open(BROKER_BPF_MAP, ids[i]);

		if (fd >= 0 && take_map(fd, out)) {
			(void)TAKE_FD(fd);
			return true;
		}
	}
	return false;
}

int scx_layers_find(struct scx_layers *out)
{
	uint32_t id = 0;
	int err;

	while ((err = broker_bpf_next(BROKER_BPF_PROG, id, &id)) == 0) {
		SCOPED(scoped_close) int fd = broker_bpf_open(BROKER_BPF_PROG, id);

		if (fd >= 0 && take_map_of(fd, out))
			return 0;
	}
	return err == -EPERM ? -EPERM : -ENOENT;
}

int scx_layers_of(const struct scx_layers *l, uint32_t tid, void *buf, uint32_t *layer)
{
	SCOPED(scoped_close) int fd = (int)syscall(SYS_pidfd_open, (int)tid, THREAD_PIDFD);

	if (fd < 0 || bpf_map_lookup_elem(l->fd, &fd, buf))
		return -ENOENT;
	memcpy(layer, (const char *)buf + l->offset, sizeof(*layer));
	return 0;
}
