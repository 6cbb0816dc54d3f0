#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "collect/kprobe.h"
#include "machine/machine_event.h"
#include "machine/parts/events.h"
#include "sys/pmu/event_names.h"
#include "sys/pmu/perf_counter.h"
#include "sys/pmu/pmu.h"

enum { TRACEPOINTS, FUNCTIONS, LISTS };

struct name_list {
	const char *root;
	bool is_functions;
	struct worker *worker; /* once it is done, all else is the caller's */
	char *text;            /* the names one after the other */
	size_t len;
	const char **names;
	size_t nr;
	const char *source;
	char why[600];
	struct machine_event_list shown;
};

struct machine_event_lists {
	char root[256];
	struct name_list lists[LISTS];
};

static int open_lists(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_event_lists *l = calloc(1, sizeof(*l));

	if (!l)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	(void)snprintf(l->root, sizeof(l->root), "%s", cfg->root ? cfg->root : "");
	for (size_t i = 0; i < LISTS; i++)
		l->lists[i] = (struct name_list){ .root = l->root, .is_functions = i == FUNCTIONS };
	*out = l;
	return 0;
}

static void close_lists(void *part)
{
	struct machine_event_lists *l = part;

	for (size_t i = 0; i < LISTS; i++) {
		worker_end(l->lists[i].worker);
		free(l->lists[i].text);
		free(l->lists[i].names);
	}
	free(l);
}

/* What perf counts by itself, in the words of a PERF event: "hw:cycles", "sw:page-faults", "PMU:NAME". */
static int add_pmu_row(void *ctx, const struct pmu_row *row)
{
	const char *slash = strchr(row->name, '/');

	if (strcmp(row->kind, "raw") == 0 || strcmp(row->name, "ipc") == 0)
		return 0; /* no event: a way to write one, and two of them */
	if (slash)
		(void)fprintf(ctx, "%.*s:%.*s\n", (int)(slash - row->name), row->name,
		              (int)strcspn(slash + 1, "/"), slash + 1);
	else
		(void)fprintf(ctx, "%s:%s\n", strcmp(row->kind, "software") == 0 ? "sw" : "hw",
		              row->name);
	return 0;
}

static void add_pmu_events(FILE *out)
{
	const struct pmu_lister lister = { perf_counter_can_open, add_pmu_row, out };

	/* Where none can be listed there are still tracepoints. */
	if (pmu_list(&pmu_paths_default, &lister, NULL))
		return;
}

static void keep_reason(struct name_list *l, const struct diag *why)
{
	(void)snprintf(l->why, sizeof(l->why), "%s%s%s", why->what, why->hint[0] ? "; " : "",
	               why->hint);
}

static void write_names(struct name_list *l, FILE *out)
{
	struct event_names names = { 0 };
	struct diag why = { 0 };
	int err = l->is_functions ? event_names_functions(l->root, &why, &names)
	                          : event_names_tracepoints(l->root, &why, &names);

	if (err)
		keep_reason(l, &why);
	for (size_t i = 0; i < names.nr; i++)
		(void)fprintf(out, "%s%s%s\n", l->is_functions ? "" : names.items[i].subsystem,
		              l->is_functions ? "" : ":", names.items[i].name);
	l->source = names.source;
	event_names_done(&names);
}

static int split(struct name_list *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->len; i++)
		nr += l->text[i] == '\n';
	l->names = calloc(nr + 1, sizeof(*l->names));
	if (!l->names)
		return -ENOMEM;
	for (char *save = NULL, *line = strtok_r(l->text, "\n", &save); line && l->nr < nr;
	     line = strtok_r(NULL, "\n", &save))
		l->names[l->nr++] = line;
	return 0;
}

static void load(struct worker *w, void *state)
{
	struct name_list *l = state;
	FILE *out = open_memstream(&l->text, &l->len);
	struct diag why = { 0 };
	int err = out ? 0 : -ENOMEM;

	(void)w;
	if (out && !l->is_functions && !l->root[0])
		add_pmu_events(out);
	if (out)
		write_names(l, out);
	if (out && fclose(out) != 0)
		err = -ENOMEM;
	if (!err)
		err = split(l);
	if (err)
		(void)snprintf(l->why, sizeof(l->why), "out of memory");
	else if (l->is_functions && !l->why[0] && kprobe_check("a function", &why))
		(void)snprintf(l->why, sizeof(l->why),
		               "this kernel has no kprobes, so none of these can be counted; use "
		               "one with CONFIG_KPROBES");
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	const struct worker_job job = { .run = load, .runs_anyway = true };
	struct machine_event_lists *all = part;
	struct name_list *list =
		&all->lists[r->request->needs & MACHINE_FUNCTIONS ? FUNCTIONS : TRACEPOINTS];

	/* Without memory: at the next refresh. */
	if (!list->worker && worker_start(&job, list, &list->worker))
		list->worker = NULL;
	if (list->worker && worker_poll(list->worker, 0))
		list->shown = (struct machine_event_list){ .names = list->names,
			                                   .nr = list->nr,
			                                   .source = list->source,
			                                   .why = list->why[0] ? list->why : NULL };
	else
		list->shown = (struct machine_event_list){ .is_loading = true };
	r->machine->event_list = &list->shown;
}

const struct machine_part machine_part_event_lists = {
	.name = "lists of events",
	.needs = MACHINE_TRACEPOINTS | MACHINE_FUNCTIONS,
	.open = open_lists,
	.refresh = refresh,
	.close = close_lists,
};
