#include "machine/parts/game.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_game.h"
#include "machine/machine_past.h"
#include "sys/sensors/mango.h"

#define MS_NS    1000000ULL
#define POLL_MS  1000U
#define TEXT_LEN 256

struct machine_game_part {
	struct mango *mango;
	uint64_t poll_ns;
	uint64_t polled_ns; /* 0 = never */
	uint64_t frame_ns;  /* when the last one arrived; 0 = none yet */
	struct mango_frame last;
	uint64_t nr_frames;
	uint64_t nr_odd; /* messages that are none of version 1 */
	double fps;
	struct machine_past frames, latencies, rates;
	struct machine_game game;
	char reason[TEXT_LEN], note[TEXT_LEN];
};

static int open_game(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_game_part *p = calloc(1, sizeof(*p));

	if (!p || mango_open(cfg->mango_path ? cfg->mango_path : "mangoapp", &p->mango)) {
		free(p);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	p->poll_ns = (cfg->mango_poll_ms ? cfg->mango_poll_ms : POLL_MS) * MS_NS;
	*out = p;
	return 0;
}

static void forget_game(struct machine_game_part *p)
{
	machine_past_done(&p->frames);
	machine_past_done(&p->latencies);
	machine_past_done(&p->rates);
	p->nr_frames = 0;
	p->fps = NAN;
}

static void close_game(void *part)
{
	struct machine_game_part *p = part;

	forget_game(p);
	mango_close(p->mango);
	free(p);
}

/* Without memory for it, the past is shorter. */
static void remember(struct machine_past *past, double value)
{
	if (!isnan(value) && machine_past_add(past, value))
		machine_past_done(past);
}

static double frame_of(const struct mango_frame *f)
{
	return f->app_ns ? (double)f->app_ns : NAN;
}

static double latency_of(const struct mango_frame *f)
{
	return f->latency_ns != UINT64_MAX ? (double)f->latency_ns : NAN;
}

static void add_frames(struct machine_game_part *p, const struct mango_frames *l)
{
	double sum_ns = 0, nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct mango_frame *f = &l->frames[i];

		if (f->pid != p->last.pid) {
			forget_game(p);
			sum_ns = nr = 0;
		}
		p->last = *f;
		p->nr_frames++;
		remember(&p->frames, frame_of(f));
		remember(&p->latencies, latency_of(f));
		if (f->app_ns) {
			sum_ns += frame_of(f);
			nr++;
		}
	}
	p->fps = nr > 0 ? nr * 1e9 / sum_ns : NAN;
	remember(&p->rates, p->fps);
}

static void report_reason(struct machine_game_part *p, int err, const struct mango_frames *l)
{
	p->reason[0] = '\0';
	if (p->frame_ns)
		return;
	if (err == -ENOENT)
		(void)snprintf(p->reason, TEXT_LEN,
		               "mangoapp not available: no queue of frames; start the game with "
		               "'gamescope --mangoapp'");
	else if (err)
		(void)snprintf(p->reason, TEXT_LEN, "mangoapp's queue cannot be read: %s",
		               strerror(-err));
	else if (p->nr_odd)
		(void)snprintf(
			p->reason, TEXT_LEN,
			"no frame yet: %llu messages in mangoapp's queue are not of version 1",
			(unsigned long long)p->nr_odd);
	else if (l->other)
		(void)snprintf(p->reason, TEXT_LEN,
		               "no frame seen yet: process %d removes them from mangoapp's queue",
		               (int)l->other);
	else
		(void)snprintf(p->reason, TEXT_LEN,
		               "no frame yet: mangoapp's queue is there and empty");
}

static void report_note(struct machine_game_part *p, int err, const struct mango_frames *l)
{
	p->note[0] = '\0';
	if (err)
		(void)snprintf(p->note, TEXT_LEN, "mangoapp's queue is gone: %s", strerror(-err));
	else if (l->nr_odd)
		(void)snprintf(p->note, TEXT_LEN,
		               "%u messages have another version of mangoapp and are not read",
		               l->nr_odd);
	else if (l->is_taking && l->other)
		(void)snprintf(p->note, TEXT_LEN,
		               "frames are removed from the queue, so process %d misses them: this "
		               "kernel cannot copy messages (CONFIG_CHECKPOINT_RESTORE)",
		               (int)l->other);
	else if (l->other)
		(void)snprintf(p->note, TEXT_LEN,
		               "frames are copied, and process %d removes them; those that it was "
		               "already waiting for are not seen",
		               (int)l->other);
}

static void poll_queue(struct machine_game_part *p, uint64_t now_ns)
{
	struct mango_frames l = { 0 };
	int err = mango_read(p->mango, &l);

	p->polled_ns = now_ns ? now_ns : 1;
	if (l.nr) {
		add_frames(p, &l);
		p->frame_ns = p->polled_ns;
	}
	p->nr_odd += l.nr_odd;
	report_reason(p, err, &l);
	report_note(p, err, &l);
}

static const char *comm_of(const struct machine *m, uint32_t pid)
{
	for (size_t i = 0; i < m->nr_processes; i++)
		if (m->processes[i].tid == pid)
			return m->processes[i].comm;
	return NULL;
}

static void show(struct machine_game_part *p, const struct machine_part_refresh *r)
{
	const struct mango_frame *f = &p->last;

	p->game = (struct machine_game){
		.reason = p->reason[0] ? p->reason : NULL,
		.note = p->note[0] ? p->note : NULL,
		.pid = f->pid,
		.comm = comm_of(r->machine, f->pid),
		.engine = f->engine,
		.width = f->width,
		.height = f->height,
		.refresh_hz = f->refresh_hz,
		.has_hdr = f->has_hdr,
		.frame_ns = frame_of(f),
		.visible_ns = f->visible_ns ? (double)f->visible_ns : NAN,
		.latency_ns = latency_of(f),
		.fps = p->fps,
		.age_s = r->now_ns > p->frame_ns ? (double)(r->now_ns - p->frame_ns) / 1e9 : 0,
		.nr_frames = p->nr_frames,
		.frames = machine_past_show(&p->frames),
		.latencies = machine_past_show(&p->latencies),
		.rates = machine_past_show(&p->rates),
	};
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct machine_game_part *p = part;

	if (!p->polled_ns || r->now_ns >= p->polled_ns + p->poll_ns)
		poll_queue(p, r->now_ns);
	show(p, r);
	r->machine->game = &p->game;
}

const struct machine_part machine_part_game = {
	.name = "mangoapp",
	.needs = MACHINE_GAME,
	.open = open_game,
	.refresh = refresh,
	.close = close_game,
};
