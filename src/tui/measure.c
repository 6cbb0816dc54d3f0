#include "tui/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_event.h"
#include "tui/event_menu.h"

struct measure measure_of(const struct machine *m, const struct screen *s)
{
	struct measure w = { 0 };

	if (!s->event[0] || event_word_parse(s->event, &w.word, NULL))
		w.word = (struct event_word){ .source = EVENT_CPU, .share = EVENT_BUSY };
	event_word_title(&w.word, w.name, sizeof(w.name));
	w.is_rate = event_word_is_rate(&w.word);
	w.is_measured = m->event && strcmp(m->event->word, s->event) == 0;
	if (w.is_measured && w.is_rate)
		w.why = m->event->why;
	else if (w.is_rate && m->play)
		w.why = "events can only be counted live, and this is a recording; x shows how "
			"busy CPUs were";
	return w;
}

bool measure_is_busy(const struct measure *w)
{
	return w->word.source == EVENT_CPU && w->word.share == EVENT_BUSY;
}

double measure_value(const struct measure *w, const struct machine_cpu *c)
{
	if (w->is_rate)
		return w->is_measured ? c->event_per_s : NAN;
	return event_share_of(c, w->word.share);
}

struct machine_history measure_history(const struct measure *w, const struct machine_cpu *c)
{
	if (measure_is_busy(w))
		return c->busy_history;
	return w->is_measured ? c->event_history : (struct machine_history){ 0 };
}

char *measure_format(const struct measure *w, char out[FORMAT_BYTES], double value,
                     bool is_localized)
{
	if (w->is_rate)
		return format_count(out, value, is_localized);
	if (w->word.share == EVENT_MHZ)
		return format_mhz(out, value);
	return format_percent(out, value);
}

void measure_request(const struct screen *s, struct machine_request *r)
{
	r->needs |= s->has_spare ? MACHINE_STANDSTILL : 0;
	if (!s->event[0] || strcmp(s->event, EVENT_WORD_BUSY) == 0)
		return; /* known in any case */
	r->needs |= MACHINE_EVENT;
	r->event = s->event;
}

bool measure_act(const struct machine *m, struct screen *s, enum action action)
{
	char text[EVENT_WORD_BYTES];

	(void)m;
	if (action == ACTION_EVENT_CLEAR) {
		event_menu_start(s->events, s->event);
		return false; /* there is more to be cleared */
	}
	if (action != ACTION_EVENT_NEXT && action != ACTION_EVENT_PREVIOUS)
		return false;
	event_menu_step(s->events, s->event[0] ? s->event : EVENT_WORD_BUSY,
	                action == ACTION_EVENT_NEXT, text);
	memcpy(s->event, text, sizeof(s->event));
	snprintf(s->message, sizeof(s->message), "event %.140s", s->event);
	return true;
}
