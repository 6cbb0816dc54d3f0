#include "machine/parts/bandwidth.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_bandwidth.h"
#include "machine/machine_past.h"
#include "sys/sensors/bandwidth_reading.h"
#include "sys/sensors/sensor_reader.h"

#define SECOND_NS 1000000000ULL
#define FIRST_NS  (SECOND_NS / 4)
#define ROWS_MAX  256U
#define NOTE_LEN  320

/* Rows with the past of their values; what they are rows of, by number. */
struct bandwidth_table {
	struct machine_bandwidth_row rows[ROWS_MAX];
	struct bandwidth_past {
		int32_t key;
		struct machine_past pasts[BANDWIDTHS];
	} series[ROWS_MAX];
	size_t nr;
};

struct machine_bandwidth_part {
	struct sensor_reader *reader;
	struct bandwidth_reading *now; /* NULL = none since it rested */
	struct bandwidth_place *places;
	size_t nr_places;
	bool is_second;
	uint64_t asked_ns;
	struct bandwidth_table llcs, nodes; /* llcs have the domain as key */
	struct machine_bandwidth bandwidth;
	char note[NOTE_LEN];
};

static int open_bandwidth(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_bandwidth_part *p = calloc(1, sizeof(*p));
	const struct sensor_reader_cfg reader = { .root = cfg->root ? cfg->root : "",
		                                  .clock = cfg->clock,
		                                  .read = bandwidth_reading_new,
		                                  .free = bandwidth_reading_free };
	int err = p ? sensor_reader_open(&reader, &p->reader) : -ENOMEM;

	if (err) {
		free(p);
		return diag_set(d, err, NULL, "cannot start a thread that reads resctrl");
	}
	*out = p;
	return 0;
}

static void suspend(void *part)
{
	struct machine_bandwidth_part *p = part;

	bandwidth_reading_free(p->now);
	p->now = NULL;
	p->is_second = false;
	p->asked_ns = 0;
	p->nr_places = 0; /* CPUs may go online and offline meanwhile */
}

static void table_done(struct bandwidth_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		for (int k = 0; k < BANDWIDTHS; k++)
			machine_past_done(&t->series[i].pasts[k]);
}

static void close_bandwidth(void *part)
{
	struct machine_bandwidth_part *p = part;

	suspend(p);
	sensor_reader_close(p->reader);
	table_done(&p->llcs);
	table_done(&p->nodes);
	free(p->places);
	free(p);
}

static void add_known(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

/* A row with that key, unknown if it is new; NULL = there are too many. */
static struct machine_bandwidth_row *row_of(struct bandwidth_table *t, int32_t key)
{
	size_t i = 0;

	while (i < t->nr && t->series[i].key != key)
		i++;
	if (i == ROWS_MAX)
		return NULL;
	if (i == t->nr) {
		t->series[i] = (struct bandwidth_past){ .key = key };
		t->rows[i] = (struct machine_bandwidth_row){ .id = key };
		for (int k = 0; k < BANDWIDTHS; k++)
			t->rows[i].values[k] = NAN;
		t->nr++;
	}
	return &t->rows[i];
}

static void forget_values(struct bandwidth_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		for (int k = 0; k < BANDWIDTHS; k++)
			t->rows[i].values[k] = NAN;
}

static void remember(struct bandwidth_table *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		for (int k = 0; k < BANDWIDTHS; k++) {
			struct machine_past *past = &t->series[i].pasts[k];
			double value = t->rows[i].values[k];

			/* Without memory for it, the past is shorter. */
			if (!isnan(value) && machine_past_add(past, value))
				machine_past_done(past);
			t->rows[i].histories[k] = machine_past_show(past);
		}
	}
}

static void add_group(struct machine_bandwidth_row *to, const struct resctrl_row *now,
                      const struct resctrl_row *old, double seconds)
{
	static const struct {
		enum resctrl_count from;
		enum machine_bandwidth_kind to;
	} rates[] = { { RESCTRL_LOCAL, BANDWIDTH_LOCAL }, { RESCTRL_TOTAL, BANDWIDTH_TOTAL } };

	if (now->is_known[RESCTRL_OCCUPANCY])
		add_known(&to->values[BANDWIDTH_OCCUPANCY], (double)now->bytes[RESCTRL_OCCUPANCY]);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		enum resctrl_count c = rates[i].from;

		if (old && old->is_known[c] && now->is_known[c])
			add_known(&to->values[rates[i].to],
			          resctrl_rate(old->bytes[c], now->bytes[c], seconds));
	}
}

static void sum_llcs(struct machine_bandwidth_part *p, const struct resctrl *before,
                     const struct resctrl *now, double seconds)
{
	forget_values(&p->llcs);
	for (size_t i = 0; i < now->nr; i++) {
		const struct resctrl_row *row = &now->rows[i];
		struct machine_bandwidth_row *to = row_of(&p->llcs, row->domain);

		if (to)
			add_group(to, row,
			          before ? resctrl_find(before, row->group, row->domain) : NULL,
			          seconds);
	}
	for (size_t i = 0; i < p->llcs.nr; i++) {
		double *v = p->llcs.rows[i].values;

		/* The two are not read at the same instant. */
		if (!isnan(v[BANDWIDTH_TOTAL]) && !isnan(v[BANDWIDTH_LOCAL]))
			v[BANDWIDTH_REMOTE] = fmax(v[BANDWIDTH_TOTAL] - v[BANDWIDTH_LOCAL], 0);
	}
	remember(&p->llcs);
}

static const struct machine_cpu *cpu_of_domain(const struct machine_bandwidth_part *p,
                                               const struct machine *m, int32_t domain)
{
	for (size_t i = 0; i < p->nr_places; i++)
		for (size_t k = 0; p->places[i].domain == domain && k < m->nr_cpus; k++)
			if (m->cpus[k].cpu == p->places[i].cpu)
				return &m->cpus[k];
	return NULL;
}

/* Domains are numbered by the kernel, LLCs by us: a CPU of each shows which is which. */
static void sum_nodes(struct machine_bandwidth_part *p, const struct machine *m)
{
	forget_values(&p->nodes);
	for (size_t i = 0; i < p->llcs.nr; i++) {
		const struct machine_cpu *c = cpu_of_domain(p, m, p->llcs.series[i].key);
		struct machine_bandwidth_row *row = c && c->node >= 0 ? row_of(&p->nodes, c->node)
		                                                      : NULL;

		p->llcs.rows[i].id = c ? c->llc : -1;
		for (int k = 0; row && k < BANDWIDTHS; k++)
			add_known(&row->values[k], p->llcs.rows[i].values[k]);
	}
	remember(&p->nodes);
}

static const char *why_nothing(const struct bandwidth_reading *now)
{
	const struct resctrl *r = &now->counts;

	if (!r->is_mounted && now->is_supported)
		return "resctrl is not mounted: mount -t resctrl resctrl /sys/fs/resctrl";
	if (!r->is_mounted)
		return "no resctrl: it needs a CPU with Intel RDT, AMD QoS or Arm MPAM, and a "
		       "kernel that supports it (CONFIG_X86_CPU_RESCTRL)";
	for (int i = 0; i < RESCTRL_COUNTS; i++)
		if (r->has[i] && r->nr)
			return NULL;
	return "resctrl is mounted, but this CPU counts no memory traffic "
	       "(info/L3_MON/mon_features names nothing)";
}

static void show(struct machine_bandwidth_part *p)
{
	const struct resctrl *r = &p->now->counts;
	const char *hung = sensor_reader_hung(p->reader);

	p->note[0] = '\0';
	if (hung)
		(void)snprintf(p->note, NOTE_LEN, "%.200s does not answer and is skipped", hung);
	else if (r->nr_absent)
		(void)snprintf(p->note, NOTE_LEN,
		               "%u counts are not available now; sums leave them out",
		               r->nr_absent);
	p->bandwidth = (struct machine_bandwidth){
		.reason = why_nothing(p->now),
		.note = p->note[0] ? p->note : NULL,
		.has = { [BANDWIDTH_LOCAL] = r->has[RESCTRL_LOCAL],
		         [BANDWIDTH_REMOTE] = r->has[RESCTRL_LOCAL] && r->has[RESCTRL_TOTAL],
		         [BANDWIDTH_TOTAL] = r->has[RESCTRL_TOTAL],
		         [BANDWIDTH_OCCUPANCY] = r->has[RESCTRL_OCCUPANCY] },
		.llcs = p->llcs.rows,
		.nr_llcs = p->llcs.nr,
		.nodes = p->nodes.rows,
		.nr_nodes = p->nodes.nr,
		.nr_groups = r->nr_groups,
	};
}

static void take(struct machine_bandwidth_part *p, struct bandwidth_reading *now,
                 const struct machine *m)
{
	double seconds = p->now && now->ns > p->now->ns ? (double)(now->ns - p->now->ns) / 1e9 : 0;

	if (now->places) {
		free(p->places);
		p->places = now->places;
		p->nr_places = now->nr_places;
		now->places = NULL;
	}
	sum_llcs(p, p->now ? &p->now->counts : NULL, &now->counts, seconds);
	sum_nodes(p, m);
	p->is_second = p->now != NULL;
	bandwidth_reading_free(p->now);
	p->now = now;
	show(p);
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	static const struct machine_bandwidth waiting = { .reason = "resctrl is being read ..." };
	struct machine_bandwidth_part *p = part;
	struct bandwidth_reading *now = sensor_reader_take(p->reader);
	uint64_t pause_ns;

	if (now)
		take(p, now, r->machine);
	pause_ns = p->now && !p->is_second ? FIRST_NS : SECOND_NS;
	if (!p->asked_ns || r->now_ns >= p->asked_ns + pause_ns) {
		p->asked_ns = r->now_ns ? r->now_ns : 1;
		sensor_reader_ask(p->reader,
		                  BANDWIDTH_COUNTS |
		                          (p->nr_places ? 0 : (uint32_t)BANDWIDTH_PLACES));
	}
	r->machine->bandwidth = p->now ? &p->bandwidth : &waiting;
}

const struct machine_part machine_part_bandwidth = {
	.name = "bandwidth",
	.needs = MACHINE_BANDWIDTH,
	.open = open_bandwidth,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_bandwidth,
};
