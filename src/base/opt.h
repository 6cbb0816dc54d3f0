/*
 * base/opt — option tables: one table per command gives parsing, --help, the manual and completions.
 *
 * A command is a const struct opt_command; its options point into a config struct by offset. Parsers
 * check the whole string and its range. Errors are one sentence that shows the word and suggests the
 * nearest right one; nothing is printed from here except by the opt_print_* functions. Tables are
 * trusted, arguments are not. Strings that parsing stores belong to argv.
 *
 *   static const struct stat_args stat_defaults = { .interval_s = 1 };
 *   static const struct opt options[] = {
 *       OPT_FLAG('d', "detailed", struct stat_args, is_detailed, "all rows, one per thread"),
 *       OPT_U64('i', "interval", "SECONDS", struct stat_args, interval_s, 1, 86400, "..."),
 *       OPT_STRING('o', "output", "FILE", struct stat_args, path, "...", .is_file = true),
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
	size_t nr, room;
};
void opt_list_done(struct opt_list *l);

enum opt_type {
	OPT_TYPE_END,
	OPT_TYPE_FLAG,     /* bool */
	OPT_TYPE_U64,      /* uint64_t within [min, max] */
	OPT_TYPE_DURATION, /* uint64_t ns within [min, max]: 10s, 5ms, 250us, 100ns, 1.5s, 2m, 1h */
	OPT_TYPE_STRING,   /* const char * */
	OPT_TYPE_LIST,     /* struct opt_list, appended to */
	OPT_TYPE_CHOICE,   /* int or enum: index into choices */
};

struct opt {
	enum opt_type type;
	char short_name;  /* 0 = none */
	char old_name;    /* another letter, accepted and announced: see opt_result; 0 = none */
	bool is_file;     /* completes file names */
	bool is_hidden;   /* accepted, not shown */
	bool has_given;   /* given_offset counts */
	bool takes_words; /* of a list: all words up to the next option */
	const char *long_name; /* without dashes */
	const char *alias;     /* another long name, accepted, not shown; may be NULL */
	const char *arg;       /* "SECONDS"; NULL for flags */
	const char *bare;      /* value of --NAME alone, others being --NAME=VALUE; NULL = none */
	const char *help;      /* one line, lower case, no full stop */
	const char *details;   /* further sentences for the manual; may be NULL */
	const char *heading;   /* starts a new group of options in --help and the manual */
	const char *const *choices; /* NULL-terminated; for CHOICE and for completion of others */
	const char *list; /* completes what the program prints for "complete LIST"; may be NULL */
	size_t offset;
	uint64_t min, max;
	uint64_t unit_ns; /* of a bare number given for a duration; 0 = the unit must be written */
	size_t given_offset; /* of a bool set when the option was given */
};

struct opt_example {
	const char *command;
	const char *what;
};

enum opt_operand {
	OPT_OPERAND_TEXT, /* no completion */
	OPT_OPERAND_FILE,
	OPT_OPERAND_COMMAND, /* a command of the program */
};

struct opt_command {
	const char *name;          /* "stat" */
	const char *alias;         /* another name, or NULL */
	const char *summary;       /* one line, lower case, no full stop: what it answers */
	const char *operands;      /* "FILE [ANALYSIS...]"; NULL = takes none */
	const char *description;   /* for the manual: see opt_program */
	const struct opt *options; /* ends with OPT_END; NULL = none of its own */
	const void *defaults; /* the config before parsing, so that --help can show it; or NULL */
	const struct opt_example *examples; /* ends with .command == NULL; or NULL */
	enum opt_operand operand;           /* how operands complete */
	const char *operand_list;           /* and with what "complete LIST" prints; may be NULL */
	bool stops_at_operand; /* what follows the first operand belongs to another command */
	bool is_hidden;
	int (*run)(const struct opt_command *self, int argc, char **argv); /* the exit code */
};

struct opt_program {
	const char *name;
	const char *version;
	const char *date;    /* of the manual: 2026-01-31 */
	const char *summary; /* one line, lower case, no full stop */
	/* Paragraphs, separated by blank lines; one that begins with a space is kept as written. */
	const char *description;
	const struct opt *options;                 /* those before the command */
	const struct opt_command *const *commands; /* ends with NULL */
	const struct opt_example *examples;
};

/* Everything after the help text is for further fields: .alias = "all", .is_file = true, ... */
/* clang-format off */
#define OPT_END { .type = OPT_TYPE_END }
#define OPT_FLAG(s, l, st, f, h, ...) \
	{ OPT_COMMON_(OPT_TYPE_FLAG, s, l, h), OPT_FIELD_(st, f, bool), __VA_ARGS__ }
#define OPT_U64(s, l, a, st, f, lo, hi, h, ...) \
	{ OPT_COMMON_(OPT_TYPE_U64, s, l, h), OPT_FIELD_(st, f, uint64_t), .arg = (a), \
	  .min = (lo), .max = (hi), __VA_ARGS__ }
#define OPT_DURATION(s, l, a, st, f, unit, lo, hi, h, ...) \
	{ OPT_COMMON_(OPT_TYPE_DURATION, s, l, h), OPT_FIELD_(st, f, uint64_t), .arg = (a), \
	  .unit_ns = (unit), .min = (lo), .max = (hi), __VA_ARGS__ }
#define OPT_STRING(s, l, a, st, f, h, ...) \
	{ OPT_COMMON_(OPT_TYPE_STRING, s, l, h), OPT_FIELD_(st, f, const char *), .arg = (a), __VA_ARGS__ }
#define OPT_LIST(s, l, a, st, f, h, ...) \
	{ OPT_COMMON_(OPT_TYPE_LIST, s, l, h), OPT_FIELD_(st, f, struct opt_list), .arg = (a), __VA_ARGS__ }
#define OPT_CHOICE(s, l, a, st, f, c, h, ...) \
	{ OPT_COMMON_(OPT_TYPE_CHOICE, s, l, h), \
	  .offset = OPT_CHECKED_(st, f, sizeof(((st *)0)->f) == sizeof(int)), .arg = (a), .choices = (c), __VA_ARGS__ }
#define OPT_GIVEN(st, f) .has_given = true, .given_offset = offsetof(st, f)

#define OPT_COMMON_(t, s, l, h) .type = (t), .short_name = (s), .long_name = (l), .help = (h)
/* Refuses, when compiled, a field whose type is not the one that the option writes. */
#define OPT_CHECKED_(st, f, is_right) (offsetof(st, f) + 0 * sizeof(char[(is_right) ? 1 : -1]))
#define OPT_FIELD_(st, f, type) \
	.offset = OPT_CHECKED_(st, f, __builtin_types_compatible_p(__typeof__(((st *)0)->f), type))
/* clang-format on */

/* What parsing found besides options. */
struct opt_result {
	bool wants_help;       /* --help was met; what follows it was not parsed */
	const struct opt *old; /* the first that was given by its old letter; NULL = none */
	struct opt_list operands;
};
void opt_result_done(struct opt_result *r);

/*
 * argv[0] is skipped. -EINVAL with a diag on any error. -h and --help are known everywhere. The lists
 * in cfg are the caller's to release, after a failure too; *out is written only on success.
 */
MUST_USE int opt_parse(const struct opt_command *cmd, int argc, char **argv, void *cfg,
                       struct opt_result *out, struct diag *d);

/* "10s", "1.5ms", a bare number in bare_ns (0 = none is accepted); the whole string, or false. */
MUST_USE bool opt_read_duration(const char *s, uint64_t bare_ns, uint64_t *out);

/* The shortest exact form: 1500000000 -> "1500ms". Returns buf. */
const char *opt_duration_text(char *buf, size_t size, uint64_t ns);

/* The nearest of the NULL-terminated words to a mistyped one, or NULL if none is near. */
const char *opt_nearest(const char *word, const char *const *words);
/* The command of that name or alias; NULL with a diag that suggests the nearest. */
const struct opt_command *opt_find_command(const struct opt_program *prog, const char *name,
                                           struct diag *d);

/* The width to write help for: that of the terminal behind out, else 80. */
unsigned int opt_columns(FILE *out);
void opt_print_help(const struct opt_program *prog, const struct opt_command *cmd,
                    unsigned int columns, FILE *out);
void opt_print_overview(const struct opt_program *prog, unsigned int columns, FILE *out);
/* roff man pages: of one command (schedscope-NAME.1) or, with cmd == NULL, of the program. */
void opt_print_man(const struct opt_program *prog, const struct opt_command *cmd, FILE *out);
/* shell is one of opt_shells; -EINVAL otherwise. */
MUST_USE int opt_print_completion(const struct opt_program *prog, const char *shell, FILE *out);
extern const char *const opt_shells[]; /* ends with NULL */
