/*
 * cli/output — a file that appears complete or not at all.
 *
 * The text goes to a temporary file beside the target, which takes its name when all is on disk.
 * Symbolic links are followed; a target that is not a regular file (a pipe, /dev/stdout) is written
 * directly, as there is nothing to replace.
 */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "base/diag.h"

/* Writes the text; errors of the stream are looked at by the caller. */
typedef void output_fn(const void *ctx, FILE *out);

MUST_USE int output_write(const char *path, output_fn *fn, const void *ctx, struct diag *d);
