#include "profile/profiler/profile_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "collect/stat_filter.h"
#include "sys/rights/broker.h"

#define PROCESSES_MAX 65536U
#define COMM_LEN      16U
#define ADDRESSES_MAX ((size_t)2 * SAMPLER_DEPTH)
#define FRAMES_MAX    (ADDRESSES_MAX * SYMBOL_FRAMES_MAX)

struct named_process {
	char comm[COMM_LEN]; /* empty = it had exited before we read it */
};

struct profile_names {
	struct symbolizer *symbols;
	struct map *by_tgid;
	struct named_process *processes;
	uint32_t capacity;
	struct stat_filter *cgroups; /* NULL = they have no names */
	uint32_t frames[FRAMES_MAX]; /* of the row at hand */
};

DEFINE_SCOPED(profile_names, profile_names_free)

int profile_names_new(struct symbolizer *symbols, struct profile_names **out)
{
	SCOPED(scoped_profile_names) struct profile_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->symbols = symbols;
	if (map_new(sizeof(uint32_t), PROCESSES_MAX, &n->by_tgid))
		return -ENOMEM;
	*out = TAKE_PTR(n);
	return 0;
}

int profile_names_read_cgroups(struct profile_names *n)
{
	struct stat_filter_cfg cfg = { .wants_cgroup_names = true };
	int err = stat_filter_new(&cfg, NULL, &n->cgroups);

	return err == -ENOMEM ? err : 0; /* without a hierarchy they have no names */
}

void profile_names_free(struct profile_names *n)
{
	if (!n)
		return;
	stat_filter_free(n->cgroups);
	map_free(n->by_tgid);
	free(n->processes);
	free(n);
}

static void read_comm(uint32_t tgid, struct named_process *p)
{
	char path[64];
	SCOPED(scoped_close) int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%u/comm", tgid);
	fd = broker_open(path);
	len = fd >= 0 ? read(fd, p->comm, sizeof(p->comm) - 1) : -1;
	if (len < 0)
		return; /* it has ended: the last name that we saw is the best there is */
	p->comm[len] = '\0';
	p->comm[strcspn(p->comm, "\n")] = '\0';
}

static int add_process(struct profile_names *n, uint32_t tgid, uint32_t *idx)
{
	uint32_t nr = map_nr(n->by_tgid);

	if (GROW(n->processes, n->capacity, nr))
		return -ENOMEM;
	n->processes[nr] = (struct named_process){ 0 };
	*idx = nr;
	return map_insert(n->by_tgid, &tgid, nr);
}

int profile_names_read_process(struct profile_names *n, uint32_t tgid, uint64_t ts_ns)
{
	uint32_t idx;
	int err;

	if (!tgid || map_find(n->by_tgid, &tgid, &idx))
		return 0;
	err = add_process(n, tgid, &idx);
	if (err)
		return err == -E2BIG ? 0
		                     : err; /* more processes than we name: theirs stay unknown */
	read_comm(tgid, &n->processes[idx]);
	err = symbolizer_read_process(n->symbols, tgid, ts_ns);
	return err == -ENOMEM ? err
	                      : 0; /* an exited one has reported its mappings before, or never */
}

int profile_names_execed(struct profile_names *n, uint32_t tgid)
{
	uint32_t idx;
	int err = map_find(n->by_tgid, &tgid, &idx) ? 0 : add_process(n, tgid, &idx);

	if (!err)
		read_comm(tgid, &n->processes[idx]);
	return err == -E2BIG ? 0 : err;
}

static const char *process_name(const struct profile_names *n, const struct sampler_row *row)
{
	uint32_t idx;

	/* Its first thread has the name of the process, as of that moment: before exec, and of a number used again. */
	if (row->tid == row->tgid)
		return row->comm;
	if (map_find(n->by_tgid, &row->tgid, &idx) && n->processes[idx].comm[0])
		return n->processes[idx].comm;
	return NULL;
}

struct name_place {
	uint32_t tgid; /* 0 = kernel */
	uint64_t ts_ns;
	uint64_t address;
	bool is_return; /* the address after a call: what was called from is just before it */
};

/* The frames of one address, innermost first: how many, or an error. */
static int add_place(struct profile_names *n, const struct name_place *at, struct profile *out,
                     uint32_t *numbers)
{
	struct symbol_frame found[SYMBOL_FRAMES_MAX];
	uint64_t asked = at->address - (at->is_return && at->address);
	uint32_t nr = symbolizer_frames(n->symbols, at->tgid, at->ts_ns, asked, found);
	char unknown[24];
	int err = 0;

	snprintf(unknown, sizeof(unknown), "0x%llx", (unsigned long long)at->address);
	for (uint32_t i = 0; !err && i < nr; i++) {
		struct profile_frame frame = {
			.symbol = found[i].name ? found[i].name : unknown,
			.module = found[i].module,
			.file = found[i].file,
			.line = found[i].line,
			.address = at->address,
			.is_kernel = at->tgid == 0,
			.is_inlined = found[i].is_inlined,
		};

		err = profile_add_frame(out, &frame, &numbers[i]);
	}
	return err ? err : (int)nr;
}

/* Of a sample only the innermost address is where the CPU was; all others are return addresses. */
static int add_addresses(struct profile_names *n, const struct sampler_row *row,
                         struct profile *out)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < row->nr_kernel + row->nr_user; i++) {
		bool is_kernel = i < row->nr_kernel;
		struct name_place at = {
			.tgid = is_kernel ? 0 : row->tgid,
			.ts_ns = row->last_ns,
			.address = is_kernel ? row->kernel[i] : row->user[i - row->nr_kernel],
			/* User code that entered the kernel is at its system call, not after a call. */
			.is_return = i != 0 && i != row->nr_kernel,
		};
		int err = nr + SYMBOL_FRAMES_MAX <= FRAMES_MAX
		                  ? add_place(n, &at, out, n->frames + nr)
		                  : -E2BIG;

		if (err < 0)
			return err;
		nr += (size_t)err;
	}
	return (int)nr;
}

/* Its path; its number where that is all that is known. */
static const char *cgroup_name(const struct profile_names *n, uint64_t id, char buf[static 32])
{
	const char *name = n->cgroups && id ? stat_filter_cgroup_name(n->cgroups, id) : NULL;

	if (name || !id)
		return name;
	snprintf(buf, 32, "cgroup %llu", (unsigned long long)id);
	return buf;
}

int profile_names_add(struct profile_names *n, const struct sampler_row *row, struct profile *out)
{
	char number[32];
	struct profile_task task = {
		.tid = row->tid,
		.tgid = row->tgid,
		.comm = row->comm,
		.process = process_name(n, row),
		.layer = row->layer,
		.cgroup = cgroup_name(n, row->cgroup, number),
	};
	struct profile_stack stack = {
		.frames = n->frames, .cpu = row->cpu, .count = row->count, .value = row->value
	};
	int nr = add_addresses(n, row, out), err;

	if (nr < 0)
		return nr;
	stack.nr = (size_t)nr;
	err = profile_add_task(out, &task, &stack.task);
	return err ? err : profile_add_stack(out, &stack);
}
