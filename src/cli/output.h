/*
 * cli/output — a file that appears complete or not at all.
 *
 * The text goes to a temporary file beside the target, which takes its name when all is on disk.
 * Symbolic links are followed; a target that is not a regular file (a pipe, /dev/stdout) is written
 * directly, as there is nothing to replace.
 *
 * output_open() finds out where the file goes and whether it can be written, with the rights of that moment;
 * output_fill() may come when they are gone (sys/rights/broker).
 */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "base/diag.h"

/* Writes the text; errors of the stream are checked by the caller. */
typedef void output_fn(const void *ctx, FILE *out);

struct output;

MUST_USE int output_open(const char *path, struct diag *d, struct output **out);
/* A file of a directory in which others may write: a link of that name is replaced, never followed. */
MUST_USE int output_open_in(const char *dir, const char *name, struct diag *d, struct output **out);
MUST_USE int output_fill(struct output *o, output_fn *fn, const void *ctx, struct diag *d);
void output_close(struct output *o); /* NULL is fine */

/* All of it at once. */
MUST_USE int output_write(const char *path, output_fn *fn, const void *ctx, struct diag *d);
