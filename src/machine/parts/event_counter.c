#include "machine/parts/event_counter.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/text.h"
#include "collect/hit_counter.h"
#include "collect/sample/sample_event.h"
#include "sys/pmu/event_names.h"
#include "sys/pmu/perf_counter.h"
#include "sys/pmu/pmu.h"
#include "sys/proc/pid_namespace.h"

#define PMU_DEVICES "/sys/bus/event_source/devices"
#define UNSEEN_NS   1000000ULL /* counters of two CPUs are read one after the other */

/* One event of one PMU, for all or for one thread. */
struct counter_part {
	struct perf_counter *counter;
	struct perf_count *last; /* by CPU */
};

struct event_counter {
	uint32_t nr_cpus;           /* the highest number and one */
	double *per_s;              /* by CPU, of the last step */
	int *errors;                /* by CPU; 0 = the value is known */
	double *now;                /* by CPU, while one thread is read */
	uint32_t nr_pmus;           /* parts that are of one thread; 0 = they are of whole CPUs */
	struct counter_part *parts; /* those of one thread follow each other */
	size_t nr, room;
	struct hit_counter *hits; /* instead of parts */
	uint64_t *last_hits;
	uint64_t step_ns; /* of the last step, or of opening */
};

DEFINE_SCOPED(event_counter, event_counter_close)

static void scoped_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

static int out_of_memory(struct diag *d)
{
	return diag_set(d, -ENOMEM, NULL, "out of memory");
}

static int add_part(struct event_counter *c, const struct perf_counter_cfg *cfg, struct diag *d)
{
	struct counter_part *p;
	int err;

	if (GROW(c->parts, c->room, c->nr))
		return out_of_memory(d);
	p = &c->parts[c->nr];
	*p = (struct counter_part){ .last = calloc(c->nr_cpus, sizeof(*p->last)) };
	if (!p->last)
		return out_of_memory(d);
	err = perf_counter_open(cfg, d, &p->counter);
	if (err) {
		free(p->last);
		return err;
	}
	c->nr++;
	return 0;
}

/* But so many. */
static void drop_parts(struct event_counter *c, size_t nr)
{
	while (c->nr > nr) {
		c->nr--;
		perf_counter_close(c->parts[c->nr].counter);
		free(c->parts[c->nr].last);
	}
}

/* The event on each PMU that has it. */
static int add_events(struct event_counter *c, const struct event_counter_cfg *cfg,
                      const struct pmu_events *events, uint32_t tid, struct diag *d)
{
	for (size_t i = 0; i < events->nr; i++) {
		struct perf_counter_cfg one = { .event = &events->items[i],
			                        .online = cfg->online,
			                        .tid = tid };
		int err = add_part(c, &one, d);

		if (err)
			return err;
	}
	return 0;
}

static int add_thread(struct event_counter *c, const struct event_counter_cfg *cfg,
                      const struct pmu_events *events, uint32_t tid, struct diag *d)
{
	struct diag why = { 0 };
	size_t before = c->nr;
	int err;

	if ((c->nr + 1) * cfg->online->nr > EVENT_COUNTER_FDS)
		return diag_set(d, -E2BIG, "count for all processes, without --process-id",
		                "process %u has too many threads to count each on every CPU",
		                cfg->tgid);
	err = add_events(c, cfg, events, tid, &why);
	if (err == -ESRCH) { /* it has exited meanwhile */
		drop_parts(c, before);
		return 0;
	}
	return err ? diag_set(d, err, why.hint, "%s", why.what) : 0;
}

/* The threads of now, to be freed; how many. None where the process is gone. */
static size_t list_threads(uint32_t tgid, uint32_t **out)
{
	SCOPED(scoped_dir) DIR *dir = NULL;
	const struct dirent *entry;
	size_t nr = 0, room = 0;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		uint64_t tid;

		if (!text_to_u64(entry->d_name, &tid))
			continue;
		if (GROW(*out, room, nr))
			break;
		(*out)[nr++] = (uint32_t)tid;
	}
	return nr;
}

/*
 * All are listed before the first is opened: one that is made by a thread with a counter inherits it, and would be
 * counted twice if it were found here.
 */
static int add_process(struct event_counter *c, const struct event_counter_cfg *cfg,
                       const struct pmu_events *events, struct diag *d)
{
	SCOPED(scoped_free) uint32_t *tids = NULL;
	size_t nr = list_threads(cfg->tgid, &tids);
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = add_thread(c, cfg, events, tids[i], d);
	if (!err && !c->nr)
		err = diag_set(d, -ESRCH, NULL, "process %u has ended", cfg->tgid);
	return err;
}

static int start(struct event_counter *c, const struct event_counter_cfg *cfg,
                 const struct pmu_events *events, struct diag *d)
{
	int err;

	c->nr_pmus = cfg->tgid ? (uint32_t)events->nr : 0;
	err = cfg->tgid ? add_process(c, cfg, events, d) : add_events(c, cfg, events, 0, d);
	for (size_t i = 0; !err && i < c->nr; i++)
		err = perf_counter_enable(c->parts[i].counter);
	return err ? diag_set(d, err, NULL, "the counter does not start: %s", strerror(-err)) : 0;
}

static int start_number(struct event_counter *c, const struct event_counter_cfg *cfg, uint32_t type,
                        uint64_t config, struct diag *d)
{
	struct pmu_event event = { .type = type, .config = config, .is_per_task = true };
	struct pmu_events events = { &event, 1 };

	(void)snprintf(event.name, sizeof(event.name), "%.*s", PMU_NAME_MAX - 1, cfg->event->name);
	return start(c, cfg, &events, d);
}

static int start_named(struct event_counter *c, const struct event_counter_cfg *cfg,
                       const char *text, struct diag *d)
{
	SCOPED(sample_event_done) struct sample_event e = { 0 };
	int err = sample_event_parse(text, &e, d);

	return err ? err : start(c, cfg, &e.pmu, d);
}

static int start_hits(struct event_counter *c, const struct event_counter_cfg *cfg,
                      const char *tracepoint, struct diag *d)
{
	struct hit_counter_cfg hits = { .function = tracepoint ? NULL : cfg->event->name,
		                        .tracepoint = tracepoint,
		                        .nr_cpus = c->nr_cpus,
		                        .tgid = cfg->tgid };

	if (cfg->tgid && !pid_namespace_is_initial())
		return diag_set(d, -ENOTSUP,
		                "run it in the host's pid namespace (docker: --pid=host)",
		                "inside a pid namespace, the kernel's ids cannot be matched");
	c->last_hits = calloc(c->nr_cpus, sizeof(*c->last_hits));
	if (!c->last_hits)
		return out_of_memory(d);
	return hit_counter_open(&hits, d, &c->hits);
}

static bool has_pmu(const char *name)
{
	char path[sizeof(PMU_DEVICES) + 80];

	(void)snprintf(path, sizeof(path), PMU_DEVICES "/%.64s", name);
	return strcmp(name, "cpu") == 0 || (!strchr(name, '/') && access(path, F_OK) == 0);
}

/* A tracepoint where there is one of that name, else what a PMU calls so. */
static int start_subsystem(struct event_counter *c, const struct event_counter_cfg *cfg,
                           struct diag *d)
{
	const struct event_word *w = cfg->event;
	char text[sizeof(w->subsystem) + sizeof(w->name) + 2];
	uint64_t id;
	int err = event_names_id("", w->subsystem, w->name, &id);

	if (!err)
		return start_number(c, cfg, PERF_TYPE_TRACEPOINT, id, d);
	if (has_pmu(w->subsystem)) {
		(void)snprintf(text, sizeof(text), "%s/%s/", w->subsystem, w->name);
		return start_named(c, cfg, text, d);
	}
	(void)snprintf(text, sizeof(text), "%s:%s", w->subsystem, w->name);
	if (err == -ENODEV)
		return start_hits(c, cfg, text, d);
	return diag_set(d, -ENOENT, "the key e shows what there is",
	                "this kernel has no tracepoint '%.120s'", text);
}

static int start_perf(struct event_counter *c, const struct event_counter_cfg *cfg, struct diag *d)
{
	const struct event_word *w = cfg->event;
	char text[sizeof(w->subsystem) + sizeof(w->name) + 1];

	if (strcmp(w->subsystem, "hw") != 0 && strcmp(w->subsystem, "sw") != 0)
		return start_subsystem(c, cfg, d);
	(void)snprintf(text, sizeof(text), "%s:%s", w->subsystem, w->name);
	return start_named(c, cfg, text, d);
}

static int start_any(struct event_counter *c, const struct event_counter_cfg *cfg, struct diag *d)
{
	switch (cfg->event->source) {
	case EVENT_PERF:
		return start_perf(c, cfg, d);
	case EVENT_RAW:
		return start_number(c, cfg, cfg->event->type, cfg->event->config, d);
	case EVENT_KPROBE:
		return start_hits(c, cfg, NULL, d);
	case EVENT_CPU:
		break;
	}
	return diag_set(d, -EINVAL, NULL, "'%s' needs no counter", cfg->event->name);
}

int event_counter_open(const struct event_counter_cfg *cfg, struct diag *d,
                       struct event_counter **out)
{
	SCOPED(scoped_event_counter) struct event_counter *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return out_of_memory(d);
	c->nr_cpus = (uint32_t)(cpulist_last(cfg->online) + 1);
	c->per_s = calloc(c->nr_cpus + 1, sizeof(*c->per_s));
	c->now = calloc(c->nr_cpus + 1, sizeof(*c->now));
	c->errors = calloc(c->nr_cpus + 1, sizeof(*c->errors));
	if (!c->per_s || !c->now || !c->errors)
		return out_of_memory(d);
	err = start_any(c, cfg, d);
	if (err)
		return err;
	c->step_ns = clock_boot_ns();
	*out = TAKE_PTR(c);
	return 0;
}

void event_counter_close(struct event_counter *c)
{
	if (!c)
		return;
	drop_parts(c, 0);
	free(c->parts);
	free(c->per_s);
	free(c->now);
	free(c->errors);
	hit_counter_close(c->hits);
	free(c->last_hits);
	free(c);
}

static int read_hits(struct event_counter *c, uint32_t cpu, double *out)
{
	uint64_t now;
	int err = hit_counter_read(c->hits, cpu, &now);

	if (err)
		return err;
	*out = (double)(now - c->last_hits[cpu]);
	c->last_hits[cpu] = now;
	return 0;
}

/* The increase since the last time. */
static int read_part(struct counter_part *p, uint32_t cpu, struct perf_count *out)
{
	struct perf_count now, *last = &p->last[cpu];
	int err = perf_counter_read(p->counter, cpu, &now);

	if (err)
		return err;
	*out = (struct perf_count){ now.value - last->value, now.enabled_ns - last->enabled_ns,
		                    now.running_ns - last->running_ns };
	*last = now;
	return 0;
}

/*
 * The event of a whole CPU: of the PMU that this kind of CPU has. The time that it was enabled is the interval, however
 * late we come to read it.
 */
static int step_cpu(struct event_counter *c, uint32_t cpu, double *out_per_s)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct perf_count since;
		double scaled;
		int err = read_part(&c->parts[i], cpu, &since);

		if (err == -ENODEV)
			continue;
		if (err)
			return err;
		if (!since.enabled_ns || !perf_count_scaled(&since, &scaled))
			return -EAGAIN;
		*out_per_s = scaled * 1e9 / (double)since.enabled_ns;
		return 0;
	}
	return -ENODEV;
}

/*
 * One thread. Its counter of a CPU is enabled while it runs anywhere, and running while it runs
 * there: only the sum of the CPUs shows whether it had to share the PMU.
 */
static void step_thread(struct event_counter *c, struct counter_part *parts)
{
	struct perf_count all = { 0 };
	double scale = 1;

	memset(c->now, 0, c->nr_cpus * sizeof(*c->now));
	for (uint32_t i = 0; i < c->nr_pmus * c->nr_cpus; i++) {
		uint32_t cpu = i % c->nr_cpus;
		struct perf_count since;
		int err = read_part(&parts[i / c->nr_cpus], cpu, &since);

		if (err && err != -ENODEV)
			c->errors[cpu] = err;
		if (err)
			continue;
		if (c->errors[cpu] == -ENODEV)
			c->errors[cpu] = 0;
		c->now[cpu] += (double)since.value;
		all.running_ns += since.running_ns;
		all.enabled_ns = since.enabled_ns > all.enabled_ns ? since.enabled_ns
		                                                   : all.enabled_ns;
	}
	if (all.running_ns && all.enabled_ns > all.running_ns)
		scale = (double)all.enabled_ns / (double)all.running_ns;
	for (uint32_t cpu = 0; cpu < c->nr_cpus; cpu++) {
		/* It ran, for longer than reading takes, but was never counted. */
		if (!all.running_ns && all.enabled_ns > UNSEEN_NS && !c->errors[cpu])
			c->errors[cpu] = -EAGAIN;
		c->per_s[cpu] += c->now[cpu] * scale; /* a count, until the step ends */
	}
}

/* By our own clock: hits have none, and threads are on a CPU for a part of the time. */
static void divide_by_time(struct event_counter *c)
{
	uint64_t now_ns = clock_boot_ns();
	double seconds = (double)(now_ns - c->step_ns) / 1e9;

	for (uint32_t cpu = 0; seconds > 0 && cpu < c->nr_cpus; cpu++)
		c->per_s[cpu] /= seconds;
	c->step_ns = now_ns;
}

void event_counter_step(struct event_counter *c)
{
	for (uint32_t cpu = 0; cpu < c->nr_cpus; cpu++) {
		c->per_s[cpu] = 0;
		c->errors[cpu] = -ENODEV;
		if (c->hits)
			c->errors[cpu] = read_hits(c, cpu, &c->per_s[cpu]);
		else if (!c->nr_pmus)
			c->errors[cpu] = step_cpu(c, cpu, &c->per_s[cpu]);
	}
	for (size_t i = 0; c->nr_pmus && i + c->nr_pmus <= c->nr; i += c->nr_pmus)
		step_thread(c, &c->parts[i]);
	if (c->hits || c->nr_pmus)
		divide_by_time(c);
}

int event_counter_get(const struct event_counter *c, uint32_t cpu, double *out_per_s)
{
	if (cpu >= c->nr_cpus || c->errors[cpu])
		return cpu >= c->nr_cpus ? -ENODEV : c->errors[cpu];
	*out_per_s = c->per_s[cpu];
	return 0;
}
