#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "stat/tally/tally_priv.h"

#define MIN_TICK_NS 500000000ULL /* shorter ones would make a rate of a handful of events */

static void touch(struct tally *t, struct tally_task *task)
{
	if (task->is_touched)
		return;
	task->is_touched = true;
	task->next = t->touched_task;
	t->touched_task = (uint32_t)(task - t->tasks);
}

static void free_seen(struct seen **s)
{
	free(*s);
	*s = NULL;
}

static void free_main(struct tally_task *task)
{
	for (uint32_t i = 0; i < STAT_STORED_METRICS; i++)
		free_seen(&task->hists[i]);
	free_seen(&task->depth);
}

void tally_task_done(struct tally_task *task)
{
	free_main(task);
	free_seen(&task->hists[STAT_WAKING]);
	free_seen(&task->hists[STAT_DSQ_LATENCY]);
}

static int reserve_task(struct tally *t, uint32_t *out)
{
	if (t->free_task == TALLY_NONE && GROW(t->tasks, t->tasks_capacity, t->nr_tasks))
		return -ENOMEM;
	*out = t->free_task == TALLY_NONE ? t->nr_tasks : t->free_task;
	return 0;
}

static int add_task(struct tally *t, const struct stat_id *id, const struct tally_task_key *key,
                    uint32_t *out)
{
	bool is_wanted = !t->cfg.accept || t->cfg.accept(t->cfg.accept_ctx, id);
	uint32_t row_idx = TALLY_NONE, idx;
	int err;

	err = reserve_task(t, &idx);
	if (err)
		return err;
	err = map_insert(t->task_of, key, idx);
	if (err)
		return err;
	err = is_wanted ? tally_row_of(t, id, &row_idx) : 0;
	if (err) {
		map_remove(t->task_of, key);
		return err;
	}
	if (idx == t->nr_tasks)
		t->nr_tasks++;
	else
		t->free_task = t->tasks[idx].next;
	t->tasks[idx] = (struct tally_task){ .key = *key, .row_idx = row_idx };
	*out = idx;
	return 0;
}

/*
 * The task whose part a record is about. NULL if that part's last record was already processed: a
 * later record is included in it.
 */
static int find_task(struct tally *t, const struct stat_id *id, uint8_t part,
                     struct tally_task **out)
{
	struct tally_task_key key = { id->start_ns, id->tid, id->generation };
	struct tally_task *task;
	uint32_t idx = t->last_task + 1;
	int err;

	/* Drains visit tasks in one order, so the next is mostly the one behind the last: no need to search. */
	if (idx >= t->nr_tasks || memcmp(&t->tasks[idx].key, &key, sizeof(key)) != 0) {
		if (!map_find(t->task_of, &key, &idx)) {
			err = add_task(t, id, &key, &idx);
			if (err)
				return err;
		}
	}
	t->last_task = idx;
	task = &t->tasks[idx];
	*out = task->ended_parts & part ? NULL : task;
	task->live_parts |= (uint8_t)(part & ~task->ended_parts);
	return 0;
}

/*
 * No more records of this part will come, so its copy is freed. The remainder waits for the end of
 * the tick: for its rates, and to identify the other part as the same task.
 */
static void end_part(struct tally *t, struct tally_task *task, uint8_t part)
{
	task->live_parts &= (uint8_t)~part;
	task->ended_parts |= part;
	if (part == TASK_PART_MAIN)
		free_main(task);
	else
		free_seen(&task->hists[part == TASK_PART_WAKING ? STAT_WAKING : STAT_DSQ_LATENCY]);
	touch(t, task);
}

static void tell_peak(const struct tally *t, const struct stat_id *id, uint32_t metric,
                      const struct hist *h, uint64_t before_ns)
{
	const struct tally_peak peak = { id, metric, h->max_ns, h->max_at_ns, h->max_cpu };

	if (t->cfg.peak && h->max_ns > before_ns)
		t->cfg.peak(t->cfg.peak_ctx, &peak);
}

/* What a record says of one metric. */
struct metric_news {
	uint32_t metric;
	const struct abi_hist *now;
	bool is_last;
};

static int take_hist(struct tally *t, struct tally_task *task, const struct stat_id *id,
                     const struct metric_news *news)
{
	uint32_t metric = news->metric;
	const struct abi_hist *now = news->now;
	struct tally_entry *row = t->rows[task->row_idx];
	struct seen **seen = &task->hists[metric];
	struct hist *into[TALLY_VIEWS] = {
		row->pub.view[TALLY_TOTAL].hist[metric],
		row->pub.view[TALLY_INTERVAL].hist[metric],
	};
	uint64_t before_ns;
	int err;

	err = seen_compare(seen, now->slots, now->blocks & SEEN_HIST_BLOCKS, &t->growth);
	if (err)
		return err;
	if (t->growth.count == 0) {
		if (*seen)
			seen_take_late_hist(*seen, now, news->is_last, into);
		return 0;
	}
	err = tally_row_hists(t, row, metric, into);
	if (err)
		return err;
	before_ns = into[TALLY_INTERVAL]->count ? into[TALLY_INTERVAL]->max_ns : 0;
	seen_take_hist(*seen, now, &t->growth, into);
	tell_peak(t, id, metric, into[TALLY_INTERVAL], before_ns);
	tally_row_note(t, task, metric);
	return 0;
}

static int take_hists(struct tally *t, struct tally_task *task, const struct stat_task *now)
{
	const struct abi_hist *hist = (const void *)(now + 1);
	int err = 0;

	for (uint32_t metric = 0; !err && metric < STAT_STORED_METRICS; metric++)
		if (now->rec.mask & (1U << metric))
			err = take_hist(t, task, &now->id,
			                &(struct metric_news){ metric, hist++, now->rec.is_last });
	return err;
}

static int take_new(struct tally *t, struct tally_task *task, const struct stat_id *id,
                    const struct stat_sample *now)
{
	struct hist *into[TALLY_VIEWS];
	uint64_t before_ns;
	int err;

	if (task->has_new || now->count == 0)
		return 0;
	err = tally_row_hists(t, t->rows[task->row_idx], TALLY_DELAY_NEW, into);
	if (err)
		return err;
	before_ns = into[TALLY_INTERVAL]->count ? into[TALLY_INTERVAL]->max_ns : 0;
	for (int v = 0; v < TALLY_VIEWS; v++)
		hist_add(into[v], now->ns, now->at_ns, now->cpu);
	tell_peak(t, id, TALLY_DELAY_NEW, into[TALLY_INTERVAL], before_ns);
	task->has_new = true;
	tally_row_note(t, task, TALLY_DELAY_NEW);
	return 0;
}

static int take_depth(struct tally *t, struct tally_task *task, const struct stat_depth *now,
                      bool is_last)
{
	struct tally_entry *row = t->rows[task->row_idx];
	uint32_t blocks = now->blocks & ((1U << STAT_DEPTH_BLOCKS) - 1);
	struct tally_depth *into[TALLY_VIEWS] = {
		row->pub.view[TALLY_TOTAL].depth,
		row->pub.view[TALLY_INTERVAL].depth,
	};
	int err;

	err = seen_compare(&task->depth, now->slots, blocks, &t->growth);
	if (err)
		return err;
	if (t->growth.count == 0) {
		if (task->depth && is_last)
			seen_take_late_depth(task->depth, now, into);
		return 0;
	}
	err = tally_row_depths(t, row, into);
	if (err)
		return err;
	seen_take_depth(task->depth, now, &t->growth, into);
	tally_row_note(t, task, MEMBERS_ANY);
	return 0;
}

static bool any_of(const uint64_t *values, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (values[i])
			return true;
	return false;
}

static bool take_migrations(struct tally_task *task, const struct stat_migrations *now,
                            struct tally_view views[TALLY_VIEWS])
{
	uint64_t grown[3] = {
		seen_advance(&task->migrations[0], now->all),
		seen_advance(&task->migrations[1], now->cross_llc),
		seen_advance(&task->migrations[2], now->cross_node),
	};

	for (int v = 0; v < TALLY_VIEWS; v++) {
		views[v].migrations.all += grown[0];
		views[v].migrations.cross_llc += grown[1];
		views[v].migrations.cross_node += grown[2];
	}
	for (int i = 0; i < 3; i++)
		task->tick_migrations[i] += grown[i];
	return grown[0] | grown[1] | grown[2];
}

static bool take_counters(struct tally_task *task, const struct stat_task *now,
                          struct tally_view views[TALLY_VIEWS])
{
	uint64_t grown, any = 0;

	for (int i = 0; i < STAT_COUNTERS; i++)
		any |= now->counters[i];
	if (!any) /* nothing is counted, or nothing is new */
		return false;
	any = 0;
	for (int i = 0; i < STAT_COUNTERS; i++) {
		grown = seen_advance(&task->counters[i], now->counters[i]);
		task->tick_counters[i] += grown;
		any |= grown;
		for (int v = 0; v < TALLY_VIEWS; v++)
			views[v].counters[i] += grown;
	}
	grown = seen_advance(&task->counter_slices, now->counter_slices);
	for (int v = 0; v < TALLY_VIEWS; v++)
		views[v].counter_slices += grown;
	return any | grown;
}

/* What a gap hides is in no later copy: it counts on from this one. */
static void take_times(struct tally *t, struct tally_task *task, const struct stat_task *now)
{
	struct tally_entry *row = t->rows[task->row_idx];
	const struct tally_times grown = {
		.run_ns = seen_advance(&task->times.run_ns, now->times.run_ns),
		.wait_ns = seen_advance(&task->times.wait_ns, now->times.wait_ns),
	};
	bool has_gap = seen_advance(&task->nr_gaps, now->nr_gaps) || now->has_gap;

	if (has_gap)
		task->times = (struct tally_times){ now->times.run_ns, now->times.wait_ns };
	if (!has_gap && !grown.run_ns && !grown.wait_ns)
		return;
	tally_row_touch(t, row);
	for (int v = 0; v < TALLY_VIEWS; v++) {
		row->pub.view[v].times.run_ns += grown.run_ns;
		row->pub.view[v].times.wait_ns += grown.wait_ns;
		row->pub.view[v].has_gap |= has_gap;
	}
}

static void take_numbers(struct tally *t, struct tally_task *task, const struct stat_task *now)
{
	struct tally_entry *row = t->rows[task->row_idx];
	uint64_t run_ns = seen_advance(&task->run_ns, now->run_ns);
	bool has_migrations = take_migrations(task, &now->migrations, row->pub.view);
	bool has_counters = take_counters(task, now, row->pub.view);

	for (int v = 0; v < TALLY_VIEWS; v++)
		row->pub.view[v].run_ns += run_ns;
	if (has_migrations || has_counters)
		touch(t, task);
	if (has_migrations || has_counters || run_ns)
		tally_row_note(t, task, MEMBERS_ANY);
}

/* Something of it has not ended: to be cleared before the next drain. */
static void note_open(struct tally *t, struct tally_entry *row)
{
	tally_row_touch(t, row);
	if (row->is_open)
		return;
	row->is_open = true;
	row->next_open = t->open_row;
	t->open_row = row;
}

static void take_open_slice(struct tally *t, const struct tally_task *task,
                            const struct stat_task *now, uint64_t drained_ns)
{
	struct tally_entry *row = t->rows[task->row_idx];

	if (!now->is_running || now->rec.is_last || now->on_cpu_ns == 0)
		return;
	if (drained_ns <= now->on_cpu_ns || drained_ns - now->on_cpu_ns <= row->pub.open_slice_ns)
		return;
	note_open(t, row);
	row->pub.open_slice_ns = drained_ns - now->on_cpu_ns;
	row->pub.open_slice_tid = task->key.tid;
}

static void take_open_wait(struct tally *t, const struct tally_task *task,
                           const struct stat_task *now, uint64_t drained_ns)
{
	struct tally_entry *row = t->rows[task->row_idx];
	struct tally_open_wait *w = &row->pub.open_wait;

	if (!now->is_waiting || now->rec.is_last || now->wait_ns == 0)
		return;
	if (drained_ns <= now->wait_ns || drained_ns - now->wait_ns <= w->ns)
		return;
	note_open(t, row);
	*w = (struct tally_open_wait){ .ns = drained_ns - now->wait_ns,
		                       .tid = task->key.tid,
		                       .cpu = now->wait_cpu,
		                       .is_throttled = now->is_throttled };
	memcpy(w->comm, now->id.comm, sizeof(w->comm));
}

static int take_main(struct tally *t, struct tally_task *task, const struct stat_task *now,
                     uint64_t drained_ns)
{
	int err;

	take_numbers(t, task, now);
	take_times(t, task, now);
	take_open_slice(t, task, now, drained_ns);
	take_open_wait(t, task, now, drained_ns);
	err = take_new(t, task, &now->id, &now->wait_new);
	if (err)
		return err;
	err = take_depth(t, task, &now->depth, now->rec.is_last);
	if (err)
		return err;
	return take_hists(t, task, now);
}

int tally_task_take(struct tally *t, const struct stat_task *now, uint64_t drained_ns)
{
	struct tally_task *task;
	int err;

	err = find_task(t, &now->id, TASK_PART_MAIN, &task);
	if (err || !task)
		return err;
	if (task->row_idx != TALLY_NONE)
		err = take_main(t, task, now, drained_ns);
	if (now->rec.is_last)
		end_part(t, task, TASK_PART_MAIN);
	return err;
}

int tally_task_take_waking(struct tally *t, const struct stat_waking *now)
{
	struct tally_task *task;
	int err;

	err = find_task(t, &now->id, TASK_PART_WAKING, &task);
	if (err || !task)
		return err;
	if (task->row_idx != TALLY_NONE)
		err = take_hist(t, task, &now->id,
		                &(struct metric_news){ STAT_WAKING, &now->hist, now->rec.is_last });
	if (now->rec.is_last)
		end_part(t, task, TASK_PART_WAKING);
	return err;
}

static void take_runs(struct tally *t, struct tally_task *task, const struct stat_runs *now)
{
	struct tally_entry *row = t->rows[task->row_idx];
	const struct tally_runs grown = {
		.nr = seen_advance(&task->runs.nr, now->nr),
		.nr_given = seen_advance(&task->runs.nr_given, now->nr_given),
		.given_ns = seen_advance(&task->runs.given_ns, now->given_ns),
		.nr_used = seen_advance(&task->runs.nr_used, now->nr_used),
		.used_ns = seen_advance(&task->runs.used_ns, now->used_ns),
	};

	if (!grown.nr && !grown.nr_used)
		return;
	tally_row_note(t, task, MEMBERS_ANY);
	for (int v = 0; v < TALLY_VIEWS; v++) {
		struct tally_runs *into = &row->pub.view[v].runs;

		into->nr += grown.nr;
		into->nr_given += grown.nr_given;
		into->given_ns += grown.given_ns;
		into->nr_used += grown.nr_used;
		into->used_ns += grown.used_ns;
	}
	if (!grown.nr)
		return;
	row->pub.has_dsq = true;
	row->pub.dsq_id = now->dsq_id;
}

int tally_task_take_queued(struct tally *t, const struct stat_queued *now)
{
	struct tally_task *task;
	int err;

	err = find_task(t, &now->id, TASK_PART_QUEUED, &task);
	if (err || !task)
		return err;
	if (task->row_idx != TALLY_NONE) {
		take_runs(t, task, &now->runs);
		err = take_hist(t, task, &now->id,
		                &(struct metric_news){ STAT_DSQ_LATENCY, &now->hist,
		                                       now->rec.is_last });
	}
	if (now->rec.is_last)
		end_part(t, task, TASK_PART_QUEUED);
	return err;
}

static void add_rates(struct tally *t, const struct tally_task *task, uint64_t tick_ns)
{
	struct tally_row *row = &t->rows[task->row_idx]->pub;

	if (any_of(task->tick_migrations, 3))
		t->loss.rates += tally_row_rates(&row->migration_rates, task->tick_migrations, 3,
		                                 tick_ns);
	if (any_of(task->tick_counters, STAT_COUNTERS))
		t->loss.rates += tally_row_rates(&row->counter_rates, task->tick_counters,
		                                 STAT_COUNTERS, tick_ns);
}

void tally_end_tick(struct tally *t, uint64_t tick_ns)
{
	uint32_t next;

	for (uint32_t idx = t->touched_task; idx != TALLY_NONE; idx = next) {
		struct tally_task *task = &t->tasks[idx];

		next = task->next;
		if (tick_ns >= MIN_TICK_NS && task->row_idx != TALLY_NONE)
			add_rates(t, task, tick_ns);
		memset(task->tick_migrations, 0, sizeof(task->tick_migrations));
		memset(task->tick_counters, 0, sizeof(task->tick_counters));
		task->is_touched = false;
		if (task->live_parts)
			continue;
		tally_task_done(task);
		map_remove(t->task_of, &task->key);
		task->key = (struct tally_task_key){
			0
		}; /* of no task: a record without tid is refused */
		task->next = t->free_task;
		t->free_task = idx;
	}
	t->touched_task = TALLY_NONE;
}
