/*
 * record/flight_name — the name of a dump: time, trigger, value, task.
 *
 *   schedscope-20261115T053012-wakeup-latency-6.2ms-nginx-1234
 *
 * Names of tasks come from outside: only letters, digits and ._+- of them go into a file name.
 */
#pragma once

#include <stddef.h>
#include <time.h>

#include "model/trigger_eval.h"

/* Without a suffix. when is in local time; always terminated, cut if it must be. */
char *flight_name(char *buf, size_t size, const char *prefix, const struct tm *when,
                  const struct trigger_hit *hit);
/* "wakeup-latency 6.2ms of nginx (1234)": the same for people. */
char *flight_reason(char *buf, size_t size, const struct trigger_hit *hit);
