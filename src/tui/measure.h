/*
 * tui/measure — which number of each CPU is shown, as the screen's event says: how busy it is, another share of its time,
 * its frequency, or a counted event per second.
 *
 * Rates of a group of CPUs add up; the others are means over the CPUs of which the number is known. Pure.
 */
#pragma once

#include "machine/event_word.h"
#include "tui/format.h"
#include "tui/view.h"

struct measure {
	struct event_word
		word; /* of the source EVENT_CPU and EVENT_BUSY: what is shown if nothing is chosen */
	char name[EVENT_WORD_BYTES + 64]; /* for a title */
	const char *why;                  /* why it cannot be shown; NULL = it can */
	bool is_rate;
	bool is_measured; /* histories are of this event */
};

struct measure measure_of(const struct machine *m, const struct screen *s);
bool measure_is_busy(const struct measure *w);
double measure_value(const struct measure *w, const struct machine_cpu *c);
struct machine_history measure_history(const struct measure *w, const struct machine_cpu *c);
/* At most five cells; more if it is localized. No unit: titles say it. */
char *measure_format(const struct measure *w, char out[FORMAT_BYTES], double value,
                     bool is_localized);

/* For views with CPUs: requests the event, and pressure where there is room for it; handles the keys that choose the event. */
void measure_request(const struct screen *s, struct machine_request *r);
bool measure_act(const struct machine *m, struct screen *s, enum action action);
