#include "collect/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

struct seen_program {
	uint32_t id;
	uint64_t run_ns, runs;
};

struct bpf_programs {
	int stats_fd;
	size_t nr_seen;
	struct seen_program seen[BPF_PROGRAMS_MAX]; /* of the last call; ascending by id */
	struct seen_program next[BPF_PROGRAMS_MAX];
	struct bpf_program_cost items[BPF_PROGRAMS_MAX];
};

int bpf_programs_open(struct diag *d, struct bpf_programs **out)
{
	struct bpf_programs *p = calloc(1, sizeof(*p));

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	p->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (p->stats_fd < 0) {
		int err = -errno;

		free(p);
		return diag_set(d, err, "run as root, or with CAP_SYS_ADMIN",
		                "the kernel does not let us measure BPF programs");
	}
	*out = p;
	return 0;
}

void bpf_programs_close(struct bpf_programs *p)
{
	if (!p)
		return;
	close(p->stats_fd);
	free(p);
}

/* Ids only grow, so both lists are walked once. */
static const struct seen_program *find_seen(const struct bpf_programs *p, size_t *at, uint32_t id)
{
	while (*at < p->nr_seen && p->seen[*at].id < id)
		(*at)++;
	return *at < p->nr_seen && p->seen[*at].id == id ? &p->seen[*at] : NULL;
}

static bool read_info(uint32_t id, struct bpf_prog_info *info)
{
	SCOPED(scoped_close) int fd = bpf_prog_get_fd_by_id(id);
	__u32 len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return fd >= 0 && bpf_obj_get_info_by_fd(fd, info, &len) == 0;
}

static void describe(const struct bpf_prog_info *info, const struct seen_program *before,
                     struct bpf_program_cost *out)
{
	*out = (struct bpf_program_cost){
		.id = info->id,
		.type = libbpf_bpf_prog_type_str((enum bpf_prog_type)info->type),
		.insns = info->verified_insns,
		.is_measured = before && info->run_time_ns >= before->run_ns,
	};
	memcpy(out->name, info->name, strnlen(info->name, sizeof(out->name) - 1));
	if (!out->is_measured)
		return;
	out->run_ns = info->run_time_ns - before->run_ns;
	out->runs = info->run_cnt - before->runs;
}

int bpf_programs_read(struct bpf_programs *p, struct diag *d, const struct bpf_program_cost **out,
                      size_t *nr)
{
	struct bpf_prog_info info;
	uint32_t id = 0;
	size_t at = 0, n = 0;

	while (n < BPF_PROGRAMS_MAX && bpf_prog_get_next_id(id, &id) == 0) {
		if (!read_info(id, &info))
			continue;
		describe(&info, find_seen(p, &at, id), &p->items[n]);
		p->next[n++] = (struct seen_program){ id, info.run_time_ns, info.run_cnt };
	}
	if (!n && errno == EPERM)
		return diag_set(d, -EPERM, "run as root, or with CAP_SYS_ADMIN",
		                "the kernel does not let us list BPF programs");
	memcpy(p->seen, p->next, n * sizeof(*p->seen));
	p->nr_seen = n;
	*out = p->items;
	*nr = n;
	return 0;
}
