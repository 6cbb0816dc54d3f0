/*
 * base/opt — option tables: one table per command gives parsing, --help, the manual and completions.
 *
 * A command is a const struct opt_command; its options point into a config struct by offset. Parsers
 * check the whole string and its range. Errors are one sentence that shows the word and suggests the
 * nearest right one; nothing is printed from here except by the opt_print_* functions.
 *
 *   static const struct opt options[] = {
 *       OPT_FLAG('d', "detailed", struct stat_args, is_detailed, "all rows, one per thread"),
 *       OPT_U64('i', "interval", "SECONDS", struct stat_args, interval_s, 1, 86400, "..."),
 *       OPT_END,
 *   };
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/diag.h"

/* A growing list of words: options that may be given more than once, and operands. */
struct opt_list {
	const char **items; /* the strings belong to argv */
	size_t nr;
};
void opt_list_done(struct opt_list *l);

enum opt_type {
	OPT_TYPE_END,
	OPT_TYPE_FLAG,     /* bool */
	OPT_TYPE_U64,      /* uint64_t within [min, max] */
	OPT_TYPE_DURATION, /* uint64_t ns: 10s, 5ms, 250us, 1.5s; a bare number is in unit_ns */
	OPT_TYPE_STRING,   /* const char * */
	OPT_TYPE_LIST,     /* struct opt_list, appended to */
	OPT_TYPE_CHOICE,   /* int: index into choices */
};

struct opt {
	enum opt_type type;
	char short_name;       /* 0 = none */
	const char *long_name; /* without dashes */
	const char *alias;     /* another long name, accepted, not shown in --help; may be NULL */
	const char *arg;       /* "SECONDS"; NULL for flags */
	const char *help;      /* one line, lower case, no full stop */
	const char *details;   /* further text for the manual; may be NULL */
	const char *const *choices; /* NULL-terminated; for CHOICE and for completion of others */
	size_t offset;
	uint64_t min, max;
	uint64_t unit_ns;
	bool is_file;        /* completes file names */
	bool is_hidden;      /* accepted, not shown */
	size_t given_offset; /* of a bool set when the option was given; SIZE_MAX = none */
};

struct opt_example {
	const char *command;
	const char *what;
};

struct opt_command {
	const char *name;          /* "stat" */
	const char *alias;         /* another name, or NULL */
	const char *summary;       /* one line: what it answers */
	const char *operands;      /* "FILE [ANALYSIS...]"; NULL = takes none */
	const char *description;   /* paragraphs for the manual, separated by blank lines */
	const struct opt *options; /* ends with OPT_END; NULL = none of its own */
	const struct opt_example *examples; /* ends with .command == NULL */
	bool stops_at_operand; /* what follows the first operand belongs to another command */
	bool is_hidden;
	int (*run)(const struct opt_command *self, int argc, char **argv);
};

/* clang-format off */
#define OPT_END { .type = OPT_TYPE_END }
#define OPT_COMMON(t, s, l, h, st, f) .type = (t), .short_name = (s), .long_name = (l), .help = (h), \
	.offset = offsetof(st, f), .given_offset = SIZE_MAX
#define OPT_FLAG(s, l, st, f, h) { OPT_COMMON(OPT_TYPE_FLAG, s, l, h, st, f) }
#define OPT_U64(s, l, a, st, f, lo, hi, h) \
	{ OPT_COMMON(OPT_TYPE_U64, s, l, h, st, f), .arg = (a), .min = (lo), .max = (hi) }
#define OPT_STRING(s, l, a, st, f, h) { OPT_COMMON(OPT_TYPE_STRING, s, l, h, st, f), .arg = (a) }
#define OPT_LIST(s, l, a, st, f, h) { OPT_COMMON(OPT_TYPE_LIST, s, l, h, st, f), .arg = (a) }
#define OPT_CHOICE(s, l, a, st, f, c, h) \
	{ OPT_COMMON(OPT_TYPE_CHOICE, s, l, h, st, f), .arg = (a), .choices = (c) }
/* clang-format on */

/* What parsing found besides options. */
struct opt_result {
	bool wants_help;
	struct opt_list operands;
};

/* argv[0] is skipped. -EINVAL with a diag on any error. -h and --help are known everywhere. */
MUST_USE int opt_parse(const struct opt_command *cmd, int argc, char **argv, void *cfg,
                       struct opt_result *out, struct diag *d);

/* The nearest of the NULL-terminated words to a mistyped one, or NULL if none is near. */
const char *opt_nearest(const char *word, const char *const *words);

void opt_print_help(const struct opt_command *cmd, FILE *out);
/* Overview of all commands, which end with .name == NULL. */
void opt_print_overview(const struct opt_command *cmds, FILE *out);
/* roff man pages: of one command (schedscope-NAME.1) or, with cmd == NULL, of the program. */
void opt_print_man(const struct opt_command *cmds, const struct opt_command *cmd, FILE *out);
/* shell is bash, zsh, fish, elvish or powershell; -EINVAL otherwise. */
MUST_USE int opt_print_completion(const struct opt_command *cmds, const char *shell, FILE *out);
extern const char *const opt_shells[];
