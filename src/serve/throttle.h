/* serve/throttle — how long quotas held cgroups up, as the kernel counts it in their cpu.stat. Blocks on the cgroup file system. */
#pragma once

#include "base/attr.h"
#include "serve/seats.h"

struct throttle_reader;

MUST_USE int throttle_open(struct throttle_reader **out); /* -ENOENT: no cgroups, -ENOMEM */
void throttle_close(struct throttle_reader *r);           /* NULL is fine */
/* Of those that have seats; cgroups without the file are left as they are. */
void throttle_read(struct throttle_reader *r, struct seats *seats);
/* Of the text of cpu.stat, version 1 or 2. False where it says nothing about quotas. */
MUST_USE bool throttle_parse(const char *text, struct seat_throttle *out);
