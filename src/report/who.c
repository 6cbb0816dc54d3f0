#include "report/who.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/latency.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "model/interrupt.h"
#include "model/task_lives.h"

#define MAX_RESTS      256U /* of a name and cgroup each; one more is of all others */
#define CGROUP_TEXT    32
#define MAX_INTERRUPTS (WHO_INTERRUPT - 1)

void who_done(struct who *w)
{
	free(w->raw);
	free(w->first);
	free(w->scores);
	free(w->as_who);
	free(w->as_other);
	free(w->numbers);
	map_free(w->interrupt_places);
	free(w->interrupts);
	map_free(w->seen_places);
	free(w->seen);
	free(w->wakers);
	free(w->waker_numbers);
	free(w->waker_interrupt_numbers);
	*w = (struct who){ 0 };
}

static int add_raw(struct who *w, const struct who_raw *one)
{
	if (w->nr >= WHO_MAX)
		return -E2BIG;
	if (GROW(w->raw, w->room, w->nr))
		return -ENOMEM;
	w->raw[w->nr++] = *one;
	return 0;
}

/* The first entry of the task that is in the same cgroup, so that one who comes back is the same again. */
static void set_same(struct who *w, uint32_t first)
{
	for (uint32_t i = first; i < w->nr; i++) {
		uint32_t same = first;

		while (w->raw[same].cgroup != w->raw[i].cgroup)
			same++;
		w->raw[i].same = same;
	}
}

/* The stays of a task, which come newest first, in the order of time; before the first its cgroup is unknown. */
static int add_task(struct who *w, uint32_t task)
{
	struct who_raw one = { .task = task };
	uint32_t first = w->nr;
	int err = add_raw(w, &one);

	for (uint32_t i = 0;
	     !err && tasks_cgroup_stay(w->s->tasks, task, i, &one.cgroup, &one.from_ns); i++)
		err = add_raw(w, &one);
	for (uint32_t low = first + 1, high = w->nr - 1; !err && low < high; low++, high--) {
		struct who_raw swapped = w->raw[low];

		w->raw[low] = w->raw[high];
		w->raw[high] = swapped;
	}
	if (!err)
		set_same(w, first);
	return err;
}

int who_init(struct who *w, const struct scope *sc)
{
	int err;

	*w = (struct who){ .s = sc->s };
	w->first = calloc(sc->nr_tasks + 1UL, sizeof(*w->first));
	if (!w->first)
		return -ENOMEM;
	err = map_new(sizeof(uint32_t), MAX_INTERRUPTS, &w->interrupt_places);
	if (!err)
		err = map_new(sizeof(uint32_t), MAX_INTERRUPTS, &w->seen_places);
	if (!err)
		err = add_raw(w, &(struct who_raw){ .task = TASKS_NONE });
	for (uint32_t i = 0; i < sc->nr_tasks && !err; i++) {
		w->first[i] = w->nr;
		err = add_task(w, i);
	}
	w->first[sc->nr_tasks] = w->nr;
	if (err)
		return err;
	w->scores = calloc(w->nr, sizeof(*w->scores));
	return w->scores ? 0 : -ENOMEM;
}

uint32_t who_last(const struct who *w, uint32_t task, uint64_t *since_ns)
{
	const struct who_raw *last = &w->raw[w->first[task + 1] - 1];

	*since_ns = last->from_ns;
	return last->same;
}

/* Adds a key to a list of different ones; *out is its place there. */
static int place_key(struct map *places, uint32_t key, uint32_t **list, uint32_t *nr,
                     uint32_t *room, uint32_t *out)
{
	if (map_find(places, &key, out))
		return 0;
	*out = *nr;
	if (GROW(*list, *room, *nr) || map_insert(places, &key, *out))
		return -ENOMEM;
	(*list)[(*nr)++] = key;
	return 0;
}

int who_see(struct who *w, uint32_t waker)
{
	struct interrupt i;
	uint32_t at;

	if (waker == TASKS_NONE || !interrupt_of_key(waker, &i))
		return 0;
	return place_key(w->seen_places, waker, &w->seen, &w->nr_seen, &w->room_seen, &at);
}

int who_place_seen(struct who *w)
{
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; i < w->nr_seen && !err; i++)
		err = who_waker(w, w->seen[i], 0, &at);
	return err;
}

int who_waker(struct who *w, uint32_t waker, uint64_t ts_ns, uint32_t *out)
{
	struct interrupt i;
	uint32_t at;
	int err;

	if (waker == TASKS_NONE || !interrupt_of_key(waker, &i)) {
		*out = who_at(w, waker, ts_ns);
		return 0;
	}
	err = place_key(w->interrupt_places, waker, &w->interrupts, &w->nr_interrupts,
	                &w->room_interrupts, &at);
	*out = WHO_INTERRUPT | at;
	return err;
}

/* What an order by score is made of. */
struct rank {
	uint64_t score;
	uint32_t raw;
};

static int by_score(const void *a, const void *b)
{
	const struct rank *left = a, *right = b;

	if (left->score != right->score)
		return left->score < right->score ? 1 : -1;
	return left->raw < right->raw ? -1 : left->raw > right->raw;
}

uint32_t who_nr_kept(const struct who *w)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i < w->nr; i++)
		nr += w->scores[i] && !w->raw[i].is_rest && (!w->as_who || w->as_who[i] == i);
	return nr;
}

/* Fits new entries into the arrays by raw number: each stands for itself. */
static int grow_maps(struct who *w, uint32_t from)
{
	uint32_t *as_who = realloc(w->as_who, w->nr * sizeof(*as_who)), *as_other;
	uint64_t *scores;

	if (!as_who)
		return -ENOMEM;
	w->as_who = as_who;
	as_other = realloc(w->as_other, w->nr * sizeof(*as_other));
	if (!as_other)
		return -ENOMEM;
	w->as_other = as_other;
	scores = realloc(w->scores, w->nr * sizeof(*scores));
	if (!scores)
		return -ENOMEM;
	w->scores = scores;
	for (uint32_t i = from; i < w->nr; i++) {
		w->as_who[i] = i;
		w->as_other[i] = i;
		if (w->raw[i].is_rest)
			w->scores[i] = 0;
	}
	return 0;
}

struct rest_key {
	uint32_t comm_id;
	uint32_t cgroup;
};

/* The rest that an entry belongs to, made where there is none yet. */
static int rest_of(struct who *w, struct map *rests, uint32_t raw, uint32_t *out)
{
	const struct task *t = tasks_at(w->s->tasks, w->raw[raw].task);
	struct rest_key key = { t ? t->comm_id : 0, w->raw[raw].cgroup };
	struct who_raw one = { .task = w->raw[raw].task, .cgroup = key.cgroup, .is_rest = true };
	int err;

	if (map_find(rests, &key, out))
		return 0;
	if (map_nr(rests) >= MAX_RESTS) {
		key = (struct rest_key){ UINT32_MAX, 0 };
		one.task = TASKS_NONE;
		one.cgroup = 0;
		if (map_find(rests, &key, out))
			return 0;
	}
	*out = w->nr;
	one.same = w->nr;
	err = add_raw(w, &one);
	return err ? err : map_insert(rests, &key, *out);
}

/* Those that are there from a former fold. */
static int list_rests(const struct who *w, struct map *rests)
{
	int err = 0;

	for (uint32_t i = 0; i < w->nr && !err; i++) {
		const struct task *t = tasks_at(w->s->tasks, w->raw[i].task);
		struct rest_key key = { t ? t->comm_id : UINT32_MAX, w->raw[i].cgroup };

		if (w->raw[i].is_rest)
			err = map_insert(rests, &key, i);
	}
	return err;
}

static int fold(struct who *w, const struct rank *ranks, uint32_t nr, uint32_t keep,
                uint32_t keep_other)
{
	SCOPED(scoped_map) struct map *rests = NULL;
	uint32_t rest, from;
	int err = map_new(sizeof(struct rest_key), MAX_RESTS + 2, &rests);

	if (!err)
		err = list_rests(w, rests);
	for (uint32_t i = keep < keep_other ? keep : keep_other; i < nr && !err; i++) {
		uint32_t raw = ranks[i].raw;

		from = w->nr;
		err = rest_of(w, rests, raw, &rest);
		if (!err && from < w->nr)
			err = grow_maps(w, from);
		if (err)
			break;
		if (i >= keep && w->as_who[raw] == raw) {
			w->as_who[raw] = rest;
			w->scores[rest] += w->scores[raw];
		}
		if (i >= keep_other)
			w->as_other[raw] = rest;
	}
	return err;
}

int who_fold(struct who *w, uint32_t keep, uint32_t keep_other)
{
	SCOPED(scoped_free) struct rank *ranks = calloc(w->nr, sizeof(*ranks));
	uint32_t nr = 0;

	if (!ranks)
		return -ENOMEM;
	if (!w->as_who && grow_maps(w, 0))
		return -ENOMEM;
	for (uint32_t i = 1; i < w->nr; i++)
		if (!w->raw[i].is_rest && w->raw[i].same == i)
			ranks[nr++] = (struct rank){ w->scores[i], i };
	qsort(ranks, nr, sizeof(*ranks), by_score);
	return fold(w, ranks, nr, keep, keep_other);
}

/* The place of each waker in the list of the report, which begins with no task. */
static int number_wakers(struct who *w, const uint8_t *is_waker, const uint8_t *is_interrupt)
{
	w->waker_numbers = calloc(w->nr, sizeof(*w->waker_numbers));
	w->waker_interrupt_numbers = calloc(w->nr_interrupts + 1UL,
	                                    sizeof(*w->waker_interrupt_numbers));
	if (!w->waker_numbers || !w->waker_interrupt_numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->nr; i++) {
		if (i && !is_waker[i])
			continue;
		if (GROW(w->wakers, w->room_wakers, w->nr_wakers))
			return -ENOMEM;
		w->waker_numbers[i] = w->nr_wakers;
		w->wakers[w->nr_wakers++] = i;
	}
	for (uint32_t i = 0; i < w->nr_interrupts; i++) {
		if (!is_interrupt[i])
			continue;
		if (GROW(w->wakers, w->room_wakers, w->nr_wakers))
			return -ENOMEM;
		w->waker_interrupt_numbers[i] = w->nr_wakers;
		w->wakers[w->nr_wakers++] = WHO_INTERRUPT | i;
	}
	return 0;
}

int who_number(struct who *w, const uint8_t *is_used, const uint8_t *is_waker,
               const uint8_t *is_interrupt)
{
	w->numbers = calloc(w->nr, sizeof(*w->numbers));
	if (!w->numbers)
		return -ENOMEM;
	w->nr_numbers = 1;
	for (uint32_t i = 1; i < w->nr; i++)
		if (is_used[i] || is_waker[i])
			w->numbers[i] = w->nr_numbers++;
	return number_wakers(w, is_waker, is_interrupt);
}

uint32_t who_waker_number(const struct who *w, uint32_t raw_waker)
{
	if (raw_waker & WHO_INTERRUPT)
		return w->waker_interrupt_numbers[raw_waker & ~WHO_INTERRUPT];
	return w->waker_numbers[raw_waker];
}

static const char *process_of(const struct source *s, uint32_t task)
{
	uint32_t tgid = source_tgid(s, task);
	uint64_t at_ns = tasks_at(s->tasks, task)->first_seen_ns;
	uint32_t leader = TASKS_NONE;

	if (tgid)
		leader = s->lives ? task_lives_at(s->lives, tgid, at_ns)
		                  : tasks_find(s->tasks, tgid);
	return leader == TASKS_NONE ? NULL : tasks_comm(s->tasks, leader);
}

/* Its path, or the number where only that is known; NULL while unknown. */
static const char *cgroup_of(const struct who *w, uint32_t raw, char buf[CGROUP_TEXT])
{
	uint32_t cgroup = w->raw[raw].cgroup;
	const char *path = cgroup ? tasks_cgroup_path(w->s->tasks, cgroup) : NULL;

	if (path || !cgroup)
		return path;
	(void)snprintf(buf, CGROUP_TEXT, "cgroup %llu",
	               (unsigned long long)tasks_cgroup_id(w->s->tasks, cgroup));
	return buf;
}

/* All names that it had, if there were several. */
static void write_names(const struct source *s, uint32_t task, struct json_writer *out)
{
	const struct task *t = tasks_at(s->tasks, task);
	uint32_t id;

	if (!t || t->nr_names < 2)
		return;
	jw_begin_array(out, "names");
	for (uint32_t i = 0; (id = tasks_name(s->tasks, task, i)); i++)
		jw_string(out, NULL, tasks_string(s->tasks, id));
	jw_end_array(out);
}

static void write_entry(const struct who *w, uint32_t raw, const struct classes *classes,
                        struct json_writer *out)
{
	const struct who_raw *one = &w->raw[raw];
	const struct source *s = w->s;
	bool is_thread = !one->is_rest && one->task != TASKS_NONE;
	uint32_t tgid = is_thread ? source_tgid(s, one->task) : 0;
	enum sched_class class = is_thread ? classes_at(classes, one->task, UINT64_MAX)
	                                   : CLASS_UNKNOWN;
	char buf[CGROUP_TEXT];

	jw_begin_object(out, NULL);
	jw_u64(out, "tid", is_thread ? source_tid(s, one->task) : 0);
	jw_u64_if(out, "tgid", tgid, tgid);
	jw_string(out, "comm", one->task == TASKS_NONE ? NULL : source_comm(s, one->task));
	jw_string(out, "process", is_thread ? process_of(s, one->task) : NULL);
	jw_string(out, "cgroup", cgroup_of(w, raw, buf));
	jw_string(out, "class", class == CLASS_UNKNOWN ? NULL : class_name(class));
	jw_u64_if(out, "task", is_thread, one->task);
	if (one->is_rest)
		jw_bool(out, "is_rest", true);
	if (is_thread)
		write_names(s, one->task, out);
	jw_end_object(out);
}

static void write_waker(const struct who *w, uint32_t raw, struct json_writer *out)
{
	struct interrupt i;
	char text[INTERRUPT_TEXT];

	jw_begin_object(out, NULL);
	if (raw & WHO_INTERRUPT) {
		(void)interrupt_of_key(w->interrupts[raw & ~WHO_INTERRUPT], &i);
		source_name_device(w->s, &i);
		jw_string(out, "interrupt", interrupt_title(&i, text));
	} else {
		jw_u64(out, "who", w->numbers[raw]);
	}
	jw_end_object(out);
}

void who_document(const struct who *w, const struct classes *classes, struct json_writer *out)
{
	jw_begin_array(out, "who");
	for (uint32_t i = 0; i < w->nr; i++)
		if (!i || w->numbers[i])
			write_entry(w, i, classes, out);
	jw_end_array(out);
	jw_begin_array(out, "wakers");
	for (uint32_t i = 0; i < w->nr_wakers; i++)
		write_waker(w, w->wakers[i], out);
	jw_end_array(out);
}
