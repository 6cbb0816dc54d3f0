/* tests/machine/machine_files — a machine made of files, and looks at it at times that the test chooses. */
#pragma once

#include "../sys/tree.h"

#include <stdint.h>

#include "machine/machine_source.h"

#define MACHINE_FILES_S 1000000000ULL

struct machine_files {
	struct tree t;
	struct machine_source *s;
	struct machine_source_cfg cfg;
};

/* Files of /proc for CPUs as a list ("0-3,8"), and those of a fixture, which may be NULL. */
void machine_files_init(struct machine_files *f, const char *cpus, const char *fixture);
void machine_files_done(struct machine_files *f);
void machine_files_open(struct machine_files *f); /* with f->cfg */
void machine_files_pass(double seconds);          /* time goes on */
const struct machine *machine_files_refresh(struct machine_files *f, uint32_t needs);
/* Looks again and again, at the same moment, until it is so; fails the test after ten seconds. */
const struct machine *machine_files_until(struct machine_files *f, uint32_t needs,
                                          bool (*is_so)(const struct machine *m));
