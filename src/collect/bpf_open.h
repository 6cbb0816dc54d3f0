/*
 * collect/bpf_open — what every BPF object of the program needs: libbpf's log turned into one sentence.
 *
 * libbpf prints through one callback per process. While a bpf_log captures them, its lines go to the debug
 * log and the last ones are kept, so that a failure to load can be explained.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct bpf_object;
struct bpf_program;
struct bpf_log;
struct btf;

struct bpf_log *bpf_log_capture(void); /* NULL when out of memory: then nothing is kept */
void bpf_log_stop(struct bpf_log *t);  /* NULL is fine */

/* Of this thread's log: whether there is one, its last line, and a line that another process has captured. */
bool bpf_log_is_captured(void);
const char *bpf_log_last(void);
void bpf_log_note(const char *line);

/*
 * Before loading an object with a weak function of the kernel. Where the kernel lacks it, libbpf
 * (before 1.4) searches modules for it, and fails if it may not list them, which takes
 * CAP_SYS_ADMIN. It tries only once per object: without that right it does so here, where failing
 * does not matter.
 */
void bpf_do_without_modules(struct bpf_program *any);

/* Whether programs of the type tp_btf can be attached to it. */
bool bpf_has_tracepoint(const struct btf *vmlinux, const char *name);

/* Sets a diag for a failed load: permission, missing feature, or the verifier's last words. */
int bpf_load_failed(const struct bpf_log *t, int err, const char *what, struct diag *d);

/* Element i of a map of descriptors becomes fds[i], or empty where that is below 0. 0 or -errno. */
MUST_USE int bpf_fill_fds(int map_fd, const int *fds, uint32_t nr);

/* Runs a BPF iterator to its end and discards what it prints. */
MUST_USE int bpf_run_iterator(int iter_link_fd);
