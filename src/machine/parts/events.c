#include "machine/parts/events.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/event_word.h"
#include "machine/machine_event.h"
#include "machine/machine_past.h"
#include "machine/parts/event_counter.h"
#include "machine/parts/event_opener.h"
#include "sys/cpulist.h"

#define WAIT_MS 20U /* for what is opened and closed: enough for most */

struct machine_events {
	uint32_t tgid;
	bool is_other_machine;
	char text[EVENT_WORD_BYTES]; /* what is counted; "" = nothing */
	struct event_word word;
	struct event_counter *counter; /* NULL = not yet, or not available */
	struct event_opener *opener;   /* that is at work */
	bool is_dropped;               /* what it opens is not wanted any more */
	struct cpulist online;         /* for which the counter was asked */
	bool has_step;                 /* an interval has begun */
	struct machine_past *pasts;
	size_t nr_pasts;
	struct machine_event shown;
	char why[600];
};

static int open_events(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct machine_events *e = calloc(1, sizeof(*e));

	if (!e)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	e->tgid = cfg->tgid;
	e->is_other_machine = cfg->root;
	*out = e;
	return 0;
}

static void forget_past(struct machine_events *e)
{
	for (size_t i = 0; i < e->nr_pasts; i++)
		machine_past_done(&e->pasts[i]);
	free(e->pasts);
	e->pasts = NULL;
	e->nr_pasts = 0;
}

static void refuse(struct machine_events *e, const struct diag *why)
{
	(void)snprintf(e->why, sizeof(e->why), "%s%s%s", why->what, why->hint[0] ? "; " : "",
	               why->hint);
}

/* Takes what is ready by now, or soon; false while it is at work. */
static bool settle(struct machine_events *e, uint32_t wait_ms)
{
	struct event_counter *counter = NULL;
	struct diag why = { 0 };

	if (!e->opener)
		return true;
	if (!event_opener_poll(e->opener, wait_ms, &why, &counter))
		return false;
	e->opener = NULL;
	if (e->is_dropped)
		event_counter_close(counter);
	else
		e->counter = counter;
	if (why.code && !e->is_dropped)
		refuse(e, &why);
	return true;
}

/* Beside us: a counter is a thousand files at times. */
static void let_go(struct machine_events *e)
{
	cpulist_done(&e->online);
	e->has_step = false;
	if (e->opener)
		event_opener_drop(e->opener);
	else if (e->counter && event_opener_start(NULL, e->counter, &e->opener))
		e->opener = NULL;
	e->counter = NULL;
	e->is_dropped = true;
	(void)settle(e, WAIT_MS);
}

static void suspend(void *part)
{
	struct machine_events *e = part;

	let_go(e);
	forget_past(e);
	e->text[0] = '\0';
}

static void close_events(void *part)
{
	struct machine_events *e = part;

	suspend(e);
	event_opener_end(e->opener);
	free(e);
}

static bool is_same_online(const struct machine_events *e, const struct machine_part_refresh *r)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < r->machine->nr_cpus; i++) {
		bool is_online = r->cpus[i].is_online;

		if (is_online != cpulist_has(&e->online, r->cpus[i].cpu))
			return false;
		nr += is_online;
	}
	return nr == e->online.nr;
}

/* A failure is a sentence that stays until something else is requested, or other CPUs are online. */
static void open_counter(struct machine_events *e, const struct machine_part_refresh *r)
{
	struct event_counter_cfg cfg = { &e->word, &e->online, e->tgid };
	struct diag why = { 0 };
	int err = 0;

	e->why[0] = '\0';
	for (size_t i = 0; !err && i < r->machine->nr_cpus; i++)
		if (r->cpus[i].is_online)
			err = cpulist_add(&e->online, r->cpus[i].cpu);
	if (!err && e->is_other_machine)
		err = diag_set(&why, -ENOTSUP, NULL, "nothing can be counted on another machine");
	if (!err)
		err = event_opener_start(&cfg, NULL, &e->opener);
	if (err) {
		diag_set(&why, err, NULL, "out of memory");
		refuse(e, &why);
		return;
	}
	e->is_dropped = false;
	(void)settle(e, WAIT_MS);
}

static void begin(struct machine_events *e, const char *text)
{
	struct diag why = { 0 };

	suspend(e);
	e->why[0] = '\0';
	(void)snprintf(e->text, sizeof(e->text), "%s", text);
	if (strlen(text) >= sizeof(e->text))
		diag_set(&why, -EINVAL, NULL, "the name of the event is too long");
	else if (event_word_parse(text, &e->word, &why) == 0)
		return;
	e->word = (struct event_word){ .source = EVENT_CPU };
	refuse(e, &why);
}

static void remember(struct machine_events *e, const struct machine_part_refresh *r, size_t i,
                     double value)
{
	if (e->nr_pasts != r->machine->nr_cpus) {
		forget_past(e);
		e->pasts = calloc(r->machine->nr_cpus, sizeof(*e->pasts));
		e->nr_pasts = e->pasts ? r->machine->nr_cpus : 0;
	}
	if (i < e->nr_pasts && !machine_past_add(&e->pasts[i], value))
		r->cpus[i].event_history = machine_past_show(&e->pasts[i]);
}

static void report_unreadable(struct machine_events *e, int err)
{
	if (err == -EAGAIN)
		(void)snprintf(e->why, sizeof(e->why),
		               "'%.100s' was not counted: the counters of this CPU are in use; "
		               "stop other profilers",
		               e->word.name);
	else
		(void)snprintf(e->why, sizeof(e->why), "the counter of '%.100s' cannot be read: %s",
		               e->word.name, strerror(-err));
}

static void step_counter(struct machine_events *e, const struct machine_part_refresh *r)
{
	size_t nr_read = 0;
	int err = 0;

	event_counter_step(e->counter);
	for (size_t i = 0; i < r->machine->nr_cpus; i++) {
		struct machine_cpu *c = &r->cpus[i];
		double per_s;
		int failed;

		if (!c->is_online)
			continue;
		failed = event_counter_get(e->counter, c->cpu, &per_s);
		if (!failed && e->has_step)
			c->event_per_s = per_s;
		nr_read += !failed;
		err = failed ? failed : err;
		if (e->has_step)
			remember(e, r, i, c->event_per_s);
	}
	e->has_step = true;
	e->why[0] = '\0';
	if (!nr_read && err)
		report_unreadable(e, err);
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct machine_events *e = part;

	if (!r->request->event)
		return;
	if (strcmp(r->request->event, e->text) != 0)
		begin(e, r->request->event);
	if (e->word.source == EVENT_CPU) {
		for (size_t i = 0; !e->why[0] && i < r->machine->nr_cpus; i++)
			remember(e, r, i, event_share_of(&r->cpus[i], e->word.share));
	} else {
		if (e->online.nr && !is_same_online(e, r))
			let_go(e);
		/* One after the other. */
		if (settle(e, 0) && !e->online.nr)
			open_counter(e, r);
		if (e->counter)
			step_counter(e, r);
	}
	e->shown = (struct machine_event){ e->text, e->why[0] ? e->why : NULL };
	r->machine->event = &e->shown;
}

const struct machine_part machine_part_events = {
	.name = "events",
	.needs = MACHINE_EVENT,
	.open = open_events,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_events,
};
