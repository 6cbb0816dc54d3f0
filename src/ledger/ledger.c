#include "ledger/ledger.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/parallel.h"
#include "ledger/cookies.h"
#include "ledger/occupancy.h"

#define NOWHERE   UINT32_MAX /* the CPU of a stay that is unknown */
#define NOT_FOUND UINT32_MAX /* the segment, while it is not needed */

/* The ids of sched_ext's own queues: this bit, and of those of a CPU one of the others. */
#define DSQ_BUILTIN  (1ULL << 63)
#define DSQ_LOCAL_ON (1ULL << 62)
#define DSQ_LOCAL    2ULL

struct ledger {
	atomic_uint nr_users;
	struct timeline *timeline;
	struct ledger_cfg cfg;
	uint64_t first_span; /* its id */
	struct occupancy *cpus;
	struct cookies *cookies; /* NULL = core scheduling is not in use */
	bool has_moves, has_queues, has_throttles;
};

static const uint8_t kinds[] = {
	[OCCUPANCY_UNKNOWN] = LEDGER_UNKNOWN, [OCCUPANCY_INTERRUPT] = LEDGER_INTERRUPT,
	[OCCUPANCY_SOFTIRQ] = LEDGER_SOFTIRQ, [OCCUPANCY_TASK] = LEDGER_TASK,
	[OCCUPANCY_IDLE] = LEDGER_IDLE,
};

static bool has_rows(const struct timeline *t, enum timeline_table table)
{
	return timeline_end(t, table) > timeline_first(t, table);
}

void ledger_free(struct ledger *l)
{
	if (!l || (atomic_load(&l->nr_users) && atomic_fetch_sub(&l->nr_users, 1) > 1))
		return;
	for (uint32_t cpu = 0; l->cpus && cpu < l->cfg.nr_cpus; cpu++)
		occupancy_free(&l->cpus[cpu]);
	free(l->cpus);
	cookies_free(l->cookies);
	free(l);
}

struct building {
	struct ledger *l;
	atomic_int err;
};

static void build_one(void *ctx, unsigned int worker, size_t cpu)
{
	struct building *b = ctx;
	struct ledger *l = b->l;
	int err = occupancy_build(l->timeline, (uint32_t)cpu, l->cfg.start_ns, l->cfg.end_ns,
	                          &l->cpus[cpu]);

	(void)worker;
	if (err)
		atomic_store(&b->err, err);
}

static void build_next(void *ctx, unsigned int worker, size_t item)
{
	build_one(ctx, worker, item + 1);
}

/* What had each CPU. The first builds the indexes, which the others ask for at the same time. */
static int build_all(struct ledger *l)
{
	struct building b = { .l = l };
	struct parallel others = { .fn = build_next, .ctx = &b };

	if (l->cfg.nr_cpus)
		build_one(&b, 0, 0);
	if (l->cfg.nr_cpus > 1 && !atomic_load(&b.err))
		parallel_for(&others, l->cfg.nr_cpus - 1);
	return atomic_load(&b.err);
}

int ledger_new(struct timeline *t, const struct ledger_cfg *cfg, struct ledger **out)
{
	SCOPED(scoped_ledger) struct ledger *l = calloc(1, sizeof(*l));
	int err = 0;

	if (!l)
		return -ENOMEM;
	l->timeline = t;
	l->cfg = *cfg;
	l->first_span = timeline_first(t, TIMELINE_SPAN);
	l->has_moves = cfg->has_migrations && has_rows(t, TIMELINE_MIGRATION);
	l->has_queues = has_rows(t, TIMELINE_DSQ);
	l->has_throttles = has_rows(t, TIMELINE_THROTTLE);
	l->cpus = calloc(cfg->nr_cpus ? cfg->nr_cpus : 1, sizeof(*l->cpus));
	if (!l->cpus)
		return -ENOMEM;
	err = build_all(l);
	if (!err && cfg->cores)
		err = cookies_new(t, cfg->cores, cfg->nr_cpus, &l->cookies);
	l->cfg.cores = NULL;
	if (err)
		return err;
	atomic_store(&l->nr_users, 1);
	*out = TAKE_PTR(l);
	return 0;
}

struct ledger *ledger_share(struct ledger *l)
{
	atomic_fetch_add(&l->nr_users, 1);
	return l;
}

static bool is_of_one_cpu(uint64_t dsq_id)
{
	return dsq_id & DSQ_BUILTIN &&
	       (dsq_id & DSQ_LOCAL_ON || dsq_id == (DSQ_BUILTIN | DSQ_LOCAL));
}

static void read_move(struct ledger_walk *walk)
{
	union timeline_row row;

	walk->has_move = timeline_next(&walk->moves, NULL, &row);
	if (walk->has_move)
		walk->move = row.migration;
}

/* The next queue that several CPUs use. */
static void read_queue(struct ledger_walk *walk)
{
	union timeline_row row;

	do {
		walk->has_queue = timeline_next(&walk->queues, NULL, &row);
		if (walk->has_queue)
			walk->queue = row.dsq;
	} while (walk->has_queue &&
	         (is_of_one_cpu(row.dsq.dsq_id) || row.dsq.end_ns <= walk->at_ns ||
	          row.dsq.end_ns == row.dsq.start_ns));
}

static void read_throttle(struct ledger_walk *walk)
{
	union timeline_row row;

	do {
		walk->has_throttle = timeline_next(&walk->throttles, &walk->throttle_id, &row);
		if (walk->has_throttle)
			walk->throttle = row.throttle;
	} while (walk->has_throttle && walk->throttle.end_ns <= walk->at_ns);
}

/*
 * The stay that begins now, in the queue of a CPU, NOWHERE if only its end says which: up to the next
 * migration, or to the switch-in.
 */
static void begin_stay(struct ledger_walk *walk, uint32_t cpu)
{
	const struct pair_wait *w = &walk->wait;
	uint32_t end_cpu = walk->has_move ? walk->move.from_cpu : w->cpu;

	walk->stay_end_ns = walk->has_move ? walk->move.ts_ns : w->end_ns;
	walk->stay_cpu = cpu == NOWHERE || cpu == end_cpu ? end_cpu : NOWHERE;
	if (walk->stay_cpu >= walk->l->cfg.nr_cpus)
		walk->stay_cpu = NOWHERE;
	walk->segment = NOT_FOUND;
}

static void enter_first_stay(struct ledger_walk *walk)
{
	const struct pair_wait *w = &walk->wait;
	bool is_place_known = w->cause == PAIR_PREEMPTED && w->from_cpu != PAIR_NO_CPU;

	begin_stay(walk, is_place_known ? w->from_cpu : NOWHERE);
}

/*
 * A waker places a task while nothing else can happen on its own CPU: a migration there after which the CPU still
 * does the same was the placement, and before it the task was in no queue.
 */
static bool is_placement(const struct ledger_walk *walk)
{
	const struct pair_wait *w = &walk->wait;
	const struct occupancy *o;

	if (w->wakeup_ns || w->cause != PAIR_WOKEN || !walk->has_move ||
	    walk->move.cpu != w->waker_cpu || w->waker_cpu >= walk->l->cfg.nr_cpus)
		return false;
	o = &walk->l->cpus[w->waker_cpu];
	return occupancy_find(o, w->waking_ns) == occupancy_find(o, walk->move.ts_ns);
}

int ledger_begin(struct ledger *l, const struct pair_wait *w, struct ledger_walk *out)
{
	uint64_t queued_ns = w->wakeup_ns ? w->wakeup_ns : w->waking_ns;
	struct timeline_query q = { .table = TIMELINE_MIGRATION,
		                    .task = w->task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = queued_ns,
		                    .to_ns = w->end_ns };

	/* The rest is set before it is used: zeroing all of it took longer than most waits take. */
	out->l = l;
	out->wait = *w;
	out->at_ns = pair_wait_woken_ns(w);
	out->queued_ns = queued_ns;
	out->has_move = out->has_queue = out->has_throttle = false;
	out->stolen.start_ns = out->stolen.end_ns = 0;
	out->cookie = l->cookies ? cookies_of(l->cookies, w->task, w->end_ns) : 0;
	if (l->has_moves) {
		if (timeline_find(l->timeline, &q, &out->moves))
			return -ENOMEM;
		read_move(out);
		if (is_placement(out))
			out->queued_ns = out->move.ts_ns;
	}
	if (l->has_queues) {
		q.table = TIMELINE_DSQ;
		if (timeline_find(l->timeline, &q, &out->queues))
			return -ENOMEM;
		read_queue(out);
	}
	if (l->has_throttles) {
		q.table = TIMELINE_THROTTLE;
		if (timeline_find(l->timeline, &q, &out->throttles))
			return -ENOMEM;
		read_throttle(out);
	}
	if (out->at_ns >= out->queued_ns)
		enter_first_stay(out);
	return 0;
}

bool ledger_is_stay(const struct ledger *l, const struct pair_wait *w, struct ledger_part *out)
{
	uint64_t woken_ns = pair_wait_woken_ns(w);
	bool is_here = w->cause != PAIR_PREEMPTED || w->from_cpu == PAIR_NO_CPU ||
	               w->from_cpu == w->cpu;

	if (l->has_moves || l->has_queues || l->has_throttles || !is_here ||
	    w->cpu >= l->cfg.nr_cpus || woken_ns < (w->wakeup_ns ? w->wakeup_ns : w->waking_ns) ||
	    woken_ns >= w->end_ns)
		return false;
	*out = (struct ledger_part){
		.start_ns = woken_ns, .end_ns = w->end_ns, .cpu = w->cpu, .kind = LEDGER_STAY
	};
	return true;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void ledger_part_of(const struct ledger *l, uint32_t cpu, uint32_t *segment,
                    struct ledger_part *part)
{
	const struct occupancy *o = &l->cpus[cpu];
	const struct occupancy_segment *s = &o->at[*segment];
	uint64_t end_ns = *segment + 1 < o->nr ? s[1].start_ns : o->end_ns;

	part->cpu = (uint16_t)cpu;
	part->kind = LEDGER_UNKNOWN;
	if (part->start_ns < s->start_ns || part->start_ns >= end_ns) /* outside of the recording */
		return;
	part->kind = kinds[s->kind];
	part->what = s->what;
	part->prio = s->prio;
	part->policy = s->policy;
	if (s->kind == OCCUPANCY_INTERRUPT || s->kind == OCCUPANCY_SOFTIRQ)
		part->what += l->first_span;
	if (end_ns > part->end_ns)
		return;
	part->end_ns = end_ns;
	if (*segment + 1 < o->nr)
		++*segment;
}

/* In a queue that several CPUs use. */
static void take_queue(struct ledger_walk *walk, struct ledger_part *out)
{
	out->kind = LEDGER_QUEUE;
	out->what = walk->queue.dsq_id;
	out->end_ns = earlier(walk->queue.end_ns, walk->wait.end_ns);
	walk->at_ns = out->end_ns;
	read_queue(walk);
	walk->segment = NOT_FOUND;
}

void ledger_cut_stolen(const struct ledger *l, struct ledger_part *part, struct ledger_part *stolen)
{
	uint64_t ns = part->kind == LEDGER_UNKNOWN
	                      ? 0
	                      : occupancy_stolen_ns(&l->cpus[part->cpu], part->start_ns,
	                                            part->end_ns);

	*stolen = (struct ledger_part){ .start_ns = part->end_ns - ns,
		                        .end_ns = part->end_ns,
		                        .cpu = part->cpu,
		                        .kind = LEDGER_STOLEN };
	part->end_ns -= ns;
}

/* The quota keeps it from the CPU, at most to the end of the stay. */
static void take_throttle(struct ledger_walk *walk, struct ledger_part *out)
{
	out->kind = LEDGER_THROTTLED;
	out->what = walk->throttle_id;
	out->end_ns = earlier(out->end_ns, walk->throttle.end_ns);
	if (walk->stay_cpu != NOWHERE)
		out->cpu = (uint16_t)walk->stay_cpu;
	walk->at_ns = out->end_ns;
	walk->segment = NOT_FOUND;
}

/*
 * An idle CPU may not take a task while another CPU of its core runs one that has another cookie. Cut where such a time
 * begins or ends.
 */
static void check_core(struct ledger_walk *walk, struct ledger_part *part)
{
	const struct ledger *l = walk->l;
	uint64_t end_ns = part->end_ns;

	for (uint32_t cpu = cookies_next_cpu(l->cookies, part->cpu, part->cpu); cpu != part->cpu;
	     cpu = cookies_next_cpu(l->cookies, part->cpu, cpu)) {
		uint32_t at = occupancy_find(&l->cpus[cpu], part->start_ns);
		struct ledger_part other = { .start_ns = part->start_ns, .end_ns = part->end_ns };

		ledger_part_of(l, cpu, &at, &other);
		part->end_ns = other.end_ns;
		if (other.kind == LEDGER_TASK &&
		    cookies_of(l->cookies, (uint32_t)other.what, other.start_ns) != walk->cookie)
			part->what = other.what + 1;
	}
	if (part->end_ns < end_ns)
		walk->segment = NOT_FOUND;
}

/* By what the CPU of the stay did. */
static void take_segment(struct ledger_walk *walk, struct ledger_part *out)
{
	if (walk->segment == NOT_FOUND)
		walk->segment = occupancy_find(&walk->l->cpus[walk->stay_cpu], walk->at_ns);
	ledger_part_of(walk->l, walk->stay_cpu, &walk->segment, out);
	if (walk->l->cookies && out->kind == LEDGER_IDLE)
		check_core(walk, out);
	walk->at_ns = out->end_ns;
	ledger_cut_stolen(walk->l, out, &walk->stolen);
	if (out->start_ns == out->end_ns) {
		*out = walk->stolen;
		walk->stolen.start_ns = walk->stolen.end_ns;
	}
}

static bool take_next(struct ledger_walk *walk, bool is_divided, struct ledger_part *out)
{
	const struct pair_wait *w = &walk->wait;

	if (walk->stolen.start_ns < walk->stolen.end_ns) {
		*out = walk->stolen;
		walk->stolen.start_ns = walk->stolen.end_ns;
		return true;
	}
	*out = (struct ledger_part){ .start_ns = walk->at_ns, .cpu = PAIR_NO_CPU };
	if (walk->at_ns >= w->end_ns)
		return false;
	if (walk->at_ns < walk->queued_ns) {
		out->kind = LEDGER_WAKING;
		out->end_ns = earlier(walk->queued_ns, w->end_ns);
		walk->at_ns = out->end_ns;
		enter_first_stay(walk);
		return true;
	}
	if (walk->has_queue && walk->queue.start_ns <= walk->at_ns) {
		take_queue(walk, out);
		return true;
	}
	while (walk->at_ns >= walk->stay_end_ns && walk->has_move) {
		uint32_t cpu = walk->move.to_cpu;

		read_move(walk);
		begin_stay(walk, cpu);
	}
	out->end_ns = earlier(w->end_ns, walk->stay_end_ns);
	if (walk->has_queue)
		out->end_ns = earlier(out->end_ns, walk->queue.start_ns);
	if (walk->has_throttle && walk->throttle.end_ns <= walk->at_ns)
		read_throttle(walk);
	if (walk->has_throttle && walk->throttle.start_ns <= walk->at_ns) {
		take_throttle(walk, out);
		return true;
	}
	if (walk->has_throttle)
		out->end_ns = earlier(out->end_ns, walk->throttle.start_ns);
	if (walk->stay_cpu != NOWHERE && is_divided) {
		take_segment(walk, out);
		return true;
	}
	if (walk->stay_cpu != NOWHERE) {
		out->cpu = (uint16_t)walk->stay_cpu;
		out->kind = LEDGER_STAY;
	}
	walk->at_ns = out->end_ns;
	return true;
}

bool ledger_next(struct ledger_walk *walk, struct ledger_part *out)
{
	return take_next(walk, true, out);
}

bool ledger_next_stay(struct ledger_walk *walk, struct ledger_part *out)
{
	return take_next(walk, false, out);
}

bool ledger_next_queued(struct ledger_walk *walk, struct ledger_part *out)
{
	while (take_next(walk, false, out)) {
		if (out->kind == LEDGER_WAKING || out->kind == LEDGER_THROTTLED)
			continue;
		if (out->cpu == PAIR_NO_CPU)
			out->cpu = walk->wait.cpu;
		return true;
	}
	return false;
}

uint32_t ledger_nr_cpus(const struct ledger *l)
{
	return l->cfg.nr_cpus;
}

enum ledger_kind ledger_kind_of(uint8_t occupancy_kind)
{
	return kinds[occupancy_kind];
}

const struct occupancy *ledger_cpu(const struct ledger *l, uint32_t cpu)
{
	return &l->cpus[cpu];
}
