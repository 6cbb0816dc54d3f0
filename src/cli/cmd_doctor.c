#include <stdlib.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/version.h"
#include "cli/command.h"
#include "sys/doctor.h"
#include "sys/rights/caps.h"
#include "sys/try_attach.h"

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

static void print_text(const struct doctor_report *report)
{
	static const char *const colours[] = { "\033[32m", "\033[33m", "\033[31m" };
	const char *no_color = getenv("NO_COLOR");
	bool has_colour = isatty(STDOUT_FILENO) && !(no_color && *no_color);

	for (size_t i = 0; i < report->nr; i++) {
		const struct doctor_row *row = &report->rows[i];

		printf("%-20s %s%-8s%s %s\n", row->check, has_colour ? colours[row->state] : "",
		       doctor_state_name(row->state), has_colour ? "\033[0m" : "", row->meaning);
		if (row->remedy[0])
			printf("%-20s %-8s -> %s\n", "", "", row->remedy);
	}
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
	print_text(&report);
	return CLI_OK;
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
