#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/map.h"
#include "stat/tally/tally_priv.h"

#define OTHER_NAME "(other)"
#define NS_PER_SEC 1000000000ULL

/* Ends within its room, and nothing is left behind the end. */
static void copy_name(char to[STAT_COMM_LEN], const char from[STAT_COMM_LEN])
{
	size_t len = strnlen(from, STAT_COMM_LEN - 1);

	memset(to, 0, STAT_COMM_LEN);
	memcpy(to, from, len);
}

static void make_key(enum tally_by by, const struct stat_id *id, struct tally_key *out)
{
	memset(out, 0, sizeof(*out));
	switch (by) {
	case TALLY_BY_COMM:
		copy_name(out->name, id->comm);
		break;
	case TALLY_BY_TID:
		out->number = id->start_ns;
		out->tid = id->tid;
		out->cgroup_id = id->cgroup_id;
		copy_name(out->name,
		          id->comm); /* a task that returns to a name returns to its row */
		break;
	case TALLY_BY_TGID:
		out->number = id->process_start_ns;
		out->tid = id->tgid;
		break;
	case TALLY_BY_CGROUP:
		out->number = id->cgroup_id;
		break;
	}
}

static void describe(enum tally_by by, const struct stat_id *id, struct tally_row *out)
{
	if (by == TALLY_BY_CGROUP) {
		out->cgroup_id = id->cgroup_id;
		return;
	}
	copy_name(out->comm, by == TALLY_BY_TGID ? id->process : id->comm);
	if (by == TALLY_BY_COMM)
		return;
	copy_name(out->process, id->process);
	out->tid = by == TALLY_BY_TID ? id->tid : 0;
	out->tgid = id->tgid;
	out->cgroup_id = id->cgroup_id;
}

static int add_row(struct tally *t, struct tally_entry **out)
{
	struct tally_entry *row;

	if (GROW(t->rows, t->rows_capacity, t->nr_rows))
		return -ENOMEM;
	row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	t->rows[t->nr_rows++] = row;
	*out = row;
	return 0;
}

static int find_other(struct tally *t, uint32_t *out)
{
	struct tally_entry *row;
	int err;

	if (t->other_row == TALLY_NONE) {
		err = add_row(t, &row);
		if (err)
			return err;
		memcpy(row->pub.comm, OTHER_NAME, sizeof(OTHER_NAME));
		t->other_row = t->nr_rows - 1;
	}
	t->loss.other_rows++;
	*out = t->other_row;
	return 0;
}

int tally_row_of(struct tally *t, const struct stat_id *id, uint32_t *out)
{
	struct tally_key key;
	struct tally_entry *row;
	int err;

	make_key(t->cfg.by, id, &key);
	if (map_find(t->row_of, &key, out)) {
		/* A process is called what its leader is called; other threads learn of that late. */
		if (t->cfg.by == TALLY_BY_TGID && id->tid == id->tgid)
			describe(t->cfg.by, id, &t->rows[*out]->pub);
		return 0;
	}
	if (map_nr(t->row_of) >= t->cfg.max_rows)
		return find_other(t, out);
	err = map_insert(t->row_of, &key, t->nr_rows);
	if (err)
		return err;
	err = add_row(t, &row);
	if (err) {
		map_remove(t->row_of, &key);
		return err;
	}
	row->key = key;
	describe(t->cfg.by, id, &row->pub);
	*out = t->nr_rows - 1;
	return 0;
}

static void free_rates(struct rates *rates, uint32_t nr)
{
	for (uint32_t i = 0; rates && i < nr; i++)
		rates_done(&rates[i]);
	free(rates);
}

void tally_row_free(struct tally_entry *row)
{
	const struct tally_view *total = &row->pub.view[TALLY_TOTAL];

	for (uint32_t i = 0; i < TALLY_METRICS; i++)
		free(total->hist[i]);
	free(total->depth);
	free_rates(row->pub.migration_rates, 3);
	free_rates(row->pub.counter_rates, STAT_COUNTERS);
	free(row);
}

/* Makes what a row has once for the whole time and once for the interval. */
static int make_both(struct tally *t, struct tally_entry *row, void **total, void **interval,
                     size_t size)
{
	tally_row_touch(t, row);
	if (!*interval)
		*interval = arena_alloc(t->interval, 1, size, _Alignof(max_align_t));
	if (!*total)
		*total = calloc(1, size);
	return *interval && *total ? 0 : -ENOMEM;
}

int tally_row_hists(struct tally *t, struct tally_entry *row, uint32_t metric,
                    struct hist *out[TALLY_VIEWS])
{
	struct tally_view *views = row->pub.view;
	int err = make_both(t, row, (void **)&views[TALLY_TOTAL].hist[metric],
	                    (void **)&views[TALLY_INTERVAL].hist[metric], sizeof(struct hist));

	for (int i = 0; !err && i < TALLY_VIEWS; i++)
		out[i] = views[i].hist[metric];
	return err;
}

int tally_row_depths(struct tally *t, struct tally_entry *row, struct tally_depth *out[TALLY_VIEWS])
{
	struct tally_view *views = row->pub.view;
	int err = make_both(t, row, (void **)&views[TALLY_TOTAL].depth,
	                    (void **)&views[TALLY_INTERVAL].depth, sizeof(struct tally_depth));

	for (int i = 0; !err && i < TALLY_VIEWS; i++)
		out[i] = views[i].depth;
	return err;
}

/* Keeps the smallest ids; an id is kept once, because a task may return to its old name. */
static void add_member(struct tally_members *c, uint32_t tid, bool is_known)
{
	uint32_t at = 0;

	while (at < c->nr_shown && c->tids[at] < tid)
		at++;
	/* The same id is another task, unless it has only changed its name. */
	if (at < c->nr_shown && c->tids[at] == tid) {
		c->nr_tasks += !is_known;
		return;
	}
	c->nr_tasks++;
	if (at == TALLY_SHOWN_TIDS)
		return;
	if (c->nr_shown < TALLY_SHOWN_TIDS)
		c->nr_shown++;
	memmove(c->tids + at + 1, c->tids + at, (c->nr_shown - at - 1) * sizeof(c->tids[0]));
	c->tids[at] = tid;
}

static void join(struct tally_view *view, uint16_t *counted, uint32_t metric,
                 const struct tally_task_key *task)
{
	if (*counted & (1U << metric))
		return;
	*counted |= (uint16_t)(1U << metric);
	add_member(metric == MEMBERS_ANY ? &view->members : &view->metric_members[metric],
	           task->tid, task->generation > 0);
}

void tally_row_note(struct tally *t, struct tally_task *task, uint32_t metric)
{
	const uint16_t both = (uint16_t)(1U << metric | 1U << MEMBERS_ANY);
	struct tally_entry *row = t->rows[task->row_idx];

	tally_row_touch(t, row);
	if (task->interval_nr == t->interval_nr &&
	    (task->counted & task->counted_now & both) == both)
		return;
	if (task->interval_nr != t->interval_nr) {
		task->interval_nr = t->interval_nr;
		task->counted_now = 0;
	}
	join(&row->pub.view[TALLY_TOTAL], &task->counted, metric, &task->key);
	join(&row->pub.view[TALLY_TOTAL], &task->counted, MEMBERS_ANY, &task->key);
	join(&row->pub.view[TALLY_INTERVAL], &task->counted_now, metric, &task->key);
	join(&row->pub.view[TALLY_INTERVAL], &task->counted_now, MEMBERS_ANY, &task->key);
}

void tally_row_touch(struct tally *t, struct tally_entry *row)
{
	if (row->is_touched)
		return;
	row->is_touched = true;
	row->next_touched = t->touched_row;
	t->touched_row = row;
}

void tally_row_clear_interval(struct tally *t)
{
	struct tally_entry *next;

	for (struct tally_entry *row = t->touched_row; row; row = next) {
		next = row->next_touched;
		row->is_touched = false;
		row->next_touched = NULL;
		memset(&row->pub.view[TALLY_INTERVAL], 0, sizeof(row->pub.view[0]));
	}
	t->touched_row = NULL;
	arena_reset(t->interval);
}

static uint64_t per_second(uint64_t grown, uint64_t tick_ns)
{
	unsigned __int128 rate = ((unsigned __int128)grown * NS_PER_SEC + tick_ns / 2) / tick_ns;

	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

uint64_t tally_row_rates(struct rates **rates, const uint64_t *grown, uint32_t nr, uint64_t tick_ns)
{
	uint64_t nr_lost = 0;

	if (!*rates)
		*rates = calloc(nr, sizeof(**rates));
	if (!*rates)
		return nr;
	for (uint32_t i = 0; i < nr; i++)
		nr_lost += rates_add(&(*rates)[i], per_second(grown[i], tick_ns), 1) < 0;
	return nr_lost;
}
