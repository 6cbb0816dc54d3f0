#include "model/event_rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hist.h"
#include "base/map.h"

#define NS_PER_S          1000000000ULL
#define DEFAULT_HISTORIES 1024U
#define DEFAULT_PAIRS     4096U
#define MAX_ROWS          (1U << 16)
#define SLOTS             (EVENT_RATES_SECONDS + 1) /* the one that runs, too */
#define NONE              UINT32_MAX

struct history {
	uint32_t task;
	uint64_t nr;    /* all that ever came; the ring holds the last ones */
	uint32_t newer; /* in the order of the last moment */
	uint32_t older;
	struct event_rates_moment ring[EVENT_RATES_HISTORY];
};

struct event_rates {
	struct event_rates_cfg cfg;
	struct event_rates_loss loss;
	uint64_t second; /* the one that runs, since boot; meaningful once has_started */
	uint64_t first_second;
	bool has_started;
	uint64_t totals[EV_KIND_MAX];
	uint32_t kinds[SLOTS][EV_KIND_MAX];
	uint32_t (*cpus)[SLOTS][EVENT_RATES_WHATS];
	uint64_t *sums; /* room to find the hot ones */
	uint32_t nr_cpus;
	uint64_t nr_migrations;
	struct event_rates_pair *pairs;
	uint32_t nr_pairs;
	struct map *pair_of;
	struct event_rates_mover *movers;
	uint32_t nr_movers;
	struct map *mover_of;
	struct history *histories;
	uint32_t nr_histories;
	uint32_t newest, oldest;
	struct map *history_of;
};

void event_rates_free(struct event_rates *r)
{
	if (!r)
		return;
	map_free(r->pair_of);
	map_free(r->mover_of);
	map_free(r->history_of);
	free(r->cpus);
	free(r->sums);
	free(r->pairs);
	free(r->movers);
	free(r->histories);
	free(r);
}

static void scoped_event_rates(struct event_rates *const *r)
{
	event_rates_free(*r);
}

static int init(struct event_rates *r)
{
	int err;

	r->newest = r->oldest = NONE;
	r->pairs = calloc(r->cfg.max_pairs, sizeof(*r->pairs));
	r->movers = calloc(r->cfg.max_pairs, sizeof(*r->movers));
	r->histories = calloc(r->cfg.max_histories, sizeof(*r->histories));
	if (!r->pairs || !r->movers || !r->histories)
		return -ENOMEM;
	err = map_new(sizeof(uint32_t), r->cfg.max_pairs, &r->pair_of);
	if (!err)
		err = map_new(sizeof(uint32_t), r->cfg.max_pairs, &r->mover_of);
	if (!err)
		err = map_new(sizeof(uint32_t), r->cfg.max_histories, &r->history_of);
	return err;
}

int event_rates_new(const struct event_rates_cfg *cfg, struct event_rates **out)
{
	SCOPED(scoped_event_rates) struct event_rates *r = NULL;
	int err;

	if (!cfg->tasks || cfg->max_histories > MAX_ROWS || cfg->max_pairs > MAX_ROWS)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->cfg = *cfg;
	if (!r->cfg.max_histories)
		r->cfg.max_histories = DEFAULT_HISTORIES;
	if (!r->cfg.max_pairs)
		r->cfg.max_pairs = DEFAULT_PAIRS;
	err = init(r);
	if (err)
		return err;
	*out = TAKE_PTR(r);
	return 0;
}

/* Empties the slots of the seconds that have begun since. */
static void move_on(struct event_rates *r, uint64_t ts_ns)
{
	uint64_t second = ts_ns / NS_PER_S;

	if (!r->has_started) {
		r->has_started = true;
		r->second = r->first_second = second;
	}
	if (second > r->second + SLOTS)
		r->second = second - SLOTS; /* all slots are emptied, once */
	while (r->second < second) {
		uint32_t slot = (uint32_t)(++r->second % SLOTS);

		memset(r->kinds[slot], 0, sizeof(r->kinds[slot]));
		for (uint32_t i = 0; i < r->nr_cpus; i++)
			memset(r->cpus[i][slot], 0, sizeof(r->cpus[i][slot]));
	}
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct event_rates *r = ctx;

	move_on(r, rec->ts_ns);
	if (rec->kind < EV_KIND_MAX) {
		r->totals[rec->kind]++;
		r->kinds[r->second % SLOTS][rec->kind]++;
	}
	return 0;
}

static int advance(void *ctx, __u64 ts_ns)
{
	move_on(ctx, ts_ns);
	return 0;
}

struct ev_sink event_rates_sink(struct event_rates *r)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = r };
}

static bool has_cpu(struct event_rates *r, uint32_t cpu)
{
	uint32_t(*more)[SLOTS][EVENT_RATES_WHATS];
	uint64_t *sums;

	if (cpu < r->nr_cpus)
		return true;
	if (cpu >= PAIR_MAX_CPUS)
		return false;
	sums = realloc(r->sums, (cpu + 1) * sizeof(*sums));
	if (!sums)
		return false;
	r->sums = sums;
	more = realloc(r->cpus, (cpu + 1) * sizeof(*more));
	if (!more)
		return false;
	memset(more + r->nr_cpus, 0, (cpu + 1 - r->nr_cpus) * sizeof(*more));
	r->cpus = more;
	r->nr_cpus = cpu + 1;
	return true;
}

static void count_cpu(struct event_rates *r, uint32_t cpu, enum event_rates_what what,
                      uint64_t ts_ns)
{
	move_on(r, ts_ns);
	if (has_cpu(r, cpu))
		r->cpus[cpu][r->second % SLOTS][what]++;
}

static void unlink_history(struct event_rates *r, uint32_t i)
{
	const struct history *h = &r->histories[i];

	*(h->newer == NONE ? &r->newest : &r->histories[h->newer].older) = h->older;
	*(h->older == NONE ? &r->oldest : &r->histories[h->older].newer) = h->newer;
}

static void link_newest(struct event_rates *r, uint32_t i)
{
	r->histories[i].newer = NONE;
	r->histories[i].older = r->newest;
	*(r->newest == NONE ? &r->oldest : &r->histories[r->newest].newer) = i;
	r->newest = i;
}

static struct history *history_for(struct event_rates *r, uint32_t task)
{
	uint32_t i;

	if (map_find(r->history_of, &task, &i)) {
		unlink_history(r, i);
	} else {
		if (r->nr_histories < r->cfg.max_histories) {
			i = r->nr_histories++;
		} else {
			i = r->oldest;
			unlink_history(r, i);
			map_remove(r->history_of, &r->histories[i].task);
			r->loss.histories++;
		}
		r->histories[i].task = task;
		r->histories[i].nr = 0;
		/* Without memory the entry is not found again, and serves another one later. */
		(void)!map_insert(r->history_of, &task, i);
	}
	link_newest(r, i);
	return &r->histories[i];
}

static void remember(struct event_rates *r, uint32_t task, uint8_t kind, uint16_t cpu,
                     uint64_t ts_ns)
{
	struct history *h;

	if (task == TASKS_NONE)
		return;
	h = history_for(r, task);
	h->ring[h->nr++ % EVENT_RATES_HISTORY] = (struct event_rates_moment){ ts_ns, kind, cpu };
}

/* The index is somebody new: what is known under it is over. */
static void on_task_begin(void *ctx, uint32_t task, uint64_t ts_ns)
{
	struct event_rates *r = ctx;
	uint32_t i;

	(void)ts_ns;
	if (map_find(r->history_of, &task, &i))
		r->histories[i].nr = 0;
	if (map_find(r->mover_of, &task, &i))
		r->movers[i] = (struct event_rates_mover){ .task = task,
			                                   .last_from = PAIR_NO_CPU,
			                                   .last_to = PAIR_NO_CPU };
}

static void on_switched(void *ctx, const struct pair_switch *row)
{
	count_cpu(ctx, row->cpu, EVENT_RATES_SWITCH, row->ts_ns);
	remember(ctx, row->next, EV_SWITCH, row->cpu, row->ts_ns);
}

static void on_wakeup(void *ctx, const struct pair_wakeup *row)
{
	remember(ctx, row->task, row->is_new ? EV_WAKEUP_NEW : EV_WAKING, row->cpu, row->ts_ns);
}

static void count_pair(struct event_rates *r, const struct pair_migration *row)
{
	uint32_t key = (uint32_t)row->from_cpu << 16 | row->to_cpu, i;

	if (!map_find(r->pair_of, &key, &i)) {
		i = r->nr_pairs;
		if (i == r->cfg.max_pairs || map_insert(r->pair_of, &key, i) < 0) {
			r->loss.pairs++;
			return;
		}
		r->pairs[r->nr_pairs++] = (struct event_rates_pair){ row->from_cpu, row->to_cpu,
			                                             0 };
	}
	r->pairs[i].count++;
}

static void count_mover(struct event_rates *r, const struct pair_migration *row)
{
	struct event_rates_mover *m;
	uint32_t i;

	if (!map_find(r->mover_of, &row->task, &i)) {
		i = r->nr_movers;
		if (i == r->cfg.max_pairs || map_insert(r->mover_of, &row->task, i) < 0) {
			r->loss.movers++;
			return;
		}
		r->movers[r->nr_movers++] = (struct event_rates_mover){ .task = row->task,
			                                                .last_from = PAIR_NO_CPU,
			                                                .last_to = PAIR_NO_CPU };
	}
	m = &r->movers[i];
	m->nr_migrations++;
	m->nr_ping_pongs += m->last_from == row->to_cpu && m->last_to == row->from_cpu;
	m->last_from = row->from_cpu;
	m->last_to = row->to_cpu;
}

static void on_migration(void *ctx, const struct pair_migration *row)
{
	struct event_rates *r = ctx;

	r->nr_migrations++;
	count_cpu(r, row->to_cpu, EVENT_RATES_MIGRATION, row->ts_ns);
	count_pair(r, row);
	count_mover(r, row);
	remember(r, row->task, EV_MIGRATE, row->cpu, row->ts_ns);
}

static void on_mark(void *ctx, const struct pair_mark *row)
{
	if (row->kind == EV_IPI_SEND)
		count_cpu(ctx, row->cpu, EVENT_RATES_IPI, row->ts_ns);
	remember(ctx, row->task, row->kind, row->cpu, row->ts_ns);
}

struct pair_out event_rates_out(struct event_rates *r)
{
	return (struct pair_out){
		.ctx = r,
		.task_begin = on_task_begin,
		.switched = on_switched,
		.wakeup = on_wakeup,
		.migration = on_migration,
		.mark = on_mark,
	};
}

uint32_t event_rates_seconds(const struct event_rates *r)
{
	uint64_t seconds = r->second - r->first_second;

	return seconds < EVENT_RATES_SECONDS ? (uint32_t)seconds : EVENT_RATES_SECONDS;
}

/* The second so many before the one that runs. */
static uint32_t slot_before(const struct event_rates *r, uint32_t nr)
{
	return (uint32_t)((r->second - nr) % SLOTS);
}

bool event_rates_kind(const struct event_rates *r, unsigned int kind, struct event_rates_kind *out)
{
	uint32_t seconds = event_rates_seconds(r), nr_usual = 0;
	uint64_t sum = 0, usual = 0;

	if (kind >= EV_KIND_MAX || !r->totals[kind])
		return false;
	*out = (struct event_rates_kind){ .total = r->totals[kind] };
	if (!seconds)
		return true;
	for (uint32_t i = 1; i <= seconds; i++) {
		uint32_t count = r->kinds[slot_before(r, i)][kind];

		sum += count;
		if (i > 1 && i <= 1 + EVENT_RATES_BASELINE) {
			usual += count;
			nr_usual++;
		}
	}
	out->last = r->kinds[slot_before(r, 1)][kind];
	out->per_second = (double)sum / seconds;
	out->has_usual = nr_usual > 0;
	out->usual = nr_usual ? (double)usual / nr_usual : 0;
	out->spike = out->usual > 0 ? (double)out->last / out->usual : 0;
	return true;
}

uint32_t event_rates_nr_cpus(const struct event_rates *r)
{
	return r->nr_cpus;
}

static uint64_t sum_cpu(const struct event_rates *r, uint32_t cpu, enum event_rates_what what)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= event_rates_seconds(r); i++)
		sum += r->cpus[cpu][slot_before(r, i)][what];
	return sum;
}

bool event_rates_cpu(const struct event_rates *r, uint32_t cpu, struct event_rates_cpu *out)
{
	uint32_t seconds = event_rates_seconds(r);

	if (cpu >= r->nr_cpus || !seconds)
		return false;
	for (int what = 0; what < EVENT_RATES_WHATS; what++)
		out->per_second[what] = (double)sum_cpu(r, cpu, (enum event_rates_what)what) /
		                        seconds;
	return true;
}

uint32_t event_rates_hot(const struct event_rates *r, enum event_rates_what what, uint32_t p10000,
                         uint32_t *out, uint32_t max)
{
	uint64_t nr_hot = r->nr_cpus - (r->nr_cpus ? percentile_rank(r->nr_cpus, p10000) - 1 : 0);
	uint32_t nr = 0, i;

	if (max > nr_hot)
		max = (uint32_t)nr_hot;
	for (uint32_t cpu = 0; cpu < r->nr_cpus && max; cpu++) {
		r->sums[cpu] = sum_cpu(r, cpu, what);
		if (!r->sums[cpu] || (nr == max && r->sums[out[nr - 1]] >= r->sums[cpu]))
			continue;
		if (nr < max)
			nr++;
		for (i = nr - 1; i && r->sums[out[i - 1]] < r->sums[cpu]; i--)
			out[i] = out[i - 1];
		out[i] = cpu;
	}
	return nr;
}

uint64_t event_rates_migrations(const struct event_rates *r)
{
	return r->nr_migrations;
}

uint32_t event_rates_nr_pairs(const struct event_rates *r)
{
	return r->nr_pairs;
}

const struct event_rates_pair *event_rates_pair_at(const struct event_rates *r, uint32_t i)
{
	return i < r->nr_pairs ? &r->pairs[i] : NULL;
}

uint32_t event_rates_nr_movers(const struct event_rates *r)
{
	return r->nr_movers;
}

const struct event_rates_mover *event_rates_mover_at(const struct event_rates *r, uint32_t i)
{
	return i < r->nr_movers ? &r->movers[i] : NULL;
}

uint32_t event_rates_history(const struct event_rates *r, uint32_t task,
                             struct event_rates_moment *out, uint32_t max)
{
	const struct history *h;
	uint32_t i, nr;

	if (!map_find(r->history_of, &task, &i))
		return 0;
	h = &r->histories[i];
	nr = h->nr < EVENT_RATES_HISTORY ? (uint32_t)h->nr : EVENT_RATES_HISTORY;
	nr = nr < max ? nr : max;
	for (uint32_t k = 0; k < nr; k++)
		out[k] = h->ring[(h->nr - 1 - k) % EVENT_RATES_HISTORY];
	return nr;
}

void event_rates_loss(const struct event_rates *r, struct event_rates_loss *out)
{
	*out = r->loss;
}
