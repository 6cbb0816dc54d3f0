#include "stat/tally/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "stat/tally/tally_priv.h"

#define DEFAULT_ROWS 65536U
#define MAX_ROWS     (1U << 22)
#define MAX_TASKS    (1U << 23) /* twice the most tasks that Linux can have: some change identity */
#define MAX_CPUS     65536U

DEFINE_SCOPED(tally, tally_free)

static int init(struct tally *t)
{
	/* One row more than the cap, and room for what the arena needs beside the objects. */
	size_t row_bytes = TALLY_METRICS * sizeof(struct hist) + sizeof(struct tally_depth);
	int err;

	t->interval = arena_new((t->cfg.max_rows + 1) * row_bytes * 2);
	t->cpus = calloc(t->cfg.nr_cpus ? t->cfg.nr_cpus : 1, sizeof(*t->cpus));
	if (!t->interval || !t->cpus)
		return -ENOMEM;
	err = map_new(sizeof(struct tally_key), t->cfg.max_rows, &t->row_of);
	if (err)
		return err;
	return map_new(sizeof(struct tally_task_key), MAX_TASKS, &t->task_of);
}

int tally_new(const struct tally_cfg *cfg, struct tally **out)
{
	SCOPED(scoped_tally) struct tally *t = NULL;
	int err;

	if ((unsigned int)cfg->by > TALLY_BY_CGROUP || cfg->nr_cpus > MAX_CPUS ||
	    cfg->max_rows > MAX_ROWS)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	if (t->cfg.max_rows == 0)
		t->cfg.max_rows = DEFAULT_ROWS;
	t->other_row = TALLY_NONE;
	t->free_task = TALLY_NONE;
	t->touched_task = TALLY_NONE;
	t->interval_nr = 1;
	err = init(t);
	if (err)
		return err;
	*out = TAKE_PTR(t);
	return 0;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_tasks; i++)
		tally_task_done(&t->tasks[i]);
	for (uint32_t i = 0; i < t->nr_rows; i++)
		tally_row_free(t->rows[i]);
	for (uint32_t i = 0; t->cpus && i < t->cfg.nr_cpus; i++) {
		free(t->cpus[i].delay);
		free(t->cpus[i].idle);
	}
	map_free(t->row_of);
	map_free(t->task_of);
	arena_free(t->interval);
	free(t->tasks);
	free(t->rows);
	free(t->cpus);
	free(t);
}

void tally_begin_drain(struct tally *t)
{
	struct tally_entry *next;

	for (struct tally_entry *row = t->open_row; row; row = next) {
		next = row->next_open;
		row->is_open = false;
		row->next_open = NULL;
		row->pub.open_slice_ns = 0;
		row->pub.open_slice_tid = 0;
		row->pub.open_wait = (struct tally_open_wait){ 0 };
	}
	t->open_row = NULL;
}

void tally_begin_interval(struct tally *t)
{
	t->interval_nr++;
	tally_row_clear_interval(t);
	for (uint32_t i = 0; i < t->cfg.nr_cpus; i++) {
		memset(&t->cpus[i].pub.delay[TALLY_INTERVAL], 0, sizeof(struct hist));
		memset(&t->cpus[i].pub.idle[TALLY_INTERVAL], 0, sizeof(struct hist));
	}
}

/* Whether the size is what kind and mask say, and it names a task; *out is its header. */
static bool is_sound(const uint8_t *rec, size_t len, struct stat_rec *out)
{
	struct stat_id id;
	size_t want;

	_Static_assert(offsetof(struct stat_task, id) == offsetof(struct stat_waking, id), "wire");
	_Static_assert(offsetof(struct stat_task, id) == offsetof(struct stat_queued, id), "wire");
	if (len < sizeof(*out) + sizeof(id))
		return false;
	memcpy(out, rec, sizeof(*out));
	memcpy(&id, rec + offsetof(struct stat_task, id), sizeof(id));
	if (out->kind == STAT_REC_TASK) {
		want = sizeof(struct stat_task) +
		       (size_t)__builtin_popcount(out->mask) * sizeof(struct abi_hist);
		if (out->mask >> STAT_STORED_METRICS)
			return false;
	} else if (out->kind == STAT_REC_WAKING) {
		want = sizeof(struct stat_waking);
	} else if (out->kind == STAT_REC_QUEUED) {
		want = sizeof(struct stat_queued);
	} else {
		return false;
	}
	return out->size == want && len == want && id.tid != 0;
}

int tally_record(struct tally *t, const void *rec, size_t len, uint64_t drained_ns)
{
	struct stat_rec head;

	if (!is_sound(rec, len, &head)) {
		t->loss.bad_records++;
		return -EBADMSG;
	}
	if ((uintptr_t)rec % _Alignof(struct stat_task)) {
		memcpy(&t->aligned, rec, len);
		rec = &t->aligned;
	}
	if (head.kind == STAT_REC_WAKING)
		return tally_task_take_waking(t, rec);
	if (head.kind == STAT_REC_QUEUED)
		return tally_task_take_queued(t, rec);
	return tally_task_take(t, rec, drained_ns);
}

/* Without memory nothing is noted as seen, so that the next update makes up for it. */
static void take_cpu_hist(struct tally *t, struct seen **seen, const struct abi_hist *now,
                          struct hist views[TALLY_VIEWS])
{
	struct hist *const into[TALLY_VIEWS] = { &views[TALLY_TOTAL], &views[TALLY_INTERVAL] };

	if (seen_compare(seen, now->slots, now->blocks & SEEN_HIST_BLOCKS, &t->growth) < 0)
		return;
	if (t->growth.count)
		seen_take_hist(*seen, now, &t->growth, into);
	else if (*seen)
		seen_take_late_hist(*seen, now, false, into);
}

void tally_cpu_update(struct tally *t, uint32_t cpu, const struct stat_cpu *now,
                      uint64_t drained_ns)
{
	bool is_idle = now->is_idle && now->since_ns && now->since_ns < drained_ns;
	struct cpu_state *c;

	if (cpu >= t->cfg.nr_cpus)
		return;
	c = &t->cpus[cpu];
	c->pub.is_known = true;
	c->pub.open_idle_ns = is_idle ? drained_ns - now->since_ns : 0;
	take_cpu_hist(t, &c->delay, &now->delay, c->pub.delay);
	take_cpu_hist(t, &c->idle, &now->idle, c->pub.idle);
}

const struct tally_row *tally_row_at(const struct tally *t, size_t i)
{
	return i < t->nr_rows ? &t->rows[i]->pub : NULL;
}

size_t tally_nr_rows(const struct tally *t)
{
	return t->nr_rows;
}

size_t tally_rows_touched(const struct tally *t, const struct tally_row **out, size_t room)
{
	size_t nr = 0;

	for (const struct tally_entry *row = t->touched_row; row; row = row->next_touched) {
		if (nr < room)
			out[nr] = &row->pub;
		nr++;
	}
	return nr;
}

const struct tally_cpu *tally_cpu_at(const struct tally *t, uint32_t cpu)
{
	return cpu < t->cfg.nr_cpus ? &t->cpus[cpu].pub : NULL;
}

void tally_loss(const struct tally *t, struct tally_loss *out)
{
	*out = t->loss;
}
