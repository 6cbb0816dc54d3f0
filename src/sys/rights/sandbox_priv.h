/* sys/rights/sandbox_priv — what the files of the sandbox share. */
#pragma once

#include <stdbool.h>

#define SANDBOX_FD    3 /* of the child: the socket */
#define SANDBOX_ARGV0 "schedscope-sandbox"

/* -ENOSYS if the kernel has no seccomp. For good, and for all threads that are started later. */
int sandbox_filter(bool has_threads);
