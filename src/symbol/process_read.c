#include "symbol/process_read.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "symbol/mapped_files.h"
#include "symbol/proc_maps.h"
#include "symbol/spaces.h"
#include "sys/proc/proc_tasks.h"
#include "sys/rights/broker.h"

#define STAT_BYTES_MAX ((size_t)4096)
#define MAPS_BYTES_MAX ((size_t)64 << 20)

static struct space_process process_now(const char *proc, uint32_t tgid)
{
	struct space_process now = { .uid = SPACES_NO_UID };
	SCOPED(scoped_free) char *text = NULL;
	struct proc_task task;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%u/stat", proc, tgid);
	if (broker_read(path, STAT_BYTES_MAX, &text) || !proc_task_parse(text, &task))
		return now;
	now.start_ns = task.start_ns ? task.start_ns : 1;
	if (stat(path, &st) == 0)
		now.uid = st.st_uid;
	return now;
}

static int add_line(const struct process_read_cfg *cfg, uint32_t tgid, uint64_t since_ns,
                    const struct proc_maps_line *line)
{
	struct space_mapping m = { .start = line->start, .end = line->end, .offset = line->offset };
	const struct symbol_mapping mapping = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.dev_major = line->dev_major,
		.dev_minor = line->dev_minor,
		.inode = line->inode,
		.path = line->path,
	};
	int err = mapped_files_add(cfg->files, &mapping, tgid, &m.file);

	if (err == -E2BIG)
		return 0;
	return err ? err : spaces_map(cfg->spaces, tgid, since_ns, &m);
}

int process_read(const struct process_read_cfg *cfg, uint32_t tgid, uint64_t now_ns)
{
	SCOPED(scoped_free) char *text = NULL;
	struct space_life life;
	struct proc_maps_line line;
	struct space_process now = process_now(cfg->proc, tgid);
	uint64_t since_ns = 0;
	char path[PATH_MAX];
	struct scan rest;
	int err;

	snprintf(path, sizeof(path), "%s/%u/maps", cfg->proc, tgid);
	if (now.start_ns && broker_read(path, MAPS_BYTES_MAX, &text))
		now = process_now(cfg->proc, tgid); /* it may have ended in between */
	err = spaces_read(cfg->spaces, tgid, &now, now_ns, &since_ns);
	if (err)
		return err == -E2BIG ? 0 : err;
	if (!now.start_ns || !spaces_life(cfg->spaces, tgid, UINT64_MAX, &life) || life.has_exited)
		return -ESRCH;
	if (!text)
		return -EACCES;
	rest = (struct scan){ text, text + strlen(text) };
	while (!err && proc_maps_next(&rest, &line))
		if (line.is_executable)
			err = add_line(cfg, tgid, since_ns, &line);
	return err;
}
