#include "mcp/trigger_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/worker.h"
#include "live/live_feed.h"
#include "live/live_triggers.h"
#include "mcp/tool.h"
#include "mcp/trigger_story.h"

#define KEPT      4U
#define LOOK_MS   10000U /* for triggers without readers */
#define NS_PER_MS 1000000ULL

struct firing {
	struct trigger_hit hit;
	struct trigger_story story;
};

struct slot {
	struct trigger_service *service;
	char id[TRIGGER_ID_LEN]; /* empty = free */
	bool is_ending;          /* on its way out: no call finds it */
	uint64_t owner;
	char when[TRIGGER_WHEN_LEN];
	bool is_of_self; /* this process is meant, too */
	uint32_t watch;
	uint64_t cooldown_ns, ready_ns; /* it is not reported again before that */
	uint64_t set_ns, used_ns;
	uint32_t nr_subscribers;
	uint64_t fired, silenced, longest, revision;
	bool has_pending;
	struct trigger_hit pending;
	struct firing last[KEPT]; /* the newest first */
	uint32_t nr_last;
};

struct trigger_service {
	struct live_feed *feed;
	struct worker *worker; /* its lock is that of all below; taken after that of the feed */
	struct slot slots[LIVE_TRIGGERS_MAX];
};

static struct slot *find(struct trigger_service *s, const char *id)
{
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (s->slots[i].id[0] && !s->slots[i].is_ending && strcmp(s->slots[i].id, id) == 0)
			return &s->slots[i];
	return NULL;
}

static void clear(struct slot *t)
{
	for (uint32_t i = 0; i < t->nr_last; i++)
		trigger_story_done(&t->last[i].story);
	*t = (struct slot){ .service = t->service };
}

/* The lock is held, and let go meanwhile: the feed is called without it. */
static void end_slot(struct trigger_service *s, struct slot *t)
{
	t->is_ending = true;
	worker_unlock(s->worker);
	live_feed_unwatch(s->feed, t->watch);
	worker_lock(s->worker);
	clear(t);
}

/* On the thread of the feed, which waits meanwhile. */
static void on_fire(void *ctx, const struct trigger_hit *hit)
{
	struct slot *t = ctx;
	struct worker *w = t->service->worker;

	if (hit->tgid == (uint32_t)getpid() && !t->is_of_self)
		return;
	worker_lock(w);
	t->fired++;
	t->longest = hit->value > t->longest ? hit->value : t->longest;
	if (hit->ts_ns < t->ready_ns) {
		t->silenced++;
	} else {
		t->ready_ns = hit->ts_ns + t->cooldown_ns;
		t->pending = *hit;
		t->has_pending = true;
		worker_signal(w);
	}
	worker_unlock(w);
}

static void keep(struct slot *t, const struct trigger_hit *hit, const struct trigger_story *story)
{
	if (t->nr_last == KEPT)
		trigger_story_done(&t->last[--t->nr_last].story);
	memmove(t->last + 1, t->last, t->nr_last * sizeof(t->last[0]));
	t->last[0] = (struct firing){ *hit, *story };
	t->nr_last++;
	t->revision++;
}

static bool is_unread(const struct slot *t, uint64_t now_ns)
{
	return t->id[0] && !t->is_ending && !t->nr_subscribers &&
	       now_ns - t->used_ns > TRIGGER_IDLE_NS;
}

/* Those without readers end; whether there are any others. */
static bool expire(struct trigger_service *s)
{
	uint64_t now_ns = clock_boot_ns();
	bool has_any = false;

	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++) {
		if (is_unread(&s->slots[i], now_ns))
			end_slot(s, &s->slots[i]);
		has_any |= s->slots[i].id[0] != '\0';
	}
	return has_any;
}

static struct slot *next_pending(struct trigger_service *s)
{
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (s->slots[i].has_pending && !s->slots[i].is_ending)
			return &s->slots[i];
	return NULL;
}

/* Why it fired; without the lock, and the trigger may be gone afterwards. */
static void tell(struct trigger_service *s, struct slot *t)
{
	struct trigger_hit hit = t->pending;
	struct trigger_story story;
	char id[TRIGGER_ID_LEN];

	memcpy(id, t->id, sizeof(id));
	t->has_pending = false;
	worker_unlock(s->worker);
	trigger_story_tell(s->feed, &hit, &story);
	worker_lock(s->worker);
	t = find(s, id);
	if (t)
		keep(t, &hit, &story);
	else
		trigger_story_done(&story);
}

static void run(struct worker *worker, void *state)
{
	struct trigger_service *s = state;
	struct slot *t;

	worker_lock(worker);
	while (!worker_is_cancelled(worker)) {
		t = next_pending(s);
		if (t)
			tell(s, t);
		else
			worker_wait(worker, expire(s) ? LOOK_MS : WORKER_FOREVER);
	}
	worker_unlock(worker);
}

int trigger_service_new(struct live_feed *feed, struct trigger_service **out)
{
	const struct worker_job job = { .run = run, .free = free };
	struct trigger_service *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->feed = feed;
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		s->slots[i].service = s;
	err = worker_start(&job, s, &s->worker);
	if (err) {
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

void trigger_service_free(struct trigger_service *s)
{
	if (!s)
		return;
	worker_lock(s->worker);
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (s->slots[i].id[0] && !s->slots[i].is_ending)
			end_slot(s, &s->slots[i]);
	worker_unlock(s->worker);
	worker_end(s->worker);
}

static int make_id(char id[TRIGGER_ID_LEN])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -EIO;
	(void)snprintf(id, TRIGGER_ID_LEN, "%016llx", (unsigned long long)number);
	return 0;
}

/* A free place, if the client may have one more. The lock is held. */
static struct slot *take_slot(struct trigger_service *s, uint64_t owner, struct diag *d)
{
	struct slot *free_one = NULL;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++) {
		nr += s->slots[i].id[0] && s->slots[i].owner == owner;
		if (!s->slots[i].id[0])
			free_one = &s->slots[i];
	}
	if (free_one && nr < TRIGGERS_PER_OWNER)
		return free_one;
	diag_set(d, -EUSERS, "remove one with action untrigger", "%s",
	         free_one ? "a client can have 8 triggers, and you have as many"
	                  : "all triggers of this server are taken");
	return NULL;
}

int trigger_service_add(struct trigger_service *s, uint64_t owner, const char *when,
                        uint64_t cooldown_ns, struct diag *d, char id[TRIGGER_ID_LEN])
{
	struct trigger condition;
	struct slot *t;
	uint32_t watch = 0;
	int err = trigger_parse(when, d, &condition);

	if (!err && strlen(when) >= TRIGGER_WHEN_LEN)
		err = diag_set(d, -EINVAL, NULL, "the condition is too long");
	if (!err && make_id(id))
		err = diag_set(d, -EIO, NULL, "cannot make an id");
	if (err)
		return err;
	worker_lock(s->worker);
	t = take_slot(s, owner, d);
	if (t) {
		memcpy(t->id, id, TRIGGER_ID_LEN);
		t->is_ending = true; /* not yet to be found */
		t->owner = owner;
		memcpy(t->when, when, strlen(when) + 1);
		t->is_of_self = condition.tgid == (uint32_t)getpid() || condition.tid;
		t->cooldown_ns = cooldown_ns;
		t->set_ns = t->used_ns = clock_boot_ns();
	}
	worker_unlock(s->worker);
	if (!t)
		return -EUSERS;
	err = live_feed_watch(s->feed, &condition, on_fire, t, d, &watch);
	worker_lock(s->worker);
	if (err) {
		clear(t);
	} else {
		t->watch = watch;
		t->is_ending = false;
		worker_signal(s->worker); /* to look for those without readers */
	}
	worker_unlock(s->worker);
	return err;
}

int trigger_service_remove(struct trigger_service *s, uint64_t owner, const char *id,
                           struct diag *d)
{
	struct slot *t;

	worker_lock(s->worker);
	t = find(s, id);
	if (t && t->owner == owner)
		end_slot(s, t);
	else
		t = NULL;
	worker_unlock(s->worker);
	return t ? 0
	         : diag_set(d, -ENOENT, "action list shows yours", "there is no trigger %.32s", id);
}

void trigger_service_forget(struct trigger_service *s, uint64_t owner)
{
	if (!s)
		return;
	worker_lock(s->worker);
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (s->slots[i].id[0] && !s->slots[i].is_ending && s->slots[i].owner == owner)
			end_slot(s, &s->slots[i]);
	worker_unlock(s->worker);
}

bool trigger_service_has(struct trigger_service *s, uint64_t owner)
{
	bool has_any = false;

	if (!s)
		return false;
	worker_lock(s->worker);
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		has_any |= s->slots[i].id[0] && s->slots[i].owner == owner;
	worker_unlock(s->worker);
	return has_any;
}

/* A wait that lasted when it was reported may be over by now. */
static void tell_again(struct trigger_service *s, const char *id)
{
	struct slot *t = find(s, id);
	struct trigger_story story;
	struct trigger_hit hit;

	if (!t || !t->nr_last || !t->last[0].story.is_open ||
	    clock_boot_ns() - t->last[0].hit.ts_ns > LIVE_WINDOW_NS / 2)
		return;
	hit = t->last[0].hit;
	worker_unlock(s->worker);
	trigger_story_tell(s->feed, &hit, &story);
	worker_lock(s->worker);
	t = find(s, id);
	if (t && t->nr_last && t->last[0].hit.ts_ns == hit.ts_ns && story.json) {
		trigger_story_done(&t->last[0].story);
		t->last[0].story = story;
	} else {
		trigger_story_done(&story);
	}
}

/* The newest, and those before it for which there is room. */
static void put_firings(const struct slot *t, struct json_writer *out)
{
	size_t bytes = 0;

	jw_begin_array(out, "firings");
	for (uint32_t i = 0; i < t->nr_last; i++) {
		const struct trigger_story *story = &t->last[i].story;

		bytes += story->len;
		if (story->json && (!i || bytes < TOOL_BUDGET))
			jw_raw(out, NULL, story->json, story->len);
	}
	jw_end_array(out);
}

static void put_slot(const struct slot *t, struct json_writer *out)
{
	jw_string(out, "when", t->when);
	jw_u64(out, "fired", t->fired);
	jw_u64(out, "only_counted", t->silenced);
	jw_double(out, "cooldown_s", (double)t->cooldown_ns / 1e9, 1);
	jw_u64(out, "set_s_ago", (clock_boot_ns() - t->set_ns) / (1000 * NS_PER_MS));
	put_firings(t, out);
	if (!t->fired)
		jw_string(out, "note",
		          "it has not fired yet; subscribe to this resource, or read "
		          "it again later");
}

int trigger_service_put(struct trigger_service *s, const char *id, struct json_writer *out)
{
	struct slot *t;

	if (!s)
		return -ENOENT;
	worker_lock(s->worker);
	tell_again(s, id);
	t = find(s, id);
	if (t) {
		t->used_ns = clock_boot_ns();
		put_slot(t, out);
	}
	worker_unlock(s->worker);
	return t ? 0 : -ENOENT;
}

uint32_t trigger_service_list(struct trigger_service *s, uint64_t owner,
                              struct trigger_line lines[TRIGGERS_PER_OWNER])
{
	uint32_t nr = 0;

	if (!s || !owner)
		return 0;
	worker_lock(s->worker);
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX && nr < TRIGGERS_PER_OWNER; i++) {
		const struct slot *t = &s->slots[i];

		if (!t->id[0] || t->is_ending || t->owner != owner)
			continue;
		memcpy(lines[nr].id, t->id, TRIGGER_ID_LEN);
		memcpy(lines[nr].when, t->when, TRIGGER_WHEN_LEN);
		lines[nr++].fired = t->fired;
	}
	worker_unlock(s->worker);
	return nr;
}

void trigger_service_hold(struct trigger_service *s, const char *id)
{
	struct slot *t;

	if (!s)
		return;
	worker_lock(s->worker);
	t = find(s, id);
	if (t)
		t->nr_subscribers++;
	worker_unlock(s->worker);
}

void trigger_service_drop(struct trigger_service *s, const char *id)
{
	struct slot *t;

	if (!s)
		return;
	worker_lock(s->worker);
	t = find(s, id);
	if (t && t->nr_subscribers && --t->nr_subscribers == 0)
		t->used_ns = clock_boot_ns();
	worker_unlock(s->worker);
}

uint64_t trigger_service_revision(struct trigger_service *s, const char *id)
{
	const struct slot *t;
	uint64_t revision;

	if (!s)
		return 0;
	worker_lock(s->worker);
	t = find(s, id);
	revision = t ? t->revision + 1 : 0;
	worker_unlock(s->worker);
	return revision;
}
