/*
 * Time during which a task waited while a CPU that it may use was idle: work that the scheduler could have given away.
 *
 * One sweep over the starts and ends of waits and idle times. A CPU "has waiters" while at least one task waits that
 * will run there in the end. For each pair of a CPU with waiters and an idle one, the time in which both hold is
 * added up when the first of both ends; so a moment of change costs as many steps as there are CPUs in the other
 * state. Tasks that may not use all CPUs are looked at one by one. A CPU that goes idle for a task in flight
 * counts too: a wait of a few microseconds beside an idle CPU is the price of a wakeup, which is why waits shorter than
 * MIN_WAIT_NS are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pass.h"
#include "analyze/passes.h"
#include "analyze/scope.h"
#include "analyze/sort_u64.h"
#include "base/cleanup.h"

#define MIN_WAIT_NS 20000ULL

/* Ends come before begins: what only touches does not overlap. */
enum change_kind { WAIT_ENDS, IDLE_ENDS, WAIT_BEGINS, IDLE_BEGINS };

/*
 * Changes are packed into numbers that sort by time, then by kind: time since the start (49 bits, six days), kind (2),
 * CPU (13).
 */
#define CPU_BITS  13U
#define KIND_BITS 2U
#define MAX_TIME  ((1ULL << (64 - CPU_BITS - KIND_BITS)) - 1)

struct changes {
	uint64_t *at;
	size_t nr, capacity;
};

struct waste {
	const struct source *s;
	struct scope sc;
	uint32_t nr_cpus;
	struct changes changes;
	uint32_t *nr_waiters;     /* by CPU */
	uint64_t *waiting_since;  /* by CPU */
	uint64_t *idle_since;     /* by CPU */
	uint32_t *waiting, *idle; /* lists of CPUs in that state */
	uint32_t nr_waiting, nr_idle;
	uint64_t *pairs; /* [waiting][idle] ns */
	uint64_t total_wait_ns, both_ns, both_since_ns;
	bool is_both; /* somebody waits and some CPU is idle */
	uint64_t nr_waits, nr_short;
};

static int add_change(struct waste *w, uint64_t ts_ns, uint32_t cpu, enum change_kind kind)
{
	struct changes *c = &w->changes;
	uint64_t time = ts_ns - w->sc.from_ns;

	if (c->nr == c->capacity) {
		size_t capacity = c->capacity ? 2 * c->capacity : 4096;
		uint64_t *at = reallocarray(c->at, capacity, sizeof(*at));

		if (!at)
			return -ENOMEM;
		c->at = at;
		c->capacity = capacity;
	}
	c->at[c->nr++] = (time < MAX_TIME ? time : MAX_TIME) << (CPU_BITS + KIND_BITS) |
	                 (uint64_t)kind << CPU_BITS | cpu;
	return 0;
}

static void list_add(uint32_t *list, uint32_t *nr, uint32_t cpu)
{
	list[(*nr)++] = cpu;
}

static void list_remove(uint32_t *list, uint32_t *nr, uint32_t cpu)
{
	for (uint32_t i = 0; i < *nr; i++)
		if (list[i] == cpu) {
			list[i] = list[--*nr];
			return;
		}
}

static void add_pair(struct waste *w, uint32_t waiting, uint32_t idle, uint64_t now)
{
	uint64_t since = w->waiting_since[waiting] > w->idle_since[idle] ? w->waiting_since[waiting]
	                                                                 : w->idle_since[idle];

	w->pairs[(size_t)waiting * w->nr_cpus + idle] += now - since;
}

static void note_both(struct waste *w, uint64_t now)
{
	bool is_both = w->nr_waiting && w->nr_idle;

	if (w->is_both && !is_both)
		w->both_ns += now - w->both_since_ns;
	else if (!w->is_both && is_both)
		w->both_since_ns = now;
	w->is_both = is_both;
}

static void apply(struct waste *w, uint64_t now, uint32_t cpu, enum change_kind kind)
{
	switch (kind) {
	case WAIT_BEGINS:
		if (w->nr_waiters[cpu]++)
			return;
		w->waiting_since[cpu] = now;
		list_add(w->waiting, &w->nr_waiting, cpu);
		break;
	case WAIT_ENDS:
		if (!w->nr_waiters[cpu] || --w->nr_waiters[cpu])
			return;
		for (uint32_t i = 0; i < w->nr_idle; i++)
			add_pair(w, cpu, w->idle[i], now);
		list_remove(w->waiting, &w->nr_waiting, cpu);
		break;
	case IDLE_BEGINS:
		w->idle_since[cpu] = now;
		list_add(w->idle, &w->nr_idle, cpu);
		break;
	case IDLE_ENDS:
		for (uint32_t i = 0; i < w->nr_waiting; i++)
			add_pair(w, w->waiting[i], cpu, now);
		list_remove(w->idle, &w->nr_idle, cpu);
		break;
	}
	note_both(w, now);
}

/* A task bound to some CPUs: only those of them that are idle count. */
static int add_bound(struct waste *w, const struct pair_wait *row, uint64_t from, uint64_t to)
{
	for (uint32_t cpu = 0; cpu < w->nr_cpus; cpu++) {
		struct timeline_query q = { .table = TIMELINE_IDLE,
			                    .task = TASKS_NONE,
			                    .cpu = cpu,
			                    .from_ns = from,
			                    .to_ns = to };
		struct timeline_iter it;
		union timeline_row idle;

		if (!source_may_use(w->s, row->task, cpu, from))
			continue;
		if (timeline_find(w->s->timeline, &q, &it))
			return -ENOMEM;
		while (timeline_next(&it, NULL, &idle)) {
			uint64_t start = idle.idle.start_ns > from ? idle.idle.start_ns : from;
			uint64_t end = idle.idle.end_ns < to ? idle.idle.end_ns : to;

			if (start < end)
				w->pairs[(size_t)row->cpu * w->nr_cpus + cpu] += end - start;
		}
	}
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

static int add_wait(struct waste *w, const struct pair_wait *row)
{
	uint64_t from = later(pair_wait_start_ns(row), w->sc.from_ns),
		 to = earlier(row->end_ns, w->sc.to_ns);
	int err;

	if (row->cpu >= w->nr_cpus || from >= to)
		return 0;
	if (to - from < MIN_WAIT_NS) {
		w->nr_short++;
		return 0;
	}
	w->nr_waits++;
	w->total_wait_ns += to - from;
	if (source_is_bound(w->s, row->task))
		return add_bound(w, row, from, to);
	err = add_change(w, from, row->cpu, WAIT_BEGINS);
	return err ? err : add_change(w, to, row->cpu, WAIT_ENDS);
}

static int add_idle(struct waste *w, const struct pair_idle *row)
{
	uint64_t from = later(row->start_ns, w->sc.from_ns), to = earlier(row->end_ns, w->sc.to_ns);
	int err;

	if (row->cpu >= w->nr_cpus || from >= to)
		return 0;
	err = add_change(w, from, row->cpu, IDLE_BEGINS);
	return err ? err : add_change(w, to, row->cpu, IDLE_ENDS);
}

/* Waits of those asked for; idle times of all CPUs. */
static int collect(struct waste *w)
{
	struct pass_args all;
	struct scope whole = scope_whole(&w->sc, &all);
	struct rows waits = { .sc = &w->sc }, idles = { .sc = &whole };
	struct pair_wait wait;
	struct pair_idle idle;
	int err = 0;

	while (!err && rows_wait(&waits, &wait))
		err = add_wait(w, &wait);
	while (!err && rows_idle(&idles, &idle))
		err = add_idle(w, &idle);
	return err;
}

static void sweep(struct waste *w)
{
	sort_u64(w->changes.at, w->changes.nr);
	for (size_t i = 0; i < w->changes.nr; i++) {
		uint64_t c = w->changes.at[i];

		apply(w, c >> (CPU_BITS + KIND_BITS), (uint32_t)(c & ((1U << CPU_BITS) - 1)),
		      (enum change_kind)(c >> CPU_BITS & ((1U << KIND_BITS) - 1)));
	}
}

struct pair_sum {
	uint32_t waiting, idle;
	uint64_t ns;
};

static int by_ns(const void *a, const void *b)
{
	const struct pair_sum *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return left->waiting != right->waiting ? (left->waiting < right->waiting ? -1 : 1)
	                                       : (left->idle < right->idle ? -1 : 1);
}

static void show_pair(const struct waste *w, const struct pair_sum *p, struct report *r)
{
	int32_t llc = source_llc(w->s, p->waiting), node = source_node(w->s, p->waiting);

	report_begin_object(r, NULL);
	report_u64(r, "waiting_cpu", p->waiting);
	report_u64(r, "idle_cpu", p->idle);
	report_u64(r, "time_ns", p->ns);
	if (llc < 0)
		report_null(r, "is_same_llc");
	else
		report_bool(r, "is_same_llc", llc == source_llc(w->s, p->idle));
	if (node < 0)
		report_null(r, "is_same_node");
	else
		report_bool(r, "is_same_node", node == source_node(w->s, p->idle));
	report_end_object(r);
}

/* Without places of CPUs nothing is near or far. */
static void show_distance(struct report *r, const char *key, const struct waste *w, uint64_t ns)
{
	if (w->s->facts->places)
		report_u64(r, key, ns);
	else
		report_null(r, key);
}

/* Sums over pairs within a cache, across caches of a node, across nodes; a pair of unknown places counts as unknown. */
static void show_places(const struct waste *w, struct report *r)
{
	uint64_t same_llc = 0, same_node = 0, far = 0, unknown = 0;

	for (uint32_t a = 0; a < w->nr_cpus; a++)
		for (uint32_t b = 0; b < w->nr_cpus; b++) {
			uint64_t ns = w->pairs[(size_t)a * w->nr_cpus + b];

			if (source_llc(w->s, a) < 0 || source_llc(w->s, b) < 0)
				unknown += ns;
			else if (source_llc(w->s, a) == source_llc(w->s, b))
				same_llc += ns;
			else if (source_node(w->s, a) == source_node(w->s, b))
				same_node += ns;
			else
				far += ns;
		}
	report_begin_object(r, "by_distance");
	show_distance(r, "same_llc_ns", w, same_llc);
	show_distance(r, "same_node_ns", w, same_node);
	show_distance(r, "other_node_ns", w, far);
	report_u64(r, "unknown_ns", unknown);
	report_end_object(r);
}

static int show_pairs(const struct waste *w, struct report *r)
{
	size_t nr = (size_t)w->nr_cpus * w->nr_cpus, used = 0;
	SCOPED(scoped_free) struct pair_sum *sums = calloc(nr ? nr : 1, sizeof(*sums));
	uint32_t limit = pass_limit(&pass_wasted_cores, w->sc.args);

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (w->pairs[i])
			sums[used++] = (struct pair_sum){ (uint32_t)(i / w->nr_cpus),
				                          (uint32_t)(i % w->nr_cpus), w->pairs[i] };
	if (used)
		qsort(sums, used, sizeof(*sums), by_ns);
	report_u64(r, "total_pairs", used);
	report_begin_array(r, "cpu_pairs");
	for (size_t i = 0; i < used && i < limit; i++)
		show_pair(w, &sums[i], r);
	report_end_array(r);
	return 0;
}

static int show(const struct waste *w, struct report *r)
{
	report_u64(r, "span_ns", w->sc.span_ns);
	report_u64(r, "waits", w->nr_waits);
	report_u64(r, "waits_too_short", w->nr_short);
	report_u64(r, "shortest_wait_ns", MIN_WAIT_NS);
	report_u64(r, "total_wait_ns", w->total_wait_ns);
	report_u64(r, "wasted_ns", w->both_ns);
	report_percent(r, "wasted_percent", w->both_ns, w->sc.span_ns);
	report_string(r, "affinity",
	              w->s->affinity ? "as recorded" : "unknown: every task may use every CPU");
	show_places(w, r);
	return show_pairs(w, r);
}

static void scoped_waste(struct waste *w)
{
	scope_done(&w->sc);
	free(w->changes.at);
	free(w->nr_waiters);
	free(w->waiting_since);
	free(w->idle_since);
	free(w->waiting);
	free(w->idle);
	free(w->pairs);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	SCOPED(scoped_waste)
	struct waste w = { .s = s, .nr_cpus = pair_nr_cpus(s->pair) };
	size_t nr = w.nr_cpus ? w.nr_cpus : 1;
	int err = scope_init(&w.sc, s, args, d);

	if (err)
		return err;
	err = -ENOMEM;
	w.nr_waiters = calloc(nr, sizeof(*w.nr_waiters));
	w.waiting_since = calloc(nr, sizeof(*w.waiting_since));
	w.idle_since = calloc(nr, sizeof(*w.idle_since));
	w.waiting = calloc(nr, sizeof(*w.waiting));
	w.idle = calloc(nr, sizeof(*w.idle));
	w.pairs = calloc(nr * nr, sizeof(*w.pairs));
	if (w.nr_waiters && w.waiting_since && w.idle_since && w.waiting && w.idle && w.pairs)
		err = collect(&w);
	if (!err) {
		sweep(&w);
		err = show(&w, r);
	}
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_wasted_cores = {
	.id = "wasted_cores",
	.name = "Wasted Cores",
	.category = "scheduling",
	.what = "time during which a task waited while a CPU that it may use was idle",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 4,
	.finds_by_cpu = TIMELINE_BIT(IDLE),
	.run = run,
};
