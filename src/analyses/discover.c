/* Which analyses a trace can answer, and what is missing for the others. */
#include <string.h>
#include <strings.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "query/event_fields.h"

static const char *category_name(const char *category)
{
	static const struct {
		const char *id, *name;
	} names[] = {
		{ "scheduling", "Scheduling" }, { "interrupt", "Interrupt" }, { "io", "IO" },
		{ "power", "Power" },           { "extended", "Extended" },   { "query", "Query" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].id, category))
			return names[i].name;
	return category;
}

static void show_events(struct report *r, const char *key, uint64_t kinds)
{
	report_begin_array(r, key);
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (kinds & EV_BIT(kind))
			report_string(r, NULL, event_type_name(kind));
	report_end_array(r);
}

static void show_pass(const struct source *s, const struct pass *p, struct report *r)
{
	bool applies = pass_applies(p, s);
	char missing[160];

	report_begin_object(r, NULL);
	report_string(r, "id", p->id);
	report_string(r, "name", p->name);
	report_string(r, "description", p->what);
	report_string(r, "category", category_name(p->category));
	show_events(r, "required_events", p->needs);
	show_events(r, "required_any_of", p->needs_any);
	show_events(r, "optional_events", p->uses);
	report_bool(r, "requires_scx", p->needs_scx);
	report_u64(r, "performance_cost", p->cost);
	report_bool(r, "applies", applies);
	report_string(r, "missing", applies ? NULL : pass_missing(p, s, missing, sizeof(missing)));
	report_end_object(r);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	uint64_t nr = 0, total = 0;

	(void)d;
	report_begin_array(r, "analyzers");
	for (size_t i = 0; i < nr_passes; i++) {
		if (args->category && strcasecmp(args->category, passes[i]->category) != 0)
			continue;
		show_pass(s, passes[i], r);
		total++;
		nr += pass_applies(passes[i], s);
	}
	report_end_array(r);
	report_u64(r, "total_analyzers", total);
	report_u64(r, "applicable_analyzers", nr);
	return 0;
}

const struct pass pass_discover = {
	.id = "discover",
	.name = "Discover Analyses",
	.category = "query",
	.what = "which analyses apply to this trace, and what data the others need",
	.cost = 1,
	.run = run,
};
