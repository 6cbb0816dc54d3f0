/* abi/policy — the policies by which the kernel schedules a task. Numbers are in files: append, never reuse. */
#pragma once

/* Those of the kernel plus one, so that 0 is free. */
enum {
	ABI_POLICY_UNKNOWN,
	ABI_POLICY_NORMAL = 1,
	ABI_POLICY_FIFO = 2,
	ABI_POLICY_RR = 3,
	ABI_POLICY_BATCH = 4,
	ABI_POLICY_IDLE = 6,
	ABI_POLICY_DEADLINE = 7,
	ABI_POLICY_EXT = 8,
	ABI_POLICIES = 9,
};
