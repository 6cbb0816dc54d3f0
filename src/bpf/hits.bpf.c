/*
 * How often something was passed, on each CPU: a function of the kernel, or a tracepoint that is found by its name in BTF
 * because tracefs, which knows its number, is not there. Only the program that is needed is loaded.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 wanted_tgid = 0; /* 0 = all */

/* A cache line each. */
struct hits {
	__u64 nr;
	__u64 pad_[7];
};

/* By CPU. Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hits);
} hits SEC(".maps");

static __always_inline int count(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct hits *h;

	if (wanted_tgid && bpf_get_current_pid_tgid() >> 32 != wanted_tgid)
		return 0;
	h = bpf_map_lookup_elem(&hits, &cpu);
	if (h)
		__sync_fetch_and_add(&h->nr, 1); /* an interrupt may come in between */
	return 0;
}

SEC("kprobe")
int on_function(void *ctx)
{
	return count();
}

SEC("tp_btf")
int on_tracepoint(__u64 *ctx)
{
	return count();
}
