/*
 * profile/profiler/profile_thread — a profiler with its own thread: samples, follows the sampled
 * processes and looks up names there, so that the screen never waits.
 *
 * Several times a second the thread makes a shot of all samples so far; less often, the larger the profile is, so that this
 * takes about a twentieth of a CPU, but at least every three seconds. The caller takes the newest and owns it. All calls
 * come from one other thread; only profile_thread_free() waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "profile/machine_profile.h"

struct profile_thread;

struct profile_thread_cfg {
	uint32_t tgid; /* only this process; 0 = all */
	double hz;
};

/* Everything so far. */
struct profile_shot;

MUST_USE int profile_thread_start(const struct profile_thread_cfg *cfg,
                                  struct profile_thread **out); /* 0 or -errno */
/* Forgets all samples and begins again, at that rate. Shots of before are not given out any more. */
void profile_thread_anew(struct profile_thread *t, double hz);
/* The newest one that was not taken yet, or NULL. */
struct profile_shot *profile_thread_take(struct profile_thread *t);
/* Soon nothing is sampled any more. */
void profile_thread_end(struct profile_thread *t);
bool profile_thread_is_over(
	const struct profile_thread *t);            /* profile_thread_free() does not wait */
void profile_thread_free(struct profile_thread *t); /* NULL is fine; waits for its end */

void profile_shot_free(struct profile_shot *s); /* NULL is fine */
const struct machine_profile *profile_shot_show(const struct profile_shot *s);
/* What the user should know, number idx of it; NULL = there is no more. */
const char *profile_shot_remark(const struct profile_shot *s, size_t idx);
