/* abi/event_hdr — how each record of abi/event begins. */
#pragma once

#include <linux/types.h>

struct ev_hdr {
	__u16 size; /* whole record, header included; a multiple of 8 */
	__u8 kind;  /* EV_* */
	__u8 flags; /* bits of EV_FLAG_* */
	__u32 cpu;  /* CPU on which it happened */
	__u64 ts_ns;
};

enum {
	EV_FLAG_HARDIRQ = 1, /* it happened inside an interrupt handler */
	EV_FLAG_SOFTIRQ = 2, /* inside a softirq */
	/* Of a switch in a filtered stream: that task is none of those asked for, its other switches are missing. */
	EV_FLAG_OTHER_PREV = 4,
	EV_FLAG_OTHER_NEXT = 8,
	EV_FLAG_UNKNOWN = 16, /* the task that left, or the waker, is unknown; its tid is 0 */
	/*
	 * Of a switch in a sampled stream: what the task that leaves does from here on is not recorded. Of LOST: all
	 * that the CPU did from here on is missing, as its recorder was killed; nothing was counted as lost.
	 */
	EV_FLAG_LAST = 32,
	EV_FLAG_NMI = 64, /* it happened inside a non-maskable interrupt */
};
