/*
 * sys/proc/pid_namespace — are our process ids the kernel's?
 *
 * BPF and perf know tasks by the ids of the first namespace, a container's /proc by those of its own: there the one must
 * not be looked up by the other.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"

#define PID_NAMESPACE_HINT "run it in the host's pid namespace (docker: --pid=host)"
/* Of a stream of events: its tasks cannot be looked up in /proc. */
#define PID_NAMESPACE_NOTE \
	"inside a pid namespace: ids are the host's, and tasks have no names before they fork, exec or exit"

/* True where it cannot be known. */
bool pid_namespace_is_initial(void);
/* Refuses ids of processes that were asked for, such as "-p", where they are not the kernel's: 0, or -ENOTSUP. */
MUST_USE int pid_namespace_check(const char *what, struct diag *d);
