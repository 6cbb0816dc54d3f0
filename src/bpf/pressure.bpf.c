/*
 * Hardware pressure of each CPU, as it changes. A raw tracepoint without types, since its arguments are two numbers: it
 * needs no BTF, and tests can run it.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* By CPU, one more than the pressure: 0 = it has not changed yet. Made as large as the machine. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} pressures SEC(".maps");

SEC("raw_tp")
int on_pressure(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = (__u32)ctx->args[0];
	__u64 *pressure = bpf_map_lookup_elem(&pressures, &cpu);

	if (pressure)
		*pressure = ctx->args[1] + 1;
	return 0;
}
