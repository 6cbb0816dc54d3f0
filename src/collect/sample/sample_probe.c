#include "collect/sample/sample_probe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "abi/event.h"
#include "base/cleanup.h"
#include "collect/loaded.h"
#include "collect/probe_spec.h"
#include "collect/uprobe.h"
#include "sys/rights/broker.h"

#define TRACEFS "/sys/kernel/tracing/events"

static bool is_there(const char *path)
{
	SCOPED(scoped_close) int fd = broker_open(path);

	return fd >= 0;
}

/* BTF has no subsystems; where tracefs is mounted, it shows whether that half is right too. */
static bool has_subsystem(const struct probe_spec *spec)
{
	char path[PROBE_SYMBOL_LEN + PROBE_PATH_LEN + sizeof(TRACEFS) + 5];

	(void)snprintf(path, sizeof(path), TRACEFS "/%s/%s/id", spec->path, spec->symbol);
	return !is_there(TRACEFS "/sched/sched_switch/id") || is_there(path);
}

int sample_probe_tracepoint(struct loaded *l, struct bpf_program *prog, const char *spec,
                            struct diag *d)
{
	struct events_probe asked = { .type = EV_PROBE_TRACEPOINT, .spec = spec };
	struct probe_spec parsed;
	int err = probe_spec_parse(&asked, &parsed, d);

	if (err)
		return err;
	if (!has_subsystem(&parsed) || loaded_aim(l, prog, parsed.symbol))
		return diag_set(d, -ENOENT, PROBE_TRACEPOINT_HINT,
		                "this kernel has no tracepoint '%.60s:%.60s'", parsed.path,
		                parsed.symbol);
	return 0;
}

int sample_probe_uprobe(int prog_fd, const char *spec, struct diag *d, struct bpf_tie *out)
{
	struct events_probe asked = { .type = EV_PROBE_UPROBE, .spec = spec };
	struct probe_spec parsed;
	int err = probe_spec_parse(&asked, &parsed, d);

	return err ? err : uprobe_attach(prog_fd, &parsed, 0, d, out);
}
