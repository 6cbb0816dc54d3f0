#include "stat/stat_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "collect/run_losses.h"
#include "stat/stat_priv.h"
#include "sys/topology.h"
#include "sys/watch.h"

#define SECOND_NS 1000000000ULL
#define MS_NS     1000000ULL

/* Windows in which the kernel measures our programs: short, because measuring costs. */
#define COST_FIRST_NS  (200 * MS_NS)
#define COST_WINDOW_NS (100 * MS_NS)
#define COST_PERIOD_NS (10 * SECOND_NS)

#define FORGET_ROWS 1024 /* stepping: fewer are not worth a search for gone ones */

/* What this process has used of CPUs so far. */
static double cpu_seconds(void)
{
	return (double)clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

size_t stat_session_nr_notes(const struct stat_session *s)
{
	return s->nr_notes;
}

const char *stat_session_note(const struct stat_session *s, size_t i)
{
	return s->notes[i];
}

const struct cgroup_set *stat_session_cgroups(const struct stat_session *s)
{
	return stat_filter_cgroups(s->filter);
}

/* Room for one more outlier: a free place, or that of a shorter one. */
static struct outlier *outlier_place(struct stat_session *s, uint64_t wait_ns)
{
	struct outlier *shortest;

	if (!s->outliers)
		s->outliers = calloc(STAT_OUTLIERS_MAX, sizeof(*s->outliers));
	if (!s->outliers)
		return NULL;
	if (s->nr_outliers < STAT_OUTLIERS_MAX)
		return &s->outliers[s->nr_outliers++];
	shortest = &s->outliers[0];
	for (size_t i = 1; i < s->nr_outliers; i++)
		if (s->outliers[i].wait_ns < shortest->wait_ns)
			shortest = &s->outliers[i];
	return shortest->wait_ns < wait_ns ? shortest : NULL;
}

static void take_outlier(struct stat_session *s, const struct stat_rec *rec, size_t len)
{
	struct outlier one;
	struct outlier *place;
	struct stat_id id = { 0 };

	if (outlier_read(rec, len, &one))
		return;
	id.tid = one.tid;
	id.tgid = one.tgid;
	id.cgroup_id = one.cgroup_id;
	memcpy(id.comm, one.comm, sizeof(id.comm));
	if (!stat_filter_accepts(s->filter, &id))
		return;
	s->nr_outliers_seen++;
	place = outlier_place(s, one.wait_ns);
	if (place)
		*place = one;
}

static void take_record(void *ctx, const struct stat_rec *rec, size_t len)
{
	struct stat_session *s = ctx;

	if (rec->kind == STAT_REC_OUTLIER)
		take_outlier(s, rec, len);
	else if (tally_record(s->tally, rec, len, s->drained_ns))
		log_debug("a record of kind %u and %zu bytes was refused", rec->kind, len);
}

static void take_dsq(void *ctx, const struct stat_dsq_key *key, const struct stat_dsq *dsq,
                     uint32_t epoch)
{
	struct stat_session *s = ctx;

	dsq_tally_take(s->dsqs, key, dsq, epoch);
}

static int drain(struct stat_session *s, struct diag *d)
{
	struct stat_drain info;
	int err;

	/*
	 * First exited tasks, then living ones: a task that exits meanwhile is in the drain's answer with
	 * what it had, and in the ring, read next time, with the remainder.
	 */
	if (s->collector)
		stat_collector_consume(s->collector, take_record, s);
	s->drained_ns = clock_boot_ns();
	if (!s->collector)
		return 0;
	tally_begin_drain(s->tally);
	err = stat_collector_drain(s->collector, s->drained_ns, take_record, s, &info, d);
	if (err)
		return err;
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++)
		tally_cpu_update(s->tally, cpu, stat_collector_cpu(s->collector, cpu),
		                 s->drained_ns);
	if (s->dsqs) {
		scx_state_read("", &s->scx);
		err = stat_collector_dsqs(s->collector, take_dsq, s, d);
		if (err)
			return err;
	}
	log_info("drain: %llu tasks %llu bytes %llu us, reading %llu us",
	         (unsigned long long)info.nr_tasks, (unsigned long long)info.bytes,
	         (unsigned long long)info.took_ns / 1000, (unsigned long long)info.read_ns / 1000);
	return 0;
}

/* The increase since the last tick becomes rates per second. */
static void end_tick(struct stat_session *s)
{
	tally_end_tick(s->tally, s->drained_ns - s->tick_start_ns);
	s->tick_start_ns = s->drained_ns;
}

static int list_rows(struct stat_session *s)
{
	size_t nr = tally_nr_rows(s->tally);

	if (GROW(s->rows, s->rows_capacity, nr))
		return -ENOMEM;
	/* A caller of step() does not need rows without new data. */
	if (s->cfg.is_stepped)
		nr = tally_rows_touched(s->tally, s->rows, nr);
	else
		for (size_t i = 0; i < nr; i++)
			s->rows[i] = tally_row_at(s->tally, i);
	s->nr_rows = nr;
	if (!s->cpus)
		s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	if (!s->cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < s->nr_cpus; cpu++)
		s->cpus[cpu] = tally_cpu_at(s->tally, cpu);
	return 0;
}

static int list_dsqs(struct stat_session *s, struct stat_report_in *in)
{
	size_t nr = s->dsqs ? dsq_tally_nr(s->dsqs) : 0;

	if (GROW(s->dsq_list, s->dsq_capacity, nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		s->dsq_list[i] = dsq_tally_at(s->dsqs, i);
	in->dsqs = s->dsq_list;
	in->nr_dsqs = nr;
	in->scx = (struct stat_scx){
		.is_known = s->dsqs,
		.state = s->scx.state[0] ? s->scx.state : NULL,
		.scheduler = s->scx.ops[0] ? s->scx.ops : NULL,
		.has_enable_seq = s->scx.enable_seq >= 0,
		.enable_seq = s->scx.enable_seq >= 0 ? (uint64_t)s->scx.enable_seq : 0,
	};
	return 0;
}

static int list_outliers(struct stat_session *s, struct stat_report_in *in)
{
	if (!s->outlier_list)
		s->outlier_list = calloc(STAT_OUTLIERS_MAX, sizeof(*s->outlier_list));
	if (!s->outlier_list)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_outliers; i++)
		s->outlier_list[i] = &s->outliers[i];
	in->outliers.is_asked = s->cfg.outlier_ns != 0;
	in->outliers.threshold_us = s->cfg.outlier_ns / 1000;
	in->outliers.nr_total = s->nr_outliers_seen;
	in->outliers.items = s->outlier_list;
	in->outliers.nr = s->nr_outliers;
	return 0;
}

/* Storage for the pairs that a report points to. */
struct own_pairs {
	struct stat_pair events[STAT_EVENTS];
	struct stat_pair lost[STAT_LOST_KINDS + 3 + NR_LOSSES];
};

static const char *const event_names[STAT_EVENTS] = {
	[STAT_EV_SWITCH] = "switch",         [STAT_EV_WAKEUP] = "wakeup",
	[STAT_EV_WAKEUP_NEW] = "wakeup_new", [STAT_EV_WAKING] = "waking",
	[STAT_EV_MIGRATE] = "migrate",       [STAT_EV_EXIT] = "exit",
	[STAT_EV_DSQ] = "dsq_insert",
};

static const char *const lost_names[STAT_LOST_KINDS] = {
	[STAT_LOST_STORAGE] = "no_task_storage",
	[STAT_LOST_RING] = "exit_ring_full",
	[STAT_LOST_OUTLIER] = "outlier_ring_full",
	[STAT_LOST_DSQ] = "dsq_map_full",
};

static void fill_own(const struct stat_session *s, struct own_pairs *pairs, struct stat_own *own)
{
	struct stat_totals totals = { 0 };
	struct tally_loss loss;
	struct losses run;
	double elapsed = (double)(s->drained_ns - s->start_ns) / 1e9;
	size_t nr = 0;

	if (s->collector)
		stat_collector_totals(s->collector, &totals);
	tally_loss(s->tally, &loss);
	for (int i = 0; i < STAT_EVENTS; i++)
		pairs->events[i] = (struct stat_pair){ .name = event_names[i],
			                               .value = totals.events[i],
			                               .is_part = i == STAT_EV_EXIT };
	for (; nr < STAT_LOST_KINDS; nr++)
		pairs->lost[nr] = (struct stat_pair){ .name = lost_names[nr],
			                              .value = totals.lost[nr] };
	pairs->lost[nr++] = (struct stat_pair){ .name = "recursion_missed",
		                                .value = totals.missed };
	pairs->lost[nr++] = (struct stat_pair){ .name = "bad_records",
		                                .value = loss.bad_records + totals.bad_records };
	pairs->lost[nr++] = (struct stat_pair){ .name = "rows_merged",
		                                .value = loss.other_rows,
		                                .is_part = true };
	run_losses(&(struct run_losses_of){ .filter = s->filter }, &run);
	for (int i = 0; i < NR_LOSSES; i++)
		if (run.nr[i])
			pairs->lost[nr++] = (struct stat_pair){ .name = loss_name((enum loss)i),
				                                .value = run.nr[i],
				                                .is_part = true };
	own->events = (struct stat_pairs){ pairs->events, STAT_EVENTS };
	own->lost = (struct stat_pairs){ pairs->lost, nr };
	own->nr_scaled = totals.multiplexed;
	own->has_bpf_ns = bpf_cost_ns_per_run(&s->cost, &own->bpf_ns_per_event);
	own->has_cpu_pct = elapsed > 0;
	if (own->has_cpu_pct)
		own->cpu_pct = 100.0 * (cpu_seconds() - s->start_cpu_s) / elapsed;
	/* Every run of a program counts one event before it does anything else. */
	own->has_bpf_pct = own->has_bpf_ns && elapsed > 0;
	if (own->has_bpf_pct)
		own->bpf_pct = 100.0 * (double)stat_pairs_total(&own->events) *
		               own->bpf_ns_per_event / 1e9 / elapsed;
}

static int show_interval(struct stat_session *s, stat_show_fn *show, void *ctx, bool is_final,
                         struct diag *d)
{
	struct own_pairs pairs;
	struct stat_report_in in = {
		.by = s->kept_by,
		.display = s->cfg.display,
		.groups = s->groups,
		.view = s->cfg.view,
		.min_latency_us = s->cfg.min_latency_us,
		.is_by_name = s->cfg.filter.nr_comm ||
		              (s->cfg.filter.nr_global_comm && s->cfg.filter.nr_cgroup),
		.nr_cpus = s->nr_cpus,
		.nr_llcs = topology_counts(stat_placement(s))->nr_llcs,
		.nr_nodes = topology_counts(stat_placement(s))->nr_nodes,
		.time_ns = s->drained_ns,
		.wall_ns = clock_read_ns(CLOCK_REALTIME),
		.interval_s = (double)(s->drained_ns - s->interval_start_ns) / 1e9,
		.elapsed_s = (double)(s->drained_ns - s->start_ns) / 1e9,
		.cgroup_name = stat_filter_cgroup_name,
		.cgroup_ctx = s->filter,
		.ipc = { -1, -1, -1, -1 },
	};
	int err = list_rows(s);

	if (!err)
		err = list_outliers(s, &in);
	if (!err)
		err = list_dsqs(s, &in);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	in.rows = s->rows;
	in.nr_rows = s->nr_rows;
	in.cpus = s->cpus;
	if (s->counters)
		stat_counters_describe(s->counters, &in);
	if (s->schedstat) {
		err = stat_schedstat_since(s->schedstat, s->cfg.view, d, &in.schedstat);
		if (err)
			return err;
	}
	/* A screen marks them in its rows. */
	if (!s->cfg.is_stepped)
		stat_open_waits(s, &in.open_waits);
	fill_own(s, &pairs, &in.own);
	err = show(ctx, &in, is_final);
	tally_begin_interval(s->tally);
	if (s->dsqs)
		dsq_tally_begin_interval(s->dsqs);
	s->interval_start_ns = s->drained_ns;
	s->nr_outliers = 0;
	s->nr_outliers_seen = 0;
	return err;
}

/* Sleeps until deadline_ns or until something happens. 1 with *why set: the run is over. */
static int wait_until(struct stat_session *s, uint64_t deadline_ns, enum stat_end *why)
{
	enum watch_event event;
	int err = watch_wait(s->watch, deadline_ns, &event);

	if (err)
		return err;
	switch (event) {
	case WATCH_SIGNAL:
		*why = STAT_END_SIGNAL;
		return 1;
	case WATCH_OUTPUT:
		*why = STAT_END_OUTPUT;
		return 1;
	case WATCH_DATA:
		stat_collector_consume(s->collector, take_record, s);
		return 0;
	default:
		return 0;
	}
}

/* When the next thing is due; all on the boot clock. */
struct schedule {
	uint64_t tick_ns; /* length of a tick */
	uint64_t tick;
	uint64_t show;
	uint64_t end; /* UINT64_MAX = never */
	uint64_t cost_begin;
	uint64_t cost_end; /* 0 = no window is open */
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void schedule_init(struct schedule *t, const struct stat_session *s)
{
	bool wants_seconds = s->groups & (STAT_GROUP_MIGRATION | STAT_GROUP_PERF);

	t->tick_ns = wants_seconds ? SECOND_NS : s->cfg.interval_ns;
	t->tick = s->start_ns + t->tick_ns;
	t->show = s->start_ns + s->cfg.interval_ns;
	t->end = s->cfg.run_time_ns ? s->start_ns + s->cfg.run_time_ns : UINT64_MAX;
	t->cost_begin = s->start_ns + COST_FIRST_NS;
	t->cost_end = 0;
}

/* Opens and closes the windows of measurement; without the right to do so it is never tried again. */
static void measure_cost(struct stat_session *s, struct schedule *t, uint64_t now)
{
	if (t->cost_end && now >= t->cost_end) {
		bpf_cost_end(&s->cost);
		t->cost_end = 0;
		if (!s->cost.runs) /* nothing happened, or the CPUs were taken away: the next window comes at once */
			t->cost_begin = now;
	} else if (!t->cost_end && now >= t->cost_begin) {
		bool is_allowed = bpf_cost_begin(&s->cost) == 0;

		t->cost_end = is_allowed ? now + COST_WINDOW_NS : 0;
		t->cost_begin = is_allowed ? now + COST_PERIOD_NS : UINT64_MAX;
	}
}

/* Old answers are better than none: the next interval asks again. */
static void refresh_cgroups(struct stat_session *s)
{
	struct diag d = { 0 };
	char line[512];

	if (!s->cfg.filter.nr_cgroup)
		return;
	if (stat_filter_refresh(s->filter, &d) || stat_push_cgroups(s, &d)) {
		diag_format(&d, line, sizeof(line));
		log_warn("%s", line);
	}
}

/* Counters of CPUs that come online; without them their slices have none, as on a CPU without a PMU. */
static void follow_cpus(struct stat_session *s, uint64_t now)
{
	struct diag d = { 0 };
	char line[512];

	if (!s->counters || !online_watch_poll(&s->online, now))
		return;
	if (stat_counters_follow(s->counters, &s->online.now, &d)) {
		diag_format(&d, line, sizeof(line));
		log_warn("%s", line);
	}
	if (stat_counters_fds(s->counters) &&
	    stat_collector_counters(s->collector, stat_counters_fds(s->counters)))
		log_warn("a CPU came online; its counters are not read");
}

static int on_time(struct stat_session *s, struct schedule *t, stat_show_fn *show, void *ctx,
                   struct diag *d)
{
	uint64_t now = clock_boot_ns();
	int err;

	measure_cost(s, t, now);
	follow_cpus(s, now);
	if (now < t->tick && now < t->show)
		return 0;
	err = drain(s, d);
	if (err)
		return err;
	if (now >= t->tick)
		end_tick(s);
	while (t->tick <= now)
		t->tick += t->tick_ns;
	if (now < t->show || now >= t->end)
		return 0;
	while (t->show <= now)
		t->show += s->cfg.interval_ns;
	err = show_interval(s, show, ctx, false, d);
	refresh_cgroups(s);
	return err;
}

static int run_loop(struct stat_session *s, stat_show_fn *show, void *ctx, struct diag *d,
                    enum stat_end *why)
{
	struct schedule t;
	int err = 0;

	schedule_init(&t, s);
	*why = STAT_END_TIME;
	while (!err && clock_boot_ns() < t.end) {
		uint64_t cost = t.cost_end ? t.cost_end : t.cost_begin;

		err = wait_until(s, earlier(earlier(t.tick, t.show), earlier(t.end, cost)), why);
		if (!err)
			err = on_time(s, &t, show, ctx, d);
	}
	if (err == -EPIPE ||
	    err == -EINTR) { /* the reader of the reports has exited, or we are to stop */
		*why = err == -EPIPE ? STAT_END_OUTPUT : STAT_END_SIGNAL;
		return 0;
	}
	return err < 0 ? err : 0;
}

/* Loading and attaching are over. */
static void begin(struct stat_session *s)
{
	s->start_ns = clock_boot_ns();
	s->interval_start_ns = s->start_ns;
	s->tick_start_ns = s->start_ns;
	s->start_cpu_s = cpu_seconds();
}

/* Whenever there are twice as many as were left the last time: each costs little then. */
static void forget_gone(struct stat_session *s)
{
	if (tally_nr_rows(s->tally) < FORGET_ROWS + 2 * s->nr_rows_kept)
		return;
	if (tally_forget_gone(s->tally) == 0)
		s->nr_rows_kept = tally_nr_rows(s->tally);
}

int stat_session_step(struct stat_session *s, stat_show_fn *show, void *ctx, struct diag *d)
{
	int err;

	if (!s->start_ns)
		begin(s);
	err = drain(s, d);
	if (err)
		return err;
	if (s->drained_ns - s->tick_start_ns >= SECOND_NS) {
		end_tick(s);
		forget_gone(s);
	}
	return show_interval(s, show, ctx, false, d);
}

int stat_session_fd(const struct stat_session *s)
{
	return s->collector ? stat_collector_ring_fd(s->collector) : -1;
}

const struct stat_cpu *stat_session_cpu(const struct stat_session *s, uint32_t cpu)
{
	return s->collector && cpu < s->nr_cpus ? stat_collector_cpu(s->collector, cpu) : NULL;
}

bool stat_session_arrivals(const struct stat_session *s, uint32_t cpu, uint64_t *out)
{
	return s->collector && cpu < s->nr_cpus && stat_collector_arrivals(s->collector, cpu, out);
}

int stat_session_run(struct stat_session *s, stat_show_fn *show, void *ctx, struct diag *d,
                     enum stat_end *why)
{
	int err;

	begin(s);
	err = run_loop(s, show, ctx, d, why);
	bpf_cost_end(&s->cost);
	/* The last word: nothing is counted any more, so this is exact. */
	if (s->collector)
		stat_collector_detach(s->collector);
	if (!err)
		err = drain(s, d);
	if (!err) {
		end_tick(s);
		err = show_interval(s, show, ctx, true, d);
	}
	return err;
}

int stat_session_write(struct stat_session *s, const char *bytes, size_t len)
{
	return watch_write(s->watch, bytes, len);
}
