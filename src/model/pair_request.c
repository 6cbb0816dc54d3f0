/* Spans that belong to no CPU: block requests by device and sector, reclaim and fsync by task, named ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"
#include "model/pair_priv.h"

#define NO_REQUEST   UINT32_MAX
#define SECTOR_BYTES 512U

/* What is open, for the map: byte by byte. */
struct request_key {
	uint64_t kind; /* EV_BLOCK, EV_MEMORY or EV_FSYNC */
	uint64_t a;    /* device, or task */
	uint64_t b;    /* sector, or 0 */
};

struct pair_request {
	struct request_key key;
	uint64_t insert_ns; /* of reclaim and fsync: the begin */
	uint64_t issue_ns;
	uint64_t id;
	uint64_t value;
	uint32_t task;
	uint32_t next_free;
	uint32_t name_id;
	bool is_open;
	bool has_insert;
	bool has_issue;
};

struct pair_requests {
	struct map *of;
	struct pair_request *at;
	uint32_t nr;
	uint32_t max;
	uint32_t free;
	uint32_t *strings; /* by number of EV_STRING */
	uint32_t max_strings;
};

int pair_requests_new(struct pair *p)
{
	p->requests = calloc(1, sizeof(*p->requests));
	if (!p->requests)
		return -ENOMEM;
	p->requests->free = NO_REQUEST;
	return map_new(sizeof(struct request_key), PAIR_MAX_REQUESTS, &p->requests->of);
}

void pair_requests_free(struct pair *p)
{
	if (!p->requests)
		return;
	map_free(p->requests->of);
	free(p->requests->at);
	free(p->requests->strings);
	free(p->requests);
}

static struct pair_request *find(const struct pair *p, const struct request_key *key)
{
	uint32_t i;

	return map_find(p->requests->of, key, &i) ? &p->requests->at[i] : NULL;
}

/* A place for one more; NULL without room. */
static struct pair_request *take_place(struct pair_requests *r)
{
	uint32_t i = r->free;

	if (i != NO_REQUEST && r->at) {
		r->free = r->at[i].next_free;
		return &r->at[i];
	}
	if (r->nr == PAIR_MAX_REQUESTS || GROW(r->at, r->max, r->nr))
		return NULL;
	return &r->at[r->nr++];
}

static void give_back(struct pair_requests *r, struct pair_request *q)
{
	q->is_open = false;
	q->next_free = r->free;
	r->free = (uint32_t)(q - r->at);
}

static struct pair_request *open_request(struct pair *p, const struct request_key *key,
                                         uint32_t tid)
{
	struct pair_requests *r = p->requests;
	struct pair_request *q = take_place(r);

	if (q && map_insert(r->of, key, (uint32_t)(q - r->at)) < 0) {
		give_back(r, q);
		q = NULL;
	}
	if (!q) {
		p->breaks.no_room++;
		return NULL;
	}
	*q = (struct pair_request){
		.key = *key,
		.task = tasks_see(p->tasks, tid, p->now_ns),
		.is_open = true,
	};
	return q;
}

static void close_request(struct pair *p, struct pair_request *q)
{
	(void)map_remove(p->requests->of, &q->key);
	give_back(p->requests, q);
}

static void drop_request(struct pair *p, struct pair_request *q)
{
	p->breaks.unmatched_spans++;
	close_request(p, q);
}

void pair_requests_lost(struct pair *p, uint32_t ev_kind)
{
	struct pair_requests *r = p->requests;

	for (uint32_t i = 0; i < r->nr && map_nr(r->of); i++)
		if (r->at[i].is_open && r->at[i].key.kind == ev_kind)
			drop_request(p, &r->at[i]);
}

void pair_requests_forget_task(struct pair *p, uint32_t task)
{
	static const uint64_t kinds[] = { EV_MEMORY, EV_FSYNC };
	struct pair_request *q;

	if (!map_nr(p->requests->of))
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		q = find(p, &(struct request_key){ kinds[i], task, 0 });
		if (q)
			drop_request(p, q);
	}
}

/* The letters also say flush, sync, ahead, ...; discards are neither. */
static uint8_t direction(const struct ev_block *ev)
{
	size_t len = strnlen(ev->rwbs, sizeof(ev->rwbs));

	if (memchr(ev->rwbs, 'R', len))
		return PAIR_SPAN_READ;
	return memchr(ev->rwbs, 'W', len) ? PAIR_SPAN_WRITE : 0;
}

static void emit_span(struct pair *p, const struct pair_request *q, enum pair_span_kind kind,
                      const struct ev_hdr *rec)
{
	bool from_issue = kind == PAIR_BLOCK_DEVICE;
	struct pair_span row = {
		.start_ns = from_issue ? q->issue_ns : q->insert_ns,
		.end_ns = p->now_ns,
		.id = q->id,
		.value = q->value,
		.task = q->task,
		.name_id = q->name_id,
		.cpu = pair_cpu_nr(rec->cpu),
		.kind = (uint8_t)kind,
	};

	if (rec->kind == EV_BLOCK)
		row.flags = direction((const struct ev_block *)rec);
	PAIR_EMIT(p, span, &row);
}

static void note_block(struct pair *p, struct pair_request *q, const struct ev_block *ev)
{
	uint32_t name_id = tasks_intern(p->tasks, ev->rwbs, strnlen(ev->rwbs, sizeof(ev->rwbs)));

	q->id = ev->dev;
	if (ev->nr_sectors)
		q->value = 1ULL * ev->nr_sectors * SECTOR_BYTES;
	if (name_id)
		q->name_id = name_id;
}

static void complete_block(struct pair *p, struct pair_request *q, const struct ev_block *ev)
{
	if (!q->has_issue) {
		drop_request(p, q);
		return;
	}
	note_block(p, q, ev);
	emit_span(p, q, PAIR_BLOCK_DEVICE, &ev->hdr);
	if (q->has_insert)
		emit_span(p, q, PAIR_BLOCK_TOTAL, &ev->hdr);
	close_request(p, q);
}

/* Only inside a handler of which the begin is known: there the wakings that follow can be told from others. */
static void note_completion(struct pair *p, const struct ev_block *ev)
{
	struct pair_cpu_state *c = pair_cpu_get(p, ev->hdr.cpu);
	const struct pair_open *handler = c ? pair_span_interrupt(c) : NULL;

	if (!c)
		return;
	c->completed_dev = handler && ev->dev <= UINT32_MAX ? (uint32_t)ev->dev : 0;
	c->completing_ns = handler ? handler->start_ns : 0;
}

void pair_block_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_block *ev = (const struct ev_block *)rec;
	struct request_key key = { EV_BLOCK, ev->dev, ev->sector };
	struct pair_request *q = find(p, &key);

	if (ev->step > EV_BLOCK_COMPLETE)
		return;
	if (ev->step == EV_BLOCK_COMPLETE) {
		note_completion(p, ev);
		if (q)
			complete_block(p, q, ev);
		else
			p->breaks.unmatched_spans++;
		return;
	}
	/* Inserted or issued again: the end of the former one was not seen. */
	if (q && (ev->step == EV_BLOCK_INSERT || q->has_issue)) {
		drop_request(p, q);
		q = NULL;
	}
	if (!q)
		q = open_request(p, &key, ev->tid);
	if (!q)
		return;
	note_block(p, q, ev);
	if (ev->step == EV_BLOCK_INSERT) {
		q->has_insert = true;
		q->insert_ns = p->now_ns;
		return;
	}
	q->has_issue = true;
	q->issue_ns = p->now_ns;
	if (q->has_insert)
		emit_span(p, q, PAIR_BLOCK_QUEUE, rec);
}

/* Intervals that a task begins and ends itself, on whichever CPUs it runs meanwhile. */
static void task_span(struct pair *p, const struct ev_hdr *rec, uint32_t tid, bool is_end)
{
	struct request_key key = { rec->kind, tasks_see(p->tasks, tid, p->now_ns), 0 };
	struct pair_request *q = key.a == TASKS_NONE ? NULL : find(p, &key);
	const struct ev_fsync *fsync = (const struct ev_fsync *)rec;

	if (key.a == TASKS_NONE)
		return;
	if (is_end) {
		if (!q) {
			p->breaks.unmatched_spans++;
			return;
		}
		emit_span(p, q, rec->kind == EV_FSYNC ? PAIR_FSYNC : PAIR_RECLAIM, rec);
		close_request(p, q);
		return;
	}
	if (q)
		drop_request(p, q);
	q = open_request(p, &key, tid);
	if (!q)
		return;
	q->insert_ns = p->now_ns;
	q->id = rec->kind == EV_FSYNC ? fsync->inode : 0;
	q->value = rec->kind == EV_FSYNC ? fsync->dev : ((const struct ev_memory *)rec)->order;
}

void pair_fsync_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_fsync *ev = (const struct ev_fsync *)rec;

	task_span(p, rec, ev->tid, ev->is_end != 0);
}

void pair_memory_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_memory *ev = (const struct ev_memory *)rec;

	if (ev->step == EV_RECLAIM_BEGIN || ev->step == EV_RECLAIM_END)
		task_span(p, rec, ev->tid, ev->step == EV_RECLAIM_END);
	else if (ev->step == EV_PAGE_ALLOC || ev->step == EV_PAGE_FREE)
		pair_mark_record(p, rec);
}

void pair_named_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_span *ev = (const struct ev_span *)rec;
	struct pair_span row = {
		.start_ns = ev->start_ns,
		.end_ns = p->now_ns,
		.id = ev->id,
		.task = tasks_see(p->tasks, ev->tid, p->now_ns),
		.name_id = pair_string(p, ev->name),
		.category_id = pair_string(p, ev->category),
		.cpu = pair_cpu_nr(rec->cpu),
		.kind = PAIR_NAMED,
	};

	if (ev->start_ns > p->now_ns) {
		p->breaks.unmatched_spans++;
		return;
	}
	PAIR_EMIT(p, span, &row);
}

static bool has_string_slot(struct pair_requests *r, uint32_t id)
{
	return id < PAIR_MAX_STRINGS && !GROW_ZEROED(r->strings, r->max_strings, id);
}

void pair_string_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_string *ev = (const struct ev_string *)rec;
	const char *text = (const char *)(ev + 1);

	if (has_string_slot(p->requests, ev->id))
		p->requests->strings[ev->id] = tasks_intern(p->tasks, text,
		                                            strnlen(text, rec->size - sizeof(*ev)));
	else
		p->breaks.no_room++;
}

uint32_t pair_string(const struct pair *p, uint32_t id)
{
	return p->requests && id < p->requests->max_strings ? p->requests->strings[id] : 0;
}
