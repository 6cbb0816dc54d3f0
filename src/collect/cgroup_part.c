#include "collect/cgroup_part.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/event_make.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "collect/loaded.h"
#include "sys/cgroup.h"
#include "sys/cgroup_mount.h"

#define READ_ROWS 4096U

struct cgroup_part {
	struct cgroup_hierarchy hierarchy;
	struct cgroup_tree *tree; /* NULL = no names */
	struct ev_task_cgroup *tasks;
	uint32_t nr_tasks, tasks_room;
};

int cgroup_part_open(struct ev_cfg *cfg, struct cgroup_part **out)
{
	struct cgroup_hierarchy hierarchy;
	struct cgroup_part *p;

	cfg->cgroup_hierarchy = -1;
	*out = NULL;
	if (cgroup_find_cpu("/proc/self", &hierarchy))
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p) {
		cgroup_hierarchy_done(&hierarchy);
		return -ENOMEM;
	}
	p->hierarchy = hierarchy;
	cfg->cgroup_hierarchy = hierarchy.id;
	cfg->is_cgroup_v1 = hierarchy.is_v1;
	*out = p;
	return 0;
}

void cgroup_part_close(struct cgroup_part *p)
{
	if (!p)
		return;
	cgroup_hierarchy_done(&p->hierarchy);
	cgroup_tree_free(p->tree);
	free(p->tasks);
	free(p);
}

static int read_rows(struct cgroup_part *p, int fd)
{
	ssize_t n;

	for (;;) {
		if (GROW(p->tasks, p->tasks_room, p->nr_tasks + READ_ROWS))
			return -ENOMEM;
		n = read(fd, p->tasks + p->nr_tasks, READ_ROWS * sizeof(*p->tasks));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		p->nr_tasks += (uint32_t)((size_t)n / sizeof(*p->tasks));
	}
}

int cgroup_part_read(struct cgroup_part *p, const struct loaded *events,
                     const struct bpf_program *lister)
{
	SCOPED(scoped_close) int link = -1;
	SCOPED(scoped_close) int fd = -1;

	if (!p)
		return 0;
	link = loaded_iterator(events, lister);
	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	if (fd < 0)
		return -errno;
	/* Paths are optional: without them cgroups are numbers. */
	if (p->hierarchy.mount)
		(void)!cgroup_tree_read(p->hierarchy.mount, NULL, &p->tree);
	return read_rows(p, fd);
}

struct emitter {
	const struct ev_sink *sink;
	uint64_t ts_ns;
};

static int emit_path(void *ctx, uint64_t id, const char *path)
{
	const struct emitter *e = ctx;
	struct ev_cgroup_named rec;

	ev_make_cgroup_info(&rec, id, path, e->ts_ns);
	return e->sink->push(e->sink->ctx, &rec.info.hdr);
}

int cgroup_part_emit(struct cgroup_part *p, uint64_t ts_ns, const struct ev_sink *sink)
{
	struct emitter e = { sink, ts_ns };
	int err = p && p->tree ? cgroup_tree_each(p->tree, emit_path, &e) : 0;

	for (uint32_t i = 0; p && !err && i < p->nr_tasks; i++) {
		struct ev_cgroup rec = {
			.hdr = { sizeof(rec), EV_CGROUP, 0, 0, ts_ns },
			.tid = p->tasks[i].tid,
			.flags = EV_CGROUP_STATED,
			.cgroup = p->tasks[i].cgroup,
		};

		if (rec.tid && rec.cgroup)
			err = sink->push(sink->ctx, &rec.hdr);
	}
	if (!p)
		return err;
	cgroup_tree_free(p->tree);
	free(p->tasks);
	p->tree = NULL;
	p->tasks = NULL;
	p->nr_tasks = p->tasks_room = 0;
	return err;
}
