/*
 * sys/sensors/uncore_freq — at which frequency the parts of a package beside its cores run, as
 * Intel's driver reports it.
 *
 * Folders package_NN_die_NN, or uncoreNN with the numbers in files (TPMI, Linux 6.5). Blocks on /sys only.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sys/sensors/sensor_file.h"

#define UNCORE_FREQS_MAX 128U

struct uncore_freq {
	int32_t package_id; /* the kernel's number */
	double mhz;
};

struct uncore_freqs {
	struct uncore_freq items[UNCORE_FREQS_MAX];
	size_t nr;
};

void uncore_freqs_read(const struct sensor_files *f, struct uncore_freqs *out);
/* The mean over the parts of a package; NAN = unknown. */
double uncore_freqs_mhz(const struct uncore_freqs *u, int32_t package_id);
