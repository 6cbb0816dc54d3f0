#include "collect/sample_probe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/event.h"
#include "collect/probe_spec.h"

#define TRACEFS "/sys/kernel/tracing/events"

/* BTF has no subsystems; where tracefs is mounted, it tells whether that half is right too. */
static bool has_subsystem(const struct probe_spec *spec)
{
	char path[PROBE_SYMBOL_LEN + PROBE_PATH_LEN + sizeof(TRACEFS) + 2];

	(void)snprintf(path, sizeof(path), TRACEFS "/%s/%s", spec->path, spec->symbol);
	return access(TRACEFS "/sched", F_OK) != 0 || access(path, F_OK) == 0;
}

int sample_probe_tracepoint(struct bpf_program *prog, const char *spec, struct diag *d)
{
	struct events_probe asked = { .type = EV_PROBE_TRACEPOINT, .spec = spec };
	struct probe_spec parsed;
	int err = probe_spec_parse(&asked, &parsed, d);

	if (err)
		return err;
	if (!has_subsystem(&parsed) || bpf_program__set_attach_target(prog, 0, parsed.symbol))
		return diag_set(d, -ENOENT, "system calls have one for all, raw_syscalls:sys_enter",
		                "this kernel has no tracepoint '%.60s:%.60s'", parsed.path,
		                parsed.symbol);
	return 0;
}

static int no_uprobe(const struct probe_spec *spec, int err, struct diag *d)
{
	if (err == -ENOENT && strchr(spec->path, '/'))
		return diag_set(d, err, "see 'nm' and 'nm -D' for what there is",
		                "'%.80s' has no function '%.60s'", spec->path, spec->symbol);
	if (err == -ENOENT)
		return diag_set(d, err, "give its path, and see 'nm -D' for what is in it",
		                "found no '%.60s' with a function '%.60s'", spec->path,
		                spec->symbol);
	return diag_set(d, err, "run again with --debug for the whole log",
	                "the kernel refused a uprobe on '%.60s' in '%.60s'", spec->symbol,
	                spec->path);
}

int sample_probe_uprobe(struct bpf_program *prog, const char *spec, struct diag *d,
                        struct bpf_link **out)
{
	struct events_probe asked = { .type = EV_PROBE_UPROBE, .spec = spec };
	LIBBPF_OPTS(bpf_uprobe_opts, opts);
	struct probe_spec parsed;
	struct bpf_link *link;
	int err = probe_spec_parse(&asked, &parsed, d);

	if (err)
		return err;
	if (strchr(parsed.path, '/') && access(parsed.path, R_OK) != 0)
		return diag_set(d, -errno, "check the path", "cannot probe '%.100s'", parsed.path);
	opts.func_name = parsed.symbol;
	opts.retprobe = parsed.type == EV_PROBE_URETPROBE;
	/* For all processes: a perf event of one task would not follow its threads. */
	link = bpf_program__attach_uprobe_opts(prog, -1, parsed.path, parsed.offset, &opts);
	if (!link)
		return no_uprobe(&parsed, -errno, d);
	*out = link;
	return 0;
}
