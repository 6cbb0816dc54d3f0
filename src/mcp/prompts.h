/*
 * mcp/prompts — every prompt, and what their texts share. A word in `backticks` with a _ or :// is
 * a tool or resource.
 */
#pragma once

#include <stdio.h>

#include "mcp/prompt.h"

extern const struct prompt prompt_scheduler_performance;
extern const struct prompt prompt_high_latency;
extern const struct prompt prompt_cpu_imbalance;
extern const struct prompt prompt_scheduler_behavior;
extern const struct prompt prompt_summarize_system;

/* Where figures come from: a file, a short recording, or live data. */
void prompt_put_sources(FILE *out);
/* How to read and report figures. */
void prompt_put_rules(FILE *out);
