/* The sums of a recording, as time goes by: what ended up to now. The rows become samples in the order of their ends; then the recording is closed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/explain/explain.h"
#include "analyses/waste.h"
#include "analyze/scope.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "record/recording.h"
#include "serve/source.h"

#define SAMPLES_MAX (64U << 20)

#define SECOND_NS 1000000000ULL

enum {
	MOVE_NEAR = DISTS,
	MOVE_LLC,
	MOVE_NODE,
	WASTED
}; /* samples that are migrations, or idle time that was wasted */

struct sample {
	uint64_t end_ns; /* since the start of the recording */
	uint64_t ns;
	uint32_t tid;
	uint32_t name; /* of the task: index of names */
	uint32_t cgroup;
	uint16_t cpu;
	uint8_t what; /* enum dist_id, MOVE_* or WASTED */
};

struct replay {
	struct serve_source src;
	double speed;
	uint64_t begun_ns;  /* boot time */
	uint64_t length_ns; /* of the recording */
	struct sample *samples;
	size_t nr, cap, at;
	char (*names)[STAT_COMM_LEN]; /* by task */
	uint32_t nr_names;
	char **cgroups; /* by number; NULL = unknown */
	uint32_t nr_cgroups;
};

static int add(struct replay *r, const struct source *s, const struct sample *one)
{
	if (r->nr >= SAMPLES_MAX)
		return -E2BIG;
	if (GROW(r->samples, r->cap, r->nr))
		return -ENOMEM;
	r->samples[r->nr] = *one;
	r->samples[r->nr++].end_ns = one->end_ns > s->start_ns ? one->end_ns - s->start_ns : 0;
	return 0;
}

/* Of a task that waits, runs or sleeps from start to end. */
static struct sample sample_of(const struct source *s, uint32_t task, uint64_t start_ns,
                               uint64_t end_ns)
{
	return (struct sample){ .end_ns = end_ns,
		                .ns = end_ns - start_ns,
		                .tid = source_tid(s, task),
		                .name = task,
		                .cgroup = tasks_cgroup_at(s->tasks, task, start_ns) };
}

static int take_waits(struct replay *r, const struct scope *sc)
{
	static const uint8_t causes[] = { [PAIR_WOKEN] = DIST_DELAY_WOKEN,
		                          [PAIR_NEW] = DIST_DELAY_NEW,
		                          [PAIR_PREEMPTED] = DIST_DELAY_PREEMPTED };
	struct rows it = { .sc = sc };
	struct pair_wait w;
	int err = 0;

	while (!err && rows_wait(&it, &w)) {
		uint64_t start_ns = w.wakeup_ns ? w.wakeup_ns : w.waking_ns;
		struct sample one;

		if (w.is_open || !start_ns || start_ns > w.end_ns)
			continue;
		one = sample_of(sc->s, w.task, start_ns, w.end_ns);
		one.cpu = w.cpu;
		one.what = causes[w.cause];
		err = add(r, sc->s, &one);
		if (err || w.cause != PAIR_WOKEN || !w.waking_ns || w.waking_ns > w.end_ns)
			continue;
		one.ns = w.end_ns - w.waking_ns;
		one.what = DIST_WAKING;
		err = add(r, sc->s, &one);
	}
	return err;
}

static int take_slices(struct replay *r, const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_slice w;
	int err = 0;

	while (!err && rows_slice(&it, &w)) {
		struct sample one = sample_of(sc->s, w.task, w.start_ns, w.end_ns);

		one.cpu = w.cpu;
		one.what = w.end == PAIR_END_RUNNABLE ? DIST_SLICE_PREEMPTED : DIST_SLICE_SLEPT;
		if (w.end != PAIR_END_OPEN)
			err = add(r, sc->s, &one);
	}
	return err;
}

static int take_sleeps(struct replay *r, const struct scope *sc)
{
	static const uint8_t states[] = { [PAIR_SLEEP_S] = DIST_SLEEP_S,
		                          [PAIR_SLEEP_D] = DIST_SLEEP_D,
		                          [PAIR_SLEEP_OTHER] = DIST_SLEEP_OTHER };
	struct rows it = { .sc = sc };
	struct pair_sleep w;
	int err = 0;

	while (!err && rows_sleep(&it, &w)) {
		struct sample one = sample_of(sc->s, w.task, w.start_ns, w.end_ns);

		one.cpu = w.cpu;
		one.what = states[w.state];
		if (!w.is_open)
			err = add(r, sc->s, &one);
	}
	return err;
}

static int take_idle(struct replay *r, const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_idle w;
	int err = 0;

	while (!err && rows_idle(&it, &w)) {
		const struct sample one = { .end_ns = w.end_ns,
			                    .ns = w.end_ns - w.start_ns,
			                    .cpu = w.cpu,
			                    .what = DIST_CPU_IDLE };

		if (!w.is_open)
			err = add(r, sc->s, &one);
	}
	return err;
}

static uint8_t distance(const struct source *s, const struct pair_migration *m)
{
	int32_t from = source_node(s, m->from_cpu), to = source_node(s, m->to_cpu);

	if (from >= 0 && to >= 0 && from != to)
		return MOVE_NODE;
	from = source_llc(s, m->from_cpu);
	to = source_llc(s, m->to_cpu);
	return from >= 0 && to >= 0 && from != to ? MOVE_LLC : MOVE_NEAR;
}

static int take_moves(struct replay *r, const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_migration w;
	int err = 0;

	while (!err && rows_migration(&it, &w)) {
		const struct sample one = { .end_ns = w.ts_ns, .what = distance(sc->s, &w) };

		err = add(r, sc->s, &one);
	}
	return err;
}

/* Where waste_span_fn puts them. */
struct waste_taker {
	struct replay *r;
	const struct source *s;
};

/* At most a second at a time, so that the sum grows as time goes by. */
static int take_span(void *ctx, uint64_t from_ns, uint64_t to_ns)
{
	const struct waste_taker *t = ctx;
	int err = 0;

	while (!err && from_ns < to_ns) {
		uint64_t ns = to_ns - from_ns < SECOND_NS ? to_ns - from_ns : SECOND_NS;

		from_ns += ns;
		err = add(t->r, t->s,
		          &(struct sample){ .end_ns = from_ns, .ns = ns, .what = WASTED });
	}
	return err;
}

/* As analyze wasted_cores has it. */
static int take_waste(struct replay *r, const struct scope *sc)
{
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	struct waste_taker taker = { r, sc->s };
	struct waste_sums sums = { 0 };
	int err;

	if (!sc->s->affinity)
		return 0;
	err = explain_ledger(sc->s, sc->s->start_ns, sc->s->end_ns, &l);
	if (!err)
		err = waste_measure(&(struct waste_cfg){ .sc = sc,
		                                         .ledger = l,
		                                         .span = take_span,
		                                         .ctx = &taker },
		                    &sums);
	waste_sums_done(&sums);
	return err;
}

static int by_end(const void *a, const void *b)
{
	uint64_t x = ((const struct sample *)a)->end_ns, y = ((const struct sample *)b)->end_ns;

	return x < y ? -1 : x > y;
}

static int take_rows(struct replay *r, const struct source *s, struct diag *d)
{
	struct pass_args all = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	struct scope sc;
	int err = scope_init(&sc, s, &all, d);

	if (err)
		return err;
	err = take_waits(r, &sc);
	if (!err)
		err = take_slices(r, &sc);
	if (!err)
		err = take_sleeps(r, &sc);
	if (!err)
		err = take_idle(r, &sc);
	if (!err)
		err = take_moves(r, &sc);
	if (!err)
		err = take_waste(r, &sc);
	scope_done(&sc);
	if (err)
		return diag_set(d, err, "replay a shorter one",
		                err == -E2BIG ? "the recording has too many rows"
		                              : "out of memory");
	if (r->nr)
		qsort(r->samples, r->nr, sizeof(*r->samples), by_end);
	return 0;
}

/* Of tasks and cgroups: all that outlives the recording. */
static int take_names(struct replay *r, const struct source *s)
{
	r->nr_names = tasks_nr(s->tasks);
	r->nr_cgroups = tasks_nr_cgroups(s->tasks) + 1;
	r->names = calloc(r->nr_names + 1, sizeof(*r->names));
	r->cgroups = calloc(r->nr_cgroups, sizeof(*r->cgroups));
	if (!r->names || !r->cgroups)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr_names; i++)
		snprintf(r->names[i], STAT_COMM_LEN, "%s", source_comm(s, i));
	for (uint32_t i = 1; i < r->nr_cgroups; i++) {
		const char *path = tasks_cgroup_path(s->tasks, i);

		if (path && !(r->cgroups[i] = strdup(path)))
			return -ENOMEM;
	}
	return 0;
}

static void take_facts(struct replay *r, const struct source *s, struct sums *sums)
{
	const struct source_facts *f = s->facts;

	snprintf(r->src.kernel, sizeof(r->src.kernel), "%s", f->release ? f->release : "");
	snprintf(r->src.machine, sizeof(r->src.machine), "%s", f->machine ? f->machine : "");
	snprintf(r->src.host, sizeof(r->src.host), "%s", f->host ? f->host : "");
	snprintf(r->src.boot_id, sizeof(r->src.boot_id), "%s", f->boot_id ? f->boot_id : "");
	r->length_ns = s->end_ns - s->start_ns;
	sums->is_replay = true;
	sums->has_wasted = s->affinity != NULL;
	sums->groups = STAT_GROUP_LATENCY | STAT_GROUP_WAKING | STAT_GROUP_SLICE |
	               STAT_GROUP_SLEEP | STAT_GROUP_MIGRATION;
	counts_set(&sums->events, "recorded", f->nr_events);
	counts_set(&sums->lost, "recorder", f->lost);
}

static const char *cgroup_of(const struct replay *r, const struct sample *one)
{
	return one->cgroup < r->nr_cgroups ? r->cgroups[one->cgroup] : NULL;
}

static bool is_delay(const struct sample *one)
{
	return one->what <= DIST_DELAY_NEW;
}

static void note_cgroups(const struct replay *r, size_t end, struct sums *s, uint64_t now_ns)
{
	for (size_t i = r->at; i < end; i++) {
		const struct sample *one = &r->samples[i];
		uint32_t seat;

		if (!is_delay(one))
			continue;
		seat = seats_find(s->cgroups, cgroup_of(r, one));
		seats_note(s->cgroups, seat, one->cgroup, one->ns);
	}
	seats_choose(s->cgroups, now_ns);
}

static void add_move(struct sums *s, const struct sample *one)
{
	s->migrations++;
	s->migrations_llc += one->what == MOVE_LLC;
	s->migrations_node += one->what == MOVE_NODE;
}

static void add_sample(const struct replay *r, const struct sample *one, struct sums *s)
{
	struct sums_peak peak = {
		.ns = one->ns, .at_ns = one->end_ns, .tid = one->tid, .cpu = one->cpu
	};
	struct seat *seat;

	if (one->what == WASTED) {
		s->wasted_ns += one->ns;
		return;
	}
	if (one->what >= DISTS) {
		add_move(s, one);
		return;
	}
	hist_add(&s->dists[one->what].hist, one->ns, one->end_ns, one->cpu);
	if (one->what == DIST_CPU_IDLE)
		return;
	if (one->name < r->nr_names)
		memcpy(peak.comm, r->names[one->name], sizeof(peak.comm));
	sums_peak(s, (enum dist_id)one->what, &peak);
	seat = seats_sums(s->cgroups, seats_known(s->cgroups, cgroup_of(r, one)));
	if (is_delay(one))
		hist_add(seat->delay, one->ns, one->end_ns, one->cpu);
	else if (one->what == DIST_SLICE_SLEPT || one->what == DIST_SLICE_PREEMPTED)
		seat->run_ns += one->ns;
}

static uint64_t position(const struct replay *r)
{
	double ns = r->speed > 0 ? (double)(clock_boot_ns() - r->begun_ns) * r->speed : 0;

	return r->speed <= 0 || ns > (double)r->length_ns ? r->length_ns : (uint64_t)ns;
}

static int step(struct serve_source *src, struct sums *s, struct diag *d)
{
	struct replay *r = (struct replay *)src;
	uint64_t now_ns = position(r);
	size_t end = r->at;

	(void)d;
	while (end < r->nr && r->samples[end].end_ns <= now_ns)
		end++;
	note_cgroups(r, end, s, now_ns);
	for (; r->at < end; r->at++)
		add_sample(r, &r->samples[r->at], s);
	s->position_ns = now_ns;
	/* As if it happened now: databases refuse exemplars of old times. */
	src->clock_to_unix_s = (double)clock_read_ns(CLOCK_REALTIME) / 1e9 - (double)now_ns / 1e9;
	return 0;
}

static int fd_of(const struct serve_source *src)
{
	(void)src;
	return -1;
}

static uint64_t now_of(const struct serve_source *src)
{
	return position((const struct replay *)src);
}

static void close_replay(struct serve_source *src)
{
	struct replay *r = (struct replay *)src;

	for (uint32_t i = 0; r->cgroups && i < r->nr_cgroups; i++)
		free(r->cgroups[i]);
	free(r->cgroups);
	free(r->names);
	free(r->samples);
	free(r);
}

static int load(struct replay *r, const struct source_replay_cfg *cfg, struct sums *s,
                struct diag *d)
{
	const struct recording_cfg how = { 0 };
	SCOPED(scoped_recording) struct recording *rec = NULL;
	const struct source *from;
	int err = recording_open(cfg->path, &how, d, &rec);

	if (err)
		return err;
	from = recording_source(rec);
	err = take_rows(r, from, d);
	if (!err && take_names(r, from))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!err)
		take_facts(r, from, s);
	return err;
}

int source_replay_open(const struct source_replay_cfg *cfg, struct sums *s, struct diag *d,
                       struct serve_source **out)
{
	static const struct serve_source_ops ops = {
		.step = step, .fd = fd_of, .now_ns = now_of, .close = close_replay
	};
	struct replay *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	r->src.ops = &ops;
	r->speed = cfg->speed;
	err = load(r, cfg, s, d);
	if (err) {
		close_replay(&r->src);
		return err;
	}
	r->begun_ns = clock_boot_ns();
	*out = &r->src;
	return 0;
}
