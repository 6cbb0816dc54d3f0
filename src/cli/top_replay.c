#include "cli/top_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/trace_args.h"
#include "session/machine_replay.h"
#include "sys/caps.h"
#include "tui/loop.h"

static int look(void *ctx, const struct machine_wish *wish, struct diag *d,
                const struct machine **out)
{
	return machine_replay_look(ctx, wish, d, out);
}

static int play(const struct recording *rec, struct config *config, uint32_t tgid, struct diag *d)
{
	const struct machine_replay_cfg cfg = { .source = recording_source(rec),
		                                .info = recording_info(rec),
		                                .tgid = tgid };
	struct loop_cfg loop = { .config = config, .look = look };
	struct machine_replay *replay;
	int err = machine_replay_open(&cfg, d, &replay);

	if (err)
		return err;
	loop.ctx = replay;
	err = loop_run(&loop, d);
	machine_replay_close(replay);
	return err;
}

int top_replay(const char *path, struct config *config, uint32_t tgid, struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	int err;

	if (strcmp(path, "-") == 0)
		return diag_set(d, -EINVAL, "write it to a file first",
		                "the screen reads keys from standard input, not a recording");
	if (caps_drop_to(CAPS_BIT(CAP_DAC_READ_SEARCH) | CAPS_BIT(CAP_DAC_OVERRIDE)))
		return diag_set(d, -EPERM, NULL, "cannot drop privileges");
	err = trace_args_open(path, d, &rec);
	return err ? err : play(rec, config, tgid, d);
}

int top_replay_summary(const char *path)
{
	char analyze[] = "analyze", *file = strdup(path);
	char *words[] = { analyze, file, NULL };
	struct diag d = { 0 };
	int exit_code;

	if (!file)
		return diag_set(&d, -ENOMEM, NULL, "out of memory"), cli_fail(&d);
	exit_code = cmd_analyze.run(&cmd_analyze, 2, words);
	free(file);
	return exit_code;
}
