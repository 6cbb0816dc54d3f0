/* fuzz/fuzz_opt — any words as a command line; the input is cut into words at its NULs. */
#include <assert.h>
#include <errno.h>

#include "../tests/base/opt_fixture.h"
#include "fuzz.h"

#define WORDS_MAX 64

static void check_success(const struct fixture_args *args, const struct opt_result *result,
                          size_t nr_words)
{
	assert(args->interval_s >= 1 && args->interval_s <= 86400);
	assert(args->window_ns >= 1 && args->window_ns <= 3600000000000);
	assert(args->color == COLOR_AUTO || args->color == COLOR_NEVER);
	assert(result->operands.nr + args->comms.nr < nr_words);
}

static void check_failure(const struct diag *d, int err)
{
	char line[1024];
	const char *p;

	assert(err == -EINVAL && d->code == err && d->what[0]);
	diag_format(d, line, sizeof(line));
	/* What a terminal would obey never comes out. */
	for (p = line; *p; p++)
		assert((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void parse(const struct opt_command *cmd, int argc, char **argv)
{
	struct fixture_args args = fixture_defaults;
	struct opt_result result = { 0 };
	struct diag d = { 0 };
	int err = opt_parse(cmd, argc, argv, &args, &result, &d);

	if (err)
		check_failure(&d, err);
	else
		check_success(&args, &result, (size_t)argc);
	opt_list_done(&args.comms);
	opt_result_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *argv[WORDS_MAX + 1];
	const struct opt_command *const *cmd;
	struct diag d = { 0 };
	size_t at;
	int argc;

	for (argc = 0, at = 0; at <= size && argc < WORDS_MAX; argc++) {
		argv[argc] = text + at;
		at += strlen(text + at) + 1;
	}
	argv[argc] = NULL;
	for (cmd = fixture_commands; *cmd; cmd++)
		parse(*cmd, argc, argv);
	if (!opt_find_command(&fixture, argv[0], &d))
		check_failure(&d, d.code);
	free(text);
	return 0;
}
