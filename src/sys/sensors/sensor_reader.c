#include "session/sensor_desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

#define HANGS_NS   3000000000ULL /* some batteries take more than a second */
#define HANGS_SEEN 3U            /* looks that find it so: we may have been stopped ourselves */
#define HUNG_MAX   4U

struct hung {
	char paths[HUNG_MAX][SENSOR_PATH];
	uint32_t nr;
};

/* Shared with the thread that reads. When that one hangs, it alone keeps it: whoever of the two leaves last frees it. */
struct room {
	pthread_mutex_t lock;
	pthread_cond_t asked;
	struct sensor_desk_cfg cfg;
	char root[SENSOR_PATH];
	struct hung hung; /* what is left out; never changes */
	bool is_over;     /* the other side has left */
	bool is_asked, is_busy;
	uint32_t what;
	void *reading;
	char path[SENSOR_PATH]; /* that is being read, since: */
	uint64_t since_ns;
};

struct sensor_desk {
	struct sensor_desk_cfg cfg;
	char root[SENSOR_PATH];
	struct room *room; /* NULL once too many hang */
	struct hung hung;
	uint32_t what;
	uint64_t watched_ns; /* when the file was begun that was last seen to be read */
	uint32_t nr_watched;
};

static void free_room(struct room *r)
{
	pthread_cond_destroy(&r->asked);
	pthread_mutex_destroy(&r->lock);
	r->cfg.free(r->reading);
	free(r);
}

static bool may_read(void *ctx, const char *path)
{
	struct room *r = ctx;

	for (uint32_t i = 0; i < r->hung.nr; i++)
		if (strcmp(r->hung.paths[i], path) == 0)
			return false;
	pthread_mutex_lock(&r->lock);
	(void)snprintf(r->path, sizeof(r->path), "%s", path);
	r->since_ns = clock_read_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&r->lock);
	return true;
}

static void *serve(void *room)
{
	struct room *r = room;
	const struct sensor_files files = { .root = r->root, .may_read = may_read, .ctx = r };

	pthread_mutex_lock(&r->lock);
	while (!r->is_over) {
		void *reading;
		uint32_t what = r->what;

		if (!r->is_asked) {
			pthread_cond_wait(&r->asked, &r->lock);
			continue;
		}
		r->is_asked = false;
		r->is_busy = true;
		r->path[0] = '\0';
		pthread_mutex_unlock(&r->lock);
		reading = r->cfg.read(&files, r->cfg.clock, what);
		pthread_mutex_lock(&r->lock);
		r->is_busy = false;
		r->cfg.free(r->reading);
		r->reading = reading;
	}
	pthread_mutex_unlock(&r->lock);
	free_room(r);
	return NULL;
}

static int start(struct sensor_desk *d)
{
	struct room *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->asked, NULL);
	r->cfg = d->cfg;
	memcpy(r->root, d->root, sizeof(r->root));
	r->hung = d->hung;
	err = thread_start_detached(serve, r);
	if (err) {
		free_room(r);
		return err;
	}
	d->room = r;
	return 0;
}

int sensor_desk_open(const struct sensor_desk_cfg *cfg, struct sensor_desk **out)
{
	struct sensor_desk *d;
	int err;

	if (strlen(cfg->root) >= SENSOR_PATH)
		return -ENAMETOOLONG;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->cfg = *cfg;
	if (!d->cfg.clock)
		d->cfg.clock = clock_boot_ns;
	memcpy(d->root, cfg->root, strlen(cfg->root));
	err = start(d);
	if (err) {
		free(d);
		return err;
	}
	*out = d;
	return 0;
}

/* The thread frees the room: at once, or whenever its sensor lets it go. */
static void leave(struct sensor_desk *d)
{
	pthread_mutex_lock(&d->room->lock);
	d->room->is_over = true;
	pthread_cond_signal(&d->room->asked);
	pthread_mutex_unlock(&d->room->lock);
	d->room = NULL;
}

void sensor_desk_close(struct sensor_desk *d)
{
	if (!d)
		return;
	if (d->room)
		leave(d);
	free(d);
}

static void ask(struct sensor_desk *d)
{
	struct room *r = d->room;

	pthread_mutex_lock(&r->lock);
	if (!r->is_busy) {
		r->is_asked = true;
		r->what = d->what;
		pthread_cond_signal(&r->asked);
	}
	pthread_mutex_unlock(&r->lock);
}

/* Called with the lock held. */
static bool is_hung(struct sensor_desk *d)
{
	const struct room *r = d->room;

	if (!r->is_busy || !r->path[0])
		return false;
	if (r->since_ns != d->watched_ns) {
		d->watched_ns = r->since_ns;
		d->nr_watched = 0;
	}
	return ++d->nr_watched >= HANGS_SEEN &&
	       clock_read_ns(CLOCK_MONOTONIC) > r->since_ns + HANGS_NS;
}

/* A thread that has been at one file for too long is left with it. */
static void replace_hung(struct sensor_desk *d)
{
	struct room *r = d->room;
	bool is_left;

	pthread_mutex_lock(&r->lock);
	is_left = is_hung(d);
	if (is_left)
		memcpy(d->hung.paths[d->hung.nr], r->path, sizeof(r->path));
	pthread_mutex_unlock(&r->lock);
	if (!is_left)
		return;
	d->hung.nr++;
	leave(d);
	if (d->hung.nr < HUNG_MAX && !start(d))
		ask(d);
}

void sensor_desk_ask(struct sensor_desk *d, uint32_t what)
{
	d->what = what;
	if (d->room)
		ask(d);
}

void *sensor_desk_take(struct sensor_desk *d)
{
	void *reading;

	if (d->room)
		replace_hung(d);
	if (!d->room)
		return NULL;
	pthread_mutex_lock(&d->room->lock);
	reading = d->room->reading;
	d->room->reading = NULL;
	pthread_mutex_unlock(&d->room->lock);
	return reading;
}

const char *sensor_desk_hung(const struct sensor_desk *d)
{
	return d->hung.nr ? d->hung.paths[d->hung.nr - 1] : NULL;
}
