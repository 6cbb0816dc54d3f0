/* abi/switch_args — how a kernel passes the arguments of sched_switch. */
#pragma once

enum abi_switch_args {
	ABI_SWITCH_3,          /* preempt, prev, next: before 5.18 */
	ABI_SWITCH_STATE_2ND,  /* preempt, prev_state, prev, next: 5.18 alone */
	ABI_SWITCH_STATE_LAST, /* preempt, prev, next, prev_state */
};
