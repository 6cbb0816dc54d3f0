#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/stat/stat_text_priv.h"

#define US(ns)     ((unsigned long long)((ns) / 1000))
#define COLUMNS    3
#define CELL_WIDTH 64
#define HELD_BYTES 1024
#define HELD_SHOWN 5 /* names of holders; --json has each task */

/* "0-2,5,7-8": the CPUs of one band. */
static void print_cpu_list(const struct stat_text *x, const struct stat_table *t, uint32_t band)
{
	const char *before = "";
	size_t i = 0;

	while (i < t->nr_rows) {
		uint32_t first, last;

		if (t->rows[i].band != band) {
			i++;
			continue;
		}
		first = last = t->rows[i++].cpu.cpu;
		while (i < t->nr_rows && t->rows[i].band == band && t->rows[i].cpu.cpu == last + 1)
			last = t->rows[i++].cpu.cpu;
		fprintf(x->out, "%s%u", before, first);
		if (last > first)
			fprintf(x->out, "-%u", last);
		before = ",";
	}
}

static void print_dist(const struct stat_text *x, const char *name, const struct stat_dist *d)
{
	fprintf(x->out, "%s: p50=%-6llu p90=%-6llu p99=%-6llu count=%llu mean=%.1f max=%llu\n",
	        name, US(d->p50_ns), US(d->p90_ns), US(d->p99_ns), (unsigned long long)d->count,
	        d->mean_ns / 1000.0, US(d->max_ns));
}

/* CPUs that slept through the whole view: no idle period has ended, so no band holds them. */
static void print_sleepers(const struct stat_text *x, const struct stat_table *t)
{
	uint64_t longest_ns = 0;
	size_t nr = 0;
	char text[32];

	for (size_t i = 0; i < t->nr_rows; i++) {
		if (t->rows[i].band != STAT_NO_BAND)
			continue;
		nr++;
		if (t->rows[i].cpu.open_ns > longest_ns)
			longest_ns = t->rows[i].cpu.open_ns;
	}
	if (!nr)
		return;
	fprintf(x->out, "\nStill idle, up to %s: CPUs (%zu) ",
	        text_duration(text, sizeof(text), longest_ns), nr);
	print_cpu_list(x, t, STAT_NO_BAND);
	fputc('\n', x->out);
}

static int print_detailed(const struct stat_text *x, const struct stat_table *t)
{
	struct table tb;

	table_init(&tb, x->mem);
	table_col(&tb, "CPU", 8);
	table_col(&tb, "p50", 10);
	table_col(&tb, "p90", 10);
	table_col(&tb, "p99", 10);
	table_col(&tb, "COUNT", 12);
	table_col(&tb, "MEAN", 10);
	table_col(&tb, "MAX", 0);
	for (size_t i = 0; i < t->nr_rows; i++) {
		const struct stat_dist *d = &t->rows[i].cpu.dist;

		if (!d->count)
			continue;
		table_u64(&tb, t->rows[i].cpu.cpu);
		table_u64(&tb, US(d->p50_ns));
		table_u64(&tb, US(d->p90_ns));
		table_u64(&tb, US(d->p99_ns));
		table_u64(&tb, d->count);
		table_cell(&tb, "%.1f", d->mean_ns / 1000.0);
		table_u64(&tb, US(d->max_ns));
	}
	fputc('\n', x->out);
	return table_print(&tb, 0, table_nr_rows(&tb), "", x->out);
}

int stat_text_cpus(const struct stat_text *x, const struct stat_table *t)
{
	int err = 0;

	if (!t->nr_rows) {
		fputs("\nNo per-CPU data collected yet\n", x->out);
		return 0;
	}
	if (t->is_flat) {
		err = print_detailed(x, t);
		print_sleepers(x, t);
		return err;
	}
	for (uint32_t i = 0; i < t->nr_bands; i++) {
		fputc('\n', x->out);
		stat_text_label(x, t->bands[i].label);
		fprintf(x->out, ": CPUs (%zu) ", t->bands[i].nr_total);
		print_cpu_list(x, t, i);
		fputc('\n', x->out);
		print_dist(x, "  Group", &t->bands[i].dist);
	}
	if (t->global.count) {
		fputc('\n', x->out);
		print_dist(x, "Global", &t->global);
	}
	print_sleepers(x, t);
	return 0;
}

static void print_field(const struct stat_text *x, const struct stat_pair *p, size_t col)
{
	char name[CELL_WIDTH];

	text_printable(name, sizeof(name), p->name, strlen(p->name));
	fprintf(x->out, "%s%-30s %9llu", col ? " | " : "", name, (unsigned long long)p->value);
}

/* Three columns, each filled from top to bottom. */
static void print_totals(const struct stat_text *x, const struct stat_pairs *total)
{
	size_t nr_lines = (total->nr + COLUMNS - 1) / COLUMNS;

	for (size_t line = 0; line < nr_lines; line++) {
		for (size_t col = 0; col < COLUMNS; col++)
			if (col * nr_lines + line < total->nr)
				print_field(x, &total->items[col * nr_lines + line], col);
		fputc('\n', x->out);
	}
}

static void print_cpu_fields(const struct stat_text *x)
{
	const struct stat_schedstat *s = &x->r->schedstat;
	const struct stat_sched_cpu *cpu = &s->cpu;
	const struct stat_pair fields[] = {
		{ .name = "yld_count", .value = cpu->yld_count },
		{ .name = "sched_count", .value = cpu->sched_count },
		{ .name = "sched_goidle", .value = cpu->sched_goidle },
		{ .name = "ttwu_count", .value = cpu->ttwu_count },
		{ .name = "ttwu_local", .value = cpu->ttwu_local },
		{ .name = "rq_cpu_time usec", .value = cpu->rq_cpu_time_ns / 1000 },
		{ .name = "rq_run_delay usec", .value = cpu->run_delay_ns / 1000 },
		{ .name = "rq_pcount", .value = cpu->pcount },
	};

	fputs("\n=== CPU Field Totals (deltas) ===\n", x->out);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		fprintf(x->out, "%-17s ", fields[i].name);
		if (cpu->absent & 1U << i)
			fprintf(x->out, "%12s", "-");
		else
			fprintf(x->out, "%12llu", (unsigned long long)fields[i].value);
		fputs(i % COLUMNS == 2 ? "\n" : " | ", x->out);
	}
	if (s->has_mean_delay)
		fprintf(x->out, "%-17s %12.1f\n", "delay/slice usec", s->mean_delay_us);
	else
		fprintf(x->out, "%-17s %12s\n", "delay/slice usec", "-");
}

static const struct stat_pair *find_field(const struct stat_domain *domain, const char *name)
{
	for (size_t i = 0; i < domain->fields.nr; i++)
		if (strcmp(domain->fields.items[i].name, name) == 0)
			return &domain->fields.items[i];
	return NULL;
}

/* One column per level; fields that stayed at zero everywhere are left out. */
static int print_domains(const struct stat_text *x, const struct stat_schedstat *s)
{
	size_t nr = s->nr_domains < TABLE_MAX_COLS - 1 ? s->nr_domains : TABLE_MAX_COLS - 1;
	struct table tb;

	table_init(&tb, x->mem);
	table_col(&tb, "FIELD", 30);
	for (size_t i = 0; i < nr; i++)
		table_col_right(&tb, s->domains[i].name, 10);
	for (size_t i = 0; i < s->total.nr; i++) {
		if (!s->total.items[i].value)
			continue;
		table_cell(&tb, "%s", s->total.items[i].name);
		for (size_t k = 0; k < nr; k++) {
			const struct stat_pair *p = find_field(&s->domains[k],
			                                       s->total.items[i].name);

			if (p)
				table_u64(&tb, p->value);
			else
				table_cell(&tb, "-");
		}
	}
	if (!table_nr_rows(&tb))
		return 0;
	fputs("\n=== Schedstat by Domain (deltas) ===\n", x->out);
	return table_print(&tb, 0, table_nr_rows(&tb), "", x->out);
}

int stat_text_schedstat(const struct stat_text *x)
{
	const struct stat_schedstat *s = &x->r->schedstat;

	if (s->total.nr)
		print_totals(x, &s->total);
	else
		fputs("No scheduling domains\n", x->out);
	print_cpu_fields(x);
	return print_domains(x, s);
}

static size_t add_held(char *text, size_t len, const char *name, uint64_t ns, uint64_t wait_ns)
{
	char span[32];
	double pct = wait_ns ? 100.0 * (double)ns / (double)wait_ns : 0.0;
	int added;

	if (!ns || len >= HELD_BYTES)
		return len;
	added = snprintf(text + len, HELD_BYTES - len, "%s%s %s %.0f%%", len ? ", " : "", name,
	                 text_duration(span, sizeof(span), ns), pct);
	return added > 0 ? len + (size_t)added : len;
}

/* Holders of one name are one: their time, and how many they are. */
struct held {
	const char *comm;
	uint64_t ns;
	uint32_t tid; /* of the longest */
	uint32_t nr_tasks;
};

static int longest_held(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static size_t fold_holders(const struct outlier *o, struct held *to)
{
	size_t nr = 0, k;

	for (uint32_t i = 0; i < o->nr_holders && i < STAT_HISTORY; i++) {
		const struct outlier_holder *h = &o->holders[i];

		for (k = 0; k < nr && strncmp(to[k].comm, h->comm, STAT_COMM_LEN) != 0; k++)
			;
		if (k == nr)
			to[nr++] = (struct held){ h->comm, 0, h->tid, 0 };
		to[k].ns += h->ns;
		to[k].nr_tasks++;
	}
	qsort(to, nr, sizeof(*to), longest_held);
	return nr;
}

/* What held the CPU, longest first, the small ones together, then the unknown time. */
static void describe_holders(const struct outlier *o, char *text)
{
	struct held held[STAT_HISTORY];
	size_t len = 0, nr = fold_holders(o, held);

	uint64_t others_ns = 0;
	uint32_t nr_others = 0;

	text[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		char name[STAT_COMM_LEN + 24];

		if (nr > HELD_SHOWN + 1 && i >= HELD_SHOWN) {
			others_ns += held[i].ns;
			nr_others += held[i].nr_tasks;
			continue;
		}
		if (held[i].nr_tasks > 1)
			snprintf(name, sizeof(name), "%.*s (%u tasks)", STAT_COMM_LEN, held[i].comm,
			         held[i].nr_tasks);
		else
			snprintf(name, sizeof(name), "%.*s/%u", STAT_COMM_LEN, held[i].comm,
			         held[i].tid);
		len = add_held(text, len, name, held[i].ns, o->wait_ns);
	}
	if (nr_others) {
		char name[40];

		snprintf(name, sizeof(name), "%u other tasks", nr_others);
		len = add_held(text, len, name, others_ns, o->wait_ns);
	}
	len = add_held(text, len, "idle", o->idle_ns, o->wait_ns);
	add_held(text, len, "unknown", o->unexplained_ns, o->wait_ns);
}

int stat_text_outliers(const struct stat_text *x)
{
	const struct stat_outliers *list = &x->r->outliers;
	struct table tb;
	int err;

	fprintf(x->out, "\n=== Outliers (waits of %llu microseconds and more) ===\n\n",
	        (unsigned long long)list->threshold_us);
	if (!list->nr) {
		fputs("No wait was that long\n", x->out);
		return 0;
	}
	table_init(&tb, x->mem);
	table_col(&tb, "TIME", 12);
	table_col(&tb, "COMMAND", 7);
	table_col(&tb, "PID", 8);
	table_col(&tb, "WAIT", 10);
	table_col(&tb, "CAUSE", 9);
	table_col(&tb, "CPU", 4);
	table_col(&tb, "HELD_BY", 0);
	for (size_t i = 0; i < list->nr; i++) {
		const struct outlier *o = list->items[i];
		const char *cause = stat_cause_name(o->cause);
		char held[HELD_BYTES], when[STAT_TEXT_TIME];

		stat_text_time(x->r, o->at_ns, when);
		describe_holders(o, held);
		table_cell(&tb, "%s", when);
		table_cell(&tb, "%.*s", STAT_COMM_LEN, o->comm);
		table_u64(&tb, o->tid);
		table_u64(&tb, US(o->wait_ns));
		table_cell(&tb, "%s", cause ? cause : "-");
		if (o->cpu == o->wait_cpu)
			table_u64(&tb, o->cpu);
		else
			table_cell(&tb, "%u->%u", o->wait_cpu, o->cpu);
		table_cell(&tb, "%s", held[0] ? held : "-");
	}
	err = table_print(&tb, 0, list->nr, "  ", x->out);
	if (!err && list->nr_total > list->nr)
		fprintf(x->out, "  ... and %llu more\n",
		        (unsigned long long)(list->nr_total - list->nr));
	return err;
}
