/*
 * sys/doctor — what this machine lets us do, one row per question.
 *
 * Reads files below a root, so that tests can fake a machine; what has to be tried (capabilities, loading
 * and attaching a program) comes in from the caller. Plain data out; never fails, never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sys/rights/caps.h"

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_row {
	const char *check; /* "btf" */
	enum doctor_state state;
	char meaning[256]; /* what was found, and what that means */
	char remedy[512];  /* what to do about it; empty when there is nothing to do */
};

#define DOCTOR_MAX_ROWS 24

struct doctor_report {
	char release[72]; /* of the kernel; empty = unknown */
	struct doctor_row rows[DOCTOR_MAX_ROWS];
	size_t nr;
};

struct doctor_cfg {
	const char *root;        /* put before /proc and /sys; "" on a real machine */
	const char *binary;      /* that would be given capabilities; NULL = our own */
	const struct caps *caps; /* NULL = unknown */
	bool has_tried_bpf;
	/* Of sys/try_attach, when tried. */
	int bpf_error;
	int fentry_error;
	int kprobe_error;
};

void doctor_run(const struct doctor_cfg *cfg, struct doctor_report *out);
const char *doctor_state_name(enum doctor_state state); /* ok, limited, missing */
