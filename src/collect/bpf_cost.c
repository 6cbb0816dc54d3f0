#include "collect/bpf_cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sys/rights/broker.h"

void bpf_cost_init(struct bpf_cost *c, const int *fds, size_t nr)
{
	memset(c, 0, sizeof(*c));
	c->stats_fd = -1;
	c->nr = nr < BPF_COST_PROGRAMS ? nr : BPF_COST_PROGRAMS;
	memcpy(c->fds, fds, c->nr * sizeof(*fds));
}

static bool read_run_time(int fd, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
	return true;
}

int bpf_cost_begin(struct bpf_cost *c)
{
	if (c->stats_fd >= 0)
		return 0;
	c->stats_fd = broker_bpf_stats();
	if (c->stats_fd < 0)
		return c->stats_fd;
	for (size_t i = 0; i < c->nr; i++)
		if (!read_run_time(c->fds[i], &c->start_ns[i], &c->start_runs[i]))
			c->fds[i] = -1;
	return 0;
}

void bpf_cost_end(struct bpf_cost *c)
{
	uint64_t ns, runs;

	if (c->stats_fd < 0)
		return;
	close(c->stats_fd);
	c->stats_fd = -1;
	for (size_t i = 0; i < c->nr; i++) {
		if (!read_run_time(c->fds[i], &ns, &runs))
			continue;
		c->run_ns += ns - c->start_ns[i];
		c->runs += runs - c->start_runs[i];
	}
}

bool bpf_cost_ns_per_run(const struct bpf_cost *c, double *out)
{
	if (!c->runs)
		return false;
	*out = (double)c->run_ns / (double)c->runs;
	return true;
}
