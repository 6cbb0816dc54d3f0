/* tests/profile/profile_fixture — profiles made by hand, shared by the tests of analyze and render. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * "story": 1000 samples of cpu-clock at 99 Hz. web (100): main > serve > parse 400, > serve > read (libc) > sys_read (kernel)
 * 200, > serve > copy (inlined in serve) 50, main itself 50. db (200), two threads: main > fib > fib > fib 150, main > read
 * (own, in db) 100; and 50 of an address that no one knows.
 * "older": the same of another run: parse had 100, read of libc 500; "gone" was there. "hostile": names that want to
 * break out. "empty": nothing.
 */
bool profile_story(const char *name, struct profile **out);

/* Adds a stack of symbols, outermost first, as "a;b;c"; "k:" before one is kernel, "i:" inlined, "m!" sets the module. */
void profile_add(struct profile *p, const struct profile_task *task, const char *stack,
                 uint64_t count);
