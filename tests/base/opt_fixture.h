/* tests/base/opt_fixture — a small program whose tables use everything that base/opt knows. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/opt.h"

enum color { COLOR_AUTO, COLOR_NEVER };

struct fixture_args {
	bool is_detailed;
	bool is_collapsed;
	uint64_t interval_s;
	bool has_interval;
	uint64_t window_ns;
	uint64_t strict_ns;
	const char *output;
	struct opt_list comms;
	struct opt_list files;
	enum color color;
	bool is_secret;
	const char *stacks;
};

static const struct fixture_args fixture_defaults = {
	.interval_s = 1,
	.window_ns = 1500000000,
	.color = COLOR_NEVER,
};

static const char *const fixture_colors[] = { "auto", "never", NULL };

/* clang-format off */
static const struct opt fixture_options[] = {
	OPT_FLAG('d', "detailed", struct fixture_args, is_detailed, "all rows, one per thread",
		.alias = "all-rows"),
	OPT_FLAG('C', "no-collapse", struct fixture_args, is_collapsed, "don't merge [names]: keep 'em"),
	OPT_U64('i', "interval", "SECONDS", struct fixture_args, interval_s, 1, 86400, "time between reports",
		OPT_GIVEN(struct fixture_args, has_interval)),
	OPT_DURATION('w', "window", "TIME", struct fixture_args, window_ns, 1000000000, 1, 3600000000000,
		"how much to look back"),
	OPT_DURATION(0, "strict", "TIME", struct fixture_args, strict_ns, 0, 0, UINT64_MAX, "needs a unit"),
	OPT_STRING('o', "output", "FILE", struct fixture_args, output, "where to write",
		.is_file = true, .heading = "Where and what"),
	OPT_LIST('c', "comm", "REGEX", struct fixture_args, comms, "only these",
		.details = ".*foo\\d matches a dot at the beginning of the line."),
	OPT_LIST(0, "files", "FILE...", struct fixture_args, files, "all of these", .is_hidden = true, .takes_words = true),
	OPT_CHOICE(0, "color", "WHEN", struct fixture_args, color, fixture_colors, "colour the output"),
	OPT_STRING(0, "stacks", "LIST", struct fixture_args, stacks, "stacks too", .bare = "cpu"),
	OPT_FLAG(0, "secret", struct fixture_args, is_secret, "for tests", .is_hidden = true),
	OPT_END,
};

static const struct opt_example fixture_examples[] = {
	{ "scope stat -c '^a\\d'", "names that begin with an a and a digit" },
	{ 0 },
};
/* clang-format on */

static const struct opt_command fixture_stat = {
	.name = "stat",
	.alias = "st",
	.summary = "measure \xc2\xb5s of delay",
	.description = "The first paragraph,\nin two lines.\n\n"
		       " kept\n  as written\n\n"
		       ".not a request, 'nor this",
	.options = fixture_options,
	.defaults = &fixture_defaults,
	.examples = fixture_examples,
};

static const struct opt_command fixture_analyze = {
	.name = "analyze",
	.summary = "explain a recording",
	.operands = "FILE [ANALYSIS...]",
	.operand = OPT_OPERAND_FILE,
};

static const struct opt_command fixture_run = {
	.name = "run",
	.summary = "run a command and watch it",
	.operands = "COMMAND [ARGUMENT...]",
	.options = fixture_options,
	.stops_at_operand = true,
};

static const struct opt_command fixture_help = {
	.name = "help",
	.summary = "explain a command",
	.operands = "[COMMAND]",
	.operand = OPT_OPERAND_COMMAND,
};

static const struct opt_command fixture_internal = {
	.name = "internal",
	.summary = "not for people",
	.is_hidden = true,
};

static const struct opt_command *const fixture_commands[] = {
	&fixture_stat, &fixture_analyze, &fixture_run, &fixture_help, &fixture_internal, NULL,
};

static const struct opt_program fixture = {
	.name = "scope",
	.version = "1.2",
	.date = "2026-01-31",
	.summary = "look at things",
	.commands = fixture_commands,
};

/* What a printing function writes, as a string; grown tests free it. */
#define PRINTED(call)                                       \
	({                                                  \
		char *text_ = NULL;                         \
		size_t size_ = 0;                           \
		FILE *out = open_memstream(&text_, &size_); \
		assert_non_null(out);                       \
		call;                                       \
		fclose(out);                                \
		text_;                                      \
	})

#define expect_contains(text, part)                                          \
	do {                                                                 \
		if (!strstr((text), (part)))                                 \
			fail_msg("'%s' is missing in:\n%s", (part), (text)); \
	} while (0)
