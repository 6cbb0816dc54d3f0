#include "symbol/spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"

#define MAX_LIVES    32768U
#define MAX_MAPPINGS (1U << 21)
#define MAX_PER_LIFE 16384U
#define NONE         UINT32_MAX
#define FOREVER      UINT64_MAX

struct mapping {
	struct space_mapping m;
	uint64_t max_end; /* of this one and all before it */
};

struct process_life {
	uint32_t tgid;
	uint32_t older;       /* the life before it; also the next free one */
	uint32_t next_exited; /* that exited after it */
	struct space_life pub;
	uint64_t from_ns;         /* 0 for the first that we know of */
	uint64_t start_ns;        /* by /proc; 0 = unknown */
	uint64_t exit_ns;         /* 0 = it is alive, or its exit was not reported */
	uint64_t exec_ns;         /* its last exec; 0 = none that we know of */
	uint64_t read_ns;         /* when its mappings were last read; 0 = never */
	struct mapping *mappings; /* by start */
	uint32_t nr, room;
};

struct spaces {
	struct spaces_cfg cfg;
	struct map *newest; /* tgid -> life */
	struct process_life *lives;
	uint32_t nr_lives, room, free_life;
	uint32_t nr_used, serial;
	uint32_t first_exited, last_exited;
	uint32_t nr_mappings;
	uint64_t nr_unkept;
};

struct spaces *spaces_new(const struct spaces_cfg *cfg)
{
	SCOPED(scoped_spaces) struct spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->cfg = *cfg;
	if (!s->cfg.max_lives)
		s->cfg.max_lives = MAX_LIVES;
	if (!s->cfg.max_mappings)
		s->cfg.max_mappings = MAX_MAPPINGS;
	if (!s->cfg.max_per_life)
		s->cfg.max_per_life = MAX_PER_LIFE;
	s->free_life = s->first_exited = s->last_exited = NONE;
	if (map_new(sizeof(uint32_t), s->cfg.max_lives, &s->newest))
		return NULL;
	return TAKE_PTR(s);
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_lives; i++)
		free(s->lives[i].mappings);
	free(s->lives);
	map_free(s->newest);
	free(s);
}

static struct process_life *newest_life(const struct spaces *s, uint32_t tgid)
{
	uint32_t at;

	return s->lives && map_find(s->newest, &tgid, &at) ? &s->lives[at] : NULL;
}

static struct process_life *life_at(const struct spaces *s, uint32_t tgid, uint64_t ts_ns)
{
	struct process_life *l = newest_life(s, tgid);

	while (l && l->from_ns > ts_ns)
		l = l->older == NONE ? NULL : &s->lives[l->older];
	return l;
}

/* It is the oldest of its process, so only the next younger one refers to it. */
static void unlink_life(struct spaces *s, uint32_t at)
{
	uint32_t tgid = s->lives[at].tgid;
	struct process_life *l = newest_life(s, tgid);

	if (!l)
		return;
	if (l == &s->lives[at]) {
		map_remove(s->newest, &tgid);
		return;
	}
	while (l->older != at && l->older != NONE)
		l = &s->lives[l->older];
	l->older = NONE;
}

static bool forget_oldest(struct spaces *s)
{
	uint32_t at = s->first_exited;
	struct process_life *l;

	if (at == NONE || !s->lives)
		return false;
	l = &s->lives[at];
	s->first_exited = l->next_exited;
	if (s->first_exited == NONE)
		s->last_exited = NONE;
	unlink_life(s, at);
	s->nr_mappings -= l->nr;
	s->nr_used--;
	free(l->mappings);
	*l = (struct process_life){ .older = s->free_life };
	s->free_life = at;
	return true;
}

/* A slot for one more life; -E2BIG if all are taken by processes that live. */
static int free_slot(struct spaces *s, uint32_t *out)
{
	int err;

	if (s->nr_used >= s->cfg.max_lives && !forget_oldest(s))
		return -E2BIG;
	if (s->free_life != NONE && s->lives) {
		*out = s->free_life;
		s->free_life = s->lives[*out].older;
		return 0;
	}
	err = GROW(s->lives, s->room, s->nr_lives);
	if (err)
		return err;
	*out = s->nr_lives++;
	return 0;
}

static int begin_life(struct spaces *s, uint32_t tgid, uint64_t ts_ns, struct process_life **out)
{
	uint32_t at = NONE, older = NONE;
	int err = free_slot(s, &at);

	if (err)
		return err;
	map_find(s->newest, &tgid, &older);
	err = map_insert(s->newest, &tgid, at);
	if (err) {
		s->lives[at] = (struct process_life){ .older = s->free_life };
		s->free_life = at;
		return err;
	}
	s->lives[at] = (struct process_life){
		.tgid = tgid,
		.older = older,
		.next_exited = NONE,
		.from_ns = older == NONE ? 0 : ts_ns,
		.pub = { .serial = s->serial++, .uid = SPACES_NO_UID },
	};
	s->nr_used++;
	*out = &s->lives[at];
	return 0;
}

static void end_life(struct spaces *s, struct process_life *l)
{
	uint32_t at = (uint32_t)(l - s->lives);

	if (l->pub.has_exited)
		return;
	l->pub.has_exited = true;
	if (s->last_exited == NONE)
		s->first_exited = at;
	else
		s->lives[s->last_exited].next_exited = at;
	s->last_exited = at;
}

/* The life that a report is about: the newest, or a new one if that has ended before. */
static int reported_life(struct spaces *s, uint32_t tgid, uint64_t ts_ns, struct process_life **out)
{
	struct process_life *l = newest_life(s, tgid);
	int err;

	if (l && !l->pub.has_exited) {
		*out = l;
		return 0;
	}
	err = begin_life(s, tgid, ts_ns, out);
	if (err == -E2BIG)
		s->nr_unkept++;
	return err;
}

/* How many mappings start at or before the address. */
static uint32_t upper_bound(const struct process_life *l, uint64_t address)
{
	uint32_t low = 0, high = l->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (l->mappings[middle].m.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct mapping *find_in(const struct process_life *l, uint64_t ts_ns, uint64_t address)
{
	const struct mapping *best = NULL;

	for (uint32_t i = l->mappings ? upper_bound(l, address) : 0; i > 0; i--) {
		const struct mapping *at = &l->mappings[i - 1];

		if (at->max_end <= address)
			break;
		if (at->m.end <= address || at->m.since_ns > ts_ns || at->m.until_ns <= ts_ns)
			continue;
		if (!best || at->m.since_ns > best->m.since_ns)
			best = at;
	}
	return best;
}

static void refresh_ends(struct process_life *l, uint32_t from)
{
	uint64_t max_end = from ? l->mappings[from - 1].max_end : 0;

	for (uint32_t i = from; i < l->nr; i++) {
		if (l->mappings[i].m.end > max_end)
			max_end = l->mappings[i].m.end;
		l->mappings[i].max_end = max_end;
	}
}

static void drop_mapping(struct spaces *s, struct process_life *l, uint32_t at)
{
	memmove(&l->mappings[at], &l->mappings[at + 1], (l->nr - at - 1) * sizeof(*l->mappings));
	l->nr--;
	s->nr_mappings--;
	refresh_ends(l, at);
}

static void drop_oldest_mapping(struct spaces *s, struct process_life *l)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < l->nr; i++)
		if (l->mappings[i].m.since_ns < l->mappings[oldest].m.since_ns)
			oldest = i;
	drop_mapping(s, l, oldest);
}

static int reserve_mapping(struct spaces *s, struct process_life *l)
{
	if (l->nr >= s->cfg.max_per_life)
		drop_oldest_mapping(s, l);
	/* l itself has not exited, so it stays. */
	while (s->nr_mappings >= s->cfg.max_mappings)
		if (!forget_oldest(s))
			return -E2BIG;
	return GROW(l->mappings, l->room, l->nr);
}

static int add_mapping(struct spaces *s, struct process_life *l, const struct space_mapping *m)
{
	int err = reserve_mapping(s, l);
	uint32_t at;

	if (err) {
		s->nr_unkept += err == -E2BIG;
		return err;
	}
	at = upper_bound(l, m->start);
	memmove(&l->mappings[at + 1], &l->mappings[at], (l->nr - at) * sizeof(*l->mappings));
	l->mappings[at] = (struct mapping){ .m = *m };
	l->nr++;
	s->nr_mappings++;
	refresh_ends(l, at);
	return 0;
}

/* A full table is not an error: it is counted, and reported once. */
static int unless_full(int err)
{
	return err == -E2BIG ? 0 : err;
}

static bool is_there(const struct process_life *l, uint64_t ts_ns, const struct space_mapping *m)
{
	const struct mapping *now = find_in(l, ts_ns, m->start);

	return now && now->m.start == m->start && now->m.end == m->end &&
	       now->m.offset == m->offset && now->m.file == m->file;
}

int spaces_map(struct spaces *s, uint32_t tgid, uint64_t ts_ns, const struct space_mapping *m)
{
	struct space_mapping added = *m;
	struct process_life *l = NULL;
	int err;

	if (m->end <= m->start)
		return 0;
	err = reported_life(s, tgid, ts_ns, &l);
	if (err)
		return unless_full(err);
	/* Read from /proc and reported as well: what is newest says the same. */
	if (is_there(l, FOREVER - 1, m))
		return 0;
	added.since_ns = ts_ns;
	added.until_ns = FOREVER;
	return unless_full(add_mapping(s, l, &added));
}

int spaces_exec(struct spaces *s, uint32_t tgid, uint64_t ts_ns)
{
	struct process_life *l = NULL;
	int err = reported_life(s, tgid, ts_ns, &l);

	if (err)
		return unless_full(err);
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->mappings[i].m.until_ns > ts_ns)
			l->mappings[i].m.until_ns = ts_ns;
	l->exec_ns = ts_ns;
	l->pub.is_whole = true;
	return 0;
}

int spaces_fork(struct spaces *s, uint32_t parent, uint32_t child, uint64_t ts_ns)
{
	struct process_life *l = newest_life(s, child);
	uint32_t from, to;
	int err;

	if (l)
		end_life(s, l); /* its exit was not reported: the number is another's now */
	err = begin_life(s, child, ts_ns, &l);
	if (err) {
		s->nr_unkept += err == -E2BIG;
		return unless_full(err);
	}
	to = (uint32_t)(l - s->lives);
	l = life_at(s, parent, ts_ns);
	if (!l || child == parent)
		return 0;
	from = (uint32_t)(l - s->lives);
	s->lives[to].pub.is_whole = l->pub.is_whole;
	s->lives[to].pub.uid = l->pub.uid;
	for (uint32_t i = 0; i < s->lives[from].nr; i++) {
		struct space_mapping m = s->lives[from].mappings[i].m;
		const struct mapping *now = find_in(&s->lives[from], ts_ns, m.start);

		/* Only what is still seen at its start, not what newer ones have covered. */
		if (!now || memcmp(&now->m, &m, sizeof(m)) != 0)
			continue;
		m.since_ns = ts_ns;
		m.until_ns = FOREVER;
		err = add_mapping(s, &s->lives[to], &m);
		if (err)
			return unless_full(err);
	}
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int spaces_read(struct spaces *s, uint32_t tgid, const struct space_process *now, uint64_t now_ns,
                uint64_t *since_ns)
{
	struct process_life *l = newest_life(s, tgid);
	uint64_t start_ns = now->start_ns;
	int err;

	/* Another process under the same number. */
	if (l && start_ns && l->start_ns && l->start_ns != start_ns)
		end_life(s, l);
	/* One that has exited stays in /proc until its parent takes notice. */
	if (!l || (l->pub.has_exited && start_ns && l->start_ns != start_ns)) {
		err = begin_life(s, tgid, later(start_ns, l ? l->exit_ns : 0), &l);
		if (err) {
			s->nr_unkept += err == -E2BIG;
			return err;
		}
	}
	l->pub.tried_ns = now_ns;
	if (!start_ns || l->pub.has_exited) {
		end_life(s, l);
		return 0;
	}
	*since_ns = later(l->read_ns ? l->read_ns : l->from_ns, l->exec_ns);
	l->start_ns = start_ns;
	l->pub.uid = now->uid;
	l->read_ns = now_ns;
	l->pub.is_whole = true;
	return 0;
}

void spaces_exit(struct spaces *s, uint32_t tgid, uint64_t ts_ns)
{
	struct process_life *l = newest_life(s, tgid);

	if (!l || l->from_ns > ts_ns)
		return;
	end_life(s, l);
	l->exit_ns = later(l->exit_ns, ts_ns);
}

bool spaces_life(const struct spaces *s, uint32_t tgid, uint64_t ts_ns, struct space_life *out)
{
	const struct process_life *l = life_at(s, tgid, ts_ns);

	if (l)
		*out = l->pub;
	return l;
}

bool spaces_find(struct spaces *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                 struct space_mapping *out)
{
	const struct process_life *l = life_at(s, tgid, ts_ns);
	const struct mapping *found = l ? find_in(l, ts_ns, address) : NULL;

	if (found)
		*out = found->m;
	return found;
}

/* Where the next newer one covers it. */
static uint64_t covered_from(const struct process_life *l, uint32_t at, uint64_t ts_ns)
{
	const struct space_mapping *m = &l->mappings[at].m;

	for (uint32_t i = at + 1; i < l->nr && l->mappings[i].m.start < m->end; i++) {
		const struct space_mapping *other = &l->mappings[i].m;

		if (other->since_ns <= ts_ns && other->until_ns > ts_ns &&
		    other->since_ns > m->since_ns)
			return other->start;
	}
	return m->end;
}

int spaces_each(const struct spaces *s, uint32_t tgid, uint64_t ts_ns, spaces_fn *fn, void *ctx)
{
	const struct process_life *l = life_at(s, tgid, ts_ns);
	uint64_t end = 0; /* of the last one */
	int err = 0;

	for (uint32_t i = 0; l && !err && i < l->nr; i++) {
		struct space_mapping m = l->mappings[i].m;
		uint64_t from = m.start > end ? m.start : end;
		const struct mapping *now = find_in(l, ts_ns, from);

		m.end = covered_from(l, i, ts_ns);
		if (!now || memcmp(&now->m, &l->mappings[i].m, sizeof(m)) != 0 || from >= m.end)
			continue;
		m.offset += from - m.start;
		m.start = from;
		err = fn(ctx, &m);
		end = m.end;
	}
	return err;
}

uint32_t spaces_nr(const struct spaces *s)
{
	return s->nr_used;
}

uint64_t spaces_unkept(const struct spaces *s)
{
	return s->nr_unkept;
}
