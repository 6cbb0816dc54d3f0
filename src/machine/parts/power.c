#include "machine/parts/power.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_past.h"
#include "machine/machine_power.h"
#include "machine/parts/power_sum.h"
#include "sys/sensors/sensor_reader.h"

#define SECOND_NS 1000000000ULL
#define FIRST_NS  (SECOND_NS / 4) /* until the second reading, which gives the first rates */
#define NOTE_LEN  400

struct machine_power_part {
	struct sensor_reader *reader;
	struct power_reading *now; /* NULL = none since it rested */
	bool is_second;            /* it has one before it */
	uint64_t asked_ns;         /* 0 = never, since it rested */
	struct power_sum sum;
	struct machine_power power;
	struct package_past {
		int32_t id;
		struct machine_past past;
	} pasts[POWER_PACKAGES_MAX];
	size_t nr_pasts;
	struct machine_past all, platform;
	char note[NOTE_LEN];
	const char *logged; /* of the files that hang, those already logged */
};

static int open_power(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_power_part *p = calloc(1, sizeof(*p));
	const struct sensor_reader_cfg reader = { .root = cfg->root ? cfg->root : "",
		                                  .clock = cfg->clock,
		                                  .read = power_reading_new,
		                                  .free = power_reading_free };
	int err = p ? sensor_reader_open(&reader, &p->reader) : -ENOMEM;

	if (err) {
		free(p);
		return diag_set(d, err, NULL, "cannot start a thread that reads sensors");
	}
	*out = p;
	return 0;
}

static void suspend(void *part)
{
	struct machine_power_part *p = part;

	power_reading_free(p->now);
	power_sum_done(&p->sum);
	p->now = NULL;
	p->is_second = false;
	p->asked_ns = 0;
}

static void close_power(void *part)
{
	struct machine_power_part *p = part;

	suspend(p);
	sensor_reader_close(p->reader);
	for (size_t i = 0; i < p->nr_pasts; i++)
		machine_past_done(&p->pasts[i].past);
	machine_past_done(&p->all);
	machine_past_done(&p->platform);
	free(p);
}

/* Without memory for it, the past is shorter. */
static struct machine_history remember(struct machine_past *past, double value)
{
	if (!isnan(value) && machine_past_add(past, value))
		machine_past_done(past);
	return machine_past_show(past);
}

static struct machine_past *past_of(struct machine_power_part *p, int32_t id)
{
	for (size_t i = 0; i < p->nr_pasts; i++)
		if (p->pasts[i].id == id)
			return &p->pasts[i].past;
	if (p->nr_pasts == POWER_PACKAGES_MAX)
		return NULL;
	p->pasts[p->nr_pasts].id = id;
	return &p->pasts[p->nr_pasts++].past;
}

static const char *why_no_watts(const struct power_reading *now)
{
	bool is_refused = false;

	for (size_t i = 0; i < now->rapl.nr; i++) {
		int err = now->rapl.zones[i].energy_err;

		if (!err)
			return NULL;
		is_refused = is_refused || err == -EACCES || err == -EPERM;
	}
	if (is_refused)
		return "only root can read watts: run it as root, or with CAP_DAC_READ_SEARCH";
	return "no watts: the kernel has no energy counters in /sys/class/powercap (on x86: module "
	       "intel_rapl_msr)";
}

static void explain(struct machine_power_part *p, struct machine_power *out)
{
	const char *hung = sensor_reader_hung(p->reader);
	const char *watts = why_no_watts(p->now);
	bool has_any = p->now->rapl.nr || p->now->temperatures.nr || p->sum.nr_idles ||
	               p->sum.nr_batteries || p->now->uncore.nr;
	size_t at = 0;

	p->note[0] = '\0';
	if (!has_any && !hung) {
		out->reason =
			"no sensors here: /sys has no powercap, hwmon, thermal zones of CPUs, "
			"cpuidle or batteries (virtual machines have none)";
		return;
	}
	if (hung)
		at = (size_t)snprintf(p->note, NOTE_LEN, "%.200s does not answer and is skipped%s",
		                      hung, watts ? "; " : "");
	if (watts)
		(void)snprintf(p->note + at, NOTE_LEN - at, "%s", watts);
	out->note = p->note[0] ? p->note : NULL;
}

/* Only of a reading of everything. */
static void show(struct machine_power_part *p)
{
	struct power_sum *s = &p->sum;
	struct machine_power power = {
		.packages = s->packages,
		.nr_packages = s->nr_packages,
		.cpus = s->cpus,
		.nr_cpus = s->nr_cpus,
		.idles = s->idles,
		.nr_idles = s->nr_idles,
		.sensors = s->sensors,
		.nr_sensors = s->nr_sensors,
		.batteries = s->batteries,
		.nr_batteries = s->nr_batteries,
		.watts = s->watts,
		.platform_watts = s->platform_watts,
		.history = remember(&p->all, s->watts),
		.platform_history = remember(&p->platform, s->platform_watts),
	};

	for (size_t i = 0; i < s->nr_packages; i++) {
		struct machine_past *past = past_of(p, s->packages[i].id);

		if (past)
			s->packages[i].history = remember(past, s->packages[i].watts);
	}
	explain(p, &power);
	p->power = power;
}

static void take(struct machine_power_part *p, struct power_reading *now)
{
	bool is_second = p->now && (p->now->what & now->what & POWER_ALL);
	struct power_sum sum;

	if (power_sum_make(is_second ? p->now : NULL, now, &sum)) {
		power_reading_free(now);
		return;
	}
	power_sum_done(&p->sum);
	power_reading_free(p->now);
	p->sum = sum;
	p->now = now;
	p->is_second = is_second;
	if (now->what & POWER_ALL)
		show(p);
}

static void ask(struct machine_power_part *p, const struct machine_part_refresh *r)
{
	uint64_t pause_ns = p->now && !p->is_second ? FIRST_NS : SECOND_NS;
	bool is_power = r->request->needs & MACHINE_POWER;
	/* A view that is opened does not wait for a second. */
	bool is_new = is_power && p->now && !(p->now->what & POWER_ALL);

	if (p->asked_ns && !is_new && r->now_ns < p->asked_ns + pause_ns)
		return;
	p->asked_ns = r->now_ns ? r->now_ns : 1;
	sensor_reader_ask(p->reader, is_power ? POWER_ALL | POWER_UNCORE : POWER_UNCORE);
}

static void show_uncore(struct machine_power_part *p, const struct machine_part_refresh *r)
{
	if (!(r->request->needs & MACHINE_UNCORE) || !p->now)
		return;
	for (size_t i = 0; i < r->machine->nr_cpus; i++) {
		const struct cpu_idle *c = cpu_idles_find(&p->now->cpus, r->cpus[i].cpu);

		if (c)
			r->cpus[i].uncore_mhz = uncore_freqs_mhz(&p->now->uncore, c->package_id);
	}
	if (!p->now->uncore.nr)
		r->machine->no_uncore = "no uncore frequencies: only Intel's driver has them "
					"(module intel_uncore_frequency)";
}

static void report_hung(struct machine_power_part *p, struct machine_log *log)
{
	const char *hung = sensor_reader_hung(p->reader);

	if (hung && hung != p->logged)
		machine_log_add(log, "a sensor does not answer and is skipped: %s", hung);
	p->logged = hung;
}

/* Before the first reading of everything. */
static void show_waiting(struct machine_power_part *p)
{
	const char *hung = sensor_reader_hung(p->reader);

	if (hung)
		(void)snprintf(p->note, NOTE_LEN, "%.200s does not answer", hung);
	p->power = (struct machine_power){ .reason = hung ? p->note : "sensors are being read ...",
		                           .watts = NAN,
		                           .platform_watts = NAN };
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct machine_power_part *p = part;
	struct power_reading *now = sensor_reader_take(p->reader);

	if (now)
		take(p, now);
	ask(p, r);
	report_hung(p, r->log);
	show_uncore(p, r);
	if (!(r->request->needs & MACHINE_POWER))
		return;
	if (!p->now || !(p->now->what & POWER_ALL))
		show_waiting(p);
	r->machine->power = &p->power;
}

const struct machine_part machine_part_power = {
	.name = "power",
	.needs = MACHINE_POWER | MACHINE_UNCORE,
	.open = open_power,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_power,
};
