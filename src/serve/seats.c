#include "serve/seats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/text.h"

#define HALF_LIFE_NS 600e9
#define TAKE_OVER    2.0 /* so much more must a cgroup wait than the one whose seat it takes */

struct seats {
	struct seat **all; /* "other" first */
	uint32_t nr, cap;
	uint32_t nr_seats, nr_seated;
	uint64_t chosen_ns; /* 0 = never */
	uint64_t seed;
	uint32_t oldest, newest; /* SEAT_NONE = none is known */
	uint32_t replaced;
	uint64_t nr_forgotten;
	struct hist gone;
	struct map *index_of; /* hash of the name -> index */
};

static struct seat *add(struct seats *s, const char *name)
{
	struct seat *seat;

	if (GROW(s->all, s->cap, s->nr))
		return NULL;
	seat = calloc(1, sizeof(*seat));
	if (!seat)
		return NULL;
	memcpy(seat->name, name, strlen(name) + 1);
	s->all[s->nr++] = seat;
	return seat;
}

static bool give_sums(struct seat *seat)
{
	if (!seat->delay)
		seat->delay = calloc(1, sizeof(*seat->delay));
	return seat->delay;
}

int seats_new(uint32_t nr_seats, struct seats **out)
{
	SCOPED(scoped_seats) struct seats *s = calloc(1, sizeof(*s));
	struct seat *other;

	if (!s || map_new(sizeof(uint64_t), SEATS_KNOWN + 1, &s->index_of))
		return -ENOMEM;
	s->nr_seats = nr_seats < SEATS_MAX ? nr_seats : SEATS_MAX;
	s->seed = hash_seed();
	s->replaced = s->oldest = s->newest = SEAT_NONE;
	other = add(s, "other");
	if (!other || !give_sums(other))
		return -ENOMEM;
	other->is_seated = true;
	*out = TAKE_PTR(s);
	return 0;
}

void seats_free(struct seats *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr; i++) {
		free(s->all[i]->delay);
		free(s->all[i]->written);
		free(s->all[i]);
	}
	free(s->all);
	map_free(s->index_of);
	free(s);
}

static void unlink_seat(struct seats *s, uint32_t i)
{
	const struct seat *seat = s->all[i];

	*(seat->older == SEAT_NONE ? &s->oldest : &s->all[seat->older]->newer) = seat->newer;
	*(seat->newer == SEAT_NONE ? &s->newest : &s->all[seat->newer]->older) = seat->older;
}

static void link_newest(struct seats *s, uint32_t i)
{
	s->all[i]->older = s->newest;
	s->all[i]->newer = SEAT_NONE;
	*(s->newest == SEAT_NONE ? &s->oldest : &s->all[s->newest]->newer) = i;
	s->newest = i;
}

/* That was quiet for longest; SEAT_OTHER if all have seats. */
static uint32_t quietest(const struct seats *s)
{
	uint32_t i = s->oldest;

	while (i != SEAT_NONE && s->all[i]->is_seated)
		i = s->all[i]->newer;
	return i == SEAT_NONE ? SEAT_OTHER : i;
}

/* What it counted since the last file goes into the next one, without its name. */
static void keep_unwritten(struct hist *gone, const struct seat *seat)
{
	static const struct hist none;
	const struct hist *written = seat->written ? seat->written : &none;

	if (!seat->delay)
		return;
	gone->count += seat->delay->count - written->count;
	gone->sum_ns += seat->delay->sum_ns - written->sum_ns;
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		gone->slots[i] += seat->delay->slots[i] - written->slots[i];
}

static uint64_t hash_of(const struct seats *s, const char *name)
{
	return hash_bytes(name, strlen(name), s->seed);
}

static uint32_t replace(struct seats *s, const char *name)
{
	uint32_t i = quietest(s);
	struct seat *seat = s->all[i];
	uint64_t hash = hash_of(s, seat->name);

	if (i == SEAT_OTHER)
		return SEAT_OTHER;
	map_remove(s->index_of, &hash);
	unlink_seat(s, i);
	keep_unwritten(&s->gone, seat);
	free(seat->delay);
	free(seat->written);
	*seat = (struct seat){ 0 };
	memcpy(seat->name, name, strlen(name) + 1);
	s->replaced = i;
	s->nr_forgotten++;
	return i;
}

/* As it is kept; false for what is never but "other". */
static bool name_of(const struct seats *s, const char *path, char name[SEAT_NAME_LEN])
{
	if (!path || !*path || !s->nr_seats)
		return false;
	text_printable(name, SEAT_NAME_LEN, path, strlen(path));
	/* No path, but a recording may say so. */
	return strcmp(name, s->all[SEAT_OTHER]->name) != 0;
}

static uint32_t add_or_replace(struct seats *s, const char *name, uint64_t hash)
{
	uint32_t i;

	if (s->nr <= SEATS_KNOWN)
		i = add(s, name) ? s->nr - 1 : SEAT_OTHER;
	else
		i = replace(s, name);
	if (i == SEAT_OTHER)
		return SEAT_OTHER;
	link_newest(s, i);
	/* Without memory it stays without a name that finds it. */
	return map_insert(s->index_of, &hash, i) ? SEAT_OTHER : i;
}

uint32_t seats_find(struct seats *s, const char *path)
{
	char name[SEAT_NAME_LEN];
	uint64_t hash;
	uint32_t i;

	s->replaced = SEAT_NONE;
	if (!name_of(s, path, name))
		return SEAT_OTHER;
	hash = hash_of(s, name);
	if (!map_find(s->index_of, &hash, &i))
		return add_or_replace(s, name, hash);
	if (strcmp(s->all[i]->name, name) != 0)
		return SEAT_OTHER;
	unlink_seat(s, i);
	link_newest(s, i);
	return i;
}

uint32_t seats_known(const struct seats *s, const char *path)
{
	char name[SEAT_NAME_LEN];
	uint64_t hash;
	uint32_t i;

	if (!name_of(s, path, name))
		return SEAT_OTHER;
	hash = hash_of(s, name);
	if (!map_find(s->index_of, &hash, &i) || strcmp(s->all[i]->name, name) != 0)
		return SEAT_OTHER;
	return i;
}

void seats_note(struct seats *s, uint32_t seat, uint64_t cgroup_id, uint64_t wait_ns)
{
	if (seat == SEAT_OTHER || seat >= s->nr)
		return;
	s->all[seat]->cgroup_id = cgroup_id;
	s->all[seat]->score += (double)wait_ns;
}

static void forget_some(struct seats *s, uint64_t now_ns)
{
	double keep = s->chosen_ns ? exp2(-(double)(now_ns - s->chosen_ns) / HALF_LIFE_NS) : 1;

	for (uint32_t i = 1; i < s->nr; i++)
		s->all[i]->score *= keep;
	s->chosen_ns = now_ns;
}

static uint32_t best_without(const struct seats *s)
{
	uint32_t best = SEAT_OTHER;

	for (uint32_t i = 1; i < s->nr; i++)
		if (!s->all[i]->is_seated && s->all[i]->score > 0 &&
		    (best == SEAT_OTHER || s->all[i]->score > s->all[best]->score))
			best = i;
	return best;
}

static uint32_t worst_with(const struct seats *s)
{
	uint32_t worst = SEAT_OTHER;

	for (uint32_t i = 1; i < s->nr; i++)
		if (s->all[i]->is_seated &&
		    (worst == SEAT_OTHER || s->all[i]->score < s->all[worst]->score))
			worst = i;
	return worst;
}

/* Whether one got a seat. */
static bool seat_one(struct seats *s)
{
	uint32_t best = best_without(s), worst;

	if (best == SEAT_OTHER || !give_sums(s->all[best]))
		return false;
	if (s->nr_seated >= s->nr_seats) {
		worst = worst_with(s);
		if (worst == SEAT_OTHER || s->all[best]->score <= TAKE_OVER * s->all[worst]->score)
			return false;
		s->all[worst]->is_seated = false;
		s->nr_seated--;
	}
	s->all[best]->is_seated = true;
	s->nr_seated++;
	return true;
}

void seats_choose(struct seats *s, uint64_t now_ns)
{
	forget_some(s, now_ns);
	for (uint32_t i = 0; i < s->nr_seats && seat_one(s); i++)
		;
}

uint32_t seats_index(struct seats *s, uint32_t seat)
{
	return seat < s->nr && s->all[seat]->is_seated ? seat : SEAT_OTHER;
}

struct seat *seats_sums(struct seats *s, uint32_t seat)
{
	return s->all[seats_index(s, seat)];
}

struct seat *seats_at(struct seats *s, uint32_t seat)
{
	return seat < s->nr ? s->all[seat] : NULL;
}

uint32_t seats_nr_seated(const struct seats *s)
{
	return s->nr_seated;
}

uint32_t seats_nr_known(const struct seats *s)
{
	return s->nr - 1;
}

uint32_t seats_replaced(const struct seats *s)
{
	return s->replaced;
}

uint64_t seats_nr_forgotten(const struct seats *s)
{
	return s->nr_forgotten;
}

struct hist *seats_gone(struct seats *s)
{
	return &s->gone;
}

/* A counter that went back is of a new cgroup of the same name: all of it is new. */
static uint64_t grown(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

void seat_take_throttle(struct seat *seat, const struct seat_throttle *now)
{
	const struct seat_throttle *last = &seat->last;

	if (last->cgroup_id == now->cgroup_id) {
		seat->throttled_us += grown(last->usec, now->usec);
		seat->throttled_periods += grown(last->periods, now->periods);
	} else if (last->cgroup_id) { /* made anew since */
		seat->throttled_us += now->usec;
		seat->throttled_periods += now->periods;
	}
	seat->last = *now;
	seat->has_throttle = true;
}
