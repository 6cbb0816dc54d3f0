/*
 * report/cards — the worst waits, and the sleeps that findings are about, one card each: sentences, what ran on the CPUs, the parts
 * of the wait, who held the CPU, the chain of wakers, and stacks where they were recorded.
 */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "report/content.h"

/* The section "waits"; nothing without a wait or sleep. -ENOMEM. */
MUST_USE int cards_write(const struct content *c, FILE *out);
