/* report/sections — the plain tables of a page: wakeup latency, who wakes whom, tasks, CPUs, interrupts, power, queues. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "report/content.h"

/* Percentiles and slots of wakeup latency: what the pictures above them show. */
void sections_latency(const struct content *c, FILE *out);
void sections_cpus(const struct content *c, FILE *out);
/* The sections "wakers", "tasks" and "devices"; nothing of what was not recorded. */
void sections_wakers(const struct content *c, FILE *out);
void sections_tasks(const struct report *rows, FILE *out);
bool sections_has_devices(const struct content *c);
void sections_devices(const struct content *c, FILE *out);
