/*
 * collect/loaded — a BPF object in the kernel: its maps, its programs, and where they are attached.
 *
 * The object is opened by its skeleton, of which programs are chosen, maps sized and constants set, and which is never loaded
 * itself: loaded_load() makes an order of all that, which is carried out here, or without rights by the broker. Then the maps of
 * the skeleton are those in the kernel, and its variables are shared with the programs. To attach a program takes no rights.
 *
 * One thread at a time. The object is lent, and closed after this. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collect/bpf_order.h"

struct bpf_object;
struct bpf_program;
struct loaded;

MUST_USE int loaded_new(enum bpf_which which, struct bpf_object *obj, struct loaded **out);
void loaded_close(struct loaded *l); /* detaches; NULL is fine */
struct bpf_object *loaded_object(const struct loaded *l);

/* Before loading: the function or tracepoint of a program that its object does not name. -ENOENT: there is none. */
MUST_USE int loaded_aim(struct loaded *l, struct bpf_program *prog, const char *function);
/* 0 or -errno; the kernel's words are in the log of this thread (collect/bpf_open). */
MUST_USE int loaded_load(struct loaded *l);

/* -1 = it was not loaded. Lent. */
int loaded_fd(const struct loaded *l, const struct bpf_program *prog);
/* Of the i-th program, for those who want all; -1 behind the last and for those that were not loaded. */
bool loaded_each(const struct loaded *l, uint32_t i, struct bpf_program **prog, int *fd);

/* To what its section or its aim names; once. Programs that were not loaded are left out. 0 or -errno. */
MUST_USE int loaded_attach(struct loaded *l, const struct bpf_program *prog);
MUST_USE int loaded_attach_raw(struct loaded *l, const struct bpf_program *prog,
                               const char *tracepoint);
MUST_USE int loaded_attach_all(struct loaded *l);
void loaded_detach(struct loaded *l); /* all that the three above have attached */
/* A link for bpf_iter_create(), which the caller closes; or -errno. */
MUST_USE int loaded_iterator(const struct loaded *l, const struct bpf_program *prog);

/* A program on an event of perf. */
struct bpf_tie {
	int event; /* -1 = none */
	int link;  /* -1 before Linux 5.15, where the event holds the program */
};

/* The event is the tie's from then on, unless it fails; it is switched on. */
MUST_USE int bpf_tie_event(int prog_fd, int event, uint64_t cookie, struct bpf_tie *out);
/* At a call of a function of the kernel, or the return. */
MUST_USE int bpf_tie_kprobe(int prog_fd, const char *function, bool is_return, uint64_t cookie,
                            struct bpf_tie *out);
void bpf_tie_close(struct bpf_tie *t);
