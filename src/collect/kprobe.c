#include "collect/kprobe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "collect/events_part.h"

#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe/type"

int kprobe_check(const char *function, struct diag *d)
{
	if (access(KPROBE_PMU, F_OK) == 0)
		return 0;
	return diag_set(d, -EINVAL, "leave it out, or use a kernel with CONFIG_KPROBES",
	                "cannot probe '%s': this kernel has no kprobes", function);
}

int kprobe_attach(struct bpf_program *prog, const char *function, uint64_t cookie, struct diag *d,
                  struct bpf_link **out)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = cookie);
	struct bpf_link *link;
	int err = kprobe_check(function, d);

	if (err)
		return err;
	if (!events_part_has_function(function))
		return diag_set(d, -EINVAL, "see /proc/kallsyms for what there is",
		                "this kernel has no function '%s'", function);
	link = bpf_program__attach_kprobe_opts(prog, function, &opts);
	if (link) {
		*out = link;
		return 0;
	}
	err = -errno;
	return diag_set(d, err,
	                err == -EPERM ? "the kernel may be locked down"
	                              : "some functions cannot be probed",
	                "the kernel refused a kprobe on '%s'", function);
}
