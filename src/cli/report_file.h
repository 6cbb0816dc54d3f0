/*
 * cli/report_file — a report (report/page) as a file: made of a recording, written whole or not at all.
 *
 * An older report of that name is replaced; any other file is left alone unless it is asked for. Says on stderr what was written,
 * and the first sentence of the verdict.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/diag.h"
#include "cli/trace_args.h"

#define REPORT_FILE_NAME "report.html"

struct output;
struct report_compare;

struct report_file {
	const char *path;                     /* "-" = standard output */
	const char *title;                    /* NULL = made of the recording's name */
	bool is_forced;                       /* replace what is no report, too */
	char command[4096];                   /* report_file_command() */
	const struct report_compare *compare; /* NULL = it is compared with nothing */
	struct output *place; /* report_file_open(); NULL = found when it is written */
};

/* Before anything is loaded: -EEXIST for a file that is no report. */
MUST_USE int report_file_check(const struct report_file *f, struct diag *d);
/* What would make it again, of the recording and the filters. */
void report_file_command(struct report_file *f, const char *recording,
                         const struct trace_args *rows);
/* A further word of it: another recording, after an option unless that is "". One that no longer fits is left out. */
void report_file_command_add(struct report_file *f, const char *option, const char *recording);
/* Where it will be written, found with the rights of this moment; closed in any case. */
MUST_USE int report_file_open(struct report_file *f, struct diag *d);
void report_file_close(struct report_file *f);
MUST_USE int report_file_write(const struct report_file *f, const struct source *s,
                               const struct pass_args *args, struct diag *d);
