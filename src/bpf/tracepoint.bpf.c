/*
 * A tracepoint of the user's choice, as an object of its own, loaded once for each: raw tracepoints have no
 * cookie before Linux 6.10, so each copy of the program carries its number. The maps are those of the event
 * stream. The tracepoint is found by its name in BTF and not by an id, for which tracefs would have to be
 * mounted.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/events_probe.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 probe_id = 0;

SEC("tp_btf")
int on_tracepoint(__u64 *ctx)
{
	return put_probe(probe_id, 0);
}
