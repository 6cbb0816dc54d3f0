/*
 * cli/command — what every command of the program uses: parsing, errors, exit codes.
 *
 * A command is a const struct opt_command in its own cmd_NAME.c, declared here and named once in the
 * table of main.c; help, manual and completions follow from it. Its run function returns the exit code.
 * Results go to stdout, errors once to stderr.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

extern const struct opt_program cli_program;

extern const struct opt_command cmd_analyze;
extern const struct opt_command cmd_complete;
extern const struct opt_command cmd_convert;
extern const struct opt_command cmd_diff;
extern const struct opt_command cmd_doctor;
extern const struct opt_command cmd_explain;
extern const struct opt_command cmd_export;
extern const struct opt_command cmd_generate_completions;
extern const struct opt_command cmd_generate_man;
extern const struct opt_command cmd_help;
extern const struct opt_command cmd_mcp;
extern const struct opt_command cmd_profile;
extern const struct opt_command cmd_query;
extern const struct opt_command cmd_record;
extern const struct opt_command cmd_report;
extern const struct opt_command cmd_serve;
extern const struct opt_command cmd_stat;
extern const struct opt_command cmd_top;

/* Prints "schedscope: what: why; hint" on stderr. Returns CLI_FAILED: return cli_fail(&d). */
MUST_USE int cli_fail(const struct diag *d);
/* The same for a wrong command line; a diag without hint gets one: which --help to read. cmd == NULL: the program. */
MUST_USE int cli_usage_error(const struct opt_command *cmd, const struct diag *d);

/* Whether -p names a process: -ESRCH with a diag if there is none, or for a thread of another process. */
MUST_USE int cli_check_pid(uint64_t pid, struct diag *d);

/* The words of a command that there is, ended by NULL and lent; *out, to be freed, stays NULL without any. */
MUST_USE int cli_command_words(const struct opt_list *command, struct diag *d, char ***out);

/* Whether standard output is a pipe without a reader, as in "| head". */
bool cli_is_reader_gone(void);

/* The outcome of writing a result to stdout: 0 also if the reader has exited, else err with a message. */
MUST_USE int cli_written(int err, struct diag *d);

/*
 * opt_parse() for commands. False means that all is done, be it --help or a usage error: return
 * *exit_code. After true, opt_result_done(out) is the caller's.
 */
MUST_USE bool cli_parse(const struct opt_command *cmd, int argc, char **argv, void *cfg,
                        struct opt_result *out, int *exit_code);

/* What --verbose and --debug ask for. */
void cli_set_log_level(bool is_verbose, bool is_debug);

/* What a command does once its words are understood: the exit code. args is what was given to cli_run(). */
typedef int cli_body_fn(const struct opt_command *self, const void *args,
                        const struct opt_list *operands);
/* Parses into args, which has the defaults, and does it. For commands whose options own nothing. */
MUST_USE int cli_run(const struct opt_command *self, int argc, char **argv, void *args,
                     cli_body_fn *body);
