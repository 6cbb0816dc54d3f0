#include "collect/tracing.h"

#include <errno.h>

#include "abi/event.h"
#include "sys/features.h"
#include "sys/rights/broker.h"
#include "sys/rights/caps.h"

static int check_capabilities(const char *what, struct diag *d)
{
	struct caps caps;
	char line[160];

	if (broker_can_trace() || caps_get(&caps) || !caps_missing(&caps, CAPS_TRACE))
		return 0; /* the kernel has the last word */
	if (caps_setcap_line(CAPS_TRACE, NULL, line, sizeof(line)))
		line[0] = '\0';
	return diag_set(d, -EPERM, line, "%s need root, or CAP_BPF and CAP_PERFMON", what);
}

/* What acts on run queues is reached by a task, which knows that of its group. */
static uint8_t measures_of(const struct features *f)
{
	const enum tri *has = f->fields;
	bool has_queue = has[FEATURES_SE_CFS_RQ] == TRI_YES && has[FEATURES_CFS_RQ_RQ] == TRI_YES;
	bool has_steal = has_queue && has[FEATURES_RQ_STEAL] == TRI_YES;
	uint8_t quota = 0;

	if (has[FEATURES_TASK_THROTTLED] == TRI_YES)
		quota = EV_MEASURES_QUOTA;
	else if (has_queue && has[FEATURES_CFS_RQ_THROTTLED] == TRI_YES)
		quota = EV_MEASURES_QUOTA_CPU;
	return (uint8_t)(quota | (has_steal ? EV_MEASURES_STEAL : 0) |
	                 (has_queue ? EV_MEASURES_LIMITS : 0));
}

int tracing_probe(const char *what, struct tracing *out, struct diag *d)
{
	struct features_cfg cfg = { .root = "" };
	struct features f;
	int err = check_capabilities(what, d);

	if (err)
		return err;
	features_probe(&cfg, &f);
	if (f.btf != TRI_YES)
		return diag_set(
			d, -ENOTSUP,
			"use a kernel built with CONFIG_DEBUG_INFO_BTF; 'schedscope doctor' says more",
			"this kernel has no type information (BTF) at /sys/kernel/btf/vmlinux");
	out->measures = measures_of(&f);
	out->may_create_storage = f.task_storage_in_tracing == TRI_YES;
	switch (f.switch_args) {
	case SWITCH_ARGS_STATE_LAST:
		out->switch_args = ABI_SWITCH_STATE_LAST;
		return 0;
	case SWITCH_ARGS_STATE_2ND:
		out->switch_args = ABI_SWITCH_STATE_2ND;
		return 0;
	case SWITCH_ARGS_NO_STATE:
		out->switch_args = ABI_SWITCH_3;
		return 0;
	default:
		return diag_set(d, -ENOTSUP, "see 'schedscope doctor'",
		                "the sched_switch arguments of this kernel are not supported");
	}
}
