/*
 * sys/bpf/prog_watch — samples of the run times of all BPF programs, while requested.
 *
 * While it runs, the kernel counts runs of programs, which costs a little, and a thread reads them
 * at each interval. Otherwise nothing is counted, and the thread sleeps. All functions may be called on any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/bpf/bpf_progs.h"

struct prog_watch;

MUST_USE int prog_watch_new(struct diag *d, struct prog_watch **out);
void prog_watch_free(struct prog_watch *w); /* NULL is fine */

/* Again with another interval: it takes that one. */
MUST_USE int prog_watch_start(struct prog_watch *w, uint64_t interval_ms, struct diag *d);
void prog_watch_stop(struct prog_watch *w); /* keeps what was found */
bool prog_watch_runs(struct prog_watch *w, uint64_t *interval_ms, uint64_t *nr_samples);

/* As of now: valid until prog_watch_unlock(), which must follow a success. */
MUST_USE int prog_watch_lock(struct prog_watch *w, struct diag *d, const struct bpf_progs **out);
void prog_watch_unlock(struct prog_watch *w);
