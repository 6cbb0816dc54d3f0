#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "render/stat/stat_text_priv.h"

#define US(ns) ((ns) / 1000)

/* How a section looks besides its rows. */
static const struct section {
	const char *subheading; /* NULL = none */
	const char *empty;
} sections[STAT_TABLES] = {
	[STAT_TABLE_LATENCY] = { NULL, "No scheduling delay data collected yet" },
	[STAT_TABLE_WAKING] = { NULL, "No waking delay data collected yet" },
	[STAT_TABLE_SLICE] = { "Processes grouped by preemption rate:",
	                       "No time slice data collected yet" },
	[STAT_TABLE_SLEEP] = { NULL, "No sleep data collected yet" },
	[STAT_TABLE_DEPTH] = { "Processes by runqueue depth:",
	                       "No runqueue depth data collected yet" },
	[STAT_TABLE_MIGRATION] = { "Processes by migration rate:",
	                           "No migration data collected yet" },
	[STAT_TABLE_CROSS_LLC] = { "Processes by cross-CCX migration rate:",
	                           "No cross-CCX migration data collected yet" },
	[STAT_TABLE_CROSS_NODE] = { "Processes by cross-NUMA migration rate:",
	                            "No cross-NUMA migration data collected yet" },
	[STAT_TABLE_DSQ_TASKS] = { NULL, "No task was dispatched from a queue yet" },
	[STAT_TABLE_IPC] = { "CPU Performance by Usage Group:", "No data." },
	[STAT_TABLE_COUNTER] = { NULL, "No data." },
};

static void add_who_cols(const struct stat_report *r, struct table *tb)
{
	if (r->display == TALLY_BY_TID || r->display == TALLY_BY_TGID)
		table_col(tb, "PID", 8);
	table_col(tb, r->display == TALLY_BY_CGROUP ? "CGROUP" : "COMMAND", 7);
	if (r->display != TALLY_BY_TID)
		table_col(tb, "PROCS", 8);
}

static void add_id(struct table *tb, bool has_id, uint32_t id)
{
	if (has_id)
		table_u64(tb, id);
	else
		table_cell(tb, "-");
}

static void add_identity_cells(const struct stat_report *r, const struct stat_identity *identity,
                               struct table *tb)
{
	if (r->display == TALLY_BY_TID)
		add_id(tb, identity->has_tid, identity->tid);
	else if (r->display == TALLY_BY_TGID)
		add_id(tb, identity->has_tgid, identity->tgid);
	table_cell(tb, "%s", identity->name);
	if (r->display != TALLY_BY_TID)
		table_u64(tb, identity->members.nr_tasks);
}

/* Thread ids behind merged rows, as far as they are known. */
static bool has_tids(const struct stat_report *r)
{
	return r->display == TALLY_BY_COMM || r->display == TALLY_BY_CGROUP;
}

static void add_tids(const struct stat_identity *identity, struct table *tb)
{
	char text[96];
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < identity->members.nr_shown && i < TALLY_SHOWN_TIDS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? "," : "",
		                        identity->members.tids[i]);
	if (identity->members.nr_tasks > identity->members.nr_shown)
		snprintf(text + len, sizeof(text) - len, "%s...(+%u)", len ? "," : "",
		         identity->members.nr_tasks - identity->members.nr_shown);
	table_cell(tb, "%s", text);
}

static void add_when(const struct stat_report *r, uint64_t at_ns, uint32_t cpu, struct table *tb)
{
	char when[STAT_TEXT_TIME];

	if (!at_ns) {
		table_cell(tb, "-");
		return;
	}
	stat_text_time(r, at_ns, when);
	table_cell(tb, "%s cpu%u", when, cpu);
}

static void add_duration_cols(const struct stat_report *r, const struct stat_table *t,
                              struct table *tb)
{
	table_col(tb, "p50", 10);
	table_col(tb, "p90", 10);
	table_col(tb, "p99", 10);
	table_col(tb, "COUNT", 12);
	if (has_tids(r))
		table_col(tb, "PIDs", 20);
	table_col(tb, "MEAN", 10);
	table_col(tb, "MAX", 10);
	if (t->id == STAT_TABLE_LATENCY)
		table_col(tb, "WOKEN/PREEMPTED/NEW", 0);
	else if (t->id == STAT_TABLE_SLEEP)
		table_col(tb, "S/D/OTHER", 12);
	table_col(tb, "MAX_AT", 0);
}

static void add_duration_cells(const struct stat_report *r, const struct stat_row *row,
                               struct table *tb)
{
	const struct stat_durations *d = &row->durations;

	table_u64(tb, US(d->all.p50_ns));
	table_u64(tb, US(d->all.p90_ns));
	table_u64(tb, US(d->all.p99_ns));
	table_u64(tb, d->all.count);
	if (has_tids(r))
		add_tids(&row->identity, tb);
	table_cell(tb, "%.1f", d->all.mean_ns / 1000.0);
	table_u64(tb, US(d->all.max_ns));
	if (d->nr_parts == 3)
		table_cell(tb, "%llu/%llu/%llu", (unsigned long long)d->parts[0].dist.count,
		           (unsigned long long)d->parts[1].dist.count,
		           (unsigned long long)d->parts[2].dist.count);
	add_when(r, d->all.max_at_ns, d->all.max_cpu, tb);
}

static void add_slice_cols(struct table *tb)
{
	table_col(tb, "INVOL_COUNT", 12);
	table_col(tb, "VOLUNTARY(p50/p90)", 20);
	table_col(tb, "PREEMPTED(p50/p90)", 20);
	table_col(tb, "PREEMPT%", 12);
	table_col(tb, "COUNT", 12);
	table_col(tb, "MEAN", 10);
	table_col(tb, "MAX", 10);
	table_col(tb, "RUN", 8);
	table_col(tb, "STILL_ON", 8);
	table_col(tb, "MAX_AT", 0);
}

static void add_pair(const struct stat_dist *dist, struct table *tb)
{
	if (dist->count)
		table_cell(tb, "%llu/%llu", (unsigned long long)US(dist->p50_ns),
		           (unsigned long long)US(dist->p90_ns));
	else
		table_cell(tb, "-");
}

static void add_span(uint64_t ns, struct table *tb)
{
	char text[32];

	table_cell(tb, "%s", ns ? text_duration(text, sizeof(text), ns) : "-");
}

static void add_slice_cells(const struct stat_report *r, const struct stat_row *row,
                            struct table *tb)
{
	const struct stat_slices *s = &row->slices;

	table_u64(tb, s->involuntary.count);
	add_pair(&s->voluntary, tb);
	add_pair(&s->involuntary, tb);
	if (s->all.count) {
		table_cell(tb, "%.1f%%", s->preempt_pct);
		table_u64(tb, s->all.count);
		table_cell(tb, "%.1f", s->all.mean_ns / 1000.0);
		table_u64(tb, US(s->all.max_ns));
	} else {
		table_cell(tb, "-");
		table_u64(tb, 0);
		table_cell(tb, "-");
		table_cell(tb, "-");
	}
	add_span(s->run_ns, tb);
	add_span(s->open_ns, tb);
	add_when(r, s->all.count ? s->all.max_at_ns : 0, s->all.max_cpu, tb);
}

void stat_text_dist_cols(struct table *tb)
{
	table_col(tb, "p50", 10);
	table_col(tb, "p90", 10);
	table_col(tb, "p99", 10);
	table_col(tb, "COUNT", 12);
	table_col(tb, "MEAN", 10);
	table_col(tb, "MAX", 10);
}

static void add_value_cols(const struct stat_table *t, struct table *tb)
{
	stat_text_dist_cols(tb);
	table_col(tb, t->id == STAT_TABLE_DEPTH ? "MAX_AT" : "MIGRATIONS", 0);
}

static void add_value_cells(const struct stat_report *r, const struct stat_table *t,
                            const struct stat_row *row, struct table *tb)
{
	const struct stat_values *v = &row->values;

	if (v->count) {
		table_u64(tb, v->p50);
		table_u64(tb, v->p90);
		table_u64(tb, v->p99);
		table_u64(tb, v->count);
		table_cell(tb, "%.1f", v->mean);
		table_u64(tb, v->max);
	} else {
		for (int i = 0; i < 3; i++)
			table_cell(tb, "-");
		table_u64(tb, 0);
		table_cell(tb, "-");
		table_cell(tb, "-");
	}
	if (t->id == STAT_TABLE_DEPTH)
		add_when(r, v->max_at_ns, v->max_cpu, tb);
	else
		table_u64(tb, v->total);
}

static void add_rate(bool is_known, double value, struct table *tb)
{
	char text[32];

	table_cell(tb, "%s", is_known ? text_rate(text, sizeof(text), value) : "-");
}

static void add_counter_cols(struct table *tb)
{
	table_col(tb, "p50/s", 12);
	table_col(tb, "p90/s", 12);
	table_col(tb, "p99/s", 12);
	table_col(tb, "SAMPLES", 10);
	table_col(tb, "MEAN/s", 12);
	table_col(tb, "MAX/s", 12);
	table_col(tb, "TOTAL", 0);
}

static void add_counter_cells(const struct stat_row *row, struct table *tb)
{
	const struct stat_values *v = &row->values;

	add_rate(v->count, (double)v->p50, tb);
	add_rate(v->count, (double)v->p90, tb);
	add_rate(v->count, (double)v->p99, tb);
	table_u64(tb, v->count);
	add_rate(v->count, v->mean, tb);
	add_rate(v->count, (double)v->max, tb);
	add_rate(v->has_total, (double)v->total, tb);
}

static void add_ipc_cols(const struct stat_report *r, struct table *tb)
{
	table_col(tb, "USER CYC/s", 14);
	table_col(tb, "KERN CYC/s", 14);
	table_col(tb, "U-IPC", 8);
	table_col(tb, "K-IPC", 8);
	if (has_tids(r))
		table_col(tb, "PIDs", 15);
}

static void add_ipc(bool is_known, double value, struct table *tb)
{
	if (is_known)
		table_cell(tb, "%.2f", value);
	else
		table_cell(tb, "-");
}

static void add_ipc_cells(const struct stat_report *r, const struct stat_row *row, struct table *tb)
{
	const struct stat_ipc *i = &row->ipc;

	add_rate(i->has[STAT_IPC_USER_CYCLES], i->per_s[STAT_IPC_USER_CYCLES], tb);
	add_rate(i->has[STAT_IPC_KERNEL_CYCLES], i->per_s[STAT_IPC_KERNEL_CYCLES], tb);
	add_ipc(i->has_user_ipc, i->user_ipc, tb);
	add_ipc(i->has_kernel_ipc, i->kernel_ipc, tb);
	if (has_tids(r))
		add_tids(&row->identity, tb);
}

static void print_ipc_part(const struct stat_text *x, const char *name, bool has_rate, double rate,
                           const double *ipc)
{
	char text[32];

	fprintf(x->out, "%s %s cycles/sec (IPC: ", name,
	        has_rate ? text_rate(text, sizeof(text), rate) : "-");
	if (ipc)
		fprintf(x->out, "%.2f)", *ipc);
	else
		fputs("-)", x->out);
}

static void print_ipc_global(const struct stat_text *x, const struct stat_ipc *i)
{
	fputs("Global: ", x->out);
	print_ipc_part(x, "User", i->has[STAT_IPC_USER_CYCLES], i->per_s[STAT_IPC_USER_CYCLES],
	               i->has_user_ipc ? &i->user_ipc : NULL);
	fputs(", ", x->out);
	print_ipc_part(x, "Kernel", i->has[STAT_IPC_KERNEL_CYCLES],
	               i->per_s[STAT_IPC_KERNEL_CYCLES], i->has_kernel_ipc ? &i->kernel_ipc : NULL);
	fputc('\n', x->out);
}

static void add_cols(const struct stat_report *r, const struct stat_table *t, struct table *tb)
{
	add_who_cols(r, tb);
	if (t->kind == STAT_KIND_DURATIONS)
		add_duration_cols(r, t, tb);
	else if (t->kind == STAT_KIND_SLICES)
		add_slice_cols(tb);
	else if (t->kind == STAT_KIND_IPC)
		add_ipc_cols(r, tb);
	else if (t->kind == STAT_KIND_DSQ_TASK)
		stat_text_dsq_task_cols(tb);
	else if (t->id == STAT_TABLE_COUNTER)
		add_counter_cols(tb);
	else
		add_value_cols(t, tb);
}

static void add_row(const struct stat_report *r, const struct stat_table *t,
                    const struct stat_row *row, struct table *tb)
{
	add_identity_cells(r, &row->identity, tb);
	if (t->kind == STAT_KIND_DURATIONS)
		add_duration_cells(r, row, tb);
	else if (t->kind == STAT_KIND_SLICES)
		add_slice_cells(r, row, tb);
	else if (t->kind == STAT_KIND_IPC)
		add_ipc_cells(r, row, tb);
	else if (t->kind == STAT_KIND_DSQ_TASK)
		stat_text_dsq_task_cells(row, tb);
	else if (t->id == STAT_TABLE_COUNTER)
		add_counter_cells(row, tb);
	else
		add_value_cells(r, t, row, tb);
}

/* Rows of one band, or all with STAT_NO_BAND. */
static void add_rows(const struct stat_report *r, const struct stat_table *t, uint32_t band,
                     struct table *tb)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (band == STAT_NO_BAND || t->rows[i].band == band)
			add_row(r, t, &t->rows[i], tb);
}

static void print_more(const struct stat_text *x, size_t nr_total, size_t nr_rows)
{
	if (nr_total > nr_rows)
		fprintf(x->out, "  ... and %zu more\n", nr_total - nr_rows);
}

static int print_bands(const struct stat_text *x, const struct stat_table *t, struct table *tb)
{
	size_t first = 0;

	for (uint32_t i = 0; i < t->nr_bands; i++)
		add_rows(x->r, t, i, tb);
	for (uint32_t i = 0; i < t->nr_bands; i++) {
		const struct stat_band *band = &t->bands[i];
		int err;

		fputc('\n', x->out);
		stat_text_label(x, band->label);
		fprintf(x->out, " (%zu entries):\n", band->nr_total);
		err = table_print(tb, first, band->nr_rows, "  ", x->out);
		if (err < 0)
			return err;
		print_more(x, band->nr_total, band->nr_rows);
		first += band->nr_rows;
	}
	return 0;
}

int stat_text_rows(const struct stat_text *x, const struct stat_table *t)
{
	const struct section *section = &sections[t->id];
	struct table tb;
	int err;

	if (t->kind == STAT_KIND_IPC)
		print_ipc_global(x, &t->ipc);
	if (section->subheading && !(t->kind == STAT_KIND_IPC && t->is_flat) && t->nr_total)
		fprintf(x->out, "\n%s\n", section->subheading);
	if (!t->nr_total) {
		fprintf(x->out, "%s%s\n", t->id == STAT_TABLE_COUNTER ? "" : "\n", section->empty);
		return 0;
	}
	table_init(&tb, x->mem);
	add_cols(x->r, t, &tb);
	if (!t->is_flat)
		return print_bands(x, t, &tb);
	if (t->id != STAT_TABLE_COUNTER)
		fputc('\n', x->out);
	add_rows(x->r, t, STAT_NO_BAND, &tb);
	err = table_print(&tb, 0, t->nr_rows, "  ", x->out);
	if (!err)
		print_more(x, t->nr_total, t->nr_rows);
	return err;
}
