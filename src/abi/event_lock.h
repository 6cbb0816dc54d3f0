/* abi/event_lock — records of waits for locks of the kernel. Part of abi/event. */
#pragma once

#include <linux/types.h>

#include "abi/event_hdr.h"

/* What kind of lock it is, and how it was waited for; all but the last two as the kernel counts (LCB_F_*). */
enum {
	EV_LOCK_SPIN = 1,
	EV_LOCK_READ = 2,
	EV_LOCK_WRITE = 4,
	EV_LOCK_RT = 8,
	EV_LOCK_PERCPU = 16,
	EV_LOCK_MUTEX = 32,
	EV_LOCK_FAILED = 64,     /* it gave up, because of a signal or a timeout */
	EV_LOCK_INTERRUPT = 128, /* an interrupt waited, not the task */
};

/*
 * Comes when it has the lock; of locks for which a CPU spins, at the next switch of that CPU, because a ring cannot be written
 * to while another lock of its own may be the one in question.
 */
struct ev_lock {
	struct ev_hdr hdr;
	__u64 lock; /* its address */
	__u64 start_ns;
	__u64 end_ns;
	__u32 tid; /* on the CPU */
	__u8 type; /* EV_LOCK_* */
	__u8 pad_[3];
};
