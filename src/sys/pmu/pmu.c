#include "sys/pmu/pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/pmu/pmu_internal.h"

#define MAX_PARTS 64 /* PMUs that share one name; more would be no core PMUs */
#define TYPE_SHIFT \
	32 /* PERF_PMU_TYPE_SHIFT: config of a generic event names its PMU (Linux 5.13) */

#define LIST_HINT "schedscope stat --perf-list shows the events of this machine"

const struct pmu_paths pmu_paths_default = {
	.devices = "/sys/bus/event_source/devices",
	.cpuinfo = "/proc/cpuinfo",
};

/* A name on its way to its events. */
struct name_query {
	const char *name;
	const char *cpuinfo;
	const struct pmu_sys *sys;
	struct pmu_events found;
	struct diag *d;
	int err; /* after add() gave NULL */
};

void pmu_events_done(struct pmu_events *l)
{
	for (size_t i = 0; i < l->nr; i++)
		cpulist_done(&l->items[i].cpus);
	free(l->items);
	*l = (struct pmu_events){ 0 };
}

static void query_done(struct name_query *q)
{
	pmu_events_done(&q->found);
}

static int copy_cpus(const struct cpulist *from, struct cpulist *to)
{
	int err = 0;

	for (int cpu = cpulist_next(from, 0); cpu >= 0 && !err;
	     cpu = cpulist_next(from, (uint32_t)cpu + 1))
		err = cpulist_add(to, (uint32_t)cpu);
	return err;
}

static struct pmu_event *give_up(struct name_query *q, int err)
{
	q->err = err;
	return NULL;
}

/* An event of that PMU (NULL: of the kernel itself), without config yet; NULL after q->err is set. */
static struct pmu_event *add(struct name_query *q, const struct pmu_dev *dev)
{
	struct pmu_event *items, *ev;

	if (q->found.nr >= MAX_PARTS)
		return give_up(q, diag_set(q->d, -E2BIG, "name the PMU, as in PMU/NAME/",
		                           "more than %d PMUs have an event '%s'", MAX_PARTS,
		                           q->name));
	items = realloc(q->found.items, (q->found.nr + 1) * sizeof(*items));
	if (!items)
		return give_up(q, diag_set(q->d, -ENOMEM, NULL, "out of memory"));
	q->found.items = items;
	ev = &items[q->found.nr++];
	*ev = (struct pmu_event){ .is_per_task = !dev || dev->is_core };
	snprintf(ev->name, sizeof(ev->name), "%s", q->name);
	snprintf(ev->title, sizeof(ev->title), "%s", q->name);
	if (!dev)
		return ev;
	ev->type = dev->type;
	snprintf(ev->pmu, sizeof(ev->pmu), "%s", dev->name);
	if (copy_cpus(&dev->cpus, &ev->cpus))
		return give_up(q, diag_set(q->d, -ENOMEM, NULL, "out of memory"));
	return ev;
}

static int no_hardware(struct name_query *q)
{
	return diag_set(q->d, -ENOTSUP, "software events such as context-switches work everywhere",
	                "cannot count '%s': no hardware counters on this machine "
	                "(common in virtual machines)",
	                q->name);
}

/* A generic hardware, cache or raw event on each core PMU. */
static int add_hardware(struct name_query *q, uint32_t type, uint64_t config, const char *title)
{
	struct pmu_event *ev;

	if (!q->sys->nr_core)
		return no_hardware(q);
	for (size_t i = 0; i < q->sys->nr; i++) {
		const struct pmu_dev *dev = &q->sys->devs[i];

		if (!dev->is_core)
			continue;
		ev = add(q, dev);
		if (!ev)
			return q->err;
		snprintf(ev->title, sizeof(ev->title), "%s", title);
		ev->config = config;
		if (q->sys->nr_core == 1)
			ev->type = type;
		else if (type != PERF_TYPE_RAW) {
			ev->type = type;
			ev->config |= (uint64_t)dev->type << TYPE_SHIFT;
		}
	}
	return 0;
}

static int add_generic(struct name_query *q, const struct pmu_generic *g)
{
	struct pmu_event *ev;

	if (g->type != PERF_TYPE_SOFTWARE)
		return add_hardware(q, g->type, g->config, g->name);
	ev = add(q, NULL);
	if (!ev)
		return q->err;
	ev->type = g->type;
	ev->config = g->config;
	return 0;
}

static int add_terms(struct name_query *q, const struct pmu_dev *dev, const char *terms)
{
	struct pmu_event *ev = add(q, dev);

	return ev ? pmu_dev_terms(q->sys, dev, terms, q->d, ev) : q->err;
}

/* The named event on every PMU of one sort; -ENOENT, without a diag, when none has it. */
static int add_named(struct name_query *q, const char *event, bool is_core)
{
	for (size_t i = 0; i < q->sys->nr; i++) {
		SCOPED(scoped_free) char *text = NULL;
		const struct pmu_dev *dev = &q->sys->devs[i];
		int err;

		if (dev->is_core != is_core || pmu_dev_event(q->sys, dev, event, &text))
			continue;
		err = add_terms(q, dev, text);
		if (err)
			return err;
	}
	return q->found.nr ? 0 : -ENOENT;
}

static int add_alias(struct name_query *q, const struct pmu_alias *a)
{
	struct pmu_vendor vendor;
	int err = -ENOENT;

	if (!q->sys->nr_core)
		return no_hardware(q);
	pmu_vendor_read(q->cpuinfo, &vendor);
	if (vendor.is_amd && a->amd_config && vendor.family >= a->amd_family)
		return add_hardware(q, PERF_TYPE_RAW, a->amd_config, a->title);
	if (a->cache_title)
		return add_hardware(q, PERF_TYPE_HW_CACHE, a->cache_config, a->cache_title);
	if (a->sysfs)
		err = add_named(q, a->sysfs, true);
	if (err == -ENOENT)
		return diag_set(
			q->d, -ENOTSUP,
			"give your CPU's own event, as in cpu/event=0x24,umask=0x3f/; " LIST_HINT,
			"'%s' is not known for this CPU (vendor: %s)", a->name, vendor.name);
	for (size_t i = 0; i < q->found.nr; i++)
		snprintf(q->found.items[i].title, PMU_NAME_MAX, "%s", a->title);
	return err;
}

/*
 * "cpu" means the core PMU, whatever its name is here: cpu_core and cpu_atom, armv8_pmuv3_0. Those
 * that do not know the event are left out as long as one does.
 */
static int add_any_core(struct name_query *q, const char *terms)
{
	struct diag first = { 0 };

	for (size_t i = 0; i < q->sys->nr; i++) {
		struct pmu_event *ev;

		if (!q->sys->devs[i].is_core)
			continue;
		ev = add(q, &q->sys->devs[i]);
		if (!ev)
			return q->err;
		if (pmu_dev_terms(q->sys, &q->sys->devs[i], terms, &first, ev)) {
			cpulist_done(&ev->cpus);
			q->found.nr--;
		}
	}
	if (!q->found.nr)
		return diag_set(q->d, first.code, first.hint, "%s", first.what);
	return 0;
}

/* PMU/NAME/ or PMU/TERMS/ */
static int add_explicit(struct name_query *q, const char *slash)
{
	const struct pmu_dev *dev;
	char pmu[PMU_NAME_MAX], terms[PMU_NAME_MAX];
	size_t len = strlen(slash + 1);

	snprintf(pmu, sizeof(pmu), "%.*s", (int)(slash - q->name), q->name);
	snprintf(terms, sizeof(terms), "%s", slash + 1);
	if (len < 2 || terms[len - 1] != '/' || strchr(terms, '/') != terms + len - 1 || !*pmu)
		return diag_set(q->d, -EINVAL, "write PMU/NAME/ or PMU/event=0x64,umask=0x9/",
		                "'%s' is not an event", q->name);
	terms[len - 1] = '\0';
	dev = pmu_sys_find(q->sys, pmu);
	if (dev)
		return add_terms(q, dev, terms);
	if (strcmp(pmu, "cpu") != 0)
		return diag_set(q->d, -ENOENT, "ls /sys/bus/event_source/devices shows them",
		                "this machine has no PMU '%s'", pmu);
	return q->sys->nr_core ? add_any_core(q, terms) : no_hardware(q);
}

static int add_raw(struct name_query *q)
{
	char title[PMU_NAME_MAX];
	uint64_t config;

	if (q->name[0] != 'r' || !text_hex_to_u64(q->name + 1, &config))
		return -ENOENT;
	snprintf(title, sizeof(title), "raw:0x%llx", (unsigned long long)config);
	return add_hardware(q, PERF_TYPE_RAW, config, title);
}

static int resolve(struct name_query *q, bool allows_raw)
{
	const struct pmu_alias *alias = pmu_alias_find(q->name);
	const struct pmu_generic *generic = pmu_generic_find(q->name);
	const char *slash = strchr(q->name, '/');
	int err;

	if (alias)
		return add_alias(q, alias);
	if (generic)
		return add_generic(q, generic);
	if (slash)
		return add_explicit(q, slash);
	err = add_named(q, q->name, true);
	if (err == -ENOENT && !q->found.nr)
		err = add_named(q, q->name, false);
	if (err == -ENOENT && !q->found.nr && allows_raw)
		err = add_raw(q);
	return err;
}

static bool is_sane(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return len && len < PMU_NAME_MAX;
}

int pmu_resolve_in(const struct pmu_sys *sys, const struct pmu_query *what, struct diag *d,
                   struct pmu_events *out)
{
	SCOPED(query_done) struct name_query q = { .sys = sys, .d = d };
	char shown[64];
	int err;

	q.name = what->name;
	q.cpuinfo = what->cpuinfo;
	if (!is_sane(q.name)) {
		text_printable(shown, sizeof(shown), q.name, strlen(q.name));
		return diag_set(d, -EINVAL, LIST_HINT, "'%s' is not an event", shown);
	}
	err = resolve(&q, what->allows_raw);
	if (err)
		return diag_set(d, err, LIST_HINT, "no event '%s' on this machine", q.name);
	*out = q.found;
	q.found = (struct pmu_events){ 0 };
	return 0;
}

int pmu_resolve(const struct pmu_paths *paths, const char *name, bool allows_raw, struct diag *d,
                struct pmu_events *out)
{
	SCOPED(pmu_sys_close) struct pmu_sys sys = { .fd = -1 };
	struct pmu_query what = { paths->cpuinfo, name, allows_raw };
	int err = pmu_sys_open(paths->devices, d, &sys);

	return err ? err : pmu_resolve_in(&sys, &what, d, out);
}
