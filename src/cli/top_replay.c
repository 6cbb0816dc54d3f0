#include "cli/top_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/top_analyses.h"
#include "cli/top_helper.h"
#include "cli/trace_args.h"
#include "replay/machine_replay.h"
#include "sys/rights/privilege.h"
#include "tui/loop.h"

struct replay_top {
	struct machine_replay *replay;
	struct top_analyses *analyses;
	struct top_helper helper;
};

static int refresh(void *ctx, const struct machine_request *request, struct diag *d,
                   const struct machine **out)
{
	struct replay_top *top = ctx;
	int err = machine_replay_refresh(top->replay, request, d, out);

	if (!err)
		top_analyses_show(top->analyses, request, out);
	return err;
}

static int save(void *ctx, const char *text, struct diag *d, char path[PATH_MAX])
{
	return top_helper_save(&((struct replay_top *)ctx)->helper, text, d, path);
}

static int play(const struct recording *rec, struct config *config, const struct top_tasks *tasks,
                struct diag *d)
{
	const struct machine_replay_cfg cfg = { .source = recording_source(rec),
		                                .info = recording_info(rec),
		                                .tgid = tasks->tgid };
	struct replay_top player = { .helper = { .prefix = "" } };
	struct loop_cfg loop = { .config = config,
		                 .ctx = &player,
		                 .refresh = refresh,
		                 .save = save,
		                 .filter = tasks->filter };
	int err = top_helper_start(&player.helper, d);

	if (!err)
		err = privilege_drop(0, d);
	if (!err)
		err = machine_replay_open(&cfg, d, &player.replay);
	if (!err) {
		player.analyses = top_analyses_new(recording_source(rec), tasks->by);
		err = loop_run(&loop, d);
		top_analyses_free(player.analyses);
		machine_replay_close(player.replay);
	}
	top_helper_stop(&player.helper);
	return err;
}

int top_replay(const char *path, struct config *config, const struct top_tasks *tasks,
               struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	int err;

	if (strcmp(path, "-") == 0)
		return diag_set(d, -EINVAL, "write it to a file first",
		                "the screen reads keys from standard input, not a recording");
	err = trace_args_open(path, d, &rec);
	return err ? err : play(rec, config, tasks, d);
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
