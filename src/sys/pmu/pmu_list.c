#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/pmu/pmu_internal.h"

struct pmu_listing {
	const struct pmu_paths *paths;
	const struct pmu_lister *lister;
	const struct pmu_sys *sys;
};

/* Whether the name resolves, and each part of it can be counted. */
static bool is_usable(const struct pmu_listing *l, const char *name)
{
	SCOPED(pmu_events_done) struct pmu_events found = { 0 };
	struct pmu_query what = { .cpuinfo = l->paths->cpuinfo, .name = name };

	if (pmu_resolve_in(l->sys, &what, NULL, &found))
		return false;
	for (size_t i = 0; i < found.nr; i++) {
		const struct pmu_event *ev = &found.items[i];

		if (!ev->is_per_task)
			return false;
		if (l->lister->is_usable && !l->lister->is_usable(l->lister->ctx, ev))
			return false;
	}
	return true;
}

static int row(const struct pmu_listing *l, const char *name, const char *kind,
               const char *description)
{
	struct pmu_row r = { .name = name, .kind = kind, .description = description };

	return l->lister->row(l->lister->ctx, &r);
}

static int list_aliases(const struct pmu_listing *l)
{
	int err = 0;

	if (is_usable(l, "cycles") && is_usable(l, "instructions"))
		err = row(l, "ipc", "alias",
		          "instructions per cycle, in user space and in the kernel");
	for (const struct pmu_alias *a = pmu_aliases; a->name && !err; a++)
		if (is_usable(l, a->name))
			err = row(l, a->name, "alias", a->description);
	return err;
}

static int list_generics(const struct pmu_listing *l)
{
	int err = 0;

	for (const struct pmu_generic *g = pmu_generics; g->name && !err; g++)
		if (is_usable(l, g->name))
			err = row(l, g->name, g->kind, g->description);
	return err;
}

static int list_event(const struct pmu_listing *l, const struct pmu_dev *dev, const char *event)
{
	SCOPED(scoped_free) char *text = NULL;
	char name[PMU_NAME_MAX], shown[PMU_NAME_MAX];
	int len;

	/* A single core PMU means the same by it as the kernel does, and that is listed already. */
	if (l->sys->nr_core == 1 && pmu_generic_find(event))
		return 0;
	if (l->sys->nr_core > 1)
		len = snprintf(name, sizeof(name), "%s/%s/", dev->name, event);
	else
		len = snprintf(name, sizeof(name), "%s", event);
	if (len >= (int)sizeof(name) || pmu_dev_event(l->sys, dev, event, &text))
		return 0;
	if (!is_usable(l, name))
		return 0;
	text_printable(shown, sizeof(shown), text, strlen(text));
	return row(l, name, "pmu", shown);
}

static int list_dev(const struct pmu_listing *l, const struct pmu_dev *dev)
{
	struct dirent **names = NULL;
	int nr = pmu_dev_names(l->sys, dev, &names);
	int err = 0;

	/* A PMU that offers no events of its own still takes the generic ones. */
	for (int i = 0; i < nr && !err; i++)
		err = list_event(l, dev, names[i]->d_name);
	pmu_names_free(names, nr);
	return err;
}

int pmu_list(const struct pmu_paths *paths, const struct pmu_lister *lister, struct diag *d)
{
	SCOPED(pmu_sys_close) struct pmu_sys sys = { .fd = -1 };
	struct pmu_listing l = { .paths = paths, .lister = lister, .sys = &sys };
	int err = pmu_sys_open(paths->devices, d, &sys);

	if (!err)
		err = list_aliases(&l);
	if (!err)
		err = list_generics(&l);
	for (size_t i = 0; i < sys.nr && !err; i++)
		if (sys.devs[i].is_core)
			err = list_dev(&l, &sys.devs[i]);
	if (!err && is_usable(&l, "cycles"))
		err = row(&l, "rHEX", "raw", "the PMU's event code in hexadecimal, as in r0964");
	return err;
}

const char *pmu_next_name(const char *at, char *name, size_t size)
{
	size_t len = 0;
	bool is_inside = false;

	for (; *at && (*at != ',' || is_inside); at++) {
		is_inside ^= *at == '/';
		if (len < size - 1)
			name[len++] = *at;
	}
	name[len] = '\0';
	return *at ? at + 1 : NULL;
}
