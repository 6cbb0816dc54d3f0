/* Cgroups of tasks, as our recorder writes them; what others write says nothing of the tasks that were not moved. */
#include "trace/ftrace/events.h"
#include "trace/ftrace/fields.h"
#include "trace/perfetto/schema.h"

void ftrace_cgroup(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	struct ev_cgroup *rec;

	if (!(e->ours & CGROUP_TOLD) || !tid(e, ATTACH_PID) || !num(e, ATTACH_DST_ID))
		return;
	rec = ADD(on, e, EV_CGROUP, ev_cgroup);
	rec->tid = tid(e, ATTACH_PID);
	rec->flags = e->ours & CGROUP_STATED ? EV_CGROUP_STATED : 0;
	rec->cgroup = num(e, ATTACH_DST_ID);
}

void ftrace_cgroup_info(struct ftrace_cpu *on, const struct ftrace_event_in *e)
{
	bool has_path = e->texts & 1U << MKDIR_PATH;
	size_t len = has_path ? (size_t)e->values[MKDIR_PATH] : 0, room;
	struct ev_cgroup_info *rec;

	if (!(e->ours & CGROUP_TOLD) || !num(e, MKDIR_ID) || !len)
		return;
	if (len >= EV_CGROUP_PATH_MAX)
		len = EV_CGROUP_PATH_MAX - 1;
	room = (len + 8) / 8 * 8;
	rec = add(on, e, EV_CGROUP_INFO, (uint32_t)(sizeof(*rec) + room));
	rec->cgroup = num(e, MKDIR_ID);
	copy_text((char *)(rec + 1), room, e, MKDIR_PATH);
}
