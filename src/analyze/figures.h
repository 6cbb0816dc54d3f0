/* analyze/figures — members that many analyses show alike: rates, microseconds, names of queues and devices. */
#pragma once

#include <stdint.h>

#include "analyze/report.h"
#include "analyze/source.h"

/* count per second of the span; null if that is 0. */
void figure_per_sec(struct report *r, const char *key, double count, uint64_t span_ns);
/* Bytes in the span as megabits per second. */
void figure_mbps(struct report *r, const char *key, uint64_t bytes, uint64_t span_ns);
/* Nanoseconds as microseconds, with their fraction. */
void figure_us(struct report *r, const char *key, double ns);
void figure_us_if(struct report *r, const char *key, bool is_known, double ns);
/* A text of the model; null for the empty one. */
void figure_text(struct report *r, const char *key, const struct source *s, uint32_t name_id);
/* Members dsq_id and dsq_name. */
void figure_dsq(struct report *r, uint64_t dsq_id);
/* "GLOBAL", "LOCAL", "BYPASS", "LOCAL_ON|3", else "0x...": valid as long as the report. */
const char *figure_dsq_name(struct report *r, uint64_t dsq_id);
/* The kernel's major:minor; valid as long as the report. */
const char *figure_device(struct report *r, uint64_t dev);
