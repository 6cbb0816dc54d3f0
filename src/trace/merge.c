#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "trace/ftrace/events.h"
#include "trace/merge_priv.h"
#include "trace/perfetto/meta_in.h"
#include "trace/perfetto/schema.h"

#define NO_RUN        UINT32_MAX
#define CHAINS_TRIED  8U  /* of a lane, before a run gets one of its own */
#define TIES_COMPARED 16U /* records of the same time that are compared */
#define TASKS_CAP     (1U << 26)
#define PROGRESS      0xffffU
#define PRIO_DEFAULT  120 /* that of an ordinary task */

static bool is_before(const struct heap_entry *a, const struct heap_entry *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->chain < b->chain;
}

static void sift_down(struct merge *m, size_t at)
{
	struct heap_entry e = m->heap[at];
	size_t child;

	while ((child = 2 * at + 1) < m->nr_heap) {
		if (child + 1 < m->nr_heap && is_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!is_before(&m->heap[child], &e))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = e;
}

/* Puts a run behind those of its lane that it follows. */
static int add_run(struct merge *m, struct map *lanes, uint32_t nr)
{
	struct rec_run *run = m->runs[nr];
	uint32_t at = NO_RUN, head = NO_RUN;
	struct merge_chain *c;

	if (map_find(lanes, &run->lane, &head)) {
		at = head;
		for (uint32_t i = 0; at != NO_RUN && i < CHAINS_TRIED; i++) {
			c = &m->chains[at];
			if (run->first_ts_ns >= c->last_ts_ns) {
				m->next_run[c->last_run] = nr;
				c->last_run = nr;
				c->last_ts_ns = run->last_ts_ns;
				return 0;
			}
			at = c->next;
		}
	}
	if (GROW(m->chains, m->cap_chains, m->nr_chains))
		return -ENOMEM;
	m->chains[m->nr_chains] = (struct merge_chain){
		.next = head, .first_run = nr, .last_run = nr, .last_ts_ns = run->last_ts_ns
	};
	return map_insert(lanes, &run->lane, (uint32_t)m->nr_chains++);
}

static void enter_run(struct merge *m, struct merge_chain *c, uint32_t nr)
{
	c->run = nr == NO_RUN ? NULL : m->runs[nr];
	c->first_run = nr;
	c->at = 0;
	if (!c->run)
		return;
	c->chunk = c->run->chunk;
	c->offset = c->run->offset;
}

/* The record at hand, which is there. */
static struct ev_hdr *head_of(struct merge_chain *c)
{
	if (c->run->sorted)
		return c->run->sorted[c->at];
	if (c->offset == c->chunk->len) {
		c->chunk = c->chunk->next;
		c->offset = 0;
	}
	return (struct ev_hdr *)(c->chunk->bytes + c->offset);
}

/* Past the record at hand, which is consumed. */
static void step(struct merge *m, struct merge_chain *c, const struct ev_hdr *rec)
{
	struct rec_chunk *chunk = c->chunk;

	c->at++;
	if (!c->run->sorted) {
		c->offset += rec->size;
		if (--chunk->nr_left == 0) {
			c->chunk = chunk->next;
			c->offset = 0;
			rec_chunk_drop(chunk, m->r->cfg.budget);
		}
	}
	if (c->at == c->run->nr)
		enter_run(m, c, m->next_run[c->first_run]);
}

static int gather_runs(struct merge *m, struct rec_out *outs, size_t nr_outs)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_outs; i++)
		m->nr_runs += outs[i].nr_runs;
	if (m->nr_runs >= NO_RUN)
		return -E2BIG;
	m->runs = reallocarray(NULL, m->nr_runs + 1, sizeof(struct rec_run *));
	m->next_run = reallocarray(NULL, m->nr_runs + 1, sizeof(*m->next_run));
	if (!m->runs || !m->next_run)
		return -ENOMEM;
	for (size_t i = 0; i < nr_outs; i++)
		for (size_t k = 0; k < outs[i].nr_runs; k++) {
			m->next_run[nr] = NO_RUN;
			m->runs[nr++] = &outs[i].runs[k];
		}
	return 0;
}

static int make_heap(struct merge *m)
{
	SCOPED(scoped_map) struct map *lanes = NULL;
	int err = map_new(sizeof(uint32_t), MAP_MAX_CAP, &lanes);

	for (size_t i = 0; i < m->nr_runs && !err; i++)
		err = add_run(m, lanes, (uint32_t)i);
	if (err)
		return err;
	m->heap = reallocarray(NULL, m->nr_chains + 1, sizeof(*m->heap));
	if (!m->heap)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_chains; i++) {
		struct merge_chain *c = &m->chains[i];

		enter_run(m, c, c->first_run);
		if (!c->run)
			continue;
		m->heap[m->nr_heap++] = (struct heap_entry){ .ts_ns = c->run->first_ts_ns,
			                                     .rank = c->run->lane,
			                                     .chain = (uint32_t)i,
			                                     .rec = head_of(c) };
	}
	for (size_t i = m->nr_heap / 2; i-- > 0;)
		sift_down(m, i);
	return 0;
}

static bool is_wake(const struct ev_hdr *rec)
{
	return rec->kind == EV_WAKING || rec->kind == EV_WAKEUP || rec->kind == EV_WAKEUP_NEW;
}

static uint32_t leaving_tid(const struct merge *m, const struct ev_switch *rec)
{
	return rec->hdr.flags & REC_INFER ? m->cpus[rec->hdr.cpu].tid : rec->prev_tid;
}

/* Whether b must come before a, which happened at the same time. */
static bool must_precede(const struct merge *m, const struct ev_hdr *a, const struct ev_hdr *b)
{
	if (is_wake(a) && b->kind == EV_SWITCH && a->cpu != b->cpu) {
		const struct ev_switch *sw = (const struct ev_switch *)b;
		uint32_t woken = ((const struct ev_wake *)a)->tid;

		return woken && leaving_tid(m, sw) == woken && sw->next_tid != woken;
	}
	if (a->kind == EV_SWITCH && is_wake(b) && a->cpu != b->cpu) {
		uint32_t woken = ((const struct ev_wake *)b)->tid;

		return woken && ((const struct ev_switch *)a)->next_tid == woken &&
		       leaving_tid(m, (const struct ev_switch *)a) != woken;
	}
	return false;
}

/* Among the records of the earliest time, one that none of the others must precede. */
static size_t choose(const struct merge *m)
{
	size_t ties[TIES_COMPARED], nr = 1, best = 0;

	ties[0] = 0;
	for (size_t i = 0; i < nr && nr < TIES_COMPARED; i++)
		for (size_t child = 2 * ties[i] + 1; child <= 2 * ties[i] + 2; child++)
			if (child < m->nr_heap && nr < TIES_COMPARED &&
			    m->heap[child].ts_ns == m->heap[0].ts_ns)
				ties[nr++] = child;
	/* Names first: the record that matters may follow them. */
	for (size_t i = 0; i < nr; i++)
		if (m->heap[ties[i]].rec->kind == IN_NAME)
			return ties[i];
	/* Each change is for a reason; a ring of reasons ends after as many steps as there are ties. */
	for (size_t i = 0; i < nr; i++) {
		size_t before = best;

		for (size_t k = 0; k < nr && best == before; k++)
			if (ties[k] != best &&
			    must_precede(m, m->heap[best].rec, m->heap[ties[k]].rec))
				best = ties[k];
		if (best == before)
			break;
	}
	return best;
}

/* Restores the heap after the entry at a place has got another, later record, or gone. */
static void replace(struct merge *m, size_t at)
{
	struct heap_entry *e = &m->heap[at];
	struct merge_chain *c = &m->chains[e->chain];

	if (c->run) {
		e->rec = head_of(c);
		e->ts_ns = e->rec->ts_ns;
		e->rank = c->run->lane;
	} else {
		*e = m->heap[--m->nr_heap];
		/* From the end into the middle: it may belong higher up. */
		while (at && at < m->nr_heap && is_before(&m->heap[at], &m->heap[(at - 1) / 2])) {
			struct heap_entry up = m->heap[(at - 1) / 2];

			m->heap[(at - 1) / 2] = m->heap[at];
			m->heap[at] = up;
			at = (at - 1) / 2;
		}
	}
	if (at < m->nr_heap)
		sift_down(m, at);
}

/* Emits an EV_STRING. */
static int put_text(struct merge *m, const char *s, size_t len, uint32_t *out)
{
	_Alignas(8) uint8_t bytes[REC_MAX_BYTES];
	struct ev_string *rec = (struct ev_string *)bytes;
	size_t room = sizeof(bytes) - sizeof(*rec) - 8;

	if (len > room)
		len = room;
	*out = m->nr_texts++;
	memset(bytes, 0, sizeof(*rec) + (len + 8) / 8 * 8);
	rec->hdr = (struct ev_hdr){ .size = (uint16_t)(sizeof(*rec) + (len + 8) / 8 * 8),
		                    .kind = EV_STRING,
		                    .ts_ns = m->last_ns };
	rec->id = *out;
	memcpy(rec + 1, s, len);
	return merge_push(m, &rec->hdr);
}

int merge_text(struct merge *m, uint32_t text, uint32_t *out)
{
	const char *s;
	size_t len;
	int err;

	if (map_find(m->text_ids, &text, out))
		return 0;
	err = map_insert(m->text_ids, &text, m->nr_texts);
	if (err)
		return err;
	s = reader_text(m->r, text, &len);
	return put_text(m, s, len, out);
}

int merge_word(struct merge *m, const char *word, uint32_t *known)
{
	return *known ? 0 : put_text(m, word, strlen(word), known);
}

static int take_span(struct merge *m, struct ev_span *rec)
{
	int err = merge_text(m, rec->category, &rec->category);

	return err ? err : merge_text(m, rec->name, &rec->name);
}

/*
 * The task on a CPU, as the next records of the CPU assume; described now, because they mention it.
 */
static int see_current(struct merge *m, struct merge_cpu *c, uint64_t ts_ns)
{
	bool is_reported = !c->is_unreported;

	c->is_unreported = false;
	return is_reported ? 0 : merge_see(m, c->tid, ts_ns);
}

static int take_switch(struct merge *m, struct ev_switch *rec)
{
	struct merge_cpu *c = &m->cpus[rec->hdr.cpu];
	uint64_t *damage = m->r->tally.damage;
	int err = 0;

	if (!(rec->hdr.flags & REC_INFER)) {
		damage[DAMAGE_SWITCH_MISMATCH] += c->is_known && c->tid != rec->prev_tid &&
		                                  !(rec->hdr.flags & EV_FLAG_UNKNOWN);
	} else if (c->is_known) {
		rec->prev_tid = c->tid;
		rec->prev_prio = c->prio;
		err = see_current(m, c, rec->hdr.ts_ns);
	} else {
		rec->hdr.flags |= EV_FLAG_UNKNOWN;
		rec->prev_state = 0;
		damage[DAMAGE_COMPACT_SWITCH_NO_PREV]++;
	}
	if (m->r->fix.hides_others)
		rec->hdr.flags |= (uint8_t)((rec->prev_tid ? 0 : EV_FLAG_OTHER_PREV) |
		                            (rec->next_tid ? 0 : EV_FLAG_OTHER_NEXT));
	*c = (struct merge_cpu){ .is_known = true, .tid = rec->next_tid, .prio = rec->next_prio };
	if (rec->hdr.cpu >= m->nr_cpus)
		m->nr_cpus = rec->hdr.cpu + 1;
	return err || !m->has_calls ? err : merge_sleep(m, rec);
}

void merge_first(struct merge *m, const struct ev_hdr *rec, uint32_t tid)
{
	struct merge_cpu *c = &m->cpus[rec->cpu];

	if (!c->is_known)
		*c = (struct merge_cpu){
			.is_known = true,
			.is_unreported = true,
			.tid = tid,
			.prio = PRIO_DEFAULT,
		};
}

static int take_wake(struct merge *m, struct ev_wake *rec)
{
	struct merge_cpu *c = &m->cpus[rec->hdr.cpu];

	if (!(rec->hdr.flags & REC_INFER))
		return 0;
	if (c->is_known) {
		rec->waker_tid = c->tid;
		return see_current(m, c, rec->hdr.ts_ns);
	}
	rec->hdr.flags |= EV_FLAG_UNKNOWN;
	m->r->tally.damage[DAMAGE_COMPACT_WAKING_NO_WAKER]++;
	return 0;
}

int merge_push(struct merge *m, struct ev_hdr *rec)
{
	rec->flags &= (uint8_t) ~(REC_INFER | (rec->kind == EV_FORK ? REC_IS_FORK : 0));
	if (rec->ts_ns < m->last_ns)
		rec->ts_ns = m->last_ns;
	m->last_ns = rec->ts_ns;
	m->r->info.nr_records++;
	return m->sink->push(m->sink->ctx, rec);
}

/* Where a run had to be put in order, names may follow records that need them. */
static int see_tids(struct merge *m, const struct ev_hdr *rec)
{
	const struct ev_switch *sw = (const struct ev_switch *)rec;
	const struct ev_wake *wake = (const struct ev_wake *)rec;
	uint32_t a = 0, b = 0;
	int err;

	if (rec->kind == EV_SWITCH) {
		a = sw->prev_tid;
		b = sw->next_tid;
	} else if (is_wake(rec)) {
		a = wake->tid;
		b = wake->waker_tid;
	}
	err = merge_see(m, a, rec->ts_ns);
	return err ? err : merge_see(m, b, rec->ts_ns);
}

static int take(struct merge *m, struct ev_hdr *rec)
{
	bool is_wanted = true, is_released = false;
	uint32_t cpu = rec->cpu;
	int err = 0;

	switch (rec->kind) {
	case EV_SWITCH:
		is_released = m->cpus[cpu].has_held;
		err = take_switch(m, (struct ev_switch *)rec);
		break;
	case EV_WAKING:
	case EV_WAKEUP:
	case EV_WAKEUP_NEW:
		err = take_wake(m, (struct ev_wake *)rec);
		break;
	case EV_LOST:
		m->cpus[cpu].is_known &= ((struct ev_lost *)rec)->kind != EV_SWITCH;
		is_released = m->cpus[cpu].has_held && !m->cpus[cpu].is_known;
		m->cpus[cpu].has_held &= m->cpus[cpu].is_known;
		break;
	case EV_FORK:
	case EV_EXEC:
	case EV_EXIT:
	case EV_RENAME:
	case EV_FREE:
		err = merge_life(m, rec, &is_wanted);
		break;
	case EV_SPAN:
		err = take_span(m, (struct ev_span *)rec);
		break;
	case EV_BLOCK:
		is_wanted = !(rec->flags & REC_IS_IO && m->r->tally.ftrace[FTRACE_BLOCK_RQ_ISSUE]);
		break;
	case EV_PROBE:
		err = merge_probe(m, (struct ev_probe *)rec, &is_wanted);
		break;
	case IN_NAME:
		return merge_name(m, (const struct in_name *)rec);
	case IN_MARK:
		return merge_mark(m, (const struct in_mark *)rec);
	case IN_CALL:
		return m->has_calls ? merge_call(m, (const struct in_call *)rec) : 0;
	default:
		if (rec->kind >= IN_TRACK)
			return tracks_resolve(m, m->r, rec);
		break;
	}
	if (!err && is_wanted)
		err = merge_push(m, rec);
	return err || !is_released ? err : merge_release(m, cpu);
}

/*
 * An event of ftrace from before all CPUs are recorded: what begins there may end on a CPU that is not. It says which tasks
 * there are, and what runs.
 */
static int take_early(struct merge *m, struct ev_hdr *rec)
{
	const struct ev_switch *sw = (const struct ev_switch *)rec;
	bool is_released = false;

	switch (rec->kind) {
	case EV_FORK:
	case EV_EXEC:
	case EV_EXIT:
	case EV_RENAME:
	case EV_FREE:
	case IN_NAME:
		return take(m, rec);
	case EV_SWITCH:
		is_released = m->cpus[rec->cpu].has_held;
		m->cpus[rec->cpu] = (struct merge_cpu){ .is_known = true,
			                                .is_unreported = true,
			                                .tid = sw->next_tid,
			                                .prio = sw->next_prio };
		break;
	case EV_LOST:
		m->cpus[rec->cpu].is_known &= ((struct ev_lost *)rec)->kind != EV_SWITCH;
		break;
	default:
		break;
	}
	m->r->tally.damage[DAMAGE_EVENT_BEFORE_ALL]++;
	return is_released ? merge_release(m, rec->cpu) : 0;
}

/* Our recorder says in an attribute that it took one wakeup in so many. */
static int emit_sampling(struct merge *m)
{
	const struct reader_meta *meta = m->r->meta;
	struct ev_sampling rec = { .hdr = { .size = sizeof(rec), .kind = EV_SAMPLING } };

	for (size_t i = 0; i < meta->nr_attrs; i++)
		if (strcmp(meta->attrs[i].key, "sampling_one_in") == 0 && meta->attrs[i].number > 0)
			rec.one_in = (__u64)meta->attrs[i].number;
	if (!rec.one_in || m->nr_heap == 0)
		return 0;
	rec.hdr.ts_ns = m->heap[0].ts_ns;
	return merge_push(m, &rec.hdr);
}

/* Likewise what it measured, which must be said even if there was none of it. */
static int emit_measures(struct merge *m)
{
	const struct reader_meta *meta = m->r->meta;
	struct ev_measures rec = { .hdr = { .size = sizeof(rec), .kind = EV_MEASURES } };

	for (size_t i = 0; i < meta->nr_attrs; i++)
		if (strcmp(meta->attrs[i].key, "measures") == 0 && meta->attrs[i].number > 0)
			rec.flags = (__u32)meta->attrs[i].number;
	if (!rec.flags || m->nr_heap == 0)
		return 0;
	rec.hdr.ts_ns = m->heap[0].ts_ns;
	return merge_push(m, &rec.hdr);
}

static int run(struct merge *m)
{
	const struct trace_read_cfg *cfg = &m->r->cfg;
	uint64_t nr = 0, total = 0;
	bool is_early;
	struct merge_chain *c;
	struct ev_hdr *rec;
	size_t at;
	int err = emit_sampling(m);

	if (!err)
		err = emit_measures(m);
	for (size_t i = 0; i < m->nr_runs; i++)
		total += m->runs[i]->nr;
	while (m->nr_heap && !err) {
		at = 0;
		if ((m->nr_heap > 1 && m->heap[1].ts_ns == m->heap[0].ts_ns) ||
		    (m->nr_heap > 2 && m->heap[2].ts_ns == m->heap[0].ts_ns))
			at = choose(m);
		c = &m->chains[m->heap[at].chain];
		rec = m->heap[at].rec;
		if (c->run->sorted)
			err = see_tids(m, rec);
		is_early = rec->ts_ns < m->r->crop_ns &&
		           m->heap[at].rank < READER_CPUS_MAX * LANES_PER_CPU;
		if (!err)
			err = is_early ? take_early(m, rec) : take(m, rec);
		step(m, c, rec);
		replace(m, at);
		if ((++nr & PROGRESS) == 0 && cfg->progress)
			cfg->progress(cfg->progress_ctx, total + nr, 2 * total);
	}
	while (m->nr_held && !err)
		err = merge_release(m, m->held[0].cpu);
	return err;
}

/* The time that the file covers may begin before its first record. */
static int emit_start(struct merge *m)
{
	const struct read_counts *t = &m->r->tally;

	if (!m->sink->advance || t->min_ts_ns > t->max_ts_ns)
		return 0;
	return m->sink->advance(m->sink->ctx, t->min_ts_ns);
}

int merge_all(struct reader *r, struct rec_out *outs, size_t nr_outs, const struct ev_sink *sink)
{
	struct merge *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (!m)
		return err;
	m->r = r;
	m->sink = sink;
	m->nr_texts = 1; /* 0 is no text */
	/* Without the ends a task could be in any call, or in none. */
	m->has_calls = r->tally.ftrace[FTRACE_SYS_ENTER] && r->tally.ftrace[FTRACE_SYS_EXIT];
	if (map_new(sizeof(uint32_t), TASKS_CAP, &m->task_ids) == 0 &&
	    map_new(sizeof(uint32_t), TASKS_CAP, &m->text_ids) == 0 &&
	    map_new(sizeof(uint32_t), TASKS_CAP, &m->probe_ids) == 0 &&
	    map_new(2 * sizeof(uint32_t), TASKS_CAP, &m->open_ids) == 0)
		err = gather_runs(m, outs, nr_outs);
	if (!err)
		err = make_heap(m);
	if (!err)
		err = emit_start(m);
	if (!err)
		err = run(m);
	map_free(m->task_ids);
	map_free(m->text_ids);
	map_free(m->probe_ids);
	free(m->tasks);
	free(m->held);
	map_free(m->open_ids);
	free(m->opens);
	free(m->heap);
	free(m->chains);
	free(m->next_run);
	free(m->runs);
	free(m);
	return err;
}
