#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/trace_args.h"
#include "render/wrap.h"
#include "sys/doctor.h"
#include "sys/rights/caps.h"
#include "sys/try_attach.h"

#define CHECK_WIDTH 20

struct doctor_args {
	bool is_json;
};

static const struct doctor_args defaults = { 0 };

static const struct opt options[] = {
	OPT_FLAG('\0', "json", struct doctor_args, is_json, "print one JSON object"),
	OPT_END,
};

/* An exit code; main() reports errors of the stream. */
static int print_json(const struct doctor_report *report)
{
	struct json_writer w;

	jw_init(&w, stdout, true);
	jw_begin_object(&w, NULL);
	jw_string(&w, "schema", "schedscope-doctor/1");
	jw_string(&w, "version", schedscope_version);
	jw_string(&w, "kernel", report->release[0] ? report->release : NULL);
	jw_begin_array(&w, "checks");
	for (size_t i = 0; i < report->nr; i++) {
		const struct doctor_row *row = &report->rows[i];

		jw_begin_object(&w, NULL);
		jw_string(&w, "check", row->check);
		jw_string(&w, "state", doctor_state_name(row->state));
		jw_string(&w, "meaning", row->meaning);
		jw_string(&w, "remedy", row->remedy[0] ? row->remedy : NULL);
		jw_end_object(&w);
	}
	jw_end_array(&w);
	jw_end_object(&w);
	return jw_finish(&w) ? CLI_FAILED : CLI_OK;
}

/* The state is coloured after lines were broken: colours take no room. */
static int print_row(const struct doctor_row *row, const char *colour, size_t width)
{
	SCOPED(scoped_free) char *text = NULL;
	const char *state = doctor_state_name(row->state);
	size_t size, from = CHECK_WIDTH + 1, to = from + strlen(state);
	char title[64];
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return -ENOMEM;
	snprintf(title, sizeof(title), "%-*s %-8s ", CHECK_WIDTH, row->check, state);
	wrap_print(out, title, row->meaning, width);
	if (row->remedy[0]) {
		snprintf(title, sizeof(title), "%-*s %-8s -> ", CHECK_WIDTH, "", "");
		wrap_print(out, title, row->remedy, width);
	}
	if (fclose(out))
		return -ENOMEM;
	printf("%.*s%s%.*s%s%s", (int)from, text, colour, (int)(to - from), text + from,
	       *colour ? "\033[0m" : "", text + to);
	return 0;
}

static int print_text(const struct doctor_report *report)
{
	static const char *const colours[] = { "\033[32m", "\033[33m", "\033[31m" };
	bool is_colored = trace_args_is_colored();
	int err = 0;

	for (size_t i = 0; i < report->nr && !err; i++)
		err = print_row(&report->rows[i], is_colored ? colours[report->rows[i].state] : "",
		                trace_args_width());
	return err ? CLI_FAILED : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct doctor_args args = defaults;
	struct doctor_cfg cfg = { .root = "", .has_tried_bpf = true };
	struct opt_result operands = { 0 };
	struct doctor_report report;
	struct caps caps;
	int exit_code;

	if (!cli_parse(self, argc, argv, &args, &operands, &exit_code))
		return exit_code;
	opt_result_done(&operands);
	if (caps_get(&caps) == 0)
		cfg.caps = &caps;
	cfg.bpf_error = try_attach_load();
	cfg.fentry_error = try_attach_fentry();
	cfg.kprobe_error = try_attach_kprobe();
	doctor_run(&cfg, &report);
	if (args.is_json)
		return print_json(&report);
	return print_text(&report);
}

static const struct opt_example examples[] = {
	{ "schedscope doctor", "what works here, what does not, and what to do about it" },
	{ "schedscope doctor --json", "the same for programs" },
	{ 0 },
};

const struct opt_command cmd_doctor = {
	.name = "doctor",
	.summary = "show what can be measured on this machine",
	.description =
		"Checks the kernel, its settings and our privileges, and says for each whether all "
		"works (ok), part of it (limited) or none (missing), what that means, and what to "
		"do about it. Nothing is changed.\n\n"
		"The exit code is 0 whatever is found.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.run = run,
};
