#include "collect/kprobe.h"

#include <errno.h>
#include <unistd.h>

#include "collect/events_part.h"
#include "collect/loaded.h"

#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe/type"

int kprobe_check(const char *function, struct diag *d)
{
	if (access(KPROBE_PMU, F_OK) == 0)
		return 0;
	return diag_set(d, -EINVAL, "leave it out, or use a kernel with CONFIG_KPROBES",
	                "cannot probe '%s': this kernel has no kprobes", function);
}

int kprobe_attach(int prog_fd, const char *function, uint64_t cookie, struct diag *d,
                  struct bpf_tie *out)
{
	int err = kprobe_check(function, d);

	if (err)
		return err;
	if (!events_part_has_function(function))
		return diag_set(d, -EINVAL, "see /proc/kallsyms for what there is",
		                "this kernel has no function '%s'", function);
	err = bpf_tie_kprobe(prog_fd, function, false, cookie, out);
	if (!err)
		return 0;
	return diag_set(d, err,
	                err == -EPERM ? "the kernel may be locked down"
	                              : "some functions cannot be probed",
	                "the kernel refused a kprobe on '%s'", function);
}
