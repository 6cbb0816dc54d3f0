#include "collect/sample/sample_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "abi/switch_args.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/features.h"

/* The process that a task belongs to; 0 = there is none. */
static uint32_t process_of(uint32_t tid)
{
	SCOPED(scoped_free) char *status = NULL;
	const char *line;
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%u/status", tid);
	if (text_read_file(path, (size_t)64 * 1024, &status))
		return 0;
	line = strstr(status, "\nTgid:");
	return line ? (uint32_t)strtoul(line + strlen("\nTgid:"), NULL, 10) : 0;
}

int sample_facts_process(uint32_t tgid, struct diag *d)
{
	uint32_t process = process_of(tgid);
	char hint[64];

	if (!process)
		return diag_set(d, -ESRCH, "it may have ended", "there is no process %u", tgid);
	if (process == tgid)
		return 0;
	(void)snprintf(hint, sizeof(hint), "it is a thread of process %u", process);
	return diag_set(d, -ESRCH, hint, "%u is not a process", tgid);
}

int sample_facts_kernel(struct prof_cfg *cfg, struct diag *d)
{
	struct features_cfg probe_cfg = { .root = "" };
	struct features f;

	features_probe(&probe_cfg, &f);
	cfg->may_create = f.task_storage_in_tracing == TRI_YES;
	switch (f.switch_args) {
	case SWITCH_ARGS_STATE_LAST:
		cfg->switch_args = ABI_SWITCH_STATE_LAST;
		return 0;
	case SWITCH_ARGS_STATE_2ND:
		cfg->switch_args = ABI_SWITCH_STATE_2ND;
		return 0;
	case SWITCH_ARGS_NO_STATE:
		cfg->switch_args = ABI_SWITCH_3;
		return 0;
	default:
		return diag_set(d, -ENOTSUP, "see 'schedscope doctor'",
		                "the arguments of sched_switch on this kernel are unknown");
	}
}
