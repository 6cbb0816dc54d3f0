/* The tasks worth reading; the cost of a refresh is in proportion to these, not to all tasks. */
#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "machine/machine_tasks_priv.h"

static void heat(struct hot_list *hot, void *item, uint32_t *at)
{
	if (*at != MACHINE_TASKS_NOWHERE)
		return;
	if (GROW(hot->items, hot->cap, hot->nr))
		return;
	*at = (uint32_t)hot->nr;
	hot->items[hot->nr++] = item;
}

static void cool(struct hot_list *hot, uint32_t *at)
{
	if (*at == MACHINE_TASKS_NOWHERE)
		return;
	hot->items[*at] = NULL;
	*at = MACHINE_TASKS_NOWHERE;
}

void machine_tasks_heat_thread(struct machine_tasks *t, struct thread *th)
{
	heat(&t->hot_threads, th, &th->hot_at);
}

void machine_tasks_heat_process(struct machine_tasks *t, struct task_process *p)
{
	heat(&t->hot_processes, p, &p->hot_at);
}

void machine_tasks_cool_thread(struct machine_tasks *t, struct thread *th)
{
	cool(&t->hot_threads, &th->hot_at);
}

void machine_tasks_cool_process(struct machine_tasks *t, struct task_process *p)
{
	cool(&t->hot_processes, &p->hot_at);
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* As all that do nothing. */
static bool is_quiet(const struct machine_tasks *t, const struct machine_task *row)
{
	double rate = t->is_quiet_known ? 0 : NAN;
	double switches = t->is_rate_known ? 0 : NAN; /* also from /proc */

	for (int i = 0; i < INTERVAL_DISTS; i++)
		if (row->dists[i].count)
			return false;
	for (int i = 0; i < INTERVAL_COUNTS; i++) {
		bool is_switch = i == INTERVAL_VOLUNTARY || i == INTERVAL_INVOLUNTARY;

		if (!is_same(row->rates[i], is_switch ? switches : rate))
			return false;
	}
	return is_same(row->run, 0) &&
	       is_same(row->wait, t->has_wait || t->is_quiet_known ? 0 : NAN);
}

/* The kernel takes a zombie away when its parent says so, which is not an event of its own. */
static bool is_unsettled(const struct machine_task *row)
{
	return row->state == 'R' || row->state == 'Z' || row->state == 'X';
}

static void put(struct index_list *l, uint32_t idx)
{
	if (GROW(l->items, l->cap, l->nr))
		return;
	l->items[l->nr++] = idx;
}

/* Tasks that stay hot fill the gaps of those that do not. */
static void stay(struct hot_list *hot, size_t *kept, void *item, uint32_t *at)
{
	*at = (uint32_t)*kept;
	hot->items[(*kept)++] = item;
}

static void settle_threads(struct machine_tasks *t)
{
	struct hot_list *hot = &t->hot_threads;
	size_t kept = 0;

	t->active_threads.nr = t->changed_threads.nr = 0;
	for (size_t i = 0; i < hot->nr; i++) {
		struct thread *th = hot->items[i];
		const struct machine_task *row = th ? &t->thread_rows[th->idx] : NULL;
		bool is_active;

		if (!th)
			continue;
		is_active = !is_quiet(t, row);
		put(&t->changed_threads, th->idx);
		if (is_active)
			put(&t->active_threads, th->idx);
		if (is_active || is_unsettled(row))
			stay(hot, &kept, th, &th->hot_at);
		else
			th->hot_at = MACHINE_TASKS_NOWHERE;
	}
	hot->nr = kept;
}

static void settle_processes(struct machine_tasks *t)
{
	struct hot_list *hot = &t->hot_processes;
	size_t kept = 0;

	t->active_processes.nr = t->changed_processes.nr = 0;
	for (size_t i = 0; i < hot->nr; i++) {
		struct task_process *p = hot->items[i];
		bool is_active;

		if (!p)
			continue;
		is_active = !is_quiet(t, &t->process_rows[p->idx]);
		put(&t->changed_processes, p->idx);
		if (is_active) {
			put(&t->active_processes, p->idx);
			stay(hot, &kept, p, &p->hot_at);
		} else {
			p->hot_at = MACHINE_TASKS_NOWHERE;
		}
	}
	hot->nr = kept;
}

static uint32_t id_of_row(const void *rows, uint32_t row)
{
	return ((const struct machine_task *)rows)[row].tid;
}

static void show_order(const struct machine_tasks *t, const struct task_order *ids,
                       const struct index_list *active, const struct index_list *changed,
                       struct machine_order *out)
{
	*out = (struct machine_order){
		.by_id = ids->rows,
		.place_of = ids->rank_of,
		.active = active->items,
		.nr_active = active->nr,
		.changed = changed->items,
		.nr_changed = changed->nr,
		.is_all_changed = t->is_all_changed,
	};
}

int machine_tasks_settle(struct machine_tasks *t)
{
	int err = machine_tasks_remember(t);

	settle_threads(t);
	settle_processes(t);
	task_order_settle(&t->thread_ids, id_of_row, t->thread_rows);
	task_order_settle(&t->process_ids, id_of_row, t->process_rows);
	show_order(t, &t->thread_ids, &t->active_threads, &t->changed_threads, &t->thread_order);
	show_order(t, &t->process_ids, &t->active_processes, &t->changed_processes,
	           &t->process_order);
	t->is_all_changed = false;
	return err;
}

const struct machine_order *machine_tasks_thread_order(const struct machine_tasks *t)
{
	return t->thread_ids.nr == t->nr_threads ? &t->thread_order : NULL;
}

const struct machine_order *machine_tasks_process_order(const struct machine_tasks *t)
{
	return t->process_ids.nr == t->nr_processes ? &t->process_order : NULL;
}
