/*
 * sys/rights/caps — what this thread may do, and giving up what is no longer needed.
 *
 * Capabilities are per thread: drop them before starting threads that are to be bound, too.
 */
#pragma once

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define CAPS_BIT(cap) (1ULL << (cap))

/* Newer than the headers of some build hosts (Linux 5.8). */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40 /* Linux 5.9 */
#endif

/* To load and attach tracing programs and to count on whole CPUs. */
#define CAPS_TRACE (CAPS_BIT(CAP_BPF) | CAPS_BIT(CAP_PERFMON))
/* What a binary is best given: also limits of memory and descriptors, and other users' tasks. */
#define CAPS_INSTALL                                                          \
	(CAPS_TRACE | CAPS_BIT(CAP_SYS_RESOURCE) | CAPS_BIT(CAP_SYS_PTRACE) | \
	 CAPS_BIT(CAP_DAC_READ_SEARCH))

struct caps {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

MUST_USE int caps_get(struct caps *out);
/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON, as in the kernel. */
bool caps_has(const struct caps *c, int cap);
/* Those of the mask that caps_has() misses. */
uint64_t caps_missing(const struct caps *c, uint64_t mask);

/* "cap_bpf,cap_perfmon"; numbers above those we can name as "cap_63"; returns buf. */
char *caps_names(uint64_t mask, char *buf, size_t size);
/*
 * A line for a shell that gives a binary capabilities, and only members of the group adm the right to run it, because what it
 * shows is not for everyone; NULL for the path means our own. -ENAMETOOLONG when it does not fit.
 */
MUST_USE int caps_setcap_line(uint64_t mask, const char *binary, char *buf, size_t size);

/* Gives up, for good, every capability that is not in the mask. */
MUST_USE int caps_drop_to(uint64_t mask);
