/*
 * collect/plumbing — the frames between a tracepoint and the program that runs there, which belong to no one's stack.
 *
 * A stack that is walked at a tracepoint begins with the BPF program and the kernel's functions that called it; how
 * many those are depends on the kernel. They are known by their names in kallsyms. Where that shows no addresses (no
 * CAP_SYSLOG) nothing is cut.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct plumbing;

MUST_USE int plumbing_read(const char *kallsyms, struct plumbing **out); /* 0 or -errno */
void plumbing_free(struct plumbing *p);                                  /* NULL is fine */
/* How many frames to leave out, leaf first. p may be NULL. */
uint32_t plumbing_frames(const struct plumbing *p, const uint64_t *ips, uint32_t nr);
