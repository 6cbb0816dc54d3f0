#include "tui/task_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tui/task_groups.h"
#include "tui/task_matches.h"
#include "tui/task_pick.h"
#include "tui/task_sort.h"

/* Without memory they are shown one by one. */
static void group(struct task_list *l, const struct machine *m, const struct screen *s)
{
	const struct machine_task *rows;
	size_t nr;

	if (task_groups_make(s->groups, m, s, &l->filter, &rows, &nr))
		return;
	l->tasks = rows;
	l->nr = nr;
	l->order = NULL;
	l->matches = NULL;
	l->filter.nr = 0;
	l->is_ordered = s->by == TASKS_AS_TREE;
	l->is_grouped = !l->is_ordered;
}

void task_list_init(struct task_list *l, const struct machine *m, const struct screen *s)
{
	if (s->process) {
		task_list_init_threads(l, m, s);
		return;
	}
	*l = (struct task_list){ .m = m,
		                 .tasks = m->processes,
		                 .nr = m->nr_processes,
		                 .order = m->process_order,
		                 .matches = s->matches,
		                 .text = s->filter };
	task_filter_parse(&l->filter, s->filter);
	l->is_filtered = l->filter.nr;
	if (!s->groups || s->by == TASKS_BY_PROCESS)
		return;
	if (!s->members_of[0])
		group(l, m, s);
	else if (s->by == TASKS_BY_CGROUP)
		l->filter.cgroup = s->members_of;
	else
		l->filter.name = s->members_of;
}

void task_list_init_threads(struct task_list *l, const struct machine *m, const struct screen *s)
{
	*l = (struct task_list){ .m = m,
		                 .tasks = m->threads,
		                 .nr = m->nr_threads,
		                 .order = m->thread_order,
		                 .matches = s->matches,
		                 .text = s->filter };
	task_filter_parse(&l->filter, s->filter);
	l->is_filtered = l->filter.nr;
	l->filter.tgid = s->process;
}

static bool has_filter(const struct task_list *l)
{
	return l->filter.nr || l->filter.tgid || l->filter.name || l->filter.cgroup;
}

/* Those that the filter leaves: by ascending tid where the machine has an order. */
struct filtered {
	struct filtered_tasks tasks;
	uint32_t *own; /* to be freed */
};

static void scoped_filtered(struct filtered *filtered)
{
	free(filtered->own);
}

static int find_by_hand(const struct task_list *l, struct filtered *out)
{
	out->own = calloc(l->nr + 1, sizeof(*out->own));
	if (!out->own)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr; i++) {
		uint32_t idx = l->order ? l->order->by_id[i] : (uint32_t)i;

		if (!has_filter(l) || task_filter_match(&l->filter, &l->tasks[idx]))
			out->own[out->tasks.nr++] = idx;
	}
	out->tasks.rows = out->own;
	return 0;
}

static int find_filtered(const struct task_list *l, struct filtered *out)
{
	const struct task_set set = { .tasks = l->tasks,
		                      .nr = l->nr,
		                      .is_threads = l->tasks == l->m->threads,
		                      .order = l->order,
		                      .refresh_nr = l->m->refresh_nr };

	*out = (struct filtered){ 0 };
	if (l->order && !has_filter(l)) {
		out->tasks = (struct filtered_tasks){ l->order->by_id, l->nr, l->order->place_of };
		return 0;
	}
	/* What is remembered is by the text alone. */
	if (!l->order || !l->matches || l->filter.name || l->filter.cgroup)
		return find_by_hand(l, out);
	return task_matches_find(l->matches, &set, &l->filter, l->text, &out->tasks);
}

int task_list_count(const struct task_list *l)
{
	SCOPED(scoped_filtered) struct filtered filtered = { 0 };

	if (!has_filter(l))
		return (int)l->nr;
	return find_filtered(l, &filtered) ? 0 : (int)filtered.tasks.nr;
}

static struct task_pick pick_of(const struct task_list *l, const struct filtered *filtered)
{
	return (struct task_pick){ .m = l->m,
		                   .tasks = l->tasks,
		                   .rows = filtered->tasks.rows,
		                   .nr = filtered->tasks.nr,
		                   .place_of = filtered->tasks.place_of,
		                   .order = l->order,
		                   .filter = has_filter(l) ? &l->filter : NULL };
}

static int place_in_order(const struct task_list *l, uint32_t tid)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->tasks[i].tid == tid)
			return (int)i;
	return -1;
}

int task_list_place(const struct task_list *l, const struct screen *s, uint32_t tid)
{
	SCOPED(scoped_filtered) struct filtered filtered = { 0 };
	struct task_pick pick;

	if (l->is_ordered)
		return place_in_order(l, tid);
	if (find_filtered(l, &filtered))
		return -1;
	pick = pick_of(l, &filtered);
	return task_pick_place(&pick, s, tid);
}

static long window_in_order(const struct task_list *l, size_t from, size_t nr, const void **out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = &l->tasks[from + i];
	return (long)nr;
}

int task_list_window(const struct task_list *l, const struct screen *s, int first, int nr,
                     struct task_window *out)
{
	SCOPED(scoped_filtered) struct filtered filtered = { 0 };
	struct task_pick pick;
	size_t from = first > 0 ? (size_t)first : 0, wanted = nr > 0 ? (size_t)nr : 0;
	long got;

	if (find_filtered(l, &filtered))
		return -ENOMEM;
	from = from < filtered.tasks.nr ? from : filtered.tasks.nr;
	wanted = wanted < filtered.tasks.nr - from ? wanted : filtered.tasks.nr - from;
	out->rows = calloc(wanted + 1, sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	pick = pick_of(l, &filtered);
	got = l->is_ordered ? window_in_order(l, from, wanted, out->rows)
	                    : task_pick_window(&pick, s, from, wanted, out->rows);
	if (got < 0) {
		free(out->rows);
		out->rows = NULL;
		return (int)got;
	}
	out->nr = (int)got;
	out->total = (int)filtered.tasks.nr;
	return 0;
}

static const struct machine_task *find(const struct machine_task *tasks, size_t nr,
                                       const struct machine_order *o, uint32_t tid)
{
	struct task_pick all = { .tasks = tasks, .rows = o ? o->by_id : NULL, .nr = nr };
	size_t at;

	if (o)
		return task_pick_find(&all, tid, &at) ? &tasks[o->by_id[at]] : NULL;
	for (size_t i = 0; i < nr; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	return NULL;
}

const struct machine_task *task_list_find_process(const struct machine *m, uint32_t tgid)
{
	return find(m->processes, m->nr_processes, m->process_order, tgid);
}

bool task_list_group(const struct machine *m, const struct screen *s, uint32_t tid, char *out,
                     size_t size)
{
	struct task_list l;
	const char *key;

	task_list_init(&l, m, s);
	key = l.is_grouped ? task_groups_key(s->groups, tid) : NULL;
	if (key)
		(void)snprintf(out, size, "%s", key);
	return key;
}
