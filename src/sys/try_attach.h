/*
 * sys/try_attach — what the kernel lets a program be attached to, found out by doing it.
 *
 * Each call loads a program that does nothing, attaches it and takes it away again; no event is awaited. Kernels that have
 * all it takes may still refuse (lockdown, a policy, an architecture without trampolines), so nothing is inferred.
 * 0 or the kernel's -errno. Any thread; blocks for as long as the kernel takes, milliseconds.
 */
#pragma once

#include "base/attr.h"

/* Loads a program, as tracing does. */
MUST_USE int try_attach_load(void);
/* To the beginning of a function, by a trampoline. -ENOENT: the kernel's BTF does not have the function. */
MUST_USE int try_attach_fentry(void);
/* A breakpoint at the same function. -ENOENT: the kernel has no kprobes. */
MUST_USE int try_attach_kprobe(void);
