#include "abi/event_make.h"

#include <string.h>

void ev_make_cgroup_info(struct ev_cgroup_named *out, __u64 cgroup, const char *path, __u64 ts_ns)
{
	size_t len = strnlen(path, EV_CGROUP_PATH_MAX - 1);
	size_t room = (len + 8) / 8 * 8; /* with a NUL */

	out->info = (struct ev_cgroup_info){
		.hdr = { .size = (__u16)(sizeof(out->info) + room),
		         .kind = EV_CGROUP_INFO,
		         .ts_ns = ts_ns },
		.cgroup = cgroup,
	};
	memset(out->path, 0, room);
	memcpy(out->path, path, len);
}
