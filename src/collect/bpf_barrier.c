#include "collect/bpf_barrier.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/rights/broker.h"

int bpf_barrier_open(struct bpf_barrier *b)
{
	int err = 0;

	b->outer_fd = -1;
	b->inner_fd = broker_bpf_map(BROKER_MAP_ONE, 0, -1);
	if (b->inner_fd < 0)
		return b->inner_fd;
	b->outer_fd = broker_bpf_map(BROKER_MAP_OF_ONE, 0, b->inner_fd);
	if (b->outer_fd < 0) {
		err = b->outer_fd;
		bpf_barrier_close(b);
	}
	return err;
}

int bpf_barrier_wait(const struct bpf_barrier *b)
{
	__u32 first = 0;

	if (bpf_map_update_elem(b->outer_fd, &first, &b->inner_fd, BPF_ANY) == 0)
		return 0;
	/* Before Linux 5.19 that takes the rights that making a map does. */
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0 ? -errno : 0;
}

void bpf_barrier_close(struct bpf_barrier *b)
{
	if (b->outer_fd >= 0)
		close(b->outer_fd);
	if (b->inner_fd >= 0)
		close(b->inner_fd);
	b->outer_fd = b->inner_fd = -1;
}
