#include "tui/task_matches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILTERS   4U
#define WORD_BITS 64U

struct filter_result {
	bool is_threads;
	char text[TASK_FILTER_TEXT];
	uint32_t tgid;
	uint64_t refresh_nr;
	uint64_t used; /* when */

	uint64_t *bits;     /* by index: whether it matches, */
	uint32_t *tids;     /* and which task that was */
	uint32_t *rows;     /* those that do match, */
	uint32_t *place_of; /* and where in rows they are */
	size_t nr_tasks, nr_rows, cap;
};

struct task_matches {
	struct filter_result answers[FILTERS];
	uint64_t nr_used;
};

int task_matches_new(struct task_matches **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void free_arrays(struct filter_result *a)
{
	free(a->bits);
	free(a->tids);
	free(a->rows);
	free(a->place_of);
}

void task_matches_free(struct task_matches *m)
{
	for (size_t i = 0; m && i < FILTERS; i++)
		free_arrays(&m->answers[i]);
	free(m);
}

static bool is_for(const struct filter_result *a, const struct task_set *s,
                   const struct task_filter *f, const char *text)
{
	return a->used && a->is_threads == s->is_threads && a->tgid == f->tgid &&
	       strcmp(a->text, text) == 0;
}

static struct filter_result *answer_for(struct task_matches *m, const struct task_set *s,
                                        const struct task_filter *f, const char *text)
{
	struct filter_result *oldest = &m->answers[0];

	m->nr_used++;
	for (size_t i = 0; i < FILTERS; i++) {
		struct filter_result *a = &m->answers[i];

		if (is_for(a, s, f, text)) {
			a->used = m->nr_used;
			return a;
		}
		if (a->used < oldest->used)
			oldest = a;
	}
	strncpy(oldest->text, text, sizeof(oldest->text) - 1);
	oldest->tgid = f->tgid;
	oldest->is_threads = s->is_threads;
	oldest->refresh_nr = 0;
	oldest->used = m->nr_used;
	return oldest;
}

static int reserve(struct filter_result *a, size_t nr)
{
	size_t cap = 2 * nr + WORD_BITS;

	if (nr <= a->cap)
		return 0;
	free_arrays(a);
	a->refresh_nr = 0; /* all are filtered again */
	a->bits = calloc(cap / WORD_BITS + 1, sizeof(*a->bits));
	a->tids = calloc(cap, sizeof(*a->tids));
	a->rows = calloc(cap, sizeof(*a->rows));
	a->place_of = calloc(cap, sizeof(*a->place_of));
	a->cap = a->bits && a->tids && a->rows && a->place_of ? cap : 0;
	return a->cap ? 0 : -ENOMEM;
}

static bool has(const struct filter_result *a, uint32_t idx)
{
	return a->bits[idx / WORD_BITS] >> (idx % WORD_BITS) & 1;
}

/* True if it is as it was. */
static bool judge(struct filter_result *a, const struct task_set *s, const struct task_filter *f,
                  uint32_t idx)
{
	uint64_t bit = 1ULL << (idx % WORD_BITS), before = a->bits[idx / WORD_BITS] & bit;
	bool is_same = a->tids[idx] == s->tasks[idx].tid;

	a->tids[idx] = s->tasks[idx].tid;
	if (task_filter_match(f, &s->tasks[idx]))
		a->bits[idx / WORD_BITS] |= bit;
	else
		a->bits[idx / WORD_BITS] &= ~bit;
	return is_same && before == (a->bits[idx / WORD_BITS] & bit);
}

static void list(struct filter_result *a, const struct task_set *s)
{
	a->nr_rows = 0;
	for (size_t i = 0; i < s->nr; i++)
		if (has(a, s->order->by_id[i])) {
			a->place_of[s->order->by_id[i]] = (uint32_t)a->nr_rows;
			a->rows[a->nr_rows++] = s->order->by_id[i];
		}
}

static void update(struct filter_result *a, const struct task_set *s, const struct task_filter *f)
{
	const struct machine_order *o = s->order;
	bool is_next = a->refresh_nr && s->refresh_nr == a->refresh_nr + 1 && !o->is_all_changed;
	bool is_same = is_next && a->nr_tasks == s->nr;

	for (size_t i = 0; is_next && i < o->nr_changed; i++)
		is_same &= judge(a, s, f, o->changed[i]);
	for (size_t i = 0; !is_next && i < s->nr; i++)
		(void)judge(a, s, f, (uint32_t)i);
	if (!is_same)
		list(a, s);
	a->nr_tasks = s->nr;
	a->refresh_nr = s->refresh_nr;
}

int task_matches_find(struct task_matches *m, const struct task_set *s, const struct task_filter *f,
                      const char *text, struct filtered_tasks *out)
{
	struct filter_result *a = answer_for(m, s, f, text);

	if (reserve(a, s->nr)) {
		a->refresh_nr = a->used = 0;
		return -ENOMEM;
	}
	if (!s->refresh_nr || a->refresh_nr != s->refresh_nr)
		update(a, s, f);
	*out = (struct filtered_tasks){ a->rows, a->nr_rows, a->place_of };
	return 0;
}
