#include "machine/parts/pressure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/pressure.h"

#define TEXT_LEN 560

struct machine_pressure_part {
	bool is_refused;
	struct pressure *pressure; /* NULL while not shown, or not available */
	char text[TEXT_LEN];       /* why there is none */
};

static int open_part(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_pressure_part *p = calloc(1, sizeof(*p));

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	/* A copy of a machine's files has no tracepoints. */
	p->is_refused = cfg->is_proc_only || cfg->root;
	(void)snprintf(p->text, TEXT_LEN, "no hardware pressure: it needs BPF");
	*out = p;
	return 0;
}

static void suspend(void *part)
{
	struct machine_pressure_part *p = part;

	pressure_close(p->pressure);
	p->pressure = NULL;
}

static void close_part(void *part)
{
	suspend(part);
	free(part);
}

static void attach(struct machine_pressure_part *p, const struct machine *m)
{
	uint32_t nr_cpus = m->nr_cpus ? m->cpus[m->nr_cpus - 1].cpu + 1 : 0;
	struct diag why = { 0 };

	if (!pressure_open(nr_cpus, &why, &p->pressure))
		return;
	p->is_refused = true;
	(void)snprintf(p->text, TEXT_LEN, "no hardware pressure: %s%s%s", why.what,
	               why.hint[0] ? "; " : "", why.hint);
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct machine_pressure_part *p = part;
	struct machine *m = r->machine;
	bool has_any = false;

	if (!p->pressure && !p->is_refused)
		attach(p, m);
	for (size_t i = 0; p->pressure && i < m->nr_cpus; i++) {
		uint64_t value;

		if (!pressure_of(p->pressure, r->cpus[i].cpu, &value))
			continue;
		r->cpus[i].hw_pressure = (double)value;
		has_any = true;
	}
	if (p->is_refused)
		m->no_pressure = p->text;
	else if (!has_any)
		m->no_pressure =
			"no hardware pressure yet: the kernel reports it only when it changes, and "
			"only on Arm machines with such a driver";
}

const struct machine_part machine_part_pressure = {
	.name = "hardware pressure",
	.needs = MACHINE_PRESSURE,
	.open = open_part,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_part,
};
