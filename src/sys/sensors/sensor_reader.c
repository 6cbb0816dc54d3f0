#include "sys/sensors/sensor_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/worker.h"

#define HANGS_NS   3000000000ULL /* some batteries take more than a second */
#define HANGS_SEEN 3U            /* checks that find it so: we may have been stopped ourselves */
#define HUNG_MAX   4U

struct hung {
	char paths[HUNG_MAX][SENSOR_PATH];
	uint32_t nr;
};

/* Shared with the reading thread. */
struct room {
	struct worker *worker; /* as the thread knows it */
	struct sensor_reader_cfg cfg;
	char root[SENSOR_PATH];
	struct hung hung; /* what is left out; never changes */
	bool is_asked, is_busy;
	uint32_t what;
	void *reading;
	char path[SENSOR_PATH]; /* that is being read, since: */
	uint64_t since_ns;
};

struct sensor_reader {
	struct sensor_reader_cfg cfg;
	char root[SENSOR_PATH];
	struct worker *worker; /* NULL once too many hang */
	struct room *room;
	struct hung hung;
	uint32_t what;
	uint64_t watched_ns; /* when reading of the current file began */
	uint32_t nr_watched;
};

static void free_room(void *room)
{
	struct room *r = room;

	r->cfg.free(r->reading);
	free(r);
}

static bool may_read(void *ctx, const char *path)
{
	struct room *r = ctx;

	for (uint32_t i = 0; i < r->hung.nr; i++)
		if (strcmp(r->hung.paths[i], path) == 0)
			return false;
	worker_lock(r->worker);
	(void)snprintf(r->path, sizeof(r->path), "%s", path);
	r->since_ns = clock_read_ns(CLOCK_MONOTONIC);
	worker_unlock(r->worker);
	return true;
}

static void serve(struct worker *w, void *room)
{
	struct room *r = room;
	const struct sensor_files files = { .root = r->root, .may_read = may_read, .ctx = r };

	r->worker = w;
	worker_lock(w);
	while (!worker_is_cancelled(w)) {
		void *reading;
		uint32_t what = r->what;

		if (!r->is_asked) {
			worker_wait(w, WORKER_FOREVER);
			continue;
		}
		r->is_asked = false;
		r->is_busy = true;
		r->path[0] = '\0';
		worker_unlock(w);
		reading = r->cfg.read(&files, r->cfg.clock, what);
		worker_lock(w);
		r->is_busy = false;
		r->cfg.free(r->reading);
		r->reading = reading;
	}
	worker_unlock(w);
}

static int start(struct sensor_reader *d)
{
	const struct worker_job job = { .run = serve, .free = free_room };
	struct room *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->cfg = d->cfg;
	memcpy(r->root, d->root, sizeof(r->root));
	r->hung = d->hung;
	err = worker_start(&job, r, &d->worker);
	if (err) {
		free_room(r);
		return err;
	}
	d->room = r;
	return 0;
}

int sensor_reader_open(const struct sensor_reader_cfg *cfg, struct sensor_reader **out)
{
	struct sensor_reader *d;
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

void sensor_reader_close(struct sensor_reader *d)
{
	if (!d)
		return;
	worker_abandon(d->worker);
	free(d);
}

static void ask(struct sensor_reader *d)
{
	struct room *r = d->room;

	worker_lock(d->worker);
	if (!r->is_busy) {
		r->is_asked = true;
		r->what = d->what;
		worker_signal(d->worker);
	}
	worker_unlock(d->worker);
}

/* Called with the lock held. */
static bool is_hung(struct sensor_reader *d)
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
static void replace_hung(struct sensor_reader *d)
{
	struct room *r = d->room;
	bool is_stuck;

	worker_lock(d->worker);
	is_stuck = is_hung(d);
	if (is_stuck)
		memcpy(d->hung.paths[d->hung.nr], r->path, sizeof(r->path));
	worker_unlock(d->worker);
	if (!is_stuck)
		return;
	d->hung.nr++;
	worker_abandon(d->worker);
	d->worker = NULL;
	if (d->hung.nr < HUNG_MAX && !start(d))
		ask(d);
}

void sensor_reader_ask(struct sensor_reader *d, uint32_t what)
{
	d->what = what;
	if (d->worker)
		ask(d);
}

void *sensor_reader_take(struct sensor_reader *d)
{
	void *reading;

	if (d->worker)
		replace_hung(d);
	if (!d->worker)
		return NULL;
	worker_lock(d->worker);
	reading = d->room->reading;
	d->room->reading = NULL;
	worker_unlock(d->worker);
	return reading;
}

const char *sensor_reader_hung(const struct sensor_reader *d)
{
	return d->hung.nr ? d->hung.paths[d->hung.nr - 1] : NULL;
}
