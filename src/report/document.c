/* The members of the document that report/data gives: what the numbers in the tables mean. */
#include <stdlib.h>

#include "analyses/explain/explain.h"
#include "base/cleanup.h"
#include "report/data.h"
#include "report/data_priv.h"
#include "report/places.h"

static void write_time(const struct report_data *r, struct json_writer *w)
{
	const struct source *s = r->sc.s;

	jw_begin_object(w, "time");
	jw_u64(w, "start_ns", s->start_ns);
	jw_u64(w, "span_ns", s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0);
	jw_u64_if(w, "unix_ns", s->facts->unix_ns, s->facts->unix_ns);
	jw_string(w, "clock", s->facts->clock);
	jw_end_object(w);
}

static void write_axis(const struct report_data *r, const char *key, const struct report_axis *a,
                       struct json_writer *w)
{
	jw_begin_object(w, key);
	jw_u64(w, "first_ns", a->nr ? a->from_ns - r->sc.s->start_ns : 0);
	jw_u64(w, "width_ns", a->width_ns);
	jw_u64(w, "nr", a->nr);
	jw_end_object(w);
}

static void write_cpus(const struct report_data *r, struct json_writer *w)
{
	uint32_t nr = r->sc.nr_cpus;
	SCOPED(scoped_free) struct cpu_place *at = cpu_places(r->sc.s, nr);

	jw_begin_array(w, "cpus");
	for (uint32_t i = 0; at && i < nr; i++) {
		jw_begin_object(w, NULL);
		jw_u64(w, "cpu", at[i].cpu);
		jw_i64_if(w, "core", at[i].core >= 0, at[i].core);
		jw_i64_if(w, "llc", at[i].llc >= 0, at[i].llc);
		jw_i64_if(w, "node", at[i].node >= 0, at[i].node);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void write_causes(struct json_writer *w)
{
	static const char *const names[LEDGER_KINDS] = {
		[LEDGER_UNKNOWN] = "unknown", [LEDGER_WAKING] = "waking",
		[LEDGER_QUEUE] = "queue",     [LEDGER_THROTTLED] = "throttled",
		[LEDGER_STOLEN] = "stolen",   [LEDGER_INTERRUPT] = "interrupt",
		[LEDGER_SOFTIRQ] = "softirq", [LEDGER_TASK] = "task",
		[LEDGER_IDLE] = "idle",
	};

	jw_begin_array(w, "causes");
	for (int i = 0; i < LEDGER_KINDS; i++)
		jw_string(w, NULL, names[i]);
	jw_end_array(w);
}

void report_data_document(const struct report_data *r, struct json_writer *w)
{
	write_time(r, w);
	write_axis(r, "buckets", &r->g.axis, w);
	write_axis(r, "fine", &r->lanes.axis, w);
	write_cpus(r, w);
	who_document(&r->who, &r->classes, w);
	write_causes(w);
	slots_document(&r->g.slots, w);
	devices_document(&r->devices, w);
	stack_cells_document(&r->stacks, w);
	detail_document(&r->detail, r->sc.s->start_ns, w);
}
