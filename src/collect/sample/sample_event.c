#include "collect/sample/sample_event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "abi/event.h"
#include "base/cleanup.h"
#include "base/opt.h"
#include "base/text.h"
#include "collect/probe_spec.h"
#include "sys/pmu/perf_counter.h"

#define LIST_HINT "schedscope stat --perf-list shows the events of this machine"

/* Which words of ours, or of perf, mean what sys/pmu/pmu knows under another name. */
static const struct {
	const char *word;
	const char *name;
} aliases[] = {
	{ "cpu_cycles", "cycles" },     { "cpu-cycles", "cycles" },
	{ "instr", "instructions" },    { "branch-instructions", "branches" },
	{ "bus_cycles", "bus-cycles" }, { "cs", "context-switches" },
	{ "faults", "page-faults" },    { "migrations", "cpu-migrations" },
};

/* The first ones are of the kernel itself, the others of a PMU. */
#define NR_SOFTWARE 10

static const char *const known[] = {
	"cpu-clock",
	"task-clock",
	"context-switches",
	"page-faults",
	"minor-faults",
	"major-faults",
	"cpu-migrations",
	"alignment-faults",
	"emulation-faults",
	"cgroup-switches",
	"cycles",
	"instructions",
	"branches",
	"branch-misses",
	"cache-misses",
	"cache-references",
	"ref-cycles",
	"stalled-cycles-backend",
	"stalled-cycles-frontend",
	"bus-cycles",
	"off-cpu",
	"waker",
	NULL,
};

/* What is behind the prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncasecmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* As all ways to write a word are alike. */
static char plain(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '_' ? '-' : c;
}

static bool is_word(const char *text, const char *word)
{
	while (*text && plain(*text) == plain(*word)) {
		text++;
		word++;
	}
	return !*text && !*word;
}

static const char *known_name(const char *text)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (is_word(text, aliases[i].word))
			return aliases[i].name;
	for (size_t i = 0; known[i]; i++)
		if (is_word(text, known[i]))
			return known[i];
	return NULL;
}

static bool is_software_name(const char *name)
{
	for (size_t i = 0; i < NR_SOFTWARE; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

static int unknown(const char *kind, const char *name, struct diag *d)
{
	const char *near = opt_nearest(name, known);
	char hint[128] = LIST_HINT, shown[80];

	if (near)
		(void)snprintf(hint, sizeof(hint), "did you mean %s? " LIST_HINT, near);
	text_printable(shown, sizeof(shown), name, strlen(name));
	return diag_set(d, -ENOENT, hint, "there is no %sevent '%s'", kind, shown);
}

static int not_for_tasks(const struct pmu_event *ev, struct diag *d)
{
	return diag_set(d, -ENOTSUP, "choose an event of the CPU itself, such as cycles",
	                "'%s' counts for a whole package or device (PMU '%s'): no task's stack "
	                "belongs to it",
	                ev->name, ev->pmu);
}

static int resolve(const char *kind, const char *name, struct sample_event *e, struct diag *d)
{
	struct diag first = { 0 };
	int err = pmu_resolve(&pmu_paths_default, name, true, &first, &e->pmu);

	if (err == -ENOENT && !strchr(name, '/'))
		return unknown(kind, name, d);
	if (err)
		return diag_set(d, err, first.hint, "%s", first.what);
	for (size_t i = 0; i < e->pmu.nr; i++)
		if (!e->pmu.items[i].is_per_task)
			return not_for_tasks(&e->pmu.items[i], d);
	e->kind = SAMPLE_PERF;
	e->is_software = e->pmu.items[0].type == PERF_TYPE_SOFTWARE;
	(void)snprintf(e->name, sizeof(e->name), "%s", name);
	return 0;
}

static int parse_software(const char *text, struct sample_event *e, struct diag *d)
{
	const char *name = known_name(text);

	if (!name)
		return unknown("software ", text, d);
	if (!is_software_name(name))
		return diag_set(d, -ENOENT, "leave the prefix out", "'%s' is not a software event",
		                name);
	return resolve("", name, e, d);
}

static int parse_hardware(const char *text, struct sample_event *e, struct diag *d)
{
	const char *name = known_name(text);

	return resolve("hardware ", name ? name : text, e, d);
}

/* A tracepoint's name has no capitals in any kernel; a path may have them. */
static int parse_tracepoint(const char *text, struct sample_event *e, struct diag *d)
{
	struct events_probe probe = { .type = EV_PROBE_TRACEPOINT, .spec = e->spec };
	struct probe_spec spec;
	size_t len = strlen(text);

	if (len >= sizeof(e->spec))
		return diag_set(d, -EINVAL, NULL, "the tracepoint's name is too long");
	for (size_t i = 0; i <= len; i++)
		e->spec[i] = (char)tolower((unsigned char)text[i]);
	e->kind = SAMPLE_TRACEPOINT;
	(void)snprintf(e->name, sizeof(e->name), "tracepoint:%s", e->spec);
	return probe_spec_parse(&probe, &spec, d);
}

static int parse_uprobe(const char *text, struct sample_event *e, struct diag *d)
{
	struct events_probe probe = { .type = EV_PROBE_UPROBE, .spec = e->spec };
	struct probe_spec spec;

	if (strlen(text) >= sizeof(e->spec))
		return diag_set(d, -EINVAL, NULL, "the uprobe's path is too long");
	(void)snprintf(e->spec, sizeof(e->spec), "%s", text);
	e->kind = SAMPLE_UPROBE;
	(void)snprintf(e->name, sizeof(e->name), "uprobe:%s", e->spec);
	return probe_spec_parse(&probe, &spec, d);
}

/* Off-CPU time and wakers, in all the spellings that are in use. */
static bool parse_own(const char *text, struct sample_event *e)
{
	if (is_word(text, "off-cpu") || is_word(text, "offcpu")) {
		e->kind = SAMPLE_OFF_CPU;
		(void)snprintf(e->name, sizeof(e->name), "off-cpu");
	} else if (is_word(text, "waker") || is_word(text, "wakers")) {
		e->kind = SAMPLE_WAKER;
		(void)snprintf(e->name, sizeof(e->name), "waker");
	} else {
		return false;
	}
	return true;
}

static int choose_default(struct sample_event *e, struct diag *d)
{
	e->is_default = true;
	if (resolve("", "cycles", e, NULL) == 0) {
		if (perf_counter_can_open(NULL, &e->pmu.items[0]))
			return 0;
		pmu_events_done(&e->pmu);
	}
	e->why_default = "no hardware counters on this machine (common in virtual machines): "
			 "cpu-clock is sampled instead of cycles";
	return resolve("", "cpu-clock", e, d);
}

static int parse(const char *text, struct sample_event *e, struct diag *d)
{
	const char *rest;

	if (!text || !*text)
		return choose_default(e, d);
	rest = after(text, "tracepoint:");
	if (rest)
		return parse_tracepoint(rest, e, d);
	rest = after(text, "uprobe:");
	if (rest)
		return parse_uprobe(rest, e, d);
	rest = after(text, "sw:");
	if (!rest)
		rest = after(text, "software:");
	if (rest)
		return parse_software(rest, e, d);
	if (parse_own(text, e))
		return 0;
	rest = after(text, "hw:");
	if (!rest)
		rest = after(text, "hardware:");
	if (rest)
		return parse_hardware(rest, e, d);
	rest = known_name(text);
	return resolve("", rest ? rest : text, e, d);
}

int sample_event_parse(const char *text, struct sample_event *out, struct diag *d)
{
	SCOPED(sample_event_done) struct sample_event e = { 0 };
	int err = parse(text, &e, d);

	if (err)
		return err;
	*out = e;
	e.pmu = (struct pmu_events){ 0 };
	return 0;
}

void sample_event_done(struct sample_event *e)
{
	pmu_events_done(&e->pmu);
}
