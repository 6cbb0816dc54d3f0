#include "tui/task_matches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILTERS   4U
#define WORD_BITS 64U

struct answer {
	bool is_threads;
	char text[TASK_FILTER_TEXT];
	uint32_t tgid;
	uint64_t look_nr;
	uint64_t used; /* when */

	uint64_t *bits; /* by index: whether it matches */
	uint32_t *rows; /* those that do */
	size_t nr_rows, cap;
};

struct task_matches {
	struct answer answers[FILTERS];
	uint64_t nr_used;
};

int task_matches_new(struct task_matches **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void task_matches_free(struct task_matches *m)
{
	for (size_t i = 0; m && i < FILTERS; i++) {
		free(m->answers[i].bits);
		free(m->answers[i].rows);
	}
	free(m);
}

static bool is_for(const struct answer *a, const struct task_crowd *c, const struct task_filter *f,
                   const char *text)
{
	return a->used && a->is_threads == c->is_threads && a->tgid == f->tgid &&
	       strcmp(a->text, text) == 0;
}

static struct answer *answer_for(struct task_matches *m, const struct task_crowd *c,
                                 const struct task_filter *f, const char *text)
{
	struct answer *oldest = &m->answers[0];

	m->nr_used++;
	for (size_t i = 0; i < FILTERS; i++) {
		struct answer *a = &m->answers[i];

		if (is_for(a, c, f, text)) {
			a->used = m->nr_used;
			return a;
		}
		if (a->used < oldest->used)
			oldest = a;
	}
	strncpy(oldest->text, text, sizeof(oldest->text) - 1);
	oldest->tgid = f->tgid;
	oldest->is_threads = c->is_threads;
	oldest->look_nr = 0;
	oldest->used = m->nr_used;
	return oldest;
}

static int reserve(struct answer *a, size_t nr)
{
	size_t cap = 2 * nr + WORD_BITS;
	uint64_t *bits;
	uint32_t *rows;

	if (nr <= a->cap)
		return 0;
	bits = reallocarray(a->bits, cap / WORD_BITS + 1, sizeof(*bits));
	if (!bits)
		return -ENOMEM;
	a->bits = bits;
	rows = reallocarray(a->rows, cap, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	a->rows = rows;
	a->cap = cap;
	return 0;
}

static bool has(const struct answer *a, uint32_t idx)
{
	return a->bits[idx / WORD_BITS] >> (idx % WORD_BITS) & 1;
}

static void judge(struct answer *a, const struct task_crowd *c, const struct task_filter *f,
                  uint32_t idx)
{
	uint64_t bit = 1ULL << (idx % WORD_BITS);

	if (task_filter_match(f, &c->tasks[idx]))
		a->bits[idx / WORD_BITS] |= bit;
	else
		a->bits[idx / WORD_BITS] &= ~bit;
}

static void list(struct answer *a, const struct task_crowd *c)
{
	a->nr_rows = 0;
	for (size_t i = 0; i < c->nr; i++)
		if (has(a, c->order->by_id[i]))
			a->rows[a->nr_rows++] = c->order->by_id[i];
}

static void update(struct answer *a, const struct task_crowd *c, const struct task_filter *f)
{
	const struct machine_order *o = c->order;
	bool is_next = a->look_nr && c->look_nr == a->look_nr + 1 && !o->is_all_changed;

	if (is_next)
		for (size_t i = 0; i < o->nr_changed; i++)
			judge(a, c, f, o->changed[i]);
	else
		for (size_t i = 0; i < c->nr; i++)
			judge(a, c, f, (uint32_t)i);
	list(a, c);
	a->look_nr = c->look_nr;
}

long task_matches_find(struct task_matches *m, const struct task_crowd *c,
                       const struct task_filter *f, const char *text, const uint32_t **out)
{
	struct answer *a = answer_for(m, c, f, text);

	if (reserve(a, c->nr)) {
		a->look_nr = a->used = 0;
		return -ENOMEM;
	}
	if (!c->look_nr || a->look_nr != c->look_nr)
		update(a, c, f);
	*out = a->rows;
	return (long)a->nr_rows;
}
