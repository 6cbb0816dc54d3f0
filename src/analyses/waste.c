#include "analyses/waste.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sort_u64.h"
#include "base/grow.h"
#include "base/map.h"
#include "model/allowed.h"

/* Ends come before begins: what only touches does not overlap. */
enum change_kind { WAIT_ENDS, IDLE_ENDS, WAIT_BEGINS, IDLE_BEGINS };

/*
 * Changes are packed into numbers that sort by time, then by kind: time since the start (44 bits: five hours; of longer
 * spans in larger units), kind (2), the CPU or the queue (18).
 */
#define ID_BITS   18U
#define KIND_BITS 2U
#define TIME_BITS (64U - ID_BITS - KIND_BITS)
#define MAX_TIME  ((1ULL << TIME_BITS) - 1)
#define MAX_IDS   (1U << ID_BITS)
#define ALL_CPUS  0U /* the mask of tasks that may use every CPU */

struct change_times {
	uint64_t *at;
	size_t nr, capacity;
};

/* A CPU and a mask. */
struct mask_queue {
	uint32_t cpu, mask;
	uint32_t nr_waiters;
};

/* Of a CPU with waiters and an idle one. */
struct pair_time {
	uint64_t ns, since;
	uint32_t nr_open; /* queues for which it is */
};

struct waste {
	const struct waste_cfg *cfg;
	const struct source *s;
	const struct scope *sc;
	uint32_t nr_cpus;
	uint32_t unit_bits; /* of times of changes: ns >> this */
	struct change_times changes;
	uint64_t *masks; /* each mask_words; the first is ALL_CPUS */
	uint32_t nr_masks, mask_words;
	uint32_t *mask_of; /* by word of allowed_word(): 1 + mask; 0 = not examined yet */
	struct map *queue_ids;
	uint32_t *plain_queues; /* by CPU: 1 + the queue of ALL_CPUS; 0 = not there yet */
	struct mask_queue *queues;
	uint32_t nr_queues, max_queues;
	uint32_t *waiting, *idle; /* queues with waiters, idle CPUs */
	uint32_t nr_waiting, nr_idle;
	struct pair_time *pairs; /* [waiting CPU][idle CPU] */
	uint64_t nr_open;        /* pairs */
	uint64_t both_since;
	struct waste_sums *sums;
	int err;                   /* of the caller's span() */
	struct ledger_part *stays; /* of the wait at hand */
	uint32_t nr_stays, max_stays;
};

static int add_change(struct waste *w, uint64_t ts_ns, uint32_t id, enum change_kind kind)
{
	struct change_times *c = &w->changes;
	uint64_t time = (ts_ns - w->sc->from_ns) >> w->unit_bits;

	if (GROW(c->at, c->capacity, c->nr))
		return -ENOMEM;
	c->at[c->nr++] = time << (ID_BITS + KIND_BITS) | (uint64_t)kind << ID_BITS | id;
	return 0;
}

static void list_remove(uint32_t *list, uint32_t *nr, uint32_t id)
{
	for (uint32_t i = 0; i < *nr; i++)
		if (list[i] == id) {
			list[i] = list[--*nr];
			return;
		}
}

static bool may_use(const struct waste *w, const struct mask_queue *q, uint32_t cpu)
{
	return w->masks[(size_t)q->mask * w->mask_words + cpu / 64] >> (cpu % 64) & 1;
}

static void open_pair(struct waste *w, const struct mask_queue *q, uint32_t cpu, uint64_t now)
{
	struct pair_time *p = &w->pairs[(size_t)q->cpu * w->nr_cpus + cpu];

	if (!may_use(w, q, cpu) || p->nr_open++)
		return;
	p->since = now;
	if (!w->nr_open++)
		w->both_since = now;
}

/* At least one pair was open until now. */
static void end_span(struct waste *w, uint64_t now)
{
	if (now == w->both_since)
		return;
	w->sums->wasted_ns += now - w->both_since;
	if (w->cfg->span && !w->err)
		w->err = w->cfg->span(w->cfg->ctx, w->sc->from_ns + w->both_since,
		                      w->sc->from_ns + now);
}

static void close_pair(struct waste *w, const struct mask_queue *q, uint32_t cpu, uint64_t now)
{
	struct pair_time *p = &w->pairs[(size_t)q->cpu * w->nr_cpus + cpu];

	if (!may_use(w, q, cpu) || --p->nr_open)
		return;
	p->ns += now - p->since;
	if (!--w->nr_open)
		end_span(w, now);
}

static void apply(struct waste *w, uint64_t now, uint32_t id, enum change_kind kind)
{
	switch (kind) {
	case WAIT_BEGINS:
		if (w->queues[id].nr_waiters++)
			return;
		for (uint32_t i = 0; i < w->nr_idle; i++)
			open_pair(w, &w->queues[id], w->idle[i], now);
		w->waiting[w->nr_waiting++] = id;
		break;
	case WAIT_ENDS:
		if (--w->queues[id].nr_waiters)
			return;
		for (uint32_t i = 0; i < w->nr_idle; i++)
			close_pair(w, &w->queues[id], w->idle[i], now);
		list_remove(w->waiting, &w->nr_waiting, id);
		break;
	case IDLE_BEGINS:
		for (uint32_t i = 0; i < w->nr_waiting; i++)
			open_pair(w, &w->queues[w->waiting[i]], id, now);
		w->idle[w->nr_idle++] = id;
		break;
	case IDLE_ENDS:
		for (uint32_t i = 0; i < w->nr_waiting; i++)
			close_pair(w, &w->queues[w->waiting[i]], id, now);
		list_remove(w->idle, &w->nr_idle, id);
		break;
	}
}

/* Adds a new mask, or finds it; mask is already stored after the others. */
static uint32_t settle_mask(struct waste *w)
{
	const uint64_t *last = &w->masks[(size_t)w->nr_masks * w->mask_words];

	for (uint32_t i = 0; i < w->nr_masks; i++)
		if (!memcmp(&w->masks[(size_t)i * w->mask_words], last,
		            w->mask_words * sizeof(*last)))
			return i;
	return w->nr_masks++;
}

/* Which CPUs of the recording a task may use when it begins to wait. */
static int mask_of(struct waste *w, uint32_t task, uint64_t at_ns, uint32_t *out)
{
	uint32_t word = source_bound_to(w->s, task, at_ns);
	uint64_t *more;

	*out = ALL_CPUS;
	if (word && w->mask_of[word])
		*out = w->mask_of[word] - 1;
	if (!word || w->mask_of[word])
		return 0;
	more = reallocarray(w->masks, w->nr_masks + 1ULL, w->mask_words * sizeof(*more));
	if (!more)
		return -ENOMEM;
	w->masks = more;
	more += (size_t)w->nr_masks * w->mask_words;
	memset(more, 0, w->mask_words * sizeof(*more));
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++)
		if (source_may_use(w->s, task, cpu, at_ns))
			more[cpu / 64] |= 1ULL << (cpu % 64);
	*out = settle_mask(w);
	w->mask_of[word] = *out + 1;
	return 0;
}

static int queue_of(struct waste *w, uint32_t cpu, uint32_t mask, uint32_t *out)
{
	const uint32_t key[2] = { cpu, mask };
	int err;

	if (mask == ALL_CPUS && w->plain_queues[cpu]) {
		*out = w->plain_queues[cpu] - 1;
		return 0;
	}
	if (map_find(w->queue_ids, key, out))
		return 0;
	if (GROW(w->queues, w->max_queues, w->nr_queues))
		return -ENOMEM;
	err = map_insert(w->queue_ids, key, w->nr_queues);
	if (err)
		return err;
	w->queues[w->nr_queues] = (struct mask_queue){ .cpu = cpu, .mask = mask };
	*out = w->nr_queues++;
	if (mask == ALL_CPUS)
		w->plain_queues[cpu] = w->nr_queues;
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A time in the queue of a CPU. */
static int add_stay(struct waste *w, uint32_t task, const struct ledger_part *stay)
{
	uint32_t mask, queue;
	int err = mask_of(w, task, stay->start_ns, &mask);

	if (!err)
		err = queue_of(w, stay->cpu, mask, &queue);
	if (!err)
		err = add_change(w, stay->start_ns, queue, WAIT_BEGINS);
	return err ? err : add_change(w, stay->end_ns, queue, WAIT_ENDS);
}

/* The stays of a wait that were asked for; no CPU may run it on its way to a queue, or while it is throttled. */
static int find_stays(struct waste *w, struct ledger *l, const struct pair_wait *row,
                      uint64_t *wait_ns)
{
	struct ledger_walk walk;
	struct ledger_part stay;
	int err = ledger_begin(l, row, &walk);

	w->nr_stays = 0;
	*wait_ns = 0;
	while (!err && ledger_next_queued(&walk, &stay)) {
		stay.start_ns = later(stay.start_ns, w->sc->from_ns);
		stay.end_ns = earlier(stay.end_ns, w->sc->to_ns);
		if (stay.cpu >= w->nr_cpus || stay.start_ns >= stay.end_ns ||
		    !pass_takes_cpu(w->sc->args, stay.cpu))
			continue;
		if (GROW(w->stays, w->max_stays, w->nr_stays))
			return -ENOMEM;
		w->stays[w->nr_stays++] = stay;
		*wait_ns += stay.end_ns - stay.start_ns;
	}
	return err;
}

static int add_wait(struct waste *w, const struct pair_wait *row)
{
	uint64_t wait_ns;
	int err = find_stays(w, w->cfg->ledger, row, &wait_ns);

	if (err || !w->nr_stays)
		return err;
	if (wait_ns < WASTE_MIN_WAIT_NS) {
		w->sums->nr_short++;
		return 0;
	}
	if (w->cfg->needs_affinity && !source_knows_cpus(w->s, row->task)) {
		w->sums->nr_unknown++;
		return 0;
	}
	w->sums->nr_waits++;
	w->sums->total_wait_ns += wait_ns;
	for (uint32_t i = 0; i < w->nr_stays && !err; i++)
		err = add_stay(w, row->task, &w->stays[i]);
	return err;
}

static int add_idle(struct waste *w, const struct pair_idle *row)
{
	uint64_t from = later(row->start_ns, w->sc->from_ns),
		 to = earlier(row->end_ns, w->sc->to_ns);
	int err;

	if (row->cpu >= w->nr_cpus || from >= to || source_is_isolated(w->s, row->cpu))
		return 0;
	err = add_change(w, from, row->cpu, IDLE_BEGINS);
	return err ? err : add_change(w, to, row->cpu, IDLE_ENDS);
}

/* Waits of those asked for, wherever they ended; idle times of all CPUs. */
static int collect(struct waste *w)
{
	struct pass_args all, any = *w->sc->args;
	struct scope whole = scope_whole(w->sc, &all), waiting = *w->sc;
	struct rows waits = { .sc = &waiting }, idles = { .sc = &whole };
	struct pair_wait wait;
	struct pair_idle idle;
	int err = 0;

	any.cpu = PASS_ANY_CPU;
	waiting.args = &any;
	while (!err && rows_wait(&waits, &wait))
		err = add_wait(w, &wait);
	while (!err && rows_idle(&idles, &idle))
		err = add_idle(w, &idle);
	return err;
}

static int sweep(struct waste *w)
{
	w->waiting = calloc(w->nr_queues ? w->nr_queues : 1, sizeof(*w->waiting));
	if (!w->waiting)
		return -ENOMEM;
	/* Changes of the same moment and kind have the same effect in any order. */
	sort_u64_above(w->changes.at, w->changes.nr, ID_BITS);
	for (size_t i = 0; i < w->changes.nr && !w->err; i++) {
		uint64_t c = w->changes.at[i];

		apply(w, c >> (ID_BITS + KIND_BITS) << w->unit_bits, (uint32_t)(c & (MAX_IDS - 1)),
		      (enum change_kind)(c >> ID_BITS & ((1U << KIND_BITS) - 1)));
	}
	return w->err;
}

static void waste_done(struct waste *w)
{
	map_free(w->queue_ids);
	free(w->plain_queues);
	free(w->changes.at);
	free(w->masks);
	free(w->mask_of);
	free(w->queues);
	free(w->waiting);
	free(w->idle);
	free(w->pairs);
	free(w->stays);
}

static int make_tables(struct waste *w)
{
	size_t nr = w->nr_cpus ? w->nr_cpus : 1;

	while (w->sc->span_ns >> w->unit_bits > MAX_TIME)
		w->unit_bits++;
	w->mask_words = (uint32_t)(nr + 63) / 64;
	w->nr_masks = 1;
	w->masks = malloc(w->mask_words * sizeof(*w->masks));
	w->mask_of = calloc(w->s->affinity ? allowed_nr_words(w->s->affinity) + 1ULL : 1,
	                    sizeof(*w->mask_of));
	w->plain_queues = calloc(nr, sizeof(*w->plain_queues));
	w->idle = calloc(nr, sizeof(*w->idle));
	w->pairs = calloc(nr * nr, sizeof(*w->pairs));
	if (!w->masks || !w->mask_of || !w->plain_queues || !w->idle || !w->pairs)
		return -ENOMEM;
	memset(w->masks, 0xff, w->mask_words * sizeof(*w->masks));
	return map_new(2 * sizeof(uint32_t), MAX_IDS, &w->queue_ids);
}

static void take_pairs(const struct waste *w)
{
	for (size_t i = 0; i < (size_t)w->nr_cpus * w->nr_cpus; i++)
		w->sums->pairs[i] = w->pairs[i].ns;
}

int waste_measure(const struct waste_cfg *cfg, struct waste_sums *out)
{
	uint32_t nr_cpus = pair_nr_cpus(cfg->sc->s->pair);
	struct waste_sums sums = { .nr_cpus = nr_cpus };
	struct waste w = {
		.cfg = cfg, .s = cfg->sc->s, .sc = cfg->sc, .nr_cpus = nr_cpus, .sums = &sums
	};
	int err;

	sums.pairs = calloc((size_t)nr_cpus * nr_cpus + 1, sizeof(*sums.pairs));
	err = sums.pairs ? make_tables(&w) : -ENOMEM;
	if (!err)
		err = collect(&w);
	if (!err)
		err = sweep(&w);
	if (!err) {
		take_pairs(&w);
		*out = sums;
	} else {
		waste_sums_done(&sums);
	}
	waste_done(&w);
	return err;
}

void waste_sums_done(struct waste_sums *s)
{
	free(s->pairs);
	s->pairs = NULL;
}
