/*
 * sys/topology_json — a topology as a file, for another machine or to override what sysfs says.
 *
 * The format is rsched's with one more key:
 *   { "cpus": { "0": { "die": 0, "llc": 0, "numa": 0 }, ... } }
 * A file with "die" but no "llc" is read as if dies were the caches; -1 is unknown; a CPU of which nothing
 * is known is left out. Files are untrusted: each kind of bad one has its sentence.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/diag.h"

struct topology;

/* Flushes; 0 or -errno. */
MUST_USE int topology_json_write(const struct topology *t, FILE *out);
/* name is what messages call the text, such as its path. */
MUST_USE int topology_json_parse(const char *text, size_t len, const char *name, struct diag *d,
                                 struct topology **out);
MUST_USE int topology_json_read(const char *path, struct diag *d, struct topology **out);
