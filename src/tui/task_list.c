#include "tui/task_list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct {
	char letter;
	const char *name;
} states[] = {
	{ 'R', "running" }, { 'S', "sleeping" }, { 'D', "blocked" },
	{ 'T', "stopped" }, { 'Z', "zombie" },   { 'I', "idle" },
};

/* Of ASCII: names are bytes, and a locale would make this slow for tens of thousands of them. */
static char lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void task_filter_parse(struct task_filter *f, const char *text)
{
	char *rest = NULL;

	f->nr = 0;
	snprintf(f->text, sizeof(f->text), "%s", text);
	for (char *word = strtok_r(f->text, " ", &rest); word && f->nr < TASK_LIST_WORDS;
	     word = strtok_r(NULL, " ", &rest)) {
		f->lower_words[f->nr] = f->lower + (word - f->text);
		f->words[f->nr++] = word;
	}
	for (size_t i = 0; i < sizeof(f->text); i++)
		f->lower[i] = lower_of(f->text[i]);
}

static bool contains(const char *text, const char *lower)
{
	for (; text && *text; text++) {
		size_t i = 0;

		while (lower[i] && lower_of(text[i]) == lower[i])
			i++;
		if (!lower[i])
			return true;
	}
	return false;
}

void task_list_init(struct task_list *l, const struct machine *m, const struct screen *s)
{
	if (s->process) {
		task_list_init_threads(l, m, s);
		return;
	}
	l->tasks = m->processes;
	l->nr = m->nr_processes;
	l->filter.tgid = 0;
	task_filter_parse(&l->filter, s->filter);
}

void task_list_init_threads(struct task_list *l, const struct machine *m, const struct screen *s)
{
	l->tasks = m->threads;
	l->nr = m->nr_threads;
	l->filter.tgid = s->process;
	task_filter_parse(&l->filter, s->filter);
}

static bool starts_with(const char *text, const char *start)
{
	while (*start && *text == *start) {
		text++;
		start++;
	}
	return !*start;
}

static bool starts_number(uint32_t number, const char *word)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	return starts_with(digits, word);
}

static bool is_number(int32_t number, const char *word)
{
	uint64_t wanted;

	return number >= 0 && text_to_u64(word, &wanted) && wanted == (uint64_t)number;
}

static bool is_state(char state, const char *word)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].letter == state)
			return strcmp(states[i].name, word) == 0;
	return false;
}

static bool word_matches(const char *word, const char *lower, const struct machine_task *t)
{
	if (word[1] == '\0' && strchr("RSDTZI", word[0]))
		return t->state == word[0];
	if (strncmp(word, "cpu:", 4) == 0)
		return !word[4] || is_number(t->last_cpu, word + 4);
	if (strncmp(word, "class:", 6) == 0)
		return t->class_name && starts_with(t->class_name, word + 6);
	if (word[0] >= '0' && word[0] <= '9' &&
	    (starts_number(t->tid, word) || starts_number(t->tgid, word)))
		return true;
	return contains(t->comm, lower) || contains(t->cgroup, lower) || is_state(t->state, lower);
}

bool task_filter_match(const struct task_filter *f, const struct machine_task *t)
{
	if (f->tgid && t->tgid != f->tgid)
		return false;
	for (int i = 0; i < f->nr; i++)
		if (!word_matches(f->words[i], f->lower_words[i], t))
			return false;
	return true;
}

static double dist_key(const struct machine_dist *d, uint64_t value)
{
	return d->count ? (double)value : NAN;
}

static double key_of(const struct machine_task *t, enum view_sort sort)
{
	switch (sort) {
	case SORT_RUN:
		return t->run;
	case SORT_WAIT:
		return t->wait;
	case SORT_P50:
		return dist_key(&t->latency, t->latency.p50_ns);
	case SORT_P99:
		return dist_key(&t->latency, t->latency.p99_ns);
	case SORT_MAX:
		return dist_key(&t->latency, t->latency.max_ns);
	case SORT_SWITCHES:
		return t->voluntary_per_s + t->involuntary_per_s;
	case SORT_MIGRATIONS:
		return t->migrations_per_s;
	default:
		return t->tid;
	}
}

struct entry {
	double key;
	const struct machine_task *task;
};

static int by_tid(const struct machine_task *a, const struct machine_task *b)
{
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int order(const struct entry *a, const struct entry *b, const struct screen *s)
{
	int way = s->is_ascending ? 1 : -1;

	if (s->sort == SORT_NAME) {
		int names = strcmp(a->task->comm ? a->task->comm : "",
		                   b->task->comm ? b->task->comm : "");

		return names ? way * names : by_tid(a->task, b->task);
	}
	if (isnan(a->key) || isnan(b->key)) {
		if (isnan(a->key) != isnan(b->key))
			return isnan(a->key) ? 1 : -1;
		return by_tid(a->task, b->task);
	}
	if (a->key != b->key)
		return a->key < b->key ? -way : way;
	return by_tid(a->task, b->task);
}

static struct entry entry_of(const struct machine_task *t, const struct screen *s)
{
	return (struct entry){ key_of(t, s->sort), t };
}

int task_order(const struct machine_task *a, const struct machine_task *b, const struct screen *s)
{
	struct entry first = entry_of(a, s), second = entry_of(b, s);

	return order(&first, &second, s);
}

int task_list_count(const struct task_list *l)
{
	int nr = 0;

	if (!l->filter.nr && !l->filter.tgid)
		return (int)l->nr;
	for (size_t i = 0; i < l->nr; i++)
		nr += task_filter_match(&l->filter, &l->tasks[i]);
	return nr;
}

int task_list_place(const struct task_list *l, const struct screen *s, uint32_t tid)
{
	const struct machine_task *found = NULL;
	struct entry wanted;
	int place = 0;

	for (size_t i = 0; i < l->nr && !found; i++)
		if (l->tasks[i].tid == tid)
			found = &l->tasks[i];
	if (!found || !task_filter_match(&l->filter, found))
		return -1;
	wanted = entry_of(found, s);
	for (size_t i = 0; i < l->nr; i++) {
		struct entry e = entry_of(&l->tasks[i], s);

		if (order(&e, &wanted, s) < 0 && task_filter_match(&l->filter, e.task))
			place++;
	}
	return place;
}

/* The last in order of those kept is at the top. */
static void sift_down(struct entry *heap, size_t nr, size_t at, const struct screen *s)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct entry swap;

		if (child >= nr)
			return;
		if (child + 1 < nr && order(&heap[child + 1], &heap[child], s) > 0)
			child++;
		if (order(&heap[child], &heap[at], s) <= 0)
			return;
		swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

static void sift_up(struct entry *heap, size_t at, const struct screen *s)
{
	while (at) {
		size_t parent = (at - 1) / 2;
		struct entry swap = heap[at];

		if (order(&heap[at], &heap[parent], s) <= 0)
			return;
		heap[at] = heap[parent];
		heap[parent] = swap;
		at = parent;
	}
}

/* Keeps in heap the first cap in order of all; returns how many the filter leaves. */
static size_t keep_first(const struct task_list *l, const struct screen *s, struct entry *heap,
                         size_t cap)
{
	bool has_filter = l->filter.nr || l->filter.tgid;
	size_t total = 0;

	for (size_t i = 0; i < l->nr; i++) {
		struct entry e;

		if (has_filter && !task_filter_match(&l->filter, &l->tasks[i]))
			continue;
		total++;
		e = entry_of(&l->tasks[i], s);
		if (total <= cap) {
			heap[total - 1] = e;
			sift_up(heap, total - 1, s);
		} else if (cap && order(&e, &heap[0], s) < 0) {
			heap[0] = e;
			sift_down(heap, cap, 0, s);
		}
	}
	return total;
}

int task_list_window(const struct task_list *l, const struct screen *s, int first, int nr,
                     struct task_window *out)
{
	size_t from = first > 0 ? (size_t)first : 0;
	size_t cap = from + (nr > 0 ? (size_t)nr : 0);
	size_t total, kept;
	struct entry *heap;

	if (cap > l->nr)
		cap = l->nr;
	heap = calloc(cap + 1, sizeof(*heap));
	out->rows = calloc((cap > from ? cap - from : 0) + 1, sizeof(*out->rows));
	if (!heap || !out->rows) {
		free(heap);
		free(out->rows);
		out->rows = NULL;
		return -ENOMEM;
	}
	total = keep_first(l, s, heap, cap);
	kept = total < cap ? total : cap;
	out->total = (int)total;
	out->nr = kept > from ? (int)(kept - from) : 0;
	/* Taken from the end: only rows in sight are put into order. */
	for (; kept > from; kept--) {
		out->rows[kept - 1 - from] = heap[0].task;
		heap[0] = heap[kept - 1];
		sift_down(heap, kept - 1, 0, s);
	}
	free(heap);
	return 0;
}
