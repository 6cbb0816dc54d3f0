/*
 * Names and processes of tasks, as the columns of lines have them. In the file of tracefs the name is the one that the task
 * had when the file was read, so that names in events, which are of their time, go first: these have no time unless they
 * change.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "trace/text/text.h"

#define SLOTS       1024U
#define TASKS_MAX   (1U << 22)
#define CHANGES_MAX 16U /* of one task: what reads them looks at all */

struct text_name {
	uint32_t tid, tgid;
	uint32_t nr; /* descriptions of it */
	struct comm_words comm;
};

struct text_names {
	struct reader *r;
	struct map *tids;
	struct text_name *all;
	size_t nr, cap;
	struct text_name slots[SLOTS]; /* what the last lines had */
};

struct text_names *text_names_new(struct reader *r)
{
	struct text_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->r = r;
	if (map_new(sizeof(uint32_t), TASKS_MAX, &n->tids) < 0) {
		free(n);
		return NULL;
	}
	return n;
}

void text_names_free(struct text_names *n)
{
	if (!n)
		return;
	map_free(n->tids);
	free(n->all);
	free(n);
}

static int tell(struct text_names *n, struct text_name *t, uint64_t ts_ns)
{
	const struct name_thread thread = { .tid = t->tid,
		                            .tgid = t->tgid,
		                            .when = { .ts_ns = t->nr ? ts_ns : 0 } };

	t->nr++;
	if (!budget_take(n->r->cfg.budget, sizeof(thread)))
		return -E2BIG;
	return names_thread(&n->r->names, &thread, &t->comm,
	                    strnlen((const char *)&t->comm, sizeof(t->comm)));
}

static bool is_same(const struct comm_words *a, const struct comm_words *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1];
}

static int see_slow(struct text_names *n, const struct text_name *seen, uint64_t ts_ns)
{
	struct text_name *t;
	uint32_t at;
	bool is_new = !map_find(n->tids, &seen->tid, &at);

	n->slots[seen->tid % SLOTS] = *seen;
	if (is_new) {
		if (n->nr == TASKS_MAX)
			return 0;
		if (!grow_counted(n->r, &n->all, n->nr, &n->cap, sizeof(*n->all)) ||
		    map_insert(n->tids, &seen->tid, (uint32_t)n->nr) < 0)
			return budget_is_exceeded(n->r->cfg.budget) ? -E2BIG : -ENOMEM;
		n->all[n->nr] = *seen;
		return tell(n, &n->all[n->nr++], ts_ns);
	}
	t = &n->all[at];
	if ((!seen->comm.w[0] || is_same(&t->comm, &seen->comm)) &&
	    (!seen->tgid || t->tgid == seen->tgid))
		return 0;
	if (seen->comm.w[0])
		t->comm = seen->comm;
	if (seen->tgid)
		t->tgid = seen->tgid;
	return t->nr < CHANGES_MAX ? tell(n, t, ts_ns) : 0;
}

int text_names_see(struct text_names *n, const struct text_line *line)
{
	struct text_name *slot = &n->slots[line->pid % SLOTS];
	struct text_name seen = { .tid = line->pid, .tgid = line->tgid };

	if (!line->pid)
		return 0;
	seen.comm = comm_words_of((const uint8_t *)line->comm.at, span_len(line->comm),
	                          (const uint8_t *)line->fields.end);
	if (slot->tid == seen.tid && slot->tgid == seen.tgid && is_same(&slot->comm, &seen.comm))
		return 0;
	return see_slow(n, &seen, line->ts_ns);
}
