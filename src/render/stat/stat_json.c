#include "render/stat/stat_json.h"

#include <string.h>
#include <time.h>

#include "base/json_write.h"
#include "stat/report/stat_report.h"

#define NS_PER_S 1000000000ULL
#define US(ns)   ((double)(ns) / 1000.0)

static void put_u64(struct json_writer *w, const char *key, bool is_known, uint64_t value)
{
	if (is_known)
		jw_u64(w, key, value);
	else
		jw_null(w, key);
}

static void put_double(struct json_writer *w, const char *key, bool is_known, double value)
{
	if (is_known)
		jw_double(w, key, value, 3);
	else
		jw_null(w, key);
}

static void put_comm(struct json_writer *w, const char *comm)
{
	jw_bytes(w, "comm", comm, strnlen(comm, STAT_COMM_LEN));
}

static void put_dist(struct json_writer *w, const struct stat_dist *d)
{
	bool has_any = d->count > 0;
	bool has_place = has_any && d->max_at_ns;

	jw_u64(w, "count", d->count);
	put_double(w, "min_us", has_any, US(d->min_ns));
	put_double(w, "mean_us", has_any, d->mean_ns / 1000.0);
	put_double(w, "p50_us", has_any, US(d->p50_ns));
	put_double(w, "p90_us", has_any, US(d->p90_ns));
	put_double(w, "p99_us", has_any, US(d->p99_ns));
	put_double(w, "max_us", has_any, US(d->max_ns));
	put_u64(w, "max_time_ns", has_place, d->max_at_ns);
	put_u64(w, "max_cpu", has_place, d->max_cpu);
}

static void put_dist_object(struct json_writer *w, const char *key, const struct stat_dist *d)
{
	jw_begin_object(w, key);
	put_dist(w, d);
	jw_end_object(w);
}

static void put_identity(struct json_writer *w, enum tally_by by,
                         const struct stat_identity *identity)
{
	if (by != TALLY_BY_CGROUP)
		jw_string(w, "comm", identity->comm);
	if (by == TALLY_BY_TID)
		put_u64(w, "tid", identity->has_tid, identity->tid);
	if (by == TALLY_BY_TID || by == TALLY_BY_TGID)
		put_u64(w, "tgid", identity->has_tgid, identity->tgid);
	if (by != TALLY_BY_COMM) {
		jw_string(w, "cgroup", identity->cgroup);
		put_u64(w, "cgroup_id", identity->has_cgroup, identity->cgroup_id);
	}
	jw_u64(w, "nr_tasks", identity->members.nr_tasks);
	jw_begin_array(w, "tids");
	for (uint32_t i = 0; i < identity->members.nr_shown && i < TALLY_SHOWN_TIDS; i++)
		jw_u64(w, NULL, identity->members.tids[i]);
	jw_end_array(w);
}

static void put_durations(struct json_writer *w, const struct stat_table *t,
                          const struct stat_durations *d)
{
	put_dist(w, &d->all);
	if (!d->nr_parts)
		return;
	jw_begin_object(w, t->id == STAT_TABLE_SLEEP ? "by_state" : "by_cause");
	for (uint32_t i = 0; i < d->nr_parts; i++) {
		jw_begin_object(w, d->parts[i].name);
		jw_u64(w, "nr_tasks", d->parts[i].nr_tasks);
		put_dist(w, &d->parts[i].dist);
		jw_end_object(w);
	}
	jw_end_object(w);
}

static void put_slices(struct json_writer *w, const struct stat_slices *s)
{
	put_dist(w, &s->all);
	put_double(w, "preempt_pct", s->all.count > 0, s->preempt_pct);
	jw_double(w, "run_us", US(s->run_ns), 3);
	put_double(w, "open_slice_us", s->open_ns > 0, US(s->open_ns));
	put_u64(w, "open_slice_tid", s->open_ns > 0, s->open_tid);
	put_dist_object(w, "voluntary", &s->voluntary);
	put_dist_object(w, "involuntary", &s->involuntary);
}

static void put_depth(struct json_writer *w, const struct stat_values *v)
{
	bool has_any = v->count > 0;

	jw_u64(w, "count", v->count);
	put_double(w, "mean", has_any, v->mean);
	put_u64(w, "p50", has_any, v->p50);
	put_u64(w, "p90", has_any, v->p90);
	put_u64(w, "p99", has_any, v->p99);
	put_u64(w, "max", has_any, v->max);
	put_u64(w, "max_time_ns", has_any && v->max_at_ns, v->max_at_ns);
	put_u64(w, "max_cpu", has_any && v->max_at_ns, v->max_cpu);
}

static void put_rates(struct json_writer *w, const struct stat_values *v)
{
	bool has_any = v->count > 0;

	jw_u64(w, "samples", v->count);
	put_double(w, "mean_per_s", has_any, v->mean);
	put_u64(w, "p50_per_s", has_any, v->p50);
	put_u64(w, "p90_per_s", has_any, v->p90);
	put_u64(w, "p99_per_s", has_any, v->p99);
	put_u64(w, "max_per_s", has_any, v->max);
	put_u64(w, "total", v->has_total, v->total);
}

static void put_ipc(struct json_writer *w, const struct stat_ipc *i)
{
	static const char *const keys[STAT_IPC_COUNTERS] = {
		[STAT_IPC_USER_CYCLES] = "user_cycles_per_s",
		[STAT_IPC_KERNEL_CYCLES] = "kernel_cycles_per_s",
		[STAT_IPC_USER_INSTRUCTIONS] = "user_instructions_per_s",
		[STAT_IPC_KERNEL_INSTRUCTIONS] = "kernel_instructions_per_s",
	};

	for (uint32_t k = 0; k < STAT_IPC_COUNTERS; k++)
		put_double(w, keys[k], i->has[k], i->per_s[k]);
	put_double(w, "user_ipc", i->has_user_ipc, i->user_ipc);
	put_double(w, "kernel_ipc", i->has_kernel_ipc, i->kernel_ipc);
}

static void put_ns(struct json_writer *w, const char *key, uint64_t count, uint64_t sum_ns)
{
	put_double(w, key, count > 0, count ? US(sum_ns) / (double)count : 0);
}

/* Ids have 64 bits, which not every reader of JSON keeps in a number. */
static void put_dsq_id(struct json_writer *w, const char *key, const char *name_key, uint64_t id,
                       const char *name)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "0x%llx", (unsigned long long)id);
	jw_string(w, key, text);
	jw_string(w, name_key, name);
}

static void put_dsq_task(struct json_writer *w, const struct stat_dsq_task *d)
{
	if (d->has_dsq) {
		put_dsq_id(w, "dsq_id", "dsq", d->dsq_id, d->dsq);
	} else {
		jw_null(w, "dsq_id");
		jw_null(w, "dsq");
	}
	put_dist(w, &d->latency);
	jw_u64(w, "runs", d->runs.nr);
	put_ns(w, "mean_slice_us", d->runs.nr_given, d->runs.given_ns);
	put_ns(w, "mean_used_us", d->runs.nr_used, d->runs.used_ns);
}

static void put_vtime(struct json_writer *w, const struct dsq_vtime *v)
{
	if (!v->count) {
		jw_null(w, "vtime_delta");
		return;
	}
	jw_begin_object(w, "vtime_delta");
	jw_u64(w, "count", v->count);
	jw_i64(w, "sum", v->sum);
	jw_double(w, "mean", (double)v->sum / (double)v->count, 3);
	jw_u64(w, "behind", v->nr_behind);
	jw_u64(w, "max_ahead", v->max_ahead);
	jw_u64(w, "max_behind", v->max_behind);
	jw_end_object(w);
}

static void put_dsq(struct json_writer *w, const struct stat_dsq_row *d)
{
	put_dsq_id(w, "dsq_id", "dsq", d->id, d->name);
	jw_u64(w, "inserts", d->inserts);
	jw_u64(w, "moved_in", d->moved_in);
	jw_u64(w, "moved_out", d->moved_out);
	jw_u64(w, "dispatches", d->runs);
	jw_u64(w, "endless_slices", d->endless);
	put_u64(w, "queued", d->id != STAT_DSQ_LOCAL, d->nr_now);
	put_dist_object(w, "latency", &d->latency);
	put_u64(w, "latency_max_tid", d->latency_max_tid, d->latency_max_tid);
	put_dist_object(w, "slice", &d->given);
	put_dist_object(w, "used", &d->used);
	jw_begin_object(w, "depth");
	put_depth(w, &d->depth);
	jw_end_object(w);
	put_vtime(w, &d->vtime);
}

static void put_scx(struct json_writer *w, const struct stat_scx *scx)
{
	jw_begin_object(w, "sched_ext");
	jw_string(w, "state", scx->state);
	jw_string(w, "scheduler", scx->scheduler);
	put_u64(w, "enable_seq", scx->has_enable_seq, scx->enable_seq);
	jw_end_object(w);
}

static void put_severity(struct json_writer *w, const struct stat_table *t,
                         const struct stat_row *row)
{
	if (t->bands)
		jw_string(w, "severity", row->band < t->nr_bands ? t->bands[row->band].slug : NULL);
}

static void put_row(struct json_writer *w, const struct stat_report *r, const struct stat_table *t,
                    const struct stat_row *row)
{
	jw_begin_object(w, NULL);
	if (t->kind == STAT_KIND_CPU)
		jw_u64(w, "cpu", row->cpu.cpu);
	else if (t->kind != STAT_KIND_DSQ)
		put_identity(w, r->display, &row->identity);
	put_severity(w, t, row);
	if (t->kind == STAT_KIND_DURATIONS)
		put_durations(w, t, &row->durations);
	else if (t->kind == STAT_KIND_SLICES)
		put_slices(w, &row->slices);
	else if (t->kind == STAT_KIND_IPC)
		put_ipc(w, &row->ipc);
	else if (t->kind == STAT_KIND_CPU)
		put_dist(w, &row->cpu.dist);
	else if (t->kind == STAT_KIND_DSQ_TASK)
		put_dsq_task(w, &row->dsq_task);
	else if (t->kind == STAT_KIND_DSQ)
		put_dsq(w, row->dsq);
	else if (t->id == STAT_TABLE_DEPTH)
		put_depth(w, &row->values);
	else
		put_rates(w, &row->values);
	if (t->id == STAT_TABLE_CPU_IDLE)
		put_double(w, "open_idle_us", row->cpu.open_ns > 0, US(row->cpu.open_ns));
	jw_end_object(w);
}

static void put_rows(struct json_writer *w, const struct stat_report *r, const struct stat_table *t,
                     const char *key)
{
	jw_begin_array(w, key);
	for (size_t i = 0; i < t->nr_rows; i++)
		put_row(w, r, t, &t->rows[i]);
	jw_end_array(w);
}

static void put_pairs(struct json_writer *w, const char *key, const struct stat_pairs *pairs)
{
	jw_begin_object(w, key);
	for (size_t i = 0; i < pairs->nr; i++)
		jw_u64(w, pairs->items[i].name, pairs->items[i].value);
	jw_end_object(w);
}

static void put_sched_cpu(struct json_writer *w, const struct stat_schedstat *s)
{
	const struct stat_sched_cpu *cpu = &s->cpu;

	jw_begin_object(w, "cpu");
	put_u64(w, "yld_count", !(cpu->absent & 1U << 0), cpu->yld_count);
	put_u64(w, "sched_count", !(cpu->absent & 1U << 1), cpu->sched_count);
	put_u64(w, "sched_goidle", !(cpu->absent & 1U << 2), cpu->sched_goidle);
	put_u64(w, "ttwu_count", !(cpu->absent & 1U << 3), cpu->ttwu_count);
	put_u64(w, "ttwu_local", !(cpu->absent & 1U << 4), cpu->ttwu_local);
	put_double(w, "rq_cpu_time_us", !(cpu->absent & 1U << 5), US(cpu->rq_cpu_time_ns));
	put_double(w, "rq_run_delay_us", !(cpu->absent & 1U << 6), US(cpu->run_delay_ns));
	put_u64(w, "rq_pcount", !(cpu->absent & 1U << 7), cpu->pcount);
	put_double(w, "mean_delay_us", s->has_mean_delay, s->mean_delay_us);
	jw_end_object(w);
}

static void put_schedstat(struct json_writer *w, const struct stat_schedstat *s)
{
	jw_begin_object(w, "schedstat");
	put_pairs(w, "total", &s->total);
	jw_begin_array(w, "domains");
	for (size_t i = 0; i < s->nr_domains; i++) {
		jw_begin_object(w, NULL);
		jw_string(w, "name", s->domains[i].name);
		put_pairs(w, "fields", &s->domains[i].fields);
		jw_end_object(w);
	}
	jw_end_array(w);
	put_sched_cpu(w, s);
	jw_end_object(w);
}

static void put_ipc_table(struct json_writer *w, const struct stat_report *r,
                          const struct stat_table *t)
{
	jw_begin_object(w, "ipc");
	jw_begin_object(w, "global");
	put_ipc(w, &t->ipc);
	jw_end_object(w);
	put_rows(w, r, t, "rows");
	jw_end_object(w);
}

/* Cycles and counters share one group, as the user asked for them by one name. */
static void put_perf(struct json_writer *w, const struct stat_report *r)
{
	size_t i = 0;

	while (i < r->nr_tables && r->tables[i].id < STAT_TABLE_IPC)
		i++;
	if (i == r->nr_tables)
		return;
	jw_begin_object(w, "perf");
	if (r->tables[i].id == STAT_TABLE_IPC)
		put_ipc_table(w, r, &r->tables[i++]);
	jw_begin_array(w, "counters");
	for (; i < r->nr_tables; i++) {
		jw_begin_object(w, NULL);
		jw_string(w, "name", r->tables[i].counter);
		put_rows(w, r, &r->tables[i], "rows");
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_end_object(w);
}

static void put_outlier(struct json_writer *w, const struct outlier *o)
{
	jw_begin_object(w, NULL);
	put_comm(w, o->comm);
	jw_u64(w, "tid", o->tid);
	jw_u64(w, "tgid", o->tgid);
	jw_double(w, "wait_us", US(o->wait_ns), 3);
	jw_u64(w, "time_ns", o->at_ns);
	jw_string(w, "cause", stat_cause_name(o->cause));
	jw_u64(w, "cpu", o->cpu);
	jw_u64(w, "wait_cpu", o->wait_cpu);
	jw_begin_array(w, "held_by");
	for (uint32_t i = 0; i < o->nr_holders && i < STAT_HISTORY; i++) {
		const struct outlier_holder *h = &o->holders[i];

		jw_begin_object(w, NULL);
		put_comm(w, h->comm);
		jw_u64(w, "tid", h->tid);
		jw_u64(w, "tgid", h->tgid);
		jw_double(w, "held_us", US(h->ns), 3);
		put_double(w, "held_pct", o->wait_ns > 0,
		           100.0 * (double)h->ns / (double)o->wait_ns);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_double(w, "idle_us", US(o->idle_ns), 3);
	jw_double(w, "unexplained_us", US(o->unexplained_ns), 3);
	jw_end_object(w);
}

static void put_groups(struct json_writer *w, const struct stat_report *r)
{
	jw_begin_object(w, "groups");
	for (size_t i = 0; i < r->nr_tables; i++) {
		const struct stat_table *t = &r->tables[i];

		if (t->id == STAT_TABLE_SCHEDSTAT)
			put_schedstat(w, &r->schedstat);
		else if (t->id != STAT_TABLE_IPC && t->id != STAT_TABLE_COUNTER)
			put_rows(w, r, t, t->name);
	}
	put_perf(w, r);
	if (r->outliers.is_asked) {
		jw_begin_array(w, "outliers");
		for (size_t i = 0; i < r->outliers.nr; i++)
			put_outlier(w, r->outliers.items[i]);
		jw_end_array(w);
	}
	jw_end_object(w);
}

/* How many rows there are, as the lists may be cut. */
static void put_totals(struct json_writer *w, const struct stat_report *r)
{
	jw_begin_object(w, "rows_total");
	for (size_t i = 0; i < r->nr_tables; i++)
		if (r->tables[i].kind != STAT_KIND_SCHEDSTAT)
			jw_u64(w, r->tables[i].name, r->tables[i].nr_total);
	if (r->outliers.is_asked)
		jw_u64(w, "outliers", r->outliers.nr_total);
	jw_end_object(w);
}

static void put_bins(struct json_writer *w, const struct stat_table *t)
{
	bool is_time = t->kind != STAT_KIND_VALUES;

	jw_begin_array(w, t->name);
	for (uint32_t i = 0; i < t->bins.nr; i++) {
		const struct stat_bin *bin = &t->bins.items[i];

		if (!bin->count)
			continue;
		jw_begin_object(w, NULL);
		jw_u64(w, is_time ? "from_us" : "from", bin->first / (is_time ? 1000 : 1));
		put_u64(w, is_time ? "to_us" : "to", bin->last != UINT64_MAX,
		        bin->last / (is_time ? 1000 : 1));
		jw_u64(w, "count", bin->count);
		jw_end_object(w);
	}
	jw_end_array(w);
}

static void put_histograms(struct json_writer *w, const struct stat_report *r)
{
	jw_begin_object(w, "histograms");
	for (size_t i = 0; i < r->nr_tables; i++)
		if (r->tables[i].kind != STAT_KIND_SCHEDSTAT && r->tables[i].kind != STAT_KIND_IPC)
			put_bins(w, &r->tables[i]);
	jw_end_object(w);
}

static void put_counts(struct json_writer *w, const char *key, const struct stat_pairs *pairs)
{
	jw_begin_object(w, key);
	jw_u64(w, "total", stat_pairs_total(pairs));
	for (size_t i = 0; i < pairs->nr; i++)
		jw_u64(w, pairs->items[i].name, pairs->items[i].value);
	jw_end_object(w);
}

void stat_json_wall_time(struct json_writer *w, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	char date[32], text[64];
	struct tm tm;

	if (!wall_ns || !gmtime_r(&seconds, &tm)) {
		jw_null(w, "time");
		return;
	}
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%09lluZ", date, (unsigned long long)(wall_ns % NS_PER_S));
	jw_string(w, "time", text);
}

static void put_open_waits(struct json_writer *w, const struct stat_open_waits *list)
{
	jw_begin_array(w, "open_waits");
	for (size_t i = 0; i < list->nr; i++) {
		const struct stat_open_wait *o = &list->items[i];

		jw_begin_object(w, NULL);
		put_comm(w, o->wait.comm);
		jw_u64(w, "tid", o->wait.tid);
		jw_double(w, "wait_us", US(o->wait.ns), 3);
		jw_u64(w, "cpu", o->wait.cpu);
		jw_bool(w, "is_throttled", o->wait.is_throttled);
		put_u64(w, "running_tid", o->is_cpu_idle || o->running_tid, o->running_tid);
		jw_string(w, "running_comm", o->running_comm[0] ? o->running_comm : NULL);
		jw_end_object(w);
	}
	jw_end_array(w);
}

int stat_json_print(const struct stat_report *r, bool is_pretty, FILE *out)
{
	static const char *const by[] = {
		[TALLY_BY_COMM] = "comm",
		[TALLY_BY_TID] = "tid",
		[TALLY_BY_TGID] = "tgid",
		[TALLY_BY_CGROUP] = "cgroup",
	};
	struct json_writer w;

	jw_init(&w, out, is_pretty);
	jw_begin_object(&w, NULL);
	jw_string(&w, "schema", STAT_JSON_SCHEMA);
	jw_u64(&w, "time_ns", r->time_ns);
	stat_json_wall_time(&w, r->wall_ns);
	jw_double(&w, "interval_s", r->interval_s, 6);
	jw_double(&w, "elapsed_s", r->elapsed_s, 6);
	jw_string(&w, "view", r->view == TALLY_INTERVAL ? "interval" : "total");
	jw_string(&w, "by", by[r->display]);
	put_counts(&w, "events", &r->own.events);
	put_counts(&w, "lost", &r->own.lost);
	jw_begin_object(&w, "own");
	put_double(&w, "bpf_ns_per_event", r->own.has_bpf_ns, r->own.bpf_ns_per_event);
	put_double(&w, "cpu_pct", r->own.has_cpu_pct, r->own.cpu_pct);
	put_double(&w, "bpf_cpu_pct", r->own.has_bpf_pct, r->own.bpf_pct);
	put_double(&w, "total_cpu_pct", r->own.has_cpu_pct && r->own.has_bpf_pct,
	           r->own.cpu_pct + r->own.bpf_pct);
	jw_u64(&w, "counters_scaled", r->own.nr_scaled);
	jw_end_object(&w);
	if (r->scx.is_known)
		put_scx(&w, &r->scx);
	put_groups(&w, r);
	put_open_waits(&w, &r->open_waits);
	put_totals(&w, r);
	if (r->has_bins)
		put_histograms(&w, r);
	jw_end_object(&w);
	return jw_finish(&w);
}
