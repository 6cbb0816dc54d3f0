/* doctor: what this machine lets the server do. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "mcp/tools/core_findings.h"
#include "mcp/tools/tools.h"
#include "mcp/world.h"
#include "sys/doctor.h"
#include "sys/rights/broker.h"

static const struct arg doctor_args[] = { { .name = "detail",
	                                    .type = ARG_BOOL,
	                                    .description = "what works, too",
	                                    .fallback = "false" },
	                                  { 0 } };

/* What works is one list of names, unless asked for. */
static void put_rows(struct json_writer *w, const struct doctor_report *report, bool wants_all)
{
	jw_begin_array(w, "checks");
	for (size_t i = 0; i < report->nr; i++) {
		const struct doctor_row *row = &report->rows[i];

		if (row->state == DOCTOR_OK && !wants_all)
			continue;
		jw_begin_object(w, NULL);
		jw_string(w, "check", row->check);
		jw_string(w, "state", doctor_state_name(row->state));
		jw_string(w, "meaning", row->meaning);
		if (row->remedy[0])
			jw_string(w, "remedy", row->remedy);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static int doctor(struct tool_call *call)
{
	SCOPED(scoped_free) struct doctor_report *report = calloc(1, sizeof(*report));
	int err = report ? broker_doctor(&call->world->caps, report) : -ENOMEM;

	if (err)
		return diag_set(call->d, err, NULL, "the checks could not be made");
	jw_string(call->out, "kernel", report->release[0] ? report->release : NULL);
	jw_bool(call->out, "has_live_data", call->world->cfg.is_daemon);
	jw_begin_array(call->out, "ok");
	for (size_t i = 0; i < report->nr; i++)
		if (report->rows[i].state == DOCTOR_OK)
			jw_string(call->out, NULL, report->rows[i].check);
	jw_end_array(call->out);
	put_rows(call->out, report, call_bool(call, "detail"));
	return 0;
}

const struct tool tool_doctor = {
	.name = "doctor",
	.title = "What can be measured here",
	.description =
		"What works on this machine, what does not, why, and what to do about it. Use it when record, profile or live is "
		"refused. Example: {}.",
	.set = TOOLSET_CORE,
	.args = doctor_args,
	.run = doctor,
};
