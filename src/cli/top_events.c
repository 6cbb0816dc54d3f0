#include "cli/top_events.h"

#include <errno.h>

#include "base/clock.h"
#include "machine/machine.h"
#include "machine/machine_attach.h"
#include "machine/machine_play.h"

#define WINDOW_NS 5000000000ULL
#define RENEW_NS  1000000000ULL

/* In a thread of its own. */
static int load(uint32_t analyzers, struct diag *d, void **out)
{
	const struct live_run_cfg cfg = { .analyzers = analyzers, .window_ns = WINDOW_NS };
	struct live_run *run = NULL;
	int err = live_run_open(&cfg, d, &run);

	if (!err)
		err = live_run_attach(run, d);
	if (err)
		live_run_close(run);
	else
		*out = run;
	return err;
}

static void unload(void *run)
{
	live_run_close(run);
}

void top_events_renew(struct top_events *e)
{
	e->from_ns = e->to_ns = 0;
	if (!e->run && !e->attach)
		e->analyzers = 0;
}

void top_events_stop(struct top_events *e)
{
	machine_attach_cancel(e->attach);
	live_shot_put(e->shot);
	live_run_close(e->run);
	*e = (struct top_events){ .recording = e->recording };
}

/* Whether there is a run for them; a failure is reported once. */
static bool is_running(struct top_events *e, uint32_t analyzers, struct diag *d)
{
	const struct machine_attach_cfg job = { load, unload, analyzers };
	void *run = NULL;

	if (e->analyzers != analyzers) {
		top_events_stop(e);
		e->analyzers = analyzers;
		if (machine_attach_start(&job, &e->attach))
			diag_set(d, -EAGAIN, NULL, "cannot start a thread that loads programs");
	}
	if (e->attach && machine_attach_poll(e->attach, d, &run)) {
		e->attach = NULL;
		e->run = run;
	}
	return e->run;
}

/* In the first second each refresh is. */
static bool is_due(const struct top_events *e, uint64_t now_ns)
{
	return e->to_ns - e->from_ns < RENEW_NS || now_ns - e->to_ns >= RENEW_NS;
}

static bool live_window(struct top_events *e, uint32_t analyzers, struct diag *d,
                        struct top_window *out)
{
	struct live_run_stats stats;

	if (!is_running(e, analyzers, d))
		return false;
	if (live_run_poll(e->run, d) || !is_due(e, clock_boot_ns()))
		return false;
	live_shot_put(e->shot);
	e->shot = NULL;
	if (live_run_shot(e->run, &e->shot)) {
		diag_set(d, -ENOMEM, NULL, "out of memory");
		return false;
	}
	live_run_stats(e->run, &stats);
	out->source = live_shot_source(e->shot);
	out->from_ns = live_shot_from_ns(e->shot, live_run_start_ns(e->run));
	out->to_ns = out->source->end_ns;
	out->lost = stats.lost;
	return true;
}

void top_events_of_play(const struct top_events *e, const struct machine *m, struct top_window *out)
{
	uint64_t length_ns = (uint64_t)(m->interval_s * 1e9);

	*out = (struct top_window){ .source = e->recording };
	if (!m->play)
		return;
	out->to_ns = m->play->position_ns;
	out->from_ns = out->to_ns > length_ns ? out->to_ns - length_ns : 0;
}

static bool recorded_window(const struct top_events *e, const struct machine *m,
                            struct top_window *out)
{
	if (!m->play)
		return false;
	top_events_of_play(e, m, out);
	return out->from_ns != e->from_ns || out->to_ns != e->to_ns;
}

bool top_events_window(struct top_events *e, uint32_t analyzers, const struct machine *m,
                       struct diag *d, struct top_window *out)
{
	*out = (struct top_window){ 0 };
	if (!(e->recording ? recorded_window(e, m, out) : live_window(e, analyzers, d, out)))
		return false;
	e->from_ns = out->from_ns;
	e->to_ns = out->to_ns;
	return out->from_ns < out->to_ns;
}
