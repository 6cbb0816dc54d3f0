/* Cgroups, as the events of ftrace that move tasks into them and make them. */
#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/writer_priv.h"

/* Tasks that do nothing else are not shown by name for it. */
int writer_cgroup(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_cgroup *rec = (const void *)hdr;
	bool is_stated = rec->flags & EV_CGROUP_STATED;
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_CGROUP_ATTACH_TASK);
	pb_uint(e.w, ATTACH_DST_ID, rec->cgroup);
	pb_uint(e.w, ATTACH_PID, rec->tid);
	pb_uint(e.w, CGROUP_OURS, CGROUP_TOLD | (is_stated ? CGROUP_STATED : 0));
	ftrace_end(&e, hdr->flags);
	return 0;
}

int writer_cgroup_info(struct trace_writer *w, const struct ev_hdr *hdr)
{
	const struct ev_cgroup_info *rec = (const void *)hdr;
	const char *path = (const char *)(rec + 1), *slash;
	size_t len = strnlen(path, hdr->size - sizeof(*rec));
	struct writer_place at;
	struct ftrace_event e;
	int err = writer_at(w, hdr, &at);

	if (err)
		return err;
	slash = memrchr(path, '/', len);
	e = ftrace_begin(at.cpu, at.ts_ns, writer_current(&at, 0), FTRACE_CGROUP_MKDIR);
	pb_uint(e.w, MKDIR_ID, rec->cgroup);
	pb_text(e.w, MKDIR_CNAME, slash ? slash + 1 : path,
	        slash ? len - (size_t)(slash + 1 - path) : len);
	pb_text(e.w, MKDIR_PATH, path, len);
	pb_uint(e.w, CGROUP_OURS, CGROUP_TOLD);
	ftrace_end(&e, hdr->flags);
	return 0;
}
