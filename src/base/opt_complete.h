/*
 * base/opt_complete — what the writers of the shells' completions share. Private to base/opt*.c.
 *
 * The part of the program before its command has the options of the program and completes commands;
 * the writers take it as one more command, with an empty name.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/opt.h"
#include "base/opt_table.h"

/* A word in single quotes of which nothing is special to the shell. */
enum opt_quoting {
	OPT_QUOTE_POSIX,   /* bash, zsh: it'\''s */
	OPT_QUOTE_ESCAPED, /* fish: it\'s, and \\ for a backslash */
	OPT_QUOTE_DOUBLED, /* elvish, PowerShell: it''s */
};
void opt_put_quoted(FILE *out, enum opt_quoting quoting, const char *s);

/* Writes a template in which '~' stands for the name of the program. */
void opt_put_template(FILE *out, const char *template, const struct opt_program *prog);

/* Called with each word under which an option is known: "-i" and "--interval", then the alias. */
typedef void opt_name_fn(void *ctx, const char *name);
void opt_each_name(const struct opt *o, opt_name_fn *fn, void *ctx);
void opt_each_shown_name(const struct opt *o, opt_name_fn *fn, void *ctx); /* not the alias */

bool opt_takes_value(const struct opt *o);

/* Called with the part before the command, then with each command. */
typedef void opt_command_fn(FILE *out, const struct opt_program *prog,
                            const struct opt_command *cmd);
void opt_each_command(const struct opt_program *prog, opt_command_fn *fn, FILE *out);
/* The same, and again under its alias. */
void opt_each_command_name(const struct opt_program *prog, opt_command_fn *fn, FILE *out);

/* For shells with a function of candidates: a line "WORD 'text' 'help'", indented. */
void opt_put_candidate(FILE *out, const char *word, const char *text, const char *help);
/* The lines of all commands, if these are the operands; of all names of options. */
void opt_put_commands(FILE *out, const char *word, const struct opt_program *prog,
                      const struct opt_command *cmd);
void opt_put_options(FILE *out, const char *word, const struct opt_command *cmd);
/* Calls fn with each COMMAND:OPTION that takes a value. */
typedef void opt_value_fn(FILE *out, const char *command, const char *name, const struct opt *o);
void opt_each_value(FILE *out, const struct opt_command *cmd, opt_value_fn *fn);

void opt_complete_bash(const struct opt_program *prog, FILE *out);
void opt_complete_zsh(const struct opt_program *prog, FILE *out);
void opt_complete_fish(const struct opt_program *prog, FILE *out);
void opt_complete_elvish(const struct opt_program *prog, FILE *out);
void opt_complete_powershell(const struct opt_program *prog, FILE *out);
