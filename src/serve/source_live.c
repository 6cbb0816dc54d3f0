/* The sums of this machine: a session of stat, by cgroup, stepped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "serve/source.h"
#include "serve/throttle.h"
#include "stat/stat_session.h"
#include "sys/scx/scx_state.h"

#define SECOND_NS  1000000000ULL
#define DSQ_BUILT  (1ULL << 63) /* ids that the kernel makes */
#define DSQ_LOCALS (1ULL << 62)
#define DSQ_LOCAL  (DSQ_BUILT | 2)

struct live {
	struct serve_source src;
	struct stat_session *session; /* NULL after a reload that failed */
	struct stat_session_cfg cfg;
	struct throttle_reader *throttle; /* NULL = no cgroups */
	struct sums *sums;
	uint64_t ended_ns; /* when the last session ended; 0 = one is there */
};

static const enum dist_id dist_of[TALLY_METRICS] = {
	[STAT_DELAY_WOKEN] = DIST_DELAY_WOKEN,
	[STAT_DELAY_PREEMPTED] = DIST_DELAY_PREEMPTED,
	[STAT_SLICE_VOLUNTARY] = DIST_SLICE_SLEPT,
	[STAT_SLICE_INVOLUNTARY] = DIST_SLICE_PREEMPTED,
	[STAT_SLEEP_S] = DIST_SLEEP_S,
	[STAT_SLEEP_D] = DIST_SLEEP_D,
	[STAT_SLEEP_OTHER] = DIST_SLEEP_OTHER,
	[STAT_WAKING] = DIST_WAKING,
	[STAT_DSQ_LATENCY] = DISTS, /* by queue instead */
	[TALLY_DELAY_NEW] = DIST_DELAY_NEW,
};

static bool is_delay(int metric)
{
	return metric == STAT_DELAY_WOKEN || metric == STAT_DELAY_PREEMPTED ||
	       metric == TALLY_DELAY_NEW;
}

/* While the drain reads: a maximum of the kernel's, with its task. */
static void on_peak(void *ctx, const struct tally_peak *peak)
{
	struct live *l = ctx;
	struct sums_peak p = {
		.ns = peak->ns, .at_ns = peak->at_ns, .tid = peak->id->tid, .cpu = peak->cpu
	};

	if (!peak->at_ns || dist_of[peak->metric] == DISTS)
		return; /* taken from a slot: when and where is not known */
	memcpy(p.comm, peak->id->comm, sizeof(p.comm));
	sums_peak(l->sums, dist_of[peak->metric], &p);
}

static const char *path_of(const struct stat_report_in *in, const struct tally_row *row)
{
	return in->cgroup_name && row->cgroup_id ? in->cgroup_name(in->cgroup_ctx, row->cgroup_id)
	                                         : NULL;
}

/* A cgroup that did something in this interval. */
struct active {
	const struct tally_row *row;
	uint64_t wait_ns;
};

static bool find_active(const struct tally_row *row, struct active *out)
{
	const struct tally_view *v = &row->view[TALLY_INTERVAL];
	bool is_active = v->run_ns;

	*out = (struct active){ .row = row };
	for (int m = 0; m < TALLY_METRICS; m++)
		if (v->hist[m] && v->hist[m]->count) {
			is_active = true;
			out->wait_ns += is_delay(m) ? v->hist[m]->sum_ns : 0;
		}
	return is_active;
}

static int shorter_first(const void *pa, const void *pb)
{
	const struct active *a = pa, *b = pb;

	return (a->wait_ns > b->wait_ns) - (a->wait_ns < b->wait_ns);
}

/* First who has waited, so that the seats can be handed out. */
static void note_cgroups(struct sums *s, const struct stat_report_in *in)
{
	SCOPED(scoped_free) struct active *all = calloc(in->nr_rows + 1, sizeof(*all));
	size_t nr = 0;

	for (size_t i = 0; all && i < in->nr_rows; i++)
		nr += find_active(in->rows[i], &all[nr]);
	if (nr > SEATS_KNOWN) /* those that are noted first are forgotten */
		qsort(all, nr, sizeof(*all), shorter_first);
	for (size_t i = 0; i < nr; i++) {
		const struct tally_row *row = all[i].row;
		uint32_t seat = seats_find(s->cgroups, path_of(in, row));

		sums_blame_forget(s, seats_replaced(s->cgroups));
		seats_note(s->cgroups, seat, row->cgroup_id, all[i].wait_ns);
	}
	seats_choose(s->cgroups, in->time_ns);
}

static void add_depth(struct tally_depth *into, const struct tally_depth *from)
{
	into->count += from->count;
	into->sum += from->sum;
	for (int i = 0; i < STAT_DEPTH_SLOTS; i++)
		into->slots[i] += from->slots[i];
}

static void add_row(struct sums *s, const struct stat_report_in *in, const struct tally_row *row)
{
	const struct tally_view *v = &row->view[TALLY_INTERVAL];
	struct seat *seat = seats_sums(s->cgroups, seats_known(s->cgroups, path_of(in, row)));

	for (int m = 0; m < TALLY_METRICS; m++) {
		if (!v->hist[m] || dist_of[m] == DISTS)
			continue;
		sums_add(s, dist_of[m], v->hist[m]);
		if (is_delay(m) && v->hist[m]->count)
			hist_merge(seat->delay, v->hist[m]);
	}
	seat->run_ns += v->run_ns;
	if (v->depth)
		add_depth(&s->depth, v->depth);
	s->migrations += v->migrations.all;
	s->migrations_llc += v->migrations.cross_llc;
	s->migrations_node += v->migrations.cross_node;
}

static void add_cpus(struct sums *s, const struct stat_report_in *in)
{
	for (uint32_t cpu = 0; cpu < in->nr_cpus; cpu++) {
		const struct tally_cpu *c = in->cpus[cpu];

		if (c && c->is_known)
			sums_add(s, DIST_CPU_IDLE, &c->idle[TALLY_INTERVAL]);
	}
}

static enum dist_id dist_of_queue(uint64_t id)
{
	if (!(id & DSQ_BUILT))
		return DIST_DSQ_USER;
	return id == DSQ_LOCAL || (id & DSQ_LOCALS) ? DIST_DSQ_LOCAL : DIST_DSQ_GLOBAL;
}

/* The name of the task that waited longest is not kept in the kernel, so there is no exemplar. */
static void add_dsqs(struct sums *s, const struct stat_report_in *in)
{
	for (size_t i = 0; i < in->nr_dsqs; i++)
		sums_add(s, dist_of_queue(in->dsqs[i]->id),
		         &in->dsqs[i]->view[TALLY_INTERVAL].latency);
}

/* Parts of others are left out: people add these up. */
static void take_counts(struct sums_counts *out, const struct stat_pairs *from)
{
	for (size_t i = 0; i < from->nr; i++)
		if (!from->items[i].is_part)
			counts_set(out, from->items[i].name, from->items[i].value);
}

static int take_interval(void *ctx, struct stat_report_in *in, bool is_final)
{
	struct live *l = ctx;
	struct sums *s = l->sums;

	(void)is_final;
	s->groups |= in->groups;
	note_cgroups(s, in);
	for (size_t i = 0; i < in->nr_rows; i++)
		add_row(s, in, in->rows[i]);
	if (in->groups & STAT_GROUP_SLEEP)
		add_cpus(s, in);
	add_dsqs(s, in);
	take_counts(&s->events, &in->own.events);
	take_counts(&s->lost, &in->own.lost);
	return 0;
}

static void take_scx(struct sums_scx *out)
{
	struct scx_state now;

	scx_state_read("", &now);
	*out = (struct sums_scx){ .is_known = now.is_supported,
		                  .is_enabled = now.is_enabled,
		                  .nr_enables = now.enable_seq,
		                  .nr_rejected = now.nr_rejected };
	if (now.is_enabled)
		snprintf(out->scheduler, sizeof(out->scheduler), "%s", now.ops);
}

static int step(struct serve_source *src, struct sums *s, struct diag *d)
{
	struct live *l = (struct live *)src;
	int err = 0;

	src->clock_to_unix_s = (double)clock_read_ns(CLOCK_REALTIME) / 1e9 -
	                       (double)clock_boot_ns() / 1e9;
	if (l->session)
		err = stat_session_step(l->session, take_interval, l, d);
	take_scx(&s->scx);
	if (l->throttle)
		throttle_read(l->throttle, s->cgroups);
	return err;
}

static int open_session(struct live *l, struct diag *d)
{
	int err = stat_session_open(&l->cfg, d, &l->session);

	if (err)
		return err;
	for (size_t i = 0; i < stat_session_nr_notes(l->session); i++)
		log_info("%s", stat_session_note(l->session, i));
	return stat_session_step(l->session, take_interval, l, d);
}

static int reload(struct serve_source *src, const struct stat_groups *groups, struct sums *s,
                  struct diag *d)
{
	struct live *l = (struct live *)src;
	struct stat_groups before = l->cfg.groups;
	int err = l->session ? stat_session_step(l->session, take_interval, l, d) : 0;

	if (err)
		return err;
	stat_session_close(l->session);
	l->session = NULL;
	l->ended_ns = clock_boot_ns();
	counts_rebase(&s->events);
	counts_rebase(&s->lost);
	l->cfg.groups = *groups;
	err = open_session(l, d);
	if (err) { /* those that worked before */
		struct diag ignored = { 0 };

		stat_session_close(l->session);
		l->session = NULL;
		l->cfg.groups = before;
		if (open_session(l, &ignored))
			log_warn(
				"nothing is counted any more: the groups before cannot be loaded either");
	}
	s->unmeasured_ns += clock_boot_ns() - l->ended_ns;
	s->nr_reloads += !err;
	return err;
}

static int fd_of(const struct serve_source *src)
{
	const struct live *l = (const struct live *)src;

	return l->session ? stat_session_fd(l->session) : -1;
}

static uint64_t now_of(const struct serve_source *src)
{
	(void)src;
	return clock_boot_ns();
}

static void close_live(struct serve_source *src)
{
	struct live *l = (struct live *)src;

	stat_session_close(l->session);
	throttle_close(l->throttle);
	free(l);
}

static void read_boot_id(struct serve_source *src)
{
	SCOPED(scoped_free) char *text = NULL;

	if (text_read_file("/proc/sys/kernel/random/boot_id", sizeof(src->boot_id), &text))
		return;
	text_chomp(text);
	snprintf(src->boot_id, sizeof(src->boot_id), "%s", text);
}

int source_live_open(const struct source_live_cfg *cfg, struct sums *s, struct diag *d,
                     struct serve_source **out)
{
	static const struct serve_source_ops ops = {
		.step = step, .reload = reload, .fd = fd_of, .now_ns = now_of, .close = close_live
	};
	struct live *l = calloc(1, sizeof(*l));
	struct utsname name;
	int err;

	if (!l)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	l->src.ops = &ops;
	l->sums = s;
	l->cfg = (struct stat_session_cfg){ .groups = cfg->groups,
		                            .filter.wants_cgroup_names = true,
		                            .display = TALLY_BY_CGROUP,
		                            .interval_ns = SECOND_NS,
		                            .view = TALLY_INTERVAL,
		                            .output_fd = -1,
		                            .is_stepped = true,
		                            .is_for_metrics = true,
		                            .peak = on_peak,
		                            .peak_ctx = l };
	if (uname(&name) == 0) {
		snprintf(l->src.kernel, sizeof(l->src.kernel), "%s", name.release);
		snprintf(l->src.machine, sizeof(l->src.machine), "%s", name.machine);
		snprintf(l->src.host, sizeof(l->src.host), "%s", name.nodename);
	}
	read_boot_id(&l->src);
	(void)!throttle_open(&l->throttle); /* machines without cgroups have no quotas */
	err = open_session(l, d);
	if (err) {
		close_live(&l->src);
		return err;
	}
	*out = &l->src;
	return 0;
}
