/*
 * Programs whose cost is known, for test_hot.py. Their names have the words of sched_ext, with which they have nothing to
 * do. Nothing here is shared with src/.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define HEAVY 7000
#define LIGHT 3000

char LICENSE[] SEC("license") = "GPL";

__u64 runs; /* of enqueue_task */
__u64 state = 1;

static __noinline __u64 light(__u64 x)
{
	for (int i = 0; i < LIGHT; i++)
		x = x * 31 + 7;
	return x;
}

static __noinline __u64 heavy(__u64 x)
{
	for (int i = 0; i < HEAVY; i++)
		x = x * 31 + 7;
	return x;
}

SEC("syscall")
int enqueue_task(void *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	state = heavy(state);
	state = light(state);
	return 0;
}

struct sock;

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
} __attribute__((preserve_access_index));

SEC("struct_ops/dispatch_one")
__u32 BPF_PROG(dispatch_one, struct sock *sk)
{
	return 2;
}

SEC("struct_ops/select_cpu_two")
void BPF_PROG(select_cpu_two, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops/init_task_three")
__u32 BPF_PROG(init_task_three, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops")
struct tcp_congestion_ops congestion = {
	.ssthresh = (void *)dispatch_one,
	.cong_avoid = (void *)select_cpu_two,
	.undo_cwnd = (void *)init_task_three,
	.name = "hot_test",
};
